"""Expressions over columns: their kinds, their types and bounds, and their text.

Reading order:

* nodes — the base of all expressions: immutable, of limited size, readable from JSON
* expressions — the expressions there are
* trees — whole expressions: the columns they read, names replaced, read back from JSON
* types — the type of a value: its bounds, grid and public keys
* intervals — interval arithmetic on grids
* functions — functions of numbers, casts, and functions that are worked out for public values at planning
* curves — square roots, logarithms and exponentials
* dates — functions of dates: the calendar on day numbers
* moments — functions of timestamps
* texts — functions of texts: on public keys at planning, or by bytes
* bounds — the type and bounds of an expression
* text — an expression as SQL, for messages
* rows — the rows that a question is about: a table, one row per unit, several tables together
"""
