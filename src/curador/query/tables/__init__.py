"""Tables as the curator declares them; everything here is public, and no row is read.

Reading order:

* names — the rules for names: allowed, colliding, suggested
* columns — one column: its type, bounds, grid and public keys
* csv_format — how CSV files are written: header, delimiter, encoding, decimals
* paths — the files that a path or a glob stands for
* sources — where the rows are: files, a data frame, or a table of an engine
* table — a table: its columns, its unit, its neighbours and its source
"""
