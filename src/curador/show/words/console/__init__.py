"""The texts of the console: a file for each page, of pairs (English, Spanish) by code.

A template or a view says ``say("overview.title")``: the code ``title`` of the file ``overview``.

Reading order:

* frame — what all pages share: navigation, forms, signing in, refusals
* overview — budgets: what is spent, by whom, and what still fits
* tables — what is declared about each table, and a new one step by step
* ask — a question, its price and its error, and what it would look like
* dashboards — several questions for one charge
* releases — what was bought, as pages, files and public links
* analysts — budgets, links and tokens
* ledger — charges, decisions, verification
* collect — local tasks and what devices report
* models — what one would cost, what was learned, what it says of a row
* audit — mechanisms tested as black boxes
* playground — lessons on the real engine, which read no data
* docs — the HTTP interface, for whoever writes programs
"""
