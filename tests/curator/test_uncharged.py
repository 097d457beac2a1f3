"""No table is read that is not charged, however deep in a question it stands."""

from typing import Any

import pyarrow as pa
import pytest

import curador as cu
from curador.errors import BudgetExceeded, QuestionRefused
from curador.query.plan.plan import Plan

BY_ANOTHER_TABLE = (
    "SELECT COUNT(*) AS n FROM (SELECT id FROM visits WHERE id IN (SELECT id FROM ill) "
    "GROUP BY id, CASE WHEN id IN (SELECT id FROM ill) THEN x ELSE 0 END) s"
)


def _curator(neighbors: str = "replace") -> cu.Curator:
    x = {"type": "integer", "bounds": [0, 9]}
    visits = pa.table({"id": [i for i in range(100) for _ in range(10)], "x": list(range(10)) * 100})
    own: dict[str, Any] = {"unit": "id", "columns": {"id": "integer", "x": x}, "neighbors": neighbors}
    tables = {
        "visits": cu.Table(visits, contribution=(1, 10), **own),
        "ill": cu.Table(pa.table({"id": [7], "x": [0]}), contribution=1, **own),
    }
    return cu.Curator(tables, budget={"visits": cu.PureDP(10), "ill": cu.PureDP(0.1)})


def test_a_list_of_units_inside_an_inner_group_is_charged() -> None:
    """It was read for nothing: the budget of the other table never heard of it."""
    curator = _curator()
    assert curator.plan(BY_ANOTHER_TABLE, epsilon=0.1).tables == ("visits", "ill")
    with pytest.raises(BudgetExceeded, match="'ill'"):
        curator.sql(BY_ANOTHER_TABLE, epsilon=0.5)
    curator.sql(BY_ANOTHER_TABLE, epsilon=0.1)
    assert curator.budget("ill").spent == cu.PureDP(0.1)


def test_a_plan_that_would_read_what_it_does_not_pay_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    curator = _curator()
    monkeypatch.setattr(Plan, "reads", frozenset({"visits"}))
    with pytest.raises(QuestionRefused, match="does not pay for"):
        curator.sql(BY_ANOTHER_TABLE, epsilon=0.1)
    assert curator.budget("visits").spent == cu.PureDP(0)


def test_a_list_that_nobody_reads_is_no_error() -> None:
    curator = cu.Curator(_curator().tables, budget=cu.PureDP(1))
    assert curator.sql("SELECT COUNT(id IN (SELECT id FROM ill)) AS n FROM visits", epsilon=0.1).value is not None


def test_lists_within_lists_are_counted() -> None:
    """Each level doubled what is planned: a text of a kilobyte took minutes, for nothing."""
    text, names = "WITH ", ["visits"]
    for level in range(6):
        tests = " AND ".join(f"id IN (SELECT id FROM {names[-1]} WHERE x > {k})" for k in range(6))
        text += f"{', ' * bool(level)}c{level} AS (SELECT id, x FROM ill WHERE {tests})"
        names.append(f"c{level}")
    with pytest.raises(QuestionRefused, match="in all"):
        _curator().plan(f"{text} SELECT COUNT(*) AS n FROM {names[-1]}", epsilon=0.1)


@pytest.mark.parametrize(("by", "weight"), [(" * 1e15" * 11, 1e165), (" / 1e15" * 11, 1e-165)])
@pytest.mark.parametrize("price", [{"epsilon": 0.1}, {"epsilon": 0.1, "delta": 1e-6}])
def test_weights_of_any_size_have_intervals(by: str, weight: float, price: dict[str, Any]) -> None:
    """Squares of such weights leave doubles: intervals had no width, or an error came after the charge."""
    budget = {"visits": cu.ApproxDP(10, 0.1), "ill": cu.ApproxDP(10, 0.1)}
    curator = cu.Curator(_curator().tables, budget=budget)
    plain = curator.sql("SELECT SUM(x) + COUNT(*) * 3 AS n FROM visits", **price)
    found = curator.sql(f"SELECT SUM(x){by} + COUNT(*) * 3{by} AS n FROM visits", **price)
    (low, high), (least, most) = plain.intervals["n"][0], found.intervals["n"][0]
    assert (most - least) / weight == pytest.approx(high - low, rel=1e-3)
