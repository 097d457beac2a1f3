"""Commands about what was spent, and may be.

Reading order:

* budgets — budget, grant, renew, revoke
* histories — history
* ledgers — ledger verify, ledger restore
"""
