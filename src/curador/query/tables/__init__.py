"""Tables as they are declared: columns, bounds, keys, units, and where the rows are."""
