"""Attacks on questions, written once as data and run through any door on any engine.

Reading order:

* scenes — the tables that attacks are made on
* table — the attacks
* run — one request to both tables, and everything that can be seen compared
* stage — the tables as a study on disk, with a victim or without
* service — all attacks through doors to live curators, as findings
* times — how long answers take, with a victim and without
"""
