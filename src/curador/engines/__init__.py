"""Engines: each runs the exact half of a plan where the rows live, and returns integers that never leave the curator.

Reading order:

* engine — the interface that the curator uses, and the exact counts it gets
* registry — the list of engines: which one a table lives in, and how it is opened
* pool — the open engines of a set of tables
* dialect — the differences between engines: types, quoting, a few functions
* column_sql — SQL that reads a stored column as its declared type
* render — SQL text of a plan's trees
* sql_engine — the part that all SQL engines share
* deadline — timeout and progress of a plan
* error_log — the curator's private log of errors
* duckdb — files, data frames and DuckDB's own tables: the default engine
* postgres — tables of a PostgreSQL database
* spark — tables and data frames of a Spark session
"""
