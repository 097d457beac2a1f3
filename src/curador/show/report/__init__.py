"""A release as a report: one HTML file with charts, tables, the promise in words and odds, and a receipt.

Reading order:

* reading — the numbers, intervals and keys of a release, as charts read them
* picture — a chart with its caption
* crossed — charts of two keys
* pictures — which charts a release has
* fragments — charts, a table, notes and the guarantee as pieces of HTML for any page
* scoped — the same for a notebook, whose page it leaves alone
* plot — charts as an object: SVG, PNG, a notebook's cell
* odds — a guarantee in words: what an attacker could conclude
* estimate — what an answer would cost and how wrong it would be, before it is bought
* asked — a question as a title
* sheet — the guarantee sheet, and the receipt
* document — the whole page; ``report.css`` is the look of what only it has
"""
