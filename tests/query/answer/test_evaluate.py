"""Expressions over an answer have the values that DuckDB gives them; what has no value is NULL, and nothing is NaN."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.query.answer.evaluate import evaluated, rounded
from curador.query.ask.sql.answers import Answers
from curador.query.ask.sql.expressions import Reader, parse_expression
from curador.query.ask.sql.text import expression
from curador.query.language import expressions as ex

COLUMNS: dict[str, list[Any]] = {
    "g": ["a", "a", "a", "b", "b", "b", "b"],
    "n": [7, 0, -12, 40, None, 7, 3],
    "m": [2.5, -0.125, 1e12, None, 0.0, 2.5, 1e-9],
    "s": [3, 4, 0, 0, 5, -6, 7],
}
TABLE = "(VALUES " + ", ".join(
    "(" + ", ".join("NULL" if x is None else repr(x) for x in row) + f", {i})"
    for i, row in enumerate(zip(*COLUMNS.values(), strict=True))
)
TABLE += ") AS t(g, n, m, s, i)"


def read(text: str) -> ex.Expr:
    """An expression whose names are columns of an answer by groups g."""
    rows = Reader(text, lambda node: ex.Name(node.name))
    answers = Answers(rows, {ex.Name("g"): "g"}, lambda e: False)
    object.__setattr__(answers, "derived", [_Column(name) for name in COLUMNS])
    return answers.read(expression(text))


class _Column:
    def __init__(self, name: str) -> None:
        self.name = name


@pytest.mark.parametrize(
    "text",
    [
        "n + m * 2 - s",
        "n / s",
        "n / NULLIF(s, 0)",
        "n // NULLIF(s, 0)",
        "n % NULLIF(s, 0)",
        "-n",
        "ABS(n) + ABS(m)",
        "LEAST(n, m, s)",
        "GREATEST(n, m, s)",
        "COALESCE(n, s)",
        "NULLIF(n, 7)",
        "ROUND(n / 3.0, 1)",
        "ROUND(m)",
        "ROUND(s, -1)",
        "FLOOR(n / 2.0) + CEIL(n / 2.0) + TRUNC(n / 2.0)",
        "SQRT(ABS(n))",
        "LN(ABS(n) + 1) + EXP(s / 10.0)",
        "CAST(n AS DOUBLE) / 4",
        "CASE WHEN n > s THEN n WHEN s > 3 THEN s ELSE 0 END",
        "CASE g WHEN 'a' THEN n ELSE s END",
        "n > s AND NOT m < 1 OR s IN (0, 5)",
        "n IS NULL OR n IS NOT NULL AND s BETWEEN 0 AND 4",
        "SUM(n) OVER ()",
        "SUM(s) OVER (PARTITION BY g)",
        "AVG(n) OVER (PARTITION BY g)",
        "MIN(n) OVER () + MAX(n) OVER (PARTITION BY g)",
        "COUNT(*) OVER (PARTITION BY g)",
        "s * 100.0 / SUM(s) OVER (PARTITION BY g)",
        "ROW_NUMBER() OVER (ORDER BY s DESC)",
        "RANK() OVER (ORDER BY n)",
        "DENSE_RANK() OVER (PARTITION BY g ORDER BY n DESC)",
        "RANK() OVER (ORDER BY m DESC, n)",
    ],
)
def test_values_are_those_of_duckdb(text: str) -> None:
    found = evaluated(read(text), COLUMNS, 7)
    there = [row[0] for row in duckdb.execute(f"SELECT {text} FROM {TABLE} ORDER BY i").fetchall()]
    for here, other in zip(found, there, strict=True):
        if other is None or (isinstance(other, float) and not math.isfinite(other)):
            assert here is None
        else:
            assert here == pytest.approx(float(other), rel=1e-12) if not isinstance(other, bool) else here is other


@pytest.mark.parametrize(
    "text", ["n / 0", "1 / s", "n // s", "m % s", "SQRT(-1)", "LN(0)", "EXP(1000)", "m * 1e300 * 1e300"]
)
def test_what_has_no_value_is_null(text: str) -> None:
    found = evaluated(read(text.replace("1e300", "1e15")), {**COLUMNS, "m": [1e300] * 7, "s": [0] * 7}, 7)
    assert list(found) == [None] * 7


@given(st.floats(-1e9, 1e9), st.integers(0, 6))
def test_rounding_is_nearest_and_half_goes_away_from_zero(x: float, digits: int) -> None:
    found = rounded(x, digits)
    assert abs(found - x) <= 0.5 * 10.0**-digits * (1 + 1e-6) + abs(x) * 2.0**-50
    assert rounded(found, digits) == found
    assert rounded(-x, digits) == -found


def test_nan_is_null() -> None:
    assert evaluated(parse_expression("n + 1"), {"n": [math.nan, 1.0]}, 2) == [None, 2.0]


def test_whole_numbers_that_no_text_would_hold_are_null() -> None:
    """A product of 4,300 digits was paid for, and could be neither written nor shown."""
    product = ex.Arithmetic("*", ex.Name("n"), ex.Name("m"))
    columns = {"n": (1, 2, -2, 0), "m": (2**899,) * 4}
    assert evaluated(product, columns, 4) == [2**899, None, None, 0]


@pytest.mark.parametrize("way", ["n * {}", "SUM(n * {}) OVER ()", "(n * {}) // 3", "ROUND(n * {}, -2)", "n - {}"])
def test_whole_numbers_beyond_all_doubles_are_null(way: str) -> None:
    """Nobody can draw them, and Python writes none of more than 4,300 digits: a release of them was never read."""
    for times in (17, 40):
        found = evaluated(read(way.format(" * ".join(["4000000000000000000"] * times))), {**COLUMNS, "n": [2] * 7}, 7)
        assert found == [None] * 7
    found = evaluated(read(way.format(" * ".join(["4000000000000000000"] * 14))), {**COLUMNS, "n": [2] * 7}, 7)
    assert all(type(x) is int for x in found)
