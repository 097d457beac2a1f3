"""Expressions over columns: what they are, what is known of their values, and how they are written.

Reading order:

* nodes — the base of all expressions: immutable, of limited size, readable from JSON
* expressions — the expressions there are
* trees — whole expressions: the columns they read, names replaced, read back from JSON
* types — what is known of a value before any row is read
* intervals — interval arithmetic on grids
* bounds — the type and bounds of an expression
* text — an expression as SQL, for messages
"""
