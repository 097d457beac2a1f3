"""DuckDB, inside this process: files, data frames and its own tables.  The default engine.

Reading order:

* files — table functions that read Parquet and CSV files
* frames — data frames as Arrow tables that DuckDB can read without failing
* engine — the engine
"""
