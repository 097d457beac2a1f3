"""Attacks on questions, written once as data and run through any door on any engine.

Reading order:

* scenes — the tables that attacks are made on
* table — the attacks
* run — one request to both tables, and everything that can be seen compared
"""
