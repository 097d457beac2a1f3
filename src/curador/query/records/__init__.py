"""Rows themselves, as integers, for what learns from them: they never leave the curator.

Reading order:

* columns — the columns that are learned from: numbers in bounds, or public keys
* lower — the statement that reads them, each unit cut to its limit
* tally — counts and sums over them, worked out inside the engine
"""
