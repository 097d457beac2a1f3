"""Study files: declarations, budgets and analysts in TOML; read, drafted, checked, and one as a demonstration.

Reading order:

* document — TOML files, read with one clear error, and checks of their shapes
* tables — the tables that a study file declares
* file — everything that a study file states: tables, budgets, ledger, policy, analysts
* header — the first line of a CSV file, and what is doubtful about it
* draft — a study file to fill in, from column names and stored types
* check — a study file compared with the stored tables
* quality — how well the rows of a table fit what was declared about its columns
* dashboard — dashboard files, and publications as files
* rehearsal — made-up tables from declarations alone
* samples — made-up values for demonstrations and rehearsals
* demo — a demonstration on made-up rows, in a folder of its own
* edit — a study file changed by a program
"""
