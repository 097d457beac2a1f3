"""From a question and a budget to a plan: what is measured, with which noise, at what cost.

Reading order:

* checked — a question beside its tables: names, types, public keys
* measurement — how every output is made of measures, and how much of a unit counts
* steps — what is done to exact integers: noise, choices; each with its event and code
* items — what there is to pay for, and what an epsilon or a rho buys of each
* split — how a budget is divided with the least error
* allocate — from a budget to steps
* expected — how wrong the answers will be
* identity — what identifies a plan in a ledger: codes and numbers
* facts — a plan as plain values, for whoever puts it into words
* plan — a plan
* planner — a question and a budget to the plan with the least error
* budget — the budget that was asked for, and the least that reaches an accuracy
"""
