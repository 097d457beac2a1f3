"""Measurements as a ledger keeps them: they come back as they were, for any plan that presents them, or are refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import numpy as np
import pytest

from curador.errors import LedgerBroken
from curador.mechanisms.gaussian import Gaussian
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from curador.query.aggregates.base import Aggregate
from curador.query.aggregates.counts import count, count_distinct, histogram
from curador.query.aggregates.measure import MeasureKind
from curador.query.aggregates.moments import mean, std
from curador.query.aggregates.quantiles.ranks import bounds, median, quantiles
from curador.query.aggregates.sums import sum_
from curador.query.aggregates.top import top_k
from curador.query.answer.noise import noise
from curador.query.answer.noisy import NoisyCounts, from_bytes, sortable, to_bytes
from curador.query.answer.postprocess import answered
from curador.query.ask.builder import TableQuery
from curador.query.plan.checked import check
from curador.query.plan.identity import FORMAT
from curador.query.plan.plan import Plan
from curador.query.plan.planner import plan
from curador.query.plan.steps import Noised
from curador.query.tables.table import Table, Tree
from tests.query.answer.found import Answers

WIDE = 1 << 60
TREE = Tree(("town", "street"), {"Lugo": ["a", "b"], "Vigo": ["c"]})
TABLES = {
    "t": Table(
        "no-such.csv",
        columns={
            "x": {"type": "real", "bounds": [-4, 12], "step": 0.25, "nullable": False},
            "wide": {"type": "integer", "bounds": [-WIDE, WIDE]},
            "sex": {"type": "text", "keys": ["F", "M"]},
            "ok": "boolean",
            "k": {"type": "integer", "keys": range(6)},
            "born": {"type": "date", "bounds": [date(1930, 1, 1), date(2010, 12, 31)]},
            "town": "text",
            "street": "text",
        },
        trees={"places": TREE},
    )
}
T = TableQuery.of("t", TABLES)
DAYS = [date(1999, 12, 31), date(2000, 2, 29)]


def planned(query: TableQuery, budget: Guarantee, **options: Any) -> Plan:
    return plan(check(query.question, TABLES), budget, **options)


def measured(
    made: Plan, keys: Sequence[tuple[Any, ...]] | None = None, number: Callable[[int], int] = int
) -> NoisyCounts:
    """What a plan's noise makes of groups of 5,000 rows and more: the plan's public keys, or those given."""
    groups = list(made.checked.keys or ()) if keys is None else list(keys)
    columns = {m: [number(5000 + 1000 * i) for i, _ in enumerate(groups)] for m in made.measures}
    values = (np.arange(-16, 49), np.full(65, 100))
    lists = {m: [values for _ in groups] for m in made.measures if m.kind is MeasureKind.VALUES}
    return noise(made, Answers(groups, columns, lists))


def assert_same(one: NoisyCounts, two: NoisyCounts) -> None:
    assert one.keys == two.keys
    assert [list(map(type, key)) for key in one.keys] == [list(map(type, key)) for key in two.keys]
    assert one.measured.keys() == two.measured.keys()
    assert one.ranked.keys() == two.ranked.keys()
    for m, x in one.measured.items():
        assert x.tolist() == two.measured[m].tolist()
        assert x.dtype == two.measured[m].dtype
    for r, rows in one.ranked.items():
        assert rows.tolist() == two.ranked[r].tolist()
        assert rows.shape == two.ranked[r].shape


# ---- there and back ------------------------------------------------------------------------------------------------

Groups = list[tuple[Any, ...]] | None
CASES: dict[str, tuple[TableQuery, Guarantee, dict[str, Any], Groups]] = {
    "no groups": (T.aggregate(n=count(), m=mean("x"), s=std("x"), total=sum_("x")), PureDP(1), {}, None),
    "public keys": (T.group_by("sex", "ok").aggregate(n=count(), d=count_distinct("k")), PureDP(1), {}, None),
    "listed dates": (T.group_by("born", keys={"born": DAYS}).aggregate(n=count()), PureDP(1), {}, None),
    "dates and NULL": (
        T.group_by("born", "ok", "town").aggregate(n=count()),
        ApproxDP(1, 1e-6),
        {"noise": "laplace"},
        [(DAYS[1], None, "b"), (None, True, None), (DAYS[0], False, "ñ\n"), (DAYS[0], False, ""), (None, None, None)],
    ),
    "selected by their counts": (
        T.group_by("town").aggregate(n=count(), m=mean("x")),
        ApproxDP(1, 1e-6),
        {"noise": "laplace"},
        [("z",), (None,), ("a",)],
    ),
    "selected by rho": (T.group_by("town").aggregate(s=sum_("x")), ZCDP(0.5, 1e-6), {}, [("z",), ("a",)]),
    "none selected": (
        T.group_by("town").aggregate(n=count(), q=median("x")),
        ApproxDP(1, 1e-6),
        {"noise": "laplace"},
        [],
    ),
    "the largest": (T.group_by("k").aggregate(top=top_k(3)), PureDP(100), {}, None),
    "a tree": (T.tree("places").aggregate(n=count()), PureDP(1), {}, None),
    "a tree with totals": (T.tree("places", {("Vigo",): 7}).aggregate(n=count()), ZCDP(1), {}, None),
    "quantiles": (
        T.group_by("sex").aggregate(q=quantiles("x", [0.1, 0.5, 0.9]), m=median("x")),
        PureDP(5),
        {},
        None,
    ),
    "bounds": (T.aggregate(b=bounds("wide")), PureDP(5), {}, None),
    "a histogram": (T.aggregate(h=histogram("x", [-4, 0, 4, 12])), PureDP(1), {}, None),
    "gaussian": (
        T.group_by("k").aggregate(n=count(), m=mean("x"), q=median("x")),
        ApproxDP(1, 1e-6),
        {"noise": "gaussian"},
        None,
    ),
    "integer gaussian": (T.group_by("k").aggregate(n=count(), v=std("x")), ZCDP(0.3), {}, None),
    "wide": (T.group_by("sex").aggregate(s=sum_("wide"), n=count()), PureDP(1), {}, None),
}


@pytest.mark.parametrize("name", CASES)
def test_a_measurement_comes_back_as_it_was(name: str) -> None:
    query, budget, options, groups = CASES[name]
    made = planned(query, budget, **options)
    noisy = measured(made, groups)
    content = to_bytes(noisy, made)
    again = from_bytes(content, made)
    assert_same(again, noisy)
    assert to_bytes(again, made) == content
    assert answered(made, again) == answered(made, noisy)
    assert json.loads(content)["format"] == FORMAT


def test_the_cases_hold_what_they_say() -> None:
    """Selections keep groups, doubles are doubles, dates are dates: the test above is not about empty answers."""
    query, budget, options, groups = CASES["dates and NULL"]
    assert len(measured(planned(query, budget, **options), groups).keys) == 5
    query, budget, options, _ = CASES["gaussian"]
    made = planned(query, budget, **options)
    assert any(isinstance(s, Noised) and isinstance(s.mechanism, Gaussian) for s in made.steps)
    assert {x.dtype for x in measured(made).measured.values()} == {np.dtype(np.float64)}


@pytest.mark.parametrize("size", [10**15, 2**60 - 1, 2**60, 2**64, 10**25])
@pytest.mark.parametrize("name", ["wide", "public keys"])
def test_integers_of_any_size_come_back_exactly(name: str, size: int) -> None:
    query, budget, options, _ = CASES[name]
    made = planned(query, budget, **options)
    noisy = measured(made, number=lambda n: n * size)
    again = from_bytes(to_bytes(noisy, made), made)
    for m, x in noisy.measured.items():
        assert [int(n) for n in again.measured[m]] == [int(n) for n in x]
        assert all(type(n) is int for n in again.measured[m].tolist())


def test_doubles_come_back_to_the_last_bit() -> None:
    query, budget, options, _ = CASES["gaussian"]
    made = planned(query, budget, **options)
    noisy = measured(made)
    odd = [0.1, 1 / 3, -0.0, 5e-324, 1.7976931348623157e308, 4.0]
    noisy = NoisyCounts(noisy.keys, {m: np.array(odd) for m in noisy.measured}, noisy.ranked, noisy.around)
    again = from_bytes(to_bytes(noisy, made), made)
    for x in again.measured.values():
        assert [float(n).hex() for n in x] == [n.hex() for n in odd]
        assert x.dtype == np.float64


def test_what_is_kept_holds_codes_and_no_names() -> None:
    """Neither what outputs and groups are called, nor labels, nor whether a bin is called 4-8."""
    made = planned(T.group_by(secret_group="k").aggregate(secret_output=count(), q=median("x")), PureDP(1))
    content = to_bytes(measured(made), made).decode()
    assert "secret" not in content
    assert "quantiles 50 %" not in content
    binned = planned(T.aggregate(h=histogram("x", [-4, 0, 4, 12])), PureDP(1))
    assert all(isinstance(key, int) for (key,) in json.loads(to_bytes(measured(binned), binned))["keys"])


# ---- for other plans of the same measurement -----------------------------------------------------------------------

OUTPUTS: dict[str, Aggregate] = {"n": count(), "m": mean("x"), "q": median("x")}


def by_key(made: Plan, noisy: NoisyCounts) -> dict[Any, Any]:
    """The answers by what the groups are, whatever their order."""
    found = answered(made, noisy)
    rows = zip(*found.columns.values(), strict=True)
    names = list(found.columns)
    cells = [dict(zip(names, row, strict=True)) for row in rows]
    return {frozenset((g, c[g]) for g in found.groups): {n: c[n] for n in made.question.outputs} for c in cells}


@pytest.mark.parametrize("budget", [PureDP(1), ApproxDP(1, 1e-6), ZCDP(0.5)])
def test_groups_in_another_order_come_back_in_the_plans_own(budget: Guarantee) -> None:
    one = planned(T.group_by("sex", "ok", "k").aggregate(**OUTPUTS), budget)
    two = planned(T.group_by("k", "sex", "ok").aggregate(**dict(reversed(OUTPUTS.items()))), budget)
    assert one.identity == two.identity
    noisy = measured(one)
    content = to_bytes(noisy, one)
    again = from_bytes(content, two)
    assert again.keys == two.checked.keys != noisy.keys
    assert {frozenset(key) for key in again.keys} == {frozenset(key) for key in noisy.keys}
    assert by_key(two, again) == by_key(one, noisy)
    assert to_bytes(from_bytes(content, one), one) == content
    assert_same(from_bytes(to_bytes(again, two), one), noisy)  # and back


def test_keys_listed_in_another_order_come_back_in_the_plans_own() -> None:
    towns = ["Lugo", "Vigo", "Lorca"]
    one, two = (
        planned(T.group_by("town", keys={"town": some}).aggregate(**OUTPUTS), PureDP(1))
        for some in (towns, towns[::-1])
    )
    noisy = measured(one)
    again = from_bytes(to_bytes(noisy, one), two)
    assert again.keys == (("Lorca",), ("Vigo",), ("Lugo",))
    assert by_key(two, again) == by_key(one, noisy)


def test_selected_groups_come_back_sorted_by_the_plans_own_keys() -> None:
    budget = ApproxDP(1, 1e-6)
    one = planned(T.group_by("town", "born").aggregate(**OUTPUTS), budget)
    two = planned(T.group_by("born", "town").aggregate(**OUTPUTS), budget)
    groups = [("b", DAYS[0]), ("a", DAYS[1]), (None, DAYS[1]), ("a", None), ("b", None)]
    noisy = measured(one, groups)
    assert len(noisy.keys) == len(groups)
    again = from_bytes(to_bytes(noisy, one), two)
    assert list(again.keys) == sorted(((day, town) for town, day in groups), key=sortable)
    assert by_key(two, again) == by_key(one, noisy)


def test_the_largest_stay_in_the_order_of_their_counts() -> None:
    one = planned(T.group_by("k", "sex").aggregate(top=top_k(4)), PureDP(100))
    two = planned(T.group_by("sex", "k").aggregate(most=top_k(4)), PureDP(100))
    assert one.identity == two.identity
    noisy = measured(one)
    again = from_bytes(to_bytes(noisy, one), two)
    assert again.keys == tuple((sex, k) for k, sex in noisy.keys)
    (counts,) = again.measured.values()
    assert counts.tolist() == sorted(counts.tolist(), reverse=True)


def test_another_name_order_limit_or_confidence_reads_the_same_numbers() -> None:
    one = planned(T.group_by("k").aggregate(n=count()), PureDP(1))
    other = T.group_by(which="k").aggregate(how_many=count()).having("how_many > 0").order_by("how_many").limit(2)
    two = planned(other, PureDP(1), confidence=0.5)
    noisy = measured(one)
    again = from_bytes(to_bytes(noisy, one), two)
    assert_same(again, noisy)
    assert answered(two, again).columns["how_many"] == tuple(sorted(next(iter(noisy.measured.values())).tolist())[:2])


def test_one_measurement_serves_other_answers_of_the_same_measures() -> None:
    one, two = (planned(T.aggregate(x=std("x", population=p)), PureDP(1)) for p in (False, True))
    rows, centred, squares = 100, 0, 100 * 16**2  # x is on a grid of 1/4, so the mean square is 16
    numbers = {MeasureKind.PRESENT: rows, MeasureKind.ROWS: rows, MeasureKind.CENTRED: centred}
    noisy = NoisyCounts(((),), {m: np.array([numbers.get(m.kind, squares)]) for m in one.measures}, {})
    of_sample = answered(one, noisy).columns["x"][0]
    assert of_sample == pytest.approx((16 * 100 / 99) ** 0.5)
    assert answered(two, from_bytes(to_bytes(noisy, one), two)).columns["x"] == (pytest.approx(4.0),)


# ---- what is not a measurement of this question --------------------------------------------------------------------

MADE = planned(T.group_by("sex", "k").aggregate(n=count(), q=median("x")), PureDP(1))
SELECTED = planned(T.group_by("town", "born").aggregate(n=count()), ApproxDP(1, 1e-6))


def broken(change: Callable[[dict[str, Any]], object], made: Plan = MADE, groups: Groups = None) -> bytes:
    data = json.loads(to_bytes(measured(made, groups), made))
    change(data)
    return json.dumps(data).encode()


def put(*path: Any, value: Any) -> Callable[[dict[str, Any]], object]:
    def change(data: Any) -> None:
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = value

    return change


MALFORMED: dict[str, bytes] = {
    "nothing": b"",
    "not JSON": b"{",
    "not UTF-8": b"\xff\xfe\xfd",
    "null": b"null",
    "a number": b"5",
    "a list": b"[]",
    "a text": b'"measurement"',
    "an empty object": b"{}",
    "another format": broken(put("format", value=FORMAT + 1)),
    "no format": broken(lambda d: d.pop("format")),
    "no keys": broken(lambda d: d.pop("keys")),
    "no measures": broken(lambda d: d.pop("measured")),
    "no ranks": broken(lambda d: d.pop("ranked")),
    "an empty list of measures": broken(put("measured", value=[])),
    "an empty list of ranks": broken(put("ranked", value=[])),
    "measures that are no pairs": broken(put("measured", value=[1, 2])),
    "another measure": broken(put("measured", 0, 0, "kind", value="units")),
    "other bounds": broken(put("ranked", 0, 0, "of", "range", value=[0, 1, 0, 2])),
    "other quantiles": broken(put("ranked", 0, 0, "quantiles", value=["1/3"])),
    "a text as a number": broken(put("measured", 0, 1, 3, value="many")),
    "null as a number": broken(put("measured", 0, 1, 3, value=None)),
    "a list as a number": broken(put("measured", 0, 1, 3, value=[1])),
    "too few numbers": broken(lambda d: d["measured"][0][1].pop()),
    "too many numbers": broken(lambda d: d["measured"][0][1].append(1)),
    "numbers that are no list": broken(put("measured", 0, 1, value=7)),
    "too few ranks": broken(lambda d: d["ranked"][0][1].pop()),
    "ranks of another width": broken(put("ranked", 0, 1, 2, value=[1.0, 2.0])),
    "a key too few": broken(lambda d: d["keys"].pop()),
    "a key that is short": broken(lambda d: d["keys"][2].pop()),
    "a key twice": broken(lambda d: d["keys"].__setitem__(1, d["keys"][0])),
    "another key": broken(put("keys", 0, value=["X", "Y"])),
    "a key that is a list": broken(put("keys", 0, 0, value=["F"])),
    "a key of NULL": broken(put("keys", 0, 0, value=None)),
    "a date that is none": broken(put("keys", 0, 0, value={"date": "tomorrow"})),
    "an object that is no date": broken(put("keys", 0, 0, value={"day": "2000-01-01"})),
    "keys that are no list": broken(put("keys", value=3)),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_not_a_measurement_is_a_broken_ledger(name: str) -> None:
    with pytest.raises(LedgerBroken, match="not a measurement") as caught:
        from_bytes(MALFORMED[name], MADE)
    assert caught.value.code == "not-a-measurement"
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "change",
    [
        put("keys", 0, 0, value=[1]),
        put("keys", 0, 0, value={"date": 5}),
        put("measured", 0, 1, value=[1]),
        put("measured", 0, 1, value=[None, 1]),
    ],
)
def test_selected_groups_that_are_malformed_are_a_broken_ledger(change: Callable[[dict[str, Any]], object]) -> None:
    content = broken(change, SELECTED, [("a", DAYS[0]), ("b", DAYS[1])])
    with pytest.raises(LedgerBroken):
        from_bytes(content, SELECTED)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_tree_with_a_node_too_few_is_a_broken_ledger(level: int) -> None:
    tree = planned(T.tree("places").aggregate(n=count()), PureDP(1))
    with pytest.raises(LedgerBroken):
        from_bytes(broken(lambda d: d["measured"][level][1].append(1), tree), tree)
    with pytest.raises(LedgerBroken):
        from_bytes(broken(lambda d: d["keys"].pop(level), tree), tree)


def test_the_measurement_of_another_question_is_a_broken_ledger() -> None:
    other = planned(T.group_by("sex", "k").aggregate(s=sum_("x"), q=median("x")), PureDP(1))
    with pytest.raises(LedgerBroken):
        from_bytes(to_bytes(measured(other), other), MADE)


def test_what_no_ledger_should_hold_is_not_written() -> None:
    noisy = measured(MADE)
    for odd in (float("nan"), float("inf")):
        bad = NoisyCounts(noisy.keys, {m: np.array([odd] * len(noisy.keys)) for m in noisy.measured}, noisy.ranked)
        with pytest.raises(ValueError, match="JSON"):
            to_bytes(bad, MADE)
