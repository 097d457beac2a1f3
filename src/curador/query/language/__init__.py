"""Expressions over columns: their kinds, their types and bounds, and their text.

Reading order:

* nodes — the base of all expressions: immutable, of limited size, readable from JSON
* expressions — the expressions there are
* trees — whole expressions: the columns they read, names replaced, read back from JSON
* types — the type of a value: its bounds, grid and public keys
* intervals — interval arithmetic on grids
* functions — functions of one row's values
* unbounded — the refusal of what needs bounds where there are none
* bounds — the type and bounds of an expression
* resolve — texts beside dates read as dates, casts that change nothing left out
* text — an expression as SQL, for messages
* rows — the rows that a question is about: a table, one row per unit, several tables together
* clip — counts and sums of one unit's rows, clipped to what its contribution allows
* answers — expressions over the columns of a noised answer
"""
