"""From exact integers to noisy measurements, and from those to answers."""
