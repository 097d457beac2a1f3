"""DuckDB, inside this process: files, data frames and its own tables.  The default engine.

Reading order:

* files — table functions that read Parquet and CSV files
* describe — the columns of a table, and the types that are refused
* frames — data frames as Arrow tables that DuckDB can read without failing
* engine — the engine
* parquet — Parquet files of plain values
"""
