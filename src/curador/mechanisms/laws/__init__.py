"""Laws of what is made of several noises.

Reading order:

* sums — how far weighted sums of independent noises are from 0
* tails — the chance that a sum of a few Laplace noises exceeds a size, in many places at once
"""
