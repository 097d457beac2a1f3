"""Attacks: Curador looked at from outside, with two tables that differ in one unit.

Reading order:

* doors — attacks on questions, written once as data and run through any door on any engine
* local_reports — a floor under what local reports cost
"""
