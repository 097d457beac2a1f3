"""Asking the same people again, and hiding who sent which report."""
