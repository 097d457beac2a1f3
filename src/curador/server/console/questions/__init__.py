"""A question as pages handle it: built by pointing, priced, rehearsed on made-up rows, and written as code.

Reading order:

* built — a question of one table, put together from parts; as SQL, and back from SQL where it fits
* ranges — groups of a number by ranges
* pricing — a form as a body of the API
* owned — answers to it that the asker has bought already, at another price
* stage — answers from made-up rows
* showing — a release as somebody wants to see it
* code — the same question in Python, on the command line and with curl
"""
