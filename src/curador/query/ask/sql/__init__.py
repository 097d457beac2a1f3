"""SQL text to a question."""
