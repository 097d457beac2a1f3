"""Where a ledger is kept: in memory, in a SQLite file, in PostgreSQL."""
