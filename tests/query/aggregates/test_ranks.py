"""Quantiles of dates and timestamps: answered as what they are, on every engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest

import curador as cu
from curador.errors import QuestionRefused
from curador.query.aggregates.base import Estimate
from curador.query.aggregates.measure import MeasureKind
from curador.query.answer.postprocess import _intervals
from curador.query.ask.builder import TableQuery
from curador.query.plan.checked import check
from curador.query.plan.planner import Planner
from curador.query.tables.columns import Kind, days, seconds
from tests.real_engines import Opened

FIRST, START = date(2024, 1, 1), datetime(2024, 12, 1)
ROWS = 730
DAYS = [FIRST + timedelta(days=i) for i in range(ROWS)]
SEEN = [START + timedelta(seconds=3600 * i + 1) for i in range(ROWS)]
PEOPLE = pa.table({"day": DAYS, "seen": pa.array(SEEN, pa.timestamp("s")), "sex": ["F", "M"] * (ROWS // 2)})
COLUMNS: dict[str, object] = {
    "day": {"type": "date", "bounds": [FIRST, FIRST + timedelta(days=999)]},
    "seen": {"type": "timestamp", "bounds": ["2024-12-01 00:00:00", "2025-12-31 23:59:59"]},
    "sex": {"type": "text", "keys": ["F", "M"]},
}


@pytest.fixture(scope="module")
def curator() -> Iterator[cu.Curator]:
    made = cu.Curator({"people": cu.Table(PEOPLE, columns=COLUMNS)}, cu.PureDP(10**6))
    yield made
    made.close()


def asked(curator: cu.Curator, text: str) -> cu.Release:
    return curator.sql(text, epsilon=10**4, because="a test", override=True)


def test_answers_are_dates_near_the_ranks_asked_for(curator: cu.Curator) -> None:
    release = asked(
        curator, "SELECT MIN(day) AS a, MAX(day) AS b, QUANTILE(day, [0.25, 0.5]) AS q, MEDIAN(seen) AS m FROM people"
    )
    found = [release[name][0] for name in ("a", "b", "q_p25", "q_p50", "m")]
    wanted = [DAYS[7], DAYS[722], DAYS[182], DAYS[365], SEEN[365]]
    assert [type(x) for x in found] == [date] * 4 + [datetime]
    for x, near in zip(found, wanted, strict=True):
        assert abs(x - near) <= (timedelta(days=2) if type(x) is date else timedelta(hours=2))  # type: ignore[operator]
    assert set(release.intervals) == {"a", "b", "q_p25", "q_p50", "m"}
    for name, x in zip(("a", "b", "q_p25", "q_p50", "m"), found, strict=True):
        low, high = release.interval(name)
        assert type(low) is type(high) is type(x)
        assert low <= x <= high  # type: ignore[operator]
    assert cu.Release.from_dict(json.loads(release.to_json())) == release
    assert str(found[4]) in str(release)
    assert release.to_arrow()["m"].to_pylist() == [found[4]]


def test_having_and_order_compare_dates(curator: cu.Curator) -> None:
    text = "SELECT sex, MEDIAN(seen) AS m FROM people GROUP BY sex HAVING MEDIAN(day) {} '2025-06-01' ORDER BY m DESC"
    none, both = asked(curator, text.format(">=")), asked(curator, text.format("<"))
    assert (len(none), len(both)) == (0, 2)
    assert both.charge == none.charge  # the same measurement, free
    assert list(both["m"]) == sorted(both["m"], reverse=True)  # type: ignore[type-var]
    assert both["m"][0] != both["m"][1]  # an hour apart, on one day


def test_values_are_the_same_on_every_engine(opened: Opened) -> None:
    table = cu.Table(PEOPLE, columns=COLUMNS)
    query = TableQuery.of("people", {"people": table}).group_by("sex")
    asked = query.aggregate(d=cu.median("day"), m=cu.maximum("seen"), p=cu.minimum("seen")).question
    half = Planner(check(asked, {"people": table})).exact_half()
    engine = opened({"people": PEOPLE})
    engine.check({"people": table})
    found = engine.run(half.exact)
    assert all(m.kind is MeasureKind.VALUES for m in half.measures)
    for m in half.measures:
        rows = list(map(days, DAYS)) if str(m.column) == "day" else list(map(seconds, SEEN))
        for i in (0, 1):
            values, counts = found.values(m)[i]
            assert sorted(values.tolist()) == rows[i::2]
            assert set(counts.tolist()) == {1}


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("MEDIAN(sex)", "of type text"),
        ("AVG(day)", "of type date"),
        ("BOUNDS(day)", "of type date"),
        ("MAX(day + 4000000)", "years 1 to 9999"),
        ("MAX(day) - MIN(day)", "computes with"),
    ],
)
def test_what_is_refused(curator: cu.Curator, written: str, why: str) -> None:
    with pytest.raises(QuestionRefused, match=why):
        curator.plan(f"SELECT {written} AS x FROM people", epsilon=1)


def test_intervals_of_dates_are_dates() -> None:
    """Outwards to whole days."""
    made = Estimate("d", (days(FIRST),), (days(FIRST) - 0.5,), (days(FIRST) + 0.5,))
    assert _intervals(made, [0], Kind.DATE) == ((FIRST - timedelta(days=1), FIRST + timedelta(days=1)),)
    assert _intervals(made, [0], Kind.REAL) == ((days(FIRST) - 0.5, days(FIRST) + 0.5),)
    ends = {"d": ((FIRST, FIRST),)}
    release = cu.Release({"d": (FIRST,)}, (), ends, {}, 0.95, cu.PureDP(0.1), "1")
    assert "2024-01-01 … 2024-01-01" in str(release)
    assert cu.Release.from_dict(json.loads(release.to_json())) == release
