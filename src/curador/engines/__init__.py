"""Engines that run the exact half of a plan where the rows live; integers stay with the curator.

Reading order:

* engine — the interface for the curator, and the exact counts it gets
* registry — the list of engines, the engine of each table, and how it is opened
* pool — the open engines of a set of tables
* dialect — the differences between engines: types, quoting, a few functions
* column_sql — SQL that reads a stored column as its declared type
* render — SQL text of a plan's trees
* sql_engine — the common part of all SQL engines
* deadline — timeout and progress of a plan
* error_log — the curator's private log of errors
* duckdb — files, data frames and DuckDB's own tables: the default engine
* postgres — tables of a PostgreSQL database
* spark — tables and data frames of a Spark session
"""
