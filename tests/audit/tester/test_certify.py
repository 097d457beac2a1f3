"""The limits hold as often as they say, by adding up the binomial law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from curador.audit.tester.certify import at_least, at_most, nearly


@pytest.mark.parametrize("of", [1, 7, 100])
@pytest.mark.parametrize("miss", [0.1, 1e-4])
def test_limits_miss_no_more_than_they_say(of: int, miss: float) -> None:
    counts = np.arange(of + 1)
    low, high = at_least(counts, of, miss), at_most(counts, of, miss)
    worst = 0.0
    for p in np.concatenate([np.linspace(0, 1, 201), low[1:] * (1 - 1e-9), high[:-1] * (1 + 1e-9)]):
        law = stats.binom.pmf(counts, of, min(p, 1))
        too_high, too_low = law[low > p].sum(), law[high < p].sum()
        assert max(too_high, too_low) <= miss * (1 + 1e-9)
        worst = max(worst, too_high, too_low)
    assert worst > 0.99 * miss  # and are no wider than they must be


def test_the_fast_limits_are_near_the_exact_ones() -> None:
    counts = np.array([20, 100, 500])
    assert nearly(counts, 1000, 1e-3, -1) == pytest.approx(at_least(counts, 1000, 1e-3), rel=0.2)
    assert nearly(counts, 1000, 1e-3, 1) == pytest.approx(at_most(counts, 1000, 1e-3), rel=0.1)
