"""Means, vectors, distributions and mixed records."""
