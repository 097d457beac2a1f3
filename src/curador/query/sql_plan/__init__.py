"""The exact half of a plan: the statements that an engine runs, in a small neutral SQL language.  Reading order:

* ``ir``           the neutral SQL language: the closed set of nodes that trees are made of
* ``exact``        the exact half of a plan: trees, and the columns to read for them
* ``expressions``  expressions as trees over columns as read
* ``truncate``     cutting every unit to a number of groups and of rows in each
* ``group_index``  the number of each row's public key
* ``joins``        the tables of a question side by side
* ``prepared``     truncation done once, stored as ranks beside a copy of a table
* ``lower``        from a checked question to the exact half of its plan
"""
