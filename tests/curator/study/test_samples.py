"""The made-up salaries are the course's table, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from curador.curator.study.samples import PUMPS, STREETS, outbreak, salaries
from curador.errors import InvalidParameter
from tests.strategies import NOT_COUNTS


def test_the_course_figures() -> None:
    pay = salaries()
    assert pay.shape == (10_000,)
    assert pay.dtype == np.float64
    assert f"{pay.mean():,.0f}" == "57,943"
    assert (pay > 100_000).sum() == 1173
    assert (pay == 200_000).sum() == 104
    assert pay.min() > 0
    assert pay.max() == 200_000


def test_is_the_notebook_of_the_course() -> None:
    rng = np.random.default_rng(42)
    notebook = np.clip(rng.lognormal(mean=10.8, sigma=0.6, size=10_000), 0, 200_000)
    assert (salaries() == notebook).all()


def test_other_sizes_and_seeds() -> None:
    assert len(salaries(n=7)) == 7
    assert (salaries(n=50, seed=1) == salaries(n=50, seed=1)).all()
    assert (salaries(n=50, seed=1) != salaries(n=50, seed=2)).any()


@pytest.mark.parametrize("bad", NOT_COUNTS)
def test_refuses_bad_sizes(bad: Any) -> None:
    with pytest.raises(InvalidParameter, match="n must"):
        salaries(n=bad)
    if bad != 0 or isinstance(bad, bool):
        with pytest.raises(InvalidParameter, match="seed must"):
            salaries(seed=bad)


def test_most_deaths_are_nearest_to_the_bad_pump() -> None:
    deaths = outbreak()
    rows, columns = np.indices(deaths.shape)
    nearest = np.argmin([np.hypot(rows - r, columns - c) for r, c in PUMPS.values()], axis=0)
    by_pump = {name: int(deaths[nearest == k].sum()) for k, name in enumerate(PUMPS)}
    assert by_pump == {"Broad": 628, "Rupert": 37, "Carnaby": 60, "Warwick": 49}
    assert deaths.shape == (STREETS, STREETS)


def test_an_outbreak_repeats_with_its_seed_only() -> None:
    assert (outbreak(1) == outbreak(1)).all()
    assert (outbreak(1) != outbreak(2)).any()
    with pytest.raises(InvalidParameter, match="seed must"):
        outbreak(seed=-1)
