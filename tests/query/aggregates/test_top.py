"""The most frequent values of a column: among public keys, and among those that are selected privately."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

import curador as cu

TIMES = {"Lugo": 900, "Vigo": 500, "Lorca": 40, None: 3000}
TOWNS = [town for town, n in TIMES.items() for _ in range(n)]
ROWS = pa.table({"pid": range(len(TOWNS)), "town": TOWNS, "free": TOWNS})
COLUMNS: dict[str, object] = {
    "pid": "integer",
    "town": {"type": "text", "keys": ["Lorca", "Lugo", "Vigo", "Murcia"]},
    "free": "text",
}


@pytest.fixture(scope="module", params=["rows", "ids"])
def curator(request: pytest.FixtureRequest) -> Iterator[cu.Curator]:
    own = {"unit": "pid", "contribution": (1, 1)} if request.param == "ids" else {}
    made = cu.Curator({"visits": cu.Table(ROWS, columns=COLUMNS, **own)}, cu.ApproxDP(1000, 0.01))  # type: ignore[arg-type]
    yield made
    made.close()


def test_the_mode_is_a_value_with_its_count(curator: cu.Curator) -> None:
    """NULL is no value, however often it is there.  A false alarm needs a choice off by 400 rows: below exp(-100)."""
    found = curator.sql("SELECT MODE(town) AS town FROM visits", epsilon=1)
    assert found["town"] == ("Lugo",)
    assert found["town_count"][0] == pytest.approx(900, abs=100)
    low, high = found.interval("town_count")
    assert low < found["town_count"][0] < high
    again = curator.table("visits").aggregate(most=cu.mode("town")).ask(epsilon=1)
    assert again.charge == found.charge  # another name for what was bought


def test_values_that_are_selected_privately(curator: cu.Curator) -> None:
    found = curator.sql("SELECT TOP_K(free, 2) AS town FROM visits", epsilon=1, delta=1e-6)
    assert found["town"] == ("Lugo", "Vigo")
    sorted_ = curator.sql(
        "SELECT free, COUNT(*) AS n FROM visits WHERE free IS NOT NULL GROUP BY free ORDER BY n DESC LIMIT 2",
        epsilon=1,
        delta=1e-6,
    )
    assert sorted_.charge == found.charge  # the same measurement
    assert sorted_.intervals["n"] == found.intervals["town_count"]  # wider for the choice
    every = curator.sql(
        "SELECT free, COUNT(*) AS n FROM visits WHERE free IS NOT NULL GROUP BY free", epsilon=1, delta=1e-6
    )
    assert every.charge == found.charge
    place = every["free"].index("Lugo")
    assert _width(every.intervals["n"][place]) <= _width(found.intervals["town_count"][0])
    with pytest.raises(cu.CuradorError, match="delta"):
        curator.sql("SELECT MODE(free) AS town FROM visits", epsilon=1)


def _width(ends: tuple[float, float]) -> float:
    return ends[1] - ends[0]
