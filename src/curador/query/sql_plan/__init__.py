"""The exact half of a plan, as statements in a small neutral language."""
