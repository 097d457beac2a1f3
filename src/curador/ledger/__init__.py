"""Budgets in use: scopes that form a tree, and charges that are spent when reserved and never erased."""
