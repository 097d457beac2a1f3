"""The exact half of a plan, as statements in a small neutral language.

Reading order:

* ir — the neutral language: the closed set of nodes that statements are made of
* exact — statements, and the columns that an engine reads for them
* bindings — operands that are used several times, bound to names
* calendar — dates as day numbers: exact integer arithmetic
* functions — functions in the neutral language
* expressions — expressions in the neutral language
* joins — joined tables
* sources — the rows of a question: tables, one row per unit, several tables together
* group_index — the index of each row's public group
* truncate — the rows that each unit keeps
* lower — a checked question to its statements
* prepared — truncation done once, for many questions
"""
