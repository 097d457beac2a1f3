"""Budgets as pages handle them: what is left and for how long, and forms that give one or raise it.

Reading order:

* shown — a budget's share that is spent, its last day, what is left of it and above it
* decided — whose a budget is, and what was decided about it, in words
* asked — what was bought with a charge, in words
* granting — what a form gives, checked against what its page showed and what is left for all
"""
