"""The product: holds tables, budgets and a ledger, and is the only maker of releases."""
