"""Durable, append-only budgets: scopes that form a tree, and charges that are spent when reserved and never erased.

Reading order:

* contract — what every ledger does
* records — the values it returns: charges, balances, decisions, registrations
* book — the ledger: what may be written, decided within one transaction
* registry — which data a table stands for, whom it charges, what its budget protects
* access — who may come in through a door that strangers reach
* pricing — whom a charge falls on, what it costs there, whether it fits
* entries — what is written, and the seals that chain it
* posting — from entries to balances
* history — charges and decisions, read back from the entries
* verify — the history, read again and compared
* anchor — the folder outside the database: the key, and a log of how far the history had come
* opening — a ledger by its address, and an older copy taken into use again
* stores — where rows are kept: in memory, in SQLite, in PostgreSQL.
"""
