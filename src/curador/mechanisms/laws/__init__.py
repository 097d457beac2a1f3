"""Laws of functions of several noises.

Reading order:

* sums — the distance of weighted sums of independent noises from 0
* tails — the chance that a sum of a few Laplace noises exceeds a size, in many places at once
"""
