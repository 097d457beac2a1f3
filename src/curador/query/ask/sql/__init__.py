"""SQL text to a question: an allow-list, read with a parser that is loaded when a text is first read.

Reading order:

* text — the parsed text, and refusals that point into it
* relations — FROM, joins, CTEs and subqueries
* functions — functions of numbers and dates
* text_functions — functions of texts
* expressions — expressions
* aggregates — aggregates
* read — a statement to a question
"""
