"""A table as pages declare it: what somebody typed, read with every mistake at once, and never a row of the data.

Reading order:

* sent — a form with a file in it, read as it comes
* typed — numbers, dates and lists as people write them
* written — where the rows are, and how a CSV file is written
* declared — unit, limits and columns, from a form to a section of the study file
* filled_in — a section of the study file as a form to change it
* told — a declaration in words
* fit — how many rows fit what is declared: its price, and what was bought
"""
