"""What may be done through the server, and by whom: each file a router.

Reading order:

* health — whether it lives, is ready, and how many requests there were
* tables — the declarations: public, and free
* asking — explain, ask, how many, batches
* releases — what was bought, shown again; what is public
* models — learned, read again, scored
* people — tokens, grants, revocations, budgets
* ledgers — history, decisions, verification, prepared copies
* audits — tests of mechanisms
* jobs — long work, how far it is and how it ended
* collect — local reports from devices
"""
