"""Bounds that nobody knows: refused with the price of learning them, learned privately, and used from then on."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow
import pytest

from curador.accounting.rules.profiles import pure_epsilon
from curador.curator.curator import Curator
from curador.curator.study.samples import salaries
from curador.errors import QuestionRefused
from curador.privacy import PureDP
from curador.query.aggregates.moments import mean
from curador.query.aggregates.quantiles.ranks import bounds
from curador.query.tables.table import Table

LOUD: dict[str, Any] = {"because": "a test", "override": True}

PAY = salaries(5000, seed=7)
FRAME = pyarrow.table({"pay": PAY, "off": -PAY, "n": np.arange(5000) % 50 + 3})


@pytest.fixture
def curator() -> Iterator[Curator]:
    columns = {"pay": "real", "off": "real", "n": "integer"}
    opened = Curator({"people": Table(FRAME, columns=columns)}, budget=PureDP(10**4))
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT AVG(pay) FROM people",
        "SELECT MEDIAN(pay) FROM people",
        "SELECT SUM(pay) FROM people WHERE n > 7",
        "SELECT AVG(pay * 2) FROM people",
        "SELECT COUNT(*) FROM people WHERE pay + 1 > 3",
    ],
)
def test_a_missing_bound_is_refused_with_both_ways_out(curator: Curator, text: str) -> None:
    with pytest.raises(QuestionRefused, match="'pay' has no declared bounds") as refused:
        curator.sql(text, epsilon=1)
    for said in ("Declare bounds for pay", "bounds('pay')", "BOUNDS(pay)"):
        assert said in refused.value.fix
    if "(pay)" in text:
        assert "For epsilon 0.1 it finds" in refused.value.fix
        assert "ranks" in refused.value.fix
    assert curator.history() == ()


def test_both_doors_ask_for_bounds_alike(curator: Curator) -> None:
    built = curator.table("people").where("n > 7").aggregate(pay=bounds("pay"))
    text = "SELECT BOUNDS(pay) AS pay FROM people WHERE n > 7"
    assert curator.plan(text, epsilon=0.5) == built.plan(epsilon=0.5)
    assert pure_epsilon(curator.plan(text, epsilon=0.5).event) == Fraction(1, 2)
    curator.sql(text, epsilon=0.5)
    assert curator.budget().spent == PureDP(0.5)


def test_learned_bounds_hold_most_rows_and_can_be_declared(curator: Curator) -> None:
    # At epsilon 50 the ranks are off by less than 20 of 50 but for a chance below 1e-100.
    for column, values in (("pay", PAY), ("off", -PAY), ("n", np.asarray(FRAME["n"]))):
        release = curator.table("people").aggregate(x=bounds(column)).ask(**LOUD, epsilon=50)
        low, high = release["x_lower"][0], release["x_upper"][0]
        assert isinstance(low, int | float)
        assert isinstance(high, int | float)
        assert all(end == 0 or Fraction(abs(end)).numerator.bit_count() == 1 for end in (low, high))  # powers of two
        inside = np.mean((low <= values) & (values <= high))
        assert inside >= 0.97
        assert np.mean((low / 4 <= values) & (values <= high / 4)) < 0.97  # and they are not just wide
        kind = "integer" if column == "n" else "real"
        declared = Table(FRAME, columns={column: {"type": kind, "bounds": [low, high]}})
        again = Curator({"people": declared}, budget=PureDP(1000))
        value = again.table("people").aggregate(x=mean(column)).ask(**LOUD, epsilon=1000).value
        # Noise is far below 1 % of the range at epsilon 1000; clipping 3 % of rows at a power of two moves it more.
        assert value == pytest.approx(np.clip(values, low, high).mean(), abs=0.01 * (high - low))
        again.close()


def test_learned_bounds_serve_in_the_question_itself(curator: Curator) -> None:
    clipped = "CASE WHEN pay IS NOT NULL THEN GREATEST(LEAST(pay, 131072), 0) END"
    release = curator.table("people").with_columns(pay=clipped).aggregate(pay=mean("pay")).ask(**LOUD, epsilon=1000)
    assert release.value == pytest.approx(np.clip(PAY, 0, 131072).mean(), rel=1e-3)


def test_a_pair_with_a_missing_bound_is_refused_in_the_same_words(curator: Curator) -> None:
    with pytest.raises(QuestionRefused) as refused:
        curator.explain("SELECT CORR(pay, n) AS r FROM people", epsilon=1)
    assert refused.value.code == "no-bounds"
    assert "Declare bounds for" in refused.value.fix


def test_a_group_that_may_be_null_inside_is_explained_and_bought() -> None:
    """Its NULL has no type of its own: the question was explained, and then refused when it was bought."""
    table = Table(pyarrow.table({"k": ["a", "", "b"]}), columns={"k": {"type": "text", "keys": ["a", "b", ""]}})
    opened = Curator({"t": table}, budget=PureDP(10**4))
    for group in ("COALESCE(NULLIF(k, ''), 'unknown')", "COALESCE(CASE WHEN k = 'a' THEN 'much' END, 'little')"):
        sql = f"SELECT {group} AS g, COUNT(*) AS n FROM t GROUP BY g"
        opened.explain(sql, epsilon=1)
        found = opened.sql(sql, epsilon=1000, **LOUD)
        assert dict(zip(found["g"], found["n"], strict=True)).get("unknown", 1) == 1
    opened.close()
