"""Questions, built step by step or written in SQL."""
