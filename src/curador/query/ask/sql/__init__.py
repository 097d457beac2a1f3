"""SQL text to a question: an allow-list, read with a parser that is loaded when a text is first read.

Reading order:

* text — the parsed text, and refusals that point into it
* relations — FROM, joins, CTEs and subqueries
* expressions — expressions
* aggregates — aggregates
* answers — arithmetic on answers: what is derived from aggregates after the noise
* outer — queries over the answers of another
* read — a statement to a question
"""
