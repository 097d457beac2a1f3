"""Questions, built step by step or written in SQL.

Reading order:

* question — one small immutable question
* builder — questions built step by step
* sql — questions written in SQL
"""
