"""The parser that questions are read with.

Reading order:

* dialect — DuckDB's words and signs, and a parser with an end
* reasons — why words are refused, and what is written instead
"""
