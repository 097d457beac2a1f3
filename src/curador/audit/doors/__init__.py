"""Attacks on questions, written once as data and run through any door on any engine."""
