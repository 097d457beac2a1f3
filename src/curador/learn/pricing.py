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
        code="needs-delta",
    )
