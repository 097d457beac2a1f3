"""Attacks on Curador from outside, with two tables that differ in one unit.

Reading order:

* doors — attacks on questions, written once as data and run through any door on any engine
* local_reports — a lower bound on the privacy loss of local reports
"""
