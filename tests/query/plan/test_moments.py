"""Hours as groups: public where the bounds leave few of them, the same on every engine."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pyarrow as pa
import pytest

import curador as cu
from curador.errors import QuestionRefused
from curador.query.ask.sql.read import parse
from curador.query.plan.checked import check
from curador.query.plan.planner import Planner
from tests.real_engines import Opened

START = datetime(2024, 12, 1, 0, 30)
SEEN = [START + timedelta(minutes=7 * i) for i in range(60)]
ROWS = pa.table({"seen": pa.array([*SEEN, None], pa.timestamp("s")), "town": ["a"] * 40 + ["b"] * 21})
COLUMNS: dict[str, object] = {
    "seen": {"type": "timestamp", "bounds": ["2024-12-01 00:30:00", "2024-12-01 05:10:00"]},
    "town": "text",
}
TABLES = {"visits": cu.Table(ROWS, columns=COLUMNS)}
HOURS = [datetime(2024, 12, 1, h) for h in range(6)]


def clipped(moment: datetime) -> datetime:
    return min(moment, datetime(2024, 12, 1, 5, 10)).replace(minute=0)


def test_hours_are_groups_on_every_engine(opened: Opened) -> None:
    engine = opened({"visits": ROWS})
    engine.check(TABLES)
    text = "SELECT {} DATE_TRUNC('hour', seen) AS h, COUNT(*) AS n FROM visits GROUP BY {} h"
    public = check(parse(text.format("", ""), TABLES), TABLES)
    assert public.keys == tuple((h,) for h in HOURS)
    half = Planner(public).exact_half()
    found = engine.run(half.exact)
    assert list(found.column(half.measures[0])) == [sum(clipped(t) == h for t in SEEN) for h in HOURS]
    private = check(parse(text.format("town,", "town,"), TABLES), TABLES)
    assert private.keys is None
    half = Planner(private).exact_half()
    found = engine.run(half.exact)
    wanted = {("a" if i < 40 else "b", clipped(t)) for i, t in enumerate(SEEN)} | {("b", None)}
    assert set(found.keys) == wanted


def test_hours_are_released_kept_and_compared() -> None:
    stage = cu.Curator(TABLES, cu.PureDP(10))
    text = "SELECT DATE_TRUNC('hour', seen) AS h, COUNT(*) AS n FROM visits GROUP BY h"
    release = stage.sql(text, epsilon=1)
    assert release["h"] == tuple(HOURS)
    assert cu.Release.from_dict(json.loads(release.to_json())) == release
    late = stage.sql(f"{text} HAVING h > '2024-12-01 03:00' ORDER BY h DESC", epsilon=1)
    assert late["h"] == (HOURS[5], HOURS[4])
    assert late.charge == release.charge
    stage.close()


@pytest.mark.parametrize(
    ("group", "why"), [("seen", "groups by a timestamp"), ("DATE_TRUNC('second', seen)", "16801 seconds")]
)
def test_what_has_many_values_is_no_group(group: str, why: str) -> None:
    with pytest.raises(QuestionRefused, match=why):
        check(parse(f"SELECT {group} AS g, COUNT(*) AS n FROM visits GROUP BY g", TABLES), TABLES)
