"""Laws of what is made of several noises.

Reading order:

* sums — how far weighted sums of independent noises are from 0
"""
