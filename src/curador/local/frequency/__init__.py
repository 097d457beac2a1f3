"""Frequencies of listed keys."""
