"""Expressions over columns: their types, bounds and text."""
