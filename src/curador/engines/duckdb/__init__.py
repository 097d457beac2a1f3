"""DuckDB, inside this process: files, data frames and its own tables.  The default engine.

Reading order:

* files — table functions that read Parquet and CSV files
* dialects — DuckDB's spelling
* describe — the columns of a table, and the types that are refused
* frames — data frames as Arrow tables that DuckDB can read without failing
* engine — the engine
* parquet — plain values written as a Parquet file
"""
