"""The pages: each a file here, a template and a file of texts of the same name, and its tests.

Reading order:

* overview — budgets: what is spent, by whom, and what still fits
* tables — what is declared about each table
* ask — a question, its price and its error, and what it would look like
* dashboards — several questions for one charge
* releases — what was bought, as pages, files and public links
* analysts — budgets given, raised, closed; links and tokens
* ledger — charges by filter and page, decisions, verification, export
* collect — local tasks, and what devices report
* models — learned under the same budget, with their cost before and their guarantee after
* audit — mechanisms tested as black boxes
* playground — lessons on the real engine, which read no data
"""
