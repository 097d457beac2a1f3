"""Numbers: means, vectors, distributions and records, in reading order.

* base — the base of all mean oracles
* laplace — Laplace noise
* duchi — Duchi's one-bit mechanism
* piecewise — the piecewise mechanism
* hybrid — the mixture of the last two
* vector — Duchi's mechanism for vectors
* square_wave — the square wave, for distributions
* unfold — the distribution from its counts
* record — records of numbers and categories
"""
