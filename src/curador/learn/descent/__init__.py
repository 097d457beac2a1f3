"""Noisy descent: clipped rows, exact sums, Gaussian noise.

Reading order:

* slopes — slopes of losses as integers
* whitened — descent in coordinates made uncorrelated by noisy moments
* sampled — DP-SGD: Poisson samples, clipped rows, noise on the sum
"""
