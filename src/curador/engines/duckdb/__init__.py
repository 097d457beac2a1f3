"""DuckDB, inside this process: files, data frames and its own tables. The default engine."""
