"""What can be measured: one file for each family of aggregates."""
