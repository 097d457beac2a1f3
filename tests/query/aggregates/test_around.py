"""Intervals in values for quantiles: cells around what was chosen, and the law of what they cover."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curador as cu
from curador.curator.purchases.kept import opened
from curador.errors import LedgerBroken
from curador.mechanisms.base import AdditiveNoise
from curador.mechanisms.gaussian import IntegerGaussian
from curador.mechanisms.laplace import IntegerLaplace
from curador.mechanisms.sensitivity import Contribution, in_all
from curador.privacy import Neighbors, PureDP
from curador.query.aggregates.measure import AROUND_BITS, Measure, MeasureKind
from curador.query.aggregates.quantiles import around as module
from curador.query.aggregates.quantiles.around import around, cell_ends, counted, interval, most_cells
from curador.query.answer.noisy import from_bytes, to_bytes

FAINT = IntegerLaplace(1, scale=Fraction(1, 100))
"""Noise that is never drawn, of which tests allow less than any difference of ranks."""

small = st.integers(-40, 40)


@given(st.lists(small, min_size=1, max_size=4), st.integers(0, 50), st.integers(0, 50), st.lists(small, max_size=20))
def test_cells_hold_every_value_once_and_each_chosen_one_alone(
    chosen: list[int], below: int, beyond: int, values: list[int]
) -> None:
    low, high = min(chosen) - below, max(chosen) + beyond
    ends = cell_ends(chosen, low, high)
    assert ends[-1] == high
    assert (np.diff(ends) > 0).all()
    assert ends[0] >= low
    starts = np.append(low, ends[:-1] + 1)
    for p in chosen:
        assert p in ends[starts == ends]
    assert len(ends) <= most_cells(Measure(MeasureKind.AROUND, None, low, high), len(set(chosen)))
    seen = np.clip(np.array(values, np.int64), low, high)
    rows = counted(ends, *np.unique(seen, return_counts=True))
    assert rows.tolist() == [int(((a <= seen) & (seen <= b)).sum()) for a, b in zip(starts, ends, strict=True)]


def test_cells_double_in_width_to_both_sides() -> None:
    ends = cell_ends([1000.0], 0, 5000)
    assert np.diff(ends[ends >= 1000])[:-1].tolist() == [1 << j for j in range(11)]
    assert np.diff(ends[ends < 1000])[::-1].tolist() == [1 << j for j in range(9)]


@pytest.mark.parametrize("q", ["0", "1/10", "1/3", "1/2", "3/4", "1"])
def test_without_noise_it_is_the_cells_that_hold_right_values(q: str) -> None:
    """All tables of up to four values among five, around every value that may be chosen."""
    wanted = Fraction(q)
    for size in range(1, 5):
        for values in combinations_with_replacement(range(5), size):
            data = np.array(values)
            right = [y for y in range(5) if (data < y).sum() <= wanted * size <= (data <= y).sum()]
            for p in range(5):
                ends = cell_ends([p], 0, 4)
                rows = counted(ends, *np.unique(data, return_counts=True)) << AROUND_BITS
                found = interval(ends, rows, 0, wanted, FAINT, 0.95, p)
                cells = np.searchsorted(ends, right)
                first = cells.min()
                assert found == (min(p, 0 if first == 0 else ends[first - 1] + 1), max(p, ends[cells.max()]))


@pytest.mark.thin(4)
@pytest.mark.parametrize("q", ["1/2", "9/10", "1/100"])
@pytest.mark.parametrize(
    "noise",
    [IntegerLaplace(1 << AROUND_BITS, scale=512), IntegerGaussian(1 << 16, sigma=700, coordinates=1 << 20)],
    ids=["laplace", "gaussian"],
)
@pytest.mark.parametrize("below", [False, True])
def test_a_right_value_at_an_edge_misses_as_often_as_it_may(q: str, noise: AdditiveNoise, below: bool) -> None:
    """The part q of the rows has one value, the rest another far off: both are right by no row to spare.

    The value beyond the chosen one misses exactly if the noise is too large on one side: 5 % of the time.  Of 6,000
    draws, what is accepted differs by up to four deviations from that; an interval from half the reach would miss 20 %,
    one with half of the misses for the other side 2.5 %.
    """
    wanted = Fraction(q)
    n = 100_000
    values, times = np.array([300, 70_000]), np.array([int(wanted * n), n - int(wanted * n)])
    chosen, right = (301, 300) if below else (69_999, 70_000)
    ends = cell_ends([chosen], 0, 1 << 17)
    exact = counted(ends, values, times) << AROUND_BITS
    drawn = np.asarray(noise.release(np.tile(exact, 6000)))
    missed = 0
    for rows in drawn.reshape(6000, -1):
        low, high = interval(ends, rows, 0, wanted, noise, 0.95, chosen)
        assert low <= chosen <= high
        missed += not low <= right <= high
    assert 0.0387 < missed / 6000 < 0.0613


@pytest.mark.parametrize("confidence", [0.3, 0.5, 0.6])
def test_small_confidences_hold_too(confidence: float) -> None:
    """Beyond one half of misses on one side, no reach is needed: noise is as often below as above."""
    noise, n = IntegerLaplace(1 << AROUND_BITS, scale=512), 100_000
    ends = cell_ends([301], 0, 1 << 17)
    exact = counted(ends, np.array([300, 70_000]), np.array([n // 2, n // 2])) << AROUND_BITS
    drawn = np.asarray(noise.release(np.tile(exact, 2000))).reshape(2000, -1)
    covered = [interval(ends, rows, 0, Fraction(1, 2), noise, confidence, 301)[0] <= 300 for rows in drawn]
    assert np.mean(covered) >= confidence - 4 * np.sqrt(confidence * (1 - confidence) / 2000)


def test_a_unit_moves_the_counts_as_far_as_a_histogram() -> None:
    m, scale = around(Measure(MeasureKind.VALUES, None, 0, 9)), 1 << AROUND_BITS
    kept = Contribution(rows=3, groups=2)
    added = m.sensitivity(kept, Neighbors.ADD_REMOVE, 5)
    swapped = m.sensitivity(kept, Neighbors.REPLACE, 5)
    assert [added.l1, added.l2_squared, added.linf] == [6 * scale, 18 * scale**2, 3 * scale]
    assert [swapped.l1, swapped.l2_squared, swapped.linf] == [12 * scale, 36 * scale**2, 3 * scale]
    # One group of rows that nothing drops: their number is public under replace, which cells they are in is not.
    alone = Contribution(rows=1, groups=1, fewest=1)
    assert m.sensitivity(alone, Neighbors.REPLACE, 1).l1 == 2 * scale
    assert m.sensitivity(in_all(4), Neighbors.ADD_REMOVE, 5).l1 == 4 * scale


def _curator(budget: cu.PureDP | cu.ApproxDP | cu.ZCDP) -> cu.Curator:
    rng = np.random.default_rng(3)
    pay = np.where(rng.random(3000) < 0.3, 0, np.minimum(rng.lognormal(10, 0.8, 3000), 200_000))
    columns = {"pay": {"type": "real", "bounds": [0, 200_000], "step": 1}, "sex": {"type": "text", "keys": ["F", "M"]}}
    data = pa.table({"pay": pay, "sex": rng.choice(["F", "M"], 3000)})
    return cu.Curator({"people": cu.Table(data, columns=columns)}, budget=budget)


@pytest.mark.parametrize(
    ("budget", "price"),
    [
        (cu.PureDP(100), {"epsilon": 1}),
        (cu.ApproxDP(100, 0.01), {"epsilon": 1, "delta": 1e-6, "noise": "gaussian"}),
        (cu.ZCDP(100), {"rho": 0.02}),
    ],
)
def test_answers_and_arithmetic_on_them_have_intervals_in_values(budget: cu.PureDP, price: dict[str, float]) -> None:
    curator = _curator(budget)
    asked = "SELECT sex, MEDIAN(pay) AS m, QUANTILE(pay, 0.75) AS q, {} FROM people GROUP BY sex"
    release = curator.sql(asked.format("MEDIAN(pay) / 12 AS monthly"), **price)  # type: ignore[arg-type]
    assert not release.ranks
    for i in range(2):
        low, high = release.interval("m", i)
        assert 0 <= low <= release.numbers("m")[i] <= high <= 200_000
        assert high - low < 10_000
        assert release.interval("monthly", i) == pytest.approx((low / 12, high / 12))
    # The same measurement at another confidence, in other words and with other arithmetic, is free.
    again = curator.sql(asked.format("QUANTILE(pay, 0.75) - MEDIAN(pay) AS gap"), confidence=0.8, **price)  # type: ignore[arg-type]
    assert again.repeated
    assert again["m"] == release["m"]
    for i in range(2):
        inner, outer = again.interval("m", i), release.interval("m", i)
        assert outer[0] <= inner[0] <= inner[1] <= outer[1]
        assert again.interval("gap", i)[0] <= again.numbers("gap")[i] <= again.interval("gap", i)[1]


def test_quantiles_of_a_column_share_their_cells_and_without_an_interval_buy_none() -> None:
    curator = _curator(cu.PureDP(100))
    both = curator.plan("SELECT MEDIAN(pay) AS m, QUANTILE(pay, [0.1, 0.9]) AS q FROM people", epsilon=1)
    assert [step["step"] for step in both.facts["steps"]] == ["ranks", "ranks", "around"]
    assert {e.output: e.interval is not None for e in both.expected} == dict.fromkeys(["m", "q_p10", "q_p90"], True)
    alone = curator.plan("SELECT APPROX_QUANTILE(pay, 0.5) AS m FROM people", epsilon=1)
    assert [step["step"] for step in alone.facts["steps"]] == ["ranks"]
    assert alone.expected[0].interval is None
    half = curator.plan("SELECT MEDIAN(pay) AS m FROM people", epsilon=1)
    assert 0.4 < half.steps[0].share < 0.6
    assert "interval in values, to about" in half.explain()
    assert "intervalo en valores" in half.explain("es")


def test_counts_of_other_cells_are_no_measurement() -> None:
    curator = _curator(cu.PureDP(100))
    made = curator.plan("SELECT sex, MEDIAN(pay) AS m FROM people GROUP BY sex", epsilon=1)
    release = curator.ask("SELECT sex, MEDIAN(pay) AS m FROM people GROUP BY sex", epsilon=1)
    _, stored = opened(curator.ledger.answer(release.charge) or b"")
    assert to_bytes(from_bytes(stored, made), made) == stored
    good = json.loads(stored)
    ((code, rows),) = good["around"]
    for near in ([[code, [rows[0][:-1], rows[1]]]], [[code, rows[:1]]], []):
        with pytest.raises(LedgerBroken):
            from_bytes(json.dumps({**good, "around": near}).encode(), made)


def test_an_empty_group_has_an_interval_too() -> None:
    curator = _curator(cu.PureDP(100))
    release = curator.sql("SELECT MEDIAN(pay) AS m FROM people WHERE pay < 0", epsilon=1)
    low, high = release.interval("m")
    assert low <= release.numbers("m")[0] <= high
    assert high - low > 100_000
    assert curator.plan("SELECT MEDIAN(pay) AS m FROM people", epsilon=1).guarantee == PureDP(1)


@pytest.mark.parametrize(
    "noise", [IntegerLaplace(1, scale=300), IntegerGaussian(1, sigma=400)], ids=["laplace", "gaussian"]
)
def test_a_law_is_looked_up_few_times_and_fewer_only_widen(
    noise: AdditiveNoise, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 90 quantiles it was looked up for every cell, free of charge, which took minutes."""
    looked: list[int] = []
    reach = module._reach

    def counting(noise: AdditiveNoise, q: Fraction, before: int, cells: int, miss: float) -> float:
        looked.append(before)
        return reach(noise, q, before, cells, miss)

    monkeypatch.setattr(module, "_reach", counting)
    ends = np.arange(200, dtype=np.int64)
    rng, q = np.random.default_rng(5), Fraction(1, 3)
    rows = (rng.integers(0, 40, 200) << AROUND_BITS) + rng.normal(0, 400, 200).round().astype(np.int64)
    found = {}
    for looks in (10**6, 4, 0):
        looked.clear()
        found[looks] = interval(ends, rows, 0, q, noise, 0.95, 66, module.Looks(looks))
        assert len(looked) <= looks
    (a, b), (c, d), (e, f) = (found[looks] for looks in (0, 4, 10**6))
    assert a <= c <= e <= f <= d <= b
    assert b - a < 2 * (f - e) + 4


@pytest.mark.parametrize(
    "noise", [IntegerLaplace(1, scale=Fraction(7, 2)), IntegerGaussian(1, sigma=5)], ids=["laplace", "gaussian"]
)
@pytest.mark.parametrize("miss", [0.5, 0.05, 1e-6])
def test_the_closed_form_is_beyond_the_law(noise: AdditiveNoise, miss: float) -> None:
    bounds = module._bounds(noise, Fraction(1, 5), 40, miss / 2)
    for before in (0, 1, 20, 39, 40):
        assert module._reach(noise, Fraction(1, 5), before, 40, miss / 2) <= bounds[before] * (1 + 1e-9)
