"""Commands about local privacy."""
