"""Questions, built step by step or written in SQL.

Reading order:

* sets — grouping sets: which may be listed, and what is answered over several
* question — a question, small and immutable
* renamed — the same question with other names for its columns
* typed — its rows checked against the tables: columns with types and bounds
* public_keys — the public keys of its groups
* resolve — texts beside dates, inside its rows, read as dates
* measured — the same question, asked by the aggregates that measure it best
* builder — questions built step by step
* sql — questions written in SQL
"""
