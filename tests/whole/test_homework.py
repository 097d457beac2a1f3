"""The five statistics of the course's homework, on Adult: from SQL and from the builder, with the same plan."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from statistics import mean as average
from typing import Any

import pytest

from curador.accounting.rules.profiles import pure_epsilon
from curador.curator.curator import Curator
from curador.curator.table import CuratorTable
from curador.errors import BudgetExceeded
from curador.privacy import PureDP
from curador.query.aggregates.counts import count
from curador.query.aggregates.moments import mean
from curador.query.tables.table import Table

ADULT = Path(__file__).parents[2] / "data" / "adult_data.csv"
SEXES = ["Female", "Male"]
EDUCATION = [
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college",
    "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
]  # fmt: skip
# From the codebook: nobody under 17 was asked, ages above 90 were written as 90, hours as two digits.
COLUMNS: dict[str, object] = {
    "age": {"type": "integer", "bounds": [17, 90], "nullable": False},
    "hours_per_week": {"type": "integer", "bounds": [1, 99], "nullable": False},
    "sex": {"type": "text", "keys": SEXES},
    "education": {"type": "text", "keys": EDUCATION},
}
EPSILON = Fraction(1, 10)
CONFIDENCE = 1 - 1e-9
"""Of every interval.  The 42 intervals of this file together raise a false alarm with a chance of at most 5e-8."""

Asked = Callable[[CuratorTable], CuratorTable]
FIVE: dict[str, tuple[str, Asked]] = {
    "count": ("SELECT COUNT(*) AS x FROM adult", lambda t: t.aggregate(x=count())),
    "mean age": ("SELECT AVG(age) AS x FROM adult", lambda t: t.aggregate(x=mean("age"))),
    "mean hours": ("SELECT AVG(hours_per_week) AS x FROM adult", lambda t: t.aggregate(x=mean("hours_per_week"))),
    "by sex": (
        "SELECT sex, COUNT(*) AS x FROM adult GROUP BY sex",
        lambda t: t.group_by("sex").aggregate(x=count()),
    ),
    "by education": (
        "SELECT education, COUNT(*) AS x FROM adult GROUP BY education",
        lambda t: t.group_by("education").aggregate(x=count()),
    ),
}


@pytest.fixture(scope="module")
def truth() -> dict[str, list[float]]:
    """The answers without noise, by plain Python."""
    if not ADULT.is_file():
        pytest.skip("Adult is not here; run `make data`")
    with ADULT.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        "count": [len(rows)],
        "mean age": [average(int(r["age"]) for r in rows)],
        "mean hours": [average(int(r["hours_per_week"]) for r in rows)],
        "by sex": [sum(r["sex"] == s for r in rows) for s in SEXES],
        "by education": [sum(r["education"] == e for r in rows) for e in EDUCATION],
    }


@pytest.fixture
def curator(truth: dict[str, list[float]]) -> Iterator[Curator]:
    opened = Curator({"adult": Table(str(ADULT), columns=COLUMNS)}, budget=PureDP(1))
    yield opened
    opened.close()


def test_the_table_is_the_homeworks(truth: dict[str, list[float]]) -> None:
    assert truth["count"] == [32561]
    assert truth["by sex"] == [10771, 21790]
    assert sum(truth["by education"]) == 32561  # no key is missing
    assert [round(truth[name][0], 2) for name in ("mean age", "mean hours")] == [38.58, 40.44]


@pytest.mark.parametrize("name", FIVE)
def test_both_doors_make_the_same_plan(curator: Curator, name: str) -> None:
    text, built = FIVE[name]
    from_sql, from_builder = curator.plan(text, epsilon=EPSILON), built(curator.table("adult")).plan(epsilon=EPSILON)
    assert from_sql == from_builder
    assert from_sql.to_dict() == from_builder.to_dict()
    assert from_sql.event.to_json() == from_builder.event.to_json()
    assert pure_epsilon(from_sql.event) == EPSILON
    explained = (
        curator.explain(text, epsilon=EPSILON, sql=True),
        built(curator.table("adult")).explain(epsilon=EPSILON, sql=True),
    )
    assert explained[0].statements == explained[1].statements != ()
    assert curator.plan(text, epsilon=EPSILON / 2).to_dict() != from_sql.to_dict()


def test_ten_releases_cost_one_and_are_within_their_intervals(curator: Curator, truth: dict[str, list[float]]) -> None:
    for name, (text, built) in FIVE.items():
        options: dict[str, Any] = {"epsilon": EPSILON, "confidence": CONFIDENCE}
        for release in (curator.sql(text, **options), built(curator.table("adult")).ask(**options, fresh=True)):
            assert len(release) == len(truth[name])
            for (low, high), value, true in zip(release.intervals["x"], release["x"], truth[name], strict=True):
                assert isinstance(value, int | float)
                assert low <= value <= high
                assert low <= true <= high, name
                # and the interval is one: a mean is known to a few years, a count to a few hundred people
                assert high - low < (15 if name.startswith("mean") else 1000)
    assert curator.budget("adult").spent == PureDP(1)
    assert curator.budget("adult").remaining == PureDP(0)
    with pytest.raises(BudgetExceeded):
        curator.sql("SELECT COUNT(*) FROM adult", epsilon=1e-9)


def test_explain_shows_the_homeworks_mean_before_it_is_paid_for(curator: Curator) -> None:
    shown = str(curator.explain("SELECT AVG(age) AS age FROM adult", epsilon=EPSILON, sql=True))
    for said in ("costs      epsilon 0.1, once", "one row, added or removed", "integer Laplace", "duckdb runs:"):
        assert said in shown
    assert curator.history() == ()
