"""From a question to a plan, reading no data.

Reading order:

* tables — tables as they are declared
* language — expressions over columns: their types, bounds and text
* aggregates — the aggregates of a column, one file for each family
* ask — questions, built step by step or written in SQL
* plan — from a question and a budget to a plan
* sql_plan — the exact half of a plan, as statements in a small neutral language
* records — rows themselves, as integers, for what learns from them
* answer — from exact integers to a noised measurement, and from that to an answer
"""
