"""SQL text to a question: an allow-list, read with a parser that is loaded when a text is first read.

Reading order:

* parser — the parser that questions are read with
* text — the parsed text, and refusals that point into it
* functions — functions of numbers and dates
* text_functions — functions of texts
* expressions — expressions
* relation — a relation as a query sees it
* joins — joins
* per_unit — inner queries with one row per unit
* relations — FROM, CTEs, subqueries, UNION ALL and IN (SELECT …)
* aggregates — aggregates
* answers — arithmetic on answers: what is derived from aggregates after the noise
* outer — queries over the answers of another
* read — a statement to a question
"""
