"""Attacks on models: who was among the rows, and what they were.

Reading order:

* guesses — what right guesses about many people prove of an epsilon, from one run
* scores — how well a model knows a row
* canaries — rows that are put in by coins, in one training run
* curves — true against false alarms, and the most that a guarantee allows
* shadows — membership by likelihood ratio, with shadow models
* attribute — a missing value guessed by what a model says of the rest
* tables — canaries in made-up tables of a curator's declarations
"""
