"""One rule per event for each kind of account."""
