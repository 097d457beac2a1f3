"""What limits on one unit keep: from one histogram, in which each unit is counted once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import curador as cu
from curador.mechanisms.laplace import IntegerLaplace
from curador.query.answer.shares import UnitHistogram, bin_edges


def histogram(each: NDArray[np.int64], most: int, noise: IntegerLaplace, draw: bool) -> UnitHistogram:
    edges = np.array(bin_edges(most))
    counts = np.histogram(np.minimum(each, most), edges)[0]
    noised = np.asarray(noise.release(counts)) if draw else counts
    return UnitHistogram(edges[:-1].astype(float), edges[1:] - 1.0, noised.astype(float), noise)


FAINT = IntegerLaplace(1, scale=Fraction(1, 1000))


@settings(max_examples=40)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=30), st.sampled_from([1, 2, 5, 10, 20, 50]))
def test_without_noise_the_share_is_known_up_to_the_width_of_bins(each: list[int], limit: int) -> None:
    units = np.array(each)
    found = histogram(units, 60, FAINT, draw=False)
    true = np.minimum(units, limit).sum() / np.minimum(units, 60).sum()
    low, high = found.within(limit, 0.95)
    assert low <= true <= high
    assert high - low <= 0.25
    if max(each) <= 10:
        assert found.share(limit) == pytest.approx(true)
        assert high - low <= 0.01


@pytest.mark.slow
def test_intervals_of_shares_cover_and_are_not_idle() -> None:
    """60 draws of 3 shares: by the law of each at least 95 %; fewer than 90 % of all would be far out."""
    units = np.minimum(np.random.default_rng(2).geometric(0.2, 2000), 40)
    noise = IntegerLaplace(1, 1)
    tried = [1, 5, 20]
    true = {n: np.minimum(units, n).sum() / units.sum() for n in tried}
    hit, widths = 0, []
    for _ in range(60):
        found = histogram(units, 40, noise, draw=True)
        for n in tried:
            low, high = found.within(n, 0.95)
            hit += low <= true[n] <= high
            widths.append(high - low)
            assert abs(found.share(n) - true[n]) < 0.05
    assert hit / 180 > 0.9
    assert np.mean(widths) < 0.05


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_limits_are_one_histogram_in_which_a_unit_counts_once(neighbors: str) -> None:
    each = np.tile([1, 2, 3, 30], 500)
    data = pa.table({"pid": np.repeat(np.arange(2000), each)})
    kept = {"groups": 3, "rows": 7}
    table = cu.Table(data, unit="pid", columns={"pid": "integer"}, contribution=kept, neighbors=neighbors)
    curator = cu.Curator({"visits": table}, budget=cu.PureDP(5))
    found = curator.table("visits").limits(most=50, epsilon=1)
    assert found.tried == (1, 2, 5, 10, 20, 50)
    for n, share in found.shares.items():
        true = np.minimum(each, n).sum() / each.sum()
        low, high = found.within(n)
        assert low <= true <= high
        assert share == pytest.approx(true, abs=0.05)
    assert found.least(0.9) == 50
    assert curator.budget("visits").remaining == cu.PureDP(4)
    again = curator.table("visits").limits(most=50, epsilon=1, confidence=0.5)
    assert again.release.repeated
    assert again.within(2)[0] > found.within(2)[0]
    noise = found.histogram.noise
    assert isinstance(noise, IntegerLaplace)
    assert noise.scale == (1 if neighbors == "add-remove" else 2)
