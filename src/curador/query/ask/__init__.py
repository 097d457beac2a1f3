"""Questions, built step by step or written in SQL.

Reading order:

* question — a question, small and immutable
* builder — questions built step by step
* sql — questions written in SQL
"""
