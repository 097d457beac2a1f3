"""Budgets in use: scopes that form a tree, and charges that are spent when reserved and never erased.

:func:`curador.ledger.opening.open_ledger` opens one; :mod:`curador.ledger.contract` says what it does.
"""
