"""From a guarantee to noise: the grid of the noise is paid for, however many numbers there are."""

from __future__ import annotations

from fractions import Fraction

import pytest

from curador.errors import InvalidParameter
from curador.learn.pricing import SLACK, deviation_for
from curador.mechanisms.gaussian import Gaussian


@pytest.mark.parametrize("mu", [Fraction(10), Fraction(1, 4), Fraction(1, 10**6)])
@pytest.mark.parametrize("coordinates", [1, 10**4, 10**8])
def test_the_event_is_at_most_mu(mu: Fraction, coordinates: int) -> None:
    event = Gaussian(3, sigma=deviation_for(Fraction(3), mu, coordinates), coordinates=coordinates).event
    assert event.sensitivity / event.sigma <= mu
    assert event.sensitivity / event.sigma > mu * Fraction(98, 100)


def test_a_fixed_slack_would_not_do() -> None:
    mu, coordinates = Fraction(1, 10**6), 10**8
    event = Gaussian(3, sigma=3 / mu * SLACK, coordinates=coordinates).event
    assert event.sensitivity / event.sigma > mu


def test_a_guarantee_below_the_grid_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="too small"):
        deviation_for(Fraction(1), Fraction(1, 2**40), 100)
