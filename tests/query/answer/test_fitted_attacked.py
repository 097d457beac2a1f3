"""Grouping sets as an attacker met them: large numbers, renamed groups, and modes of keyed columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import curador as cu

KEYS = list(range(20))


def held(bounds: tuple[int, int], rows: int) -> cu.Curator:
    i = np.arange(rows)
    data = pa.table({"g": i % 20, "x": np.where(i // 20 % 2 == 0, bounds[0], bounds[1])})
    columns: dict[str, Any] = {
        "g": {"type": "integer", "keys": KEYS, "nullable": False},
        "x": {"type": "integer", "bounds": list(bounds), "nullable": False},
    }
    return cu.Curator({"t": cu.Table(data, columns=columns)}, budget=cu.PureDP(10**6))


def asked(curator: cu.Curator, text: str, epsilon: int = 1) -> cu.Release:
    return curator.sql(text, epsilon=epsilon, because="a test", override=True)


@pytest.mark.parametrize("rows", [4000, 8000, 10000])
def test_totals_of_squares_do_not_wrap_around(rows: int) -> None:
    found = asked(held((0, 10**8), rows), "SELECT g, STDDEV(x) AS s FROM t GROUP BY ROLLUP (g)", 100)
    low, high = found.intervals["s"][-1]
    assert low <= 5e7 * (1 + 1e-3)
    assert high >= 5e7 * (1 - 1e-3)
    assert found["s"][-1] == pytest.approx(5e7, rel=0.05)


def test_totals_beyond_64_bits_are_sums_of_their_parts() -> None:
    found = asked(held((0, 2**60), 40), "SELECT g, SUM(x) AS s FROM t GROUP BY ROLLUP (g)", 1000)
    numbers: list[Any] = list(found["s"])
    assert numbers[-1] == sum(numbers[:-1])
    assert numbers[-1] == pytest.approx(20 * 2.0**60, rel=0.1)


def test_groups_that_an_outer_query_swaps_keep_their_sets() -> None:
    i = np.arange(1000)
    data = pa.table({"a": (i < 900) * 1, "b": i % 2})
    columns: dict[str, Any] = {name: {"type": "integer", "keys": [0, 1], "nullable": False} for name in "ab"}
    curator = cu.Curator({"t": cu.Table(data, columns=columns)}, budget=cu.PureDP(10**6))
    inner = "SELECT a, b, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((a, b), (a))"
    found = asked(curator, f"SELECT q.a AS b, q.b AS a, n FROM ({inner}) q", 1000)
    pairs: list[tuple[Any, Any]] = list(zip(found["a"], found["n"], strict=True))
    by_a = sorted(n for a, n in pairs if a is None)
    assert by_a == pytest.approx([100, 900], abs=5)


@pytest.mark.parametrize("text", ["SELECT MODE(g) AS m FROM t", "SELECT g, TOP_K(1) AS n FROM t GROUP BY g"])
def test_the_largest_of_keyed_groups_can_be_bought(text: str) -> None:
    assert len(asked(held((0, 1), 400), text).columns) == 2
