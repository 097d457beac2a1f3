"""From a guarantee to how much noise it asks for."""

from __future__ import annotations

from fractions import Fraction

from curador.accounting.rules.gaussian import gaussian_sigma
from curador.errors import InvalidParameter
from curador.numbers import rational, sqrt_up
from curador.privacy import ZCDP, ApproxDP, Guarantee


def mu_of(guarantee: Guarantee) -> Fraction:
    """The distance of two Gaussians of deviation 1 that a guarantee allows.

    Any Gaussian releases whose squared ratios of sensitivity and deviation add up to its square keep the guarantee
    [DRS22].

    >>> round(float(mu_of(ApproxDP(1, 1e-5))), 4)
    0.2681
    """
    if isinstance(guarantee, ApproxDP) and guarantee.delta:
        return 1 / gaussian_sigma(rational(guarantee.epsilon), rational(guarantee.delta), 1)
    if isinstance(guarantee, ZCDP):
        return 2 * rational(guarantee.rho) / sqrt_up(2 * rational(guarantee.rho))
    raise InvalidParameter(
        "This model learns with Gaussian noise, which an epsilon alone does not pay for.",
        fix="Give epsilon and delta, or rho.",
        code="model-needs-delta",
    )


SLACK = 1 + Fraction(1, 1 << 24)
"""Covers how accountants round, so that what was promised is kept with it."""


def deviation_for(length: Fraction, mu: Fraction, coordinates: int) -> Fraction:
    """The deviation of Gaussian noise on a vector that moves by at most ``length``, for a distance of ``mu``.

    Guarantee: the event of such a :class:`~curador.mechanisms.gaussian.Gaussian` is at most mu: the grid of the noise,
    whose step is at most 2**-40 of the deviation, adds that times the root of ``coordinates`` to the length.

    >>> round(float(deviation_for(Fraction(3), Fraction(1, 2), 100)), 5)
    6.0
    """
    lost = sqrt_up(Fraction(coordinates)) * Fraction(1, 1 << 40)
    if mu <= 2 * lost:
        raise InvalidParameter(
            f"This guarantee is too small for {coordinates:,} numbers.",
            fix="Give a larger one, or fewer features.",
            code="guarantee-too-small",
        )
    return length / (mu - lost) * SLACK
