"""What every local task is made of."""
