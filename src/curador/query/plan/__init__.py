"""From a question and a budget to a plan: what is measured, with which noise, at what cost.

Reading order:

* checked — a question checked against its tables: names, types, public keys
* measurement — how every output is made of measures, and how much of a unit counts
* steps — the operations on exact integers: noise, choices; each with its event and code
* items — the items that a question pays for, and what an epsilon or a rho buys of each
* split — how a budget is divided with the least error
* allocate — from a budget to steps
* expected — how wrong the answers will be
* identity — the identity of a plan in a ledger: codes and numbers
* facts — a plan as plain values, to be put into words elsewhere
* plan — a plan
* planner — a question and a budget to the plan with the least error
* budget — the budget that was asked for, and the least that reaches an accuracy
"""
