"""Where a ledger is kept.  A reader of the ledger needs ``rows`` alone; the rest is how each store does it.

Reading order:

* rows — the door: the tables of a ledger, and what a store does with their rows
* memory_rows — rows in dictionaries, with rollback
* memory — a ledger that lives as long as its process
* unit_of_work — the rows of a batch of transactions, cached and written once
* one_transaction — one that is open already, as a store: many decisions at once
* group_commit — threads that share one transaction, and so one sync
* sql — the store that both databases share: batches, anchor writes, fork safety
* reopened_file — a file kept open across uses
* file_queue — a fair lock between processes
* connections — those to SQLite files, none of which is open while a process forks
* sqlite — a ledger in one SQLite file
* postgres — a ledger in a PostgreSQL schema.
"""
