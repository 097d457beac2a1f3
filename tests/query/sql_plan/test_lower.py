"""Lowering without data: what is read, what is refused, and that a plan's text depends on declarations alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import TypeVar

import pytest

from curador.errors import QuestionRefused
from curador.mechanisms.sensitivity import Contribution
from curador.query.aggregates.counts import count
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.aggregates.moments import mean
from curador.query.ask.question import Group, Join, Output, Question
from curador.query.ask.sql.read import parse
from curador.query.language import expressions as ex
from curador.query.language.bounds import typecheck
from curador.query.language.types import Type
from curador.query.plan.checked import check
from curador.query.plan.measurement import limits, recipes
from curador.query.sql_plan import ir as nt
from curador.query.sql_plan.exact import Exact, ReadAs
from curador.query.sql_plan.expressions import Bindings, lowered
from curador.query.sql_plan.lower import compared_values, lower
from curador.query.sql_plan.truncate import MOST_ROWS_PER_GROUP, PRIME, SHIFT, SMALL_GROUPS, SMALL_PRIME, golden
from curador.query.tables.columns import WIDEST, Kind
from curador.query.tables.table import Table

COLUMNS = {
    "id": "integer",
    "town": {"type": "text", "keys": ["Lugo", "Vigo"]},
    "age": {"type": "integer", "bounds": [0, 120]},
    "pay": {"type": "real", "bounds": [0, 100]},
    "ok": "boolean",
    "never": "text",
}
TABLES = {
    "rows": Table("rows.csv", columns=COLUMNS),
    "visits": Table("visits.csv", unit="id", columns=COLUMNS, contribution=(2, 3)),
    "people": Table("people.csv", unit="id", columns=COLUMNS, contribution=(2, 3)),
    "towns": Table("towns.csv", columns={"name": "text", "size": {"type": "integer", "bounds": [0, 9]}}, public=True),
}


def plan(question: Question, contribution: Contribution | None = None) -> Exact:
    checked = check(question, TABLES)
    kept = contribution or limits(checked)
    return lower(checked, [m for r in recipes(checked, kept) for m in r.measures], kept)


_Node = TypeVar("_Node", bound=nt.Tree)


def found(tree: nt.Tree, kind: type[_Node]) -> Iterator[_Node]:
    """The nodes of one kind in a tree, from the top down."""
    return (node for node in nt.walk(tree) if isinstance(node, kind))


def windows(exact: Exact) -> Counter[str]:
    return Counter(w.ranking for s in exact.statements for w in found(s.tree, nt.Over))


def columns(tree: nt.Tree | None) -> set[str]:
    """The columns that a tree names."""
    return set() if tree is None else {c.name for c in found(tree, nt.ColumnRef)}


N = (Output("n", count()), Output("pay", mean("pay")))
BY_TOWN = (Group("town", ex.Name("town")),)


def test_only_what_is_used_is_read() -> None:
    exact = plan(Question("visits", N, group_by=BY_TOWN, where=ex.Compare(">", ex.Name("age"), ex.Literal(3))))
    assert [(r.column, r.way) for r in exact.scans[0].reads] == [
        ("age", ReadAs.DECLARED),
        ("pay", ReadAs.DECLARED),
        ("town", ReadAs.DECLARED),
        ("id", ReadAs.ID),
    ]


def test_trees_are_equal_for_equal_questions() -> None:
    question = Question("visits", N, group_by=BY_TOWN)
    one, two = plan(question), plan(Question.from_json(question.to_json()))
    assert one == two
    assert one != plan(Question("visits", N))


def test_rows_need_no_truncation() -> None:
    assert windows(plan(Question("rows", N, group_by=BY_TOWN))) == {}


def test_truncation_does_no_more_than_it_must() -> None:
    """Groups are ranked only where there are more than a unit may keep."""
    assert windows(plan(Question("visits", N, group_by=BY_TOWN))) == {"ROW_NUMBER": 1, "COUNT": 1}
    fewer = Contribution(rows=3, groups=1)
    assert windows(plan(Question("visits", N, group_by=BY_TOWN), fewer)) == {
        "DENSE_RANK": 1,
        "ROW_NUMBER": 1,
        "COUNT": 1,
    }
    assert windows(plan(Question("visits", N))) == {"ROW_NUMBER": 1, "COUNT": 1}


def test_a_filter_comes_before_the_truncation() -> None:
    """The condition stands in the same layer as the expressions, below every window."""
    exact = plan(Question("visits", N, group_by=BY_TOWN, where=ex.Name("ok")))
    assert exact.scans[0].reads[0].column == "ok"
    tree = exact.statements[0].tree
    filtered = [s for s in found(tree, nt.Select) if "c0" in columns(s.where)]
    assert len(filtered) == 1
    assert list(found(tree, nt.Over)) != []
    assert list(found(filtered[0], nt.Over)) == []


def test_a_row_takes_one_row_of_a_public_table() -> None:
    join = Join("public", "towns", ((ex.Name("town"), "name"),))
    assert windows(plan(Question("rows", N, joins=(join,)))) == {"ROW_NUMBER": 1}
    exact = plan(Question("rows", N, joins=(join,)))
    assert {r.column for r in exact.scans[1].reads} == {"name", "size"}


def test_ids_are_compared_as_they_are() -> None:
    """Joined tables are matched by exact ids, not by columns that bounds clip."""
    join = Join("unit", "people", ((ex.Name("id"), "id"), (ex.Name("town"), "town")))
    exact = plan(Question("visits", N, joins=(join,)))
    assert columns(next(found(exact.statements[0].tree, nt.Joined)).on) == {"u", "u1", "c1", "c2"}
    assert [r.way for s in exact.scans for r in s.reads if r.column == "id"] == [ReadAs.ID, ReadAs.ID]


def test_many_rows_per_group_are_refused() -> None:
    with pytest.raises(QuestionRefused, match="rows per group are more than"):
        plan(Question("visits", N), Contribution(rows=MOST_ROWS_PER_GROUP + 1))


def test_measures_of_one_column_share_it() -> None:
    checked = check(Question("rows", N), TABLES)
    pay = ex.Name("pay")
    forms = [
        Measure(MeasureKind.PRESENT, pay),
        Measure(MeasureKind.SUM, pay),
        Measure(MeasureKind.CENTRED, pay, centre=5),
    ]
    exact = lower(checked, [*forms, *forms], Contribution())
    assert exact.statements[0].measures == tuple(forms)
    assert columns(exact.statements[0].tree) == {"v0", "c0"}


def test_products_of_keys_are_not_written_out() -> None:
    """Two columns of 300 keys are looked up in two lists of 300, not in one of 90,000."""
    many = [f"key {i}" for i in range(300)]
    table = Table("t.csv", columns={"a": {"type": "text", "keys": many}, "b": {"type": "text", "keys": many}})
    question = Question("t", (Output("n", count()),), group_by=(Group("a", ex.Name("a")), Group("b", ex.Name("b"))))
    exact = lower(check(question, {"t": table}), [Measure(MeasureKind.ROWS)], Contribution())
    assert len(exact.keys or ()) == 90_000
    assert [len(v.rows) for v in found(exact.statements[0].tree, nt.ValuesList)] == [300, 300]


def test_nested_divisions_are_bound() -> None:
    """The text grows with the number of divisions, not exponentially."""
    a, b = ex.Name("a"), ex.Name("b")
    scope = {n: Type(Kind.INTEGER, Fraction(-5), Fraction(5)) for n in (a, b)}
    sizes = []
    for depth in (5, 10, 20):
        e: ex.Expr = a
        for _ in range(depth):
            e = ex.Arithmetic("/", e, b)
        at = Bindings(scope, {a: "a", b: "b"})
        node = lowered(e, at)
        nodes = [node, *(x for layer in at.layers for x in layer.values())]
        sizes.append(sum(1 for x in nodes for _ in nt.walk(x)))
        assert len(at.layers) == depth
        assert typecheck(e, scope).bounds is not None
    assert sizes[2] < 4.2 * sizes[0]


# ---- the arithmetic of the mixed number --------------------------------------------------------------------------


def test_primes() -> None:
    for prime, power in ((PRIME, 30), (SMALL_PRIME, 24)):
        assert all(prime % d for d in range(2, int(prime**0.5) + 1))
        # no prime between it and the power of two
        for n in range(prime + 1, 2**power):
            assert any(n % d == 0 for d in range(2, int(n**0.5) + 1))


def test_no_product_leaves_its_words() -> None:
    """The largest number at every step of truncate.py, for the largest operands."""
    x = (PRIME - 1) + (PRIME - 1)  # a unit's and a group's number, both below the prime in size
    assert x * x <= WIDEST
    y = (PRIME - 1) + SHIFT
    assert y * y <= WIDEST
    assert (PRIME - 1) * 1_000_000 + 1_000_000 <= WIDEST  # with the number of a public key packed in
    assert (SMALL_PRIME - 1) * SMALL_GROUPS + SMALL_GROUPS - 1 < 2**31
    assert (PRIME - 1) * golden(PRIME) <= WIDEST
    assert 2**40 * MOST_ROWS_PER_GROUP + PRIME <= WIDEST  # places of a trillion rows
    assert 2 * PRIME * (golden(PRIME) // 2) <= WIDEST  # one more group column mixed in
    assert (2**32 + PRIME) * golden(PRIME) <= WIDEST  # places of four billion rows of one unit, turned
    start_and_turn = 2 * (PRIME - 1)
    assert start_and_turn**2 <= WIDEST


def test_values_that_rows_are_compared_with_are_counted_before_anything_is_paid() -> None:
    """Functions of a text with public keys are tables: an engine plans each of their values."""
    keys = [f"k{i}" for i in range(1000)]
    held = {"t": Table("t.csv", columns={"k": {"type": "text", "keys": keys}})}
    each = [f"COUNT_IF(REPLACE(k, '1', '{i}') = 'k2' OR REVERSE(k) = '{i}k')" for i in range(60)]

    def asked(many: int) -> Question:
        return parse(f"SELECT {', '.join(f'{e} AS a{i}' for i, e in enumerate(each[:many]))} FROM t", held)

    def made(many: int) -> Exact:
        checked = check(asked(many), held)
        return lower(checked, [m for r in recipes(checked, Contribution()) for m in r.measures], Contribution())

    assert 2 * 2 * 1000 <= compared_values(made(2).statements[0].tree) < 2 * 3 * 1000
    with pytest.raises(QuestionRefused, match="the most is 100000"):
        made(60)
