"""The folder outside the database: the key, and a log of how far the history had come and what it had come to.

Reading order:

* keep — the folder: the key, and files made whole or not at all
* summary — what a history comes to without its charges, and how an older copy is brought to it
* log — the anchor: the marks of a ledger, in a file of that folder
* decided — scopes and tokens as sealed entries say them, whatever the tables of the database hold.
"""
