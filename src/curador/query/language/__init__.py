"""Expressions over columns: their kinds, their types and bounds, and their text.

Reading order:

* nodes — the base of all expressions: immutable, of limited size, readable from JSON
* expressions — the expressions there are
* trees — whole expressions: the columns they read, names replaced, read back from JSON
* types — the type of a value: its bounds, grid and public keys
* intervals — interval arithmetic on grids
* bounds — the type and bounds of an expression
* text — an expression as SQL, for messages
* answers — expressions over the columns of a noised answer
"""
