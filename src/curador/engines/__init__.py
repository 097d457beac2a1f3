"""Where the rows live: an engine runs the exact half of a plan and returns integers, which never leave the curator."""
