"""Refusals in Spanish, by their code: what happened and what to do.  In English a refusal has its own words.

Reading order:

* prices — numbers, prices, budgets, and what the policy allows
* sql_words — SQL: words, functions, and the text as a whole
* sql_rows — SQL: tables, joins, inner queries
* sql_columns — SQL: columns, groups, and what is measured
* sql_types — SQL: the types and bounds of what is computed from a row
* tables — a table: its file, its columns, and whom it protects
* study — people and their budgets, models, and what was released
* facts — what numbers and functions are called in these texts
"""

from curador.show.words.refusals import prices, sql_columns, sql_rows, sql_types, sql_words, study, tables

ES = {
    **prices.ES,
    **sql_words.ES,
    **sql_rows.ES,
    **sql_columns.ES,
    **sql_types.ES,
    **tables.ES,
    **study.ES,
}
