"""Counts over a tree: the fit against least squares, what it keeps, and what the levels cost."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.accounting.rules.profiles import pure_epsilon
from curador.errors import QuestionRefused
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from curador.query.aggregates.base import Aggregate
from curador.query.aggregates.counts import count, count_distinct
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.aggregates.moments import mean
from curador.query.aggregates.sums import sum_
from curador.query.aggregates.tree import Hierarchy, Path, fit, share_out
from curador.query.answer.fitted import fitted
from curador.query.answer.noise import noise
from curador.query.answer.postprocess import estimates
from curador.query.ask.builder import TableQuery
from curador.query.plan.checked import check
from curador.query.plan.plan import Plan
from curador.query.plan.planner import plan
from curador.query.plan.steps import Noised
from curador.query.tables.table import Table, Tree
from tests.query.answer.found import Answers, by_measure

ROWS = MeasureKind.ROWS
CHILDREN = {"Galicia": {"Lugo": ["A", "B"], "Vigo": ["C"]}, "Murcia": {"Lorca": ["D", "E", "F"]}}
TREE = Tree(("region", "town", "street"), CHILDREN)
LEAVES = tuple(TREE.paths())
TABLES = {
    "t": Table("x.csv", columns={"region": "text", "town": "text", "street": "text"}, trees={"geo": TREE}),
    "swapped": Table(
        "x.csv",
        columns={"region": "text", "town": "text", "street": "text"},
        trees={"geo": TREE},
        neighbors="replace",
    ),
    "ids": Table(
        "x.csv",
        unit="id",
        columns={"id": "integer", "region": "text", "town": "text", "street": "text"},
        trees={"geo": TREE},
        contribution=(3, 2),
    ),
}


def planned(table: str, budget: Guarantee, totals: dict[Path, int] | None = None, **what: Aggregate) -> Plan:
    query = TableQuery.of(table, TABLES).tree("geo", totals).aggregate(**(what or {"n": count()}))
    return plan(check(query.question, TABLES), budget)


def paid(made: Plan) -> list[Measure]:
    """What the steps noise, in their order; there are no other steps over a tree."""
    assert all(isinstance(s, Noised) for s in made.steps)
    return [s.measure for s in made.steps if isinstance(s, Noised)]


# ---- the fit ------------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32))
def test_without_zeros_the_fit_is_least_squares(seed: int) -> None:
    """Against the normal equations: all nodes as sums of leaves, weighted by their variances."""
    rng = np.random.default_rng(seed)
    tree = Hierarchy(LEAVES)
    true = rng.uniform(1000, 2000, len(LEAVES))  # far from zero
    variances = rng.uniform(0.5, 5, tree.depth + 1)
    rows, noisy, weights, levels = [], [], [], {}
    for level in range(tree.depth + 1):
        nodes = tree.nodes(level)
        matrix = np.array([[float(leaf[:level] == node) for leaf in LEAVES] for node in nodes])
        y = matrix @ true + rng.normal(0, variances[level] ** 0.5, len(nodes))
        levels[level] = (y, float(variances[level]))
        rows.append(matrix)
        noisy.append(y)
        weights += [1 / variances[level]] * len(nodes)
    a, y, w = np.concatenate(rows), np.concatenate(noisy), np.sqrt(np.array(weights))
    best = np.linalg.lstsq(a * w[:, None], y * w, rcond=None)[0]
    found = fit(tree, levels)
    assert [found[leaf] for leaf in LEAVES] == pytest.approx(best.tolist(), rel=1e-9)


@given(st.lists(st.floats(-50, 50), min_size=6, max_size=6), st.floats(0, 100), st.floats(0.1, 10))
def test_the_fit_agrees_and_is_never_negative(leaves: list[float], root: float, variance: float) -> None:
    tree = Hierarchy(LEAVES)
    found = fit(tree, {0: (np.array([root]), variance), 3: (np.array(leaves), 1.0)})
    assert min(found.values()) >= 0
    for node, below in tree.children.items():
        assert sum(found[c] for c in below) == pytest.approx(found[node], abs=1e-6)


@given(
    st.lists(st.tuples(st.floats(-20, 20), st.floats(0.1, 10)), min_size=1, max_size=6),
    st.floats(0, 50),
)
def test_sharing_out_is_the_nearest_point(parts: list[tuple[float, float]], total: float) -> None:
    """Kuhn and Tucker: where the count is positive (x - guess) / spread is one number, elsewhere it is no smaller."""
    guess, spread = np.array([x for x, _ in parts]), np.array([v for _, v in parts])
    found = share_out(total, guess, spread)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total, abs=1e-6)
    slope = (found - guess) / spread
    inside = found > 1e-9
    if inside.any():
        assert np.ptp(slope[inside]) < 1e-5
        assert slope.min() >= slope[inside].min() - 1e-5


def test_public_totals_are_kept_exactly() -> None:
    totals = (((), 500), (("Galicia",), 200), (("Galicia", "Vigo"), 90), (("Murcia", "Lorca", "E"), 7))
    tree = Hierarchy(LEAVES, totals)
    rng = np.random.default_rng(2)
    noisy = {level: (rng.normal(100, 50, len(tree.nodes(level))), 1.0) for level in range(4)}
    found = fit(tree, noisy)
    assert {node: found[node] for node, _ in totals} == pytest.approx(dict(totals))
    for node, below in tree.children.items():
        assert sum(found[c] for c in below) == pytest.approx(found[node], abs=1e-6)


@pytest.mark.parametrize(
    "totals",
    [
        (((), 100), (("Galicia",), 80), (("Murcia",), 30)),
        (((), 100), (("Galicia",), 80), (("Murcia",), 10)),
        (((), 100), (("Galicia", "Lugo"), 80), (("Murcia", "Lorca"), 30)),
    ],
)
def test_totals_that_contradict_each_other_are_refused(totals: Any) -> None:
    with pytest.raises(QuestionRefused, match="add up to"):
        Hierarchy(LEAVES, totals)


# ---- the plan -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["t", "swapped", "ids"])
@pytest.mark.parametrize("budget", [PureDP(1), ApproxDP(1, 1e-6), ZCDP(0.5)])
def test_every_level_is_paid_from_one_budget(table: str, budget: Guarantee) -> None:
    made = planned(table, budget)
    assert [m.label for m in made.measures] == ["rows"]  # the engine counts the leaves once
    assert len(made.steps) == 4
    assert sum(s.share for s in made.steps) == 1
    if isinstance(budget, PureDP):
        assert pure_epsilon(made.event) == 1


def test_sensitivities_of_levels_cover_every_unit() -> None:
    """All pairs of a unit present and absent, or changed: up to 3 leaves of up to 2 rows each."""
    tree = Hierarchy(LEAVES)
    units = [c for c in product(range(3), repeat=len(LEAVES)) if sum(map(bool, c)) <= 3]
    for table, replaced in (("ids", False), ("ids", True)):
        made = planned(table, PureDP(1))
        for m in made.recipes[0].measures:
            level = tree.depth if m.level is None else len(m.level)
            vectors = {tuple(tree.gather(u, level)) for u in units}
            nothing = {tuple([0] * len(tree.nodes(level)))}
            neighbors = TABLES["swapped" if replaced else "t"].neighbors
            stated = m.sensitivity(made.contribution, neighbors, len(LEAVES))
            for a, b in product(vectors, vectors if replaced else nothing):
                change = np.abs(np.subtract(a, b))
                assert change.sum() <= stated.l1
                assert (change**2).sum() <= stated.l2_squared
                assert change.max() <= stated.linf


def test_a_level_whose_totals_are_all_public_is_not_paid_for() -> None:
    made = planned("t", PureDP(1), {(): 100})
    assert [(m.kind, m.level and len(m.level)) for m in paid(made)] == [(ROWS, 1), (ROWS, 2), (ROWS, None)]
    made = planned("t", PureDP(1), {(): 100, ("Galicia",): 60, ("Murcia",): 40})
    assert [(m.kind, m.level and len(m.level)) for m in paid(made)] == [(ROWS, 2), (ROWS, None)]


@pytest.mark.parametrize("what", [mean("id"), sum_("id"), count_distinct()])
def test_only_rows_are_counted_over_a_tree(what: Aggregate) -> None:
    columns = {**TABLES["ids"].columns, "id": {"type": "integer", "bounds": [0, 9]}}
    tables = {"ids": Table("x.csv", unit="id", columns=columns, trees={"geo": TREE}, contribution=(3, 2))}
    query = TableQuery.of("ids", tables).tree("geo").aggregate(x=what)
    with pytest.raises(QuestionRefused, match="over a tree"):
        plan(check(query.question, tables), PureDP(1))


def test_units_in_several_groups_are_not_added_up_over_a_tree() -> None:
    """A unit with a row in each of three towns would count three times in the total."""
    for groups in (1, 3):
        columns = TABLES["ids"].columns
        tables = {"ids": Table("x.csv", unit="id", columns=columns, trees={"geo": TREE}, contribution=(groups, 1))}
        query = TableQuery.of("ids", tables).tree("geo")
        assert plan(check(query.aggregate(x=count()).question, tables), PureDP(1))
        units = check(query.aggregate(x=count_distinct()).question, tables)
        if groups == 1:
            assert plan(units, PureDP(1))
        else:
            with pytest.raises(QuestionRefused, match="in several groups"):
                plan(units, PureDP(1))


def test_the_answer_has_every_node_and_covers_it() -> None:
    made = planned("t", PureDP(1), {("Galicia", "Vigo"): 50})
    counts = [200, 0, 50, 1000, 3, 40]
    tree = Hierarchy(LEAVES)
    true = {
        node: n for level in range(4) for node, n in zip(tree.nodes(level), tree.gather(counts, level), strict=True)
    }
    hits = total = 0
    for _ in range(100):
        noisy = noise(made, Answers(LEAVES, by_measure(made, {"rows": counts})))
        (found,) = estimates(made.recipes, made.steps, fitted(made, noisy), 0.95)
        nodes = [tuple(str(x) for x in key if x is not None) for key in noisy.keys]
        assert nodes == list(tree.walk)
        assert found.values[nodes.index(("Galicia", "Vigo"))] == pytest.approx(50)
        assert found.lower is not None
        assert found.upper is not None
        for node, low, high in zip(nodes, found.lower, found.upper, strict=True):
            hits += low - 1e-6 <= true[node] <= high + 1e-6
            total += 1
    assert hits / total > 0.93  # 1200 intervals of at least 95 %


def test_making_levels_agree_lowers_the_error() -> None:
    """The fitted total uses the leaves as well: its error must be below that of its own noise."""
    made = planned("t", PureDP(Fraction(1, 2)))  # type: ignore[arg-type]
    counts = [2000, 1500, 1000, 3000, 2500, 1800]
    own, agreed = [], []
    root = made.recipes[0].measures[0]
    for _ in range(400):
        noisy = noise(made, Answers(LEAVES, by_measure(made, {"rows": counts})))
        (found,) = estimates(made.recipes, made.steps, fitted(made, noisy), 0.95)
        own.append(float(noisy.measured[root][0]) - sum(counts))
        agreed.append(found.values[0] - sum(counts))
    assert np.std(agreed) < 0.9 * np.std(own)
