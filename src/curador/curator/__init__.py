"""The product: holds tables, budgets and a ledger, and is the only maker of releases.

Reading order:

* curator — the front door: plan, ask, publish
* table — a table of a curator, asked step by step
* planners — planners kept by the text of a question
* purchase — the one way anything leaves: charge, run, settle
* policy — the rules that every purchase must pass, whatever is left of the budget
* releases — what leaves: a stored measurement presented, several together, and whether one is as it was made
* purchases — what can be bought beside a question: a batch, a running count, a model
* budgets — the budgets of tables in a ledger
* analysts — the budgets of analysts and groups
* naming — the names of tables and analysts in a ledger, and which rows a table reads
* holder — budgets read, raised, closed, renewed
* stoppable — planning that may be stopped from outside, and what it needs before
* prepared — copies of tables with the rows of each unit chosen beforehand
* study — study files, dashboards, rehearsals
"""
