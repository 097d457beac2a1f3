"""DuckDB, inside this process: files, data frames and its own tables.  The default engine.

Reading order:

* files — table functions that read Parquet and CSV files
* dialects — DuckDB's spelling
* describe — the columns of a table, and the types that are refused
* frames — data frames as Arrow tables that DuckDB can read without failing
* cut — the rows that each unit keeps, computed on arrays
* packed — rows of a plan as packed integers: in one piece, or by ranges of ids
* instance — databases inside this process, for the tables as they are and for each prepared copy
* spill — private folders for intermediate results that do not fit memory
* engine — the engine
* parquet — plain values written as a Parquet file
"""
