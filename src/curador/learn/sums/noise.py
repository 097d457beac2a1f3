"""Which noise a vector of sums gets: Laplace or Gaussian, whichever is less, chosen by bounds and guarantee alone."""

from __future__ import annotations

from fractions import Fraction

from curador.learn.pricing import deviation_for, mu_of
from curador.mechanisms.gaussian import Gaussian
from curador.mechanisms.laplace import Laplace
from curador.numbers import rational, sqrt_up
from curador.privacy import ApproxDP, Guarantee, Neighbors, PureDP


def least_noise(
    guarantee: Guarantee, l1: Fraction, l2_squared: Fraction, coordinates: int, neighbors: Neighbors, rounds: int = 1
) -> Gaussian | Laplace:
    """The noise for a vector that moves by at most ``l1`` in total, and the root of ``l2_squared`` in length.

    Of ``rounds`` such vectors, each after the one before it, all together keep the guarantee.

    >>> least_noise(PureDP(1), Fraction(2), Fraction(2), 4, Neighbors.ADD_REMOVE).kind
    'laplace'
    >>> many = least_noise(ApproxDP(1, 1e-5), Fraction(400), Fraction(400), 400, Neighbors.ADD_REMOVE)
    >>> many.kind, least_noise(ApproxDP(1, 1e-5), Fraction(2), Fraction(2), 4, Neighbors.ADD_REMOVE).kind
    ('gaussian', 'laplace')
    """
    choices: list[Gaussian | Laplace] = []
    if isinstance(guarantee, PureDP | ApproxDP):
        epsilon = rational(guarantee.epsilon) / rounds
        choices.append(Laplace(l1, epsilon, coordinates=coordinates, neighbors=neighbors))
    if not isinstance(guarantee, PureDP) and (not isinstance(guarantee, ApproxDP) or guarantee.delta):
        length = sqrt_up(l2_squared)
        sigma = deviation_for(length, mu_of(guarantee) / sqrt_up(Fraction(rounds)), coordinates)
        choices.append(Gaussian(length, sigma=sigma, coordinates=coordinates, neighbors=neighbors))
    return min(choices, key=lambda noise: noise.variance)
