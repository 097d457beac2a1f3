"""Exact noise from random bits; the only room that touches entropy.

Reading order:

* entropy — random bits from the operating system
* decide — exact yes-or-no decisions about uniform numbers
* coins — uniform integers, biased coins and weighted choices
* table — inversion of an exact distribution function by table
* arrays — parts shared by the array samplers
* laplace — Laplace noise on the integers
* gaussian — Gaussian noise on the integers
* real — Laplace and Gaussian noise on real numbers
"""

from curador.noise.coins import (
    bernoulli,
    bernoulli_array,
    bernoulli_exp,
    bernoulli_exp_array,
    choose,
    uniform_below,
    uniform_below_array,
)
from curador.noise.entropy import SYSTEM, Entropy, SystemEntropy
from curador.noise.gaussian import DiscreteGaussian, RoundedGaussian
from curador.noise.laplace import DiscreteLaplace, RoundedLaplace
from curador.noise.real import grid_exponent, real_gaussian, real_gaussian_one, real_laplace, real_laplace_one, step

__all__ = [
    "SYSTEM",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Entropy",
    "RoundedGaussian",
    "RoundedLaplace",
    "SystemEntropy",
    "bernoulli",
    "bernoulli_array",
    "bernoulli_exp",
    "bernoulli_exp_array",
    "choose",
    "grid_exponent",
    "real_gaussian",
    "real_gaussian_one",
    "real_laplace",
    "real_laplace_one",
    "step",
    "uniform_below",
    "uniform_below_array",
]
