"""The collector: messages in, estimates out."""
