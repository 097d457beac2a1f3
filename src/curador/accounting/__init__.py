"""Events to guarantees: pure functions, no data, no entropy, no state."""
