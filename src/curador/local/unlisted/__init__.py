"""Values that nobody lists: hashes, sketches, heavy hitters."""
