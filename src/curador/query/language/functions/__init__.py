"""Functions of one row's values: their types, bounds and text.

Reading order:

* numbers — functions of numbers, casts, and functions that are worked out for public values at planning
* curves — square roots, logarithms and exponentials
* dates — functions of dates: the calendar on day numbers
* moments — functions of timestamps
* texts — functions of texts: on public keys at planning, or by bytes
"""
