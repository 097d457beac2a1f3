"""Runs with the noise frozen: recorded on a table, replayed on its neighbours, and compared step by step.

Reading order:

* trace — what a run did, step by step
* movement — how far exact values moved, and how far an event lets them
* seam — records the steps of a run, and freezes what they released
* compare — two runs, and what parts them
* run — anything that uses mechanisms, replayed on neighbours
* neighbours — one unit more, or another one, made from declarations alone
* stage — curators over made-up tables, with a ledger in memory
* questions — questions, batches, running counts and models of a curator, replayed
* fits — models fitted to arrays, replayed
* race — many buyers at once, for the last of a budget
"""
