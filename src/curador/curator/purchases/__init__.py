"""What can be bought beside a single question, and what was bought before.

Reading order:

* batch — several questions for one charge
* running — a count released day by day, paid for at opening
* tallied — the rows of a training run where they are, and sums over them inside the engine
* plain — what is learned, said in plain values
* training — a model learned from a table's rows
* turns — purchases that wait for each other
* known — what was bought before
* kept — a measurement as the ledger keeps it, with the declarations it was made under
"""
