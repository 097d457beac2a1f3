"""Intervals of what was chosen by the noise that is shown: corrected for the choice, by the law and not by samples."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter
from curador.mechanisms.keys import OptimalKeys
from curador.mechanisms.laplace import IntegerLaplace
from curador.mechanisms.thresholded import Thresholded, ThresholdedGaussian, ThresholdedLaplace
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from curador.query.aggregates.base import Estimate
from curador.query.aggregates.counts import count, count_distinct
from curador.query.aggregates.moments import mean, std, variance
from curador.query.aggregates.quantiles.ranks import median
from curador.query.aggregates.sums import sum_
from curador.query.aggregates.top import top_k
from curador.query.answer.fitted import fitted
from curador.query.answer.noisy import NoisyCounts
from curador.query.answer.postprocess import Answered, answered, corrected, estimates
from curador.query.ask.builder import TableQuery
from curador.query.language.expressions import Compare, Literal, Name
from curador.query.plan.checked import check
from curador.query.plan.plan import Plan
from curador.query.plan.planner import MOST_CONFIDENCE_CHOSEN, MOST_GROUPS, plan
from curador.query.plan.steps import Noised, Selected
from curador.query.tables.table import Table, Tree
from curador.show.explain import note_text

GROUPS = 50
COLUMNS = {
    "id": "integer",
    "x": {"type": "integer", "bounds": [0, 4], "nullable": False},
    "y": {"type": "integer", "bounds": [0, 4]},
    "k": {"type": "integer", "keys": range(GROUPS)},
    "city": "text",
}
TABLES = {
    "t": Table("no-such.csv", columns=COLUMNS),
    "many": Table("no-such.csv", unit="id", contribution=(3, 5), columns=COLUMNS),
}
T, MANY = TableQuery.of("t", TABLES), TableQuery.of("many", TABLES)
CHOSEN, KEYED = T.group_by("city"), T.group_by("k")


def planned(query: TableQuery, budget: Guarantee, **options: Any) -> Plan:
    return plan(check(query.question, TABLES), budget, **options)


def selecting(made: Plan) -> list[Noised]:
    return [s for s in made.steps if isinstance(s, Noised) and s.selects]


def codes(made: Plan) -> list[str]:
    return [note["code"] for note in made.facts["notes"]]


# ---- groups selected privately --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "budget", "law"),
    [
        (CHOSEN.aggregate(n=count()), ApproxDP(1, 1e-6), ThresholdedLaplace),
        (CHOSEN.aggregate(n=count(), s=sum_("y")), ApproxDP(1, 1e-6), ThresholdedLaplace),
        (CHOSEN.aggregate(n=count()), ZCDP(0.1, 1e-6), ThresholdedGaussian),
        (MANY.group_by("city").aggregate(u=count_distinct(), s=sum_("y")), ZCDP(0.1, 1e-6), ThresholdedGaussian),
    ],
)
def test_a_count_that_selects_has_the_interval_of_its_law(query: TableQuery, budget: Guarantee, law: type) -> None:
    made = planned(query, budget)
    (step,) = selecting(made)
    (chosen,) = (s.mechanism for s in made.steps if isinstance(s, Selected))
    assert step.selection is chosen
    assert isinstance(chosen, law)
    assert isinstance(chosen, Thresholded)
    shown = np.arange(chosen.threshold, chosen.threshold + 50)
    found = estimated(made, {step.measure.label: shown})[made.recipes[0].name]
    low, high = chosen.interval(shown, 0.95)
    assert (found.lower, found.upper) == (tuple(low.tolist()), tuple(high.tolist()))
    assert found.values == tuple(shown.tolist())
    units = chosen.least(0.95)
    assert {"code": "selected-by-count", "units": units} in made.facts["notes"]
    assert made.expected[0].units == made.facts["expected"][0]["units"] == units


@pytest.mark.parametrize(
    ("query", "budget", "options"),
    [
        (CHOSEN.aggregate(m=mean("y")), ApproxDP(1, 1e-6), {}),
        (CHOSEN.aggregate(s=sum_("y"), h=median("y")), ApproxDP(1, 1e-6), {}),
        (CHOSEN.aggregate(n=count()), ApproxDP(1, 1e-6), {"noise": "gaussian"}),
        (CHOSEN.aggregate(n=count()), ZCDP(0.1, 1e-6), {"noise": "laplace"}),
        (CHOSEN.aggregate(s=sum_("y")), ZCDP(0.1, 1e-6), {}),
        (MANY.group_by("city").aggregate(n=count()), ApproxDP(1, 1e-6), {}),
    ],
)
def test_noise_of_its_own_needs_no_correction(query: TableQuery, budget: Guarantee, options: dict[str, Any]) -> None:
    """The choice of groups draws other words than the noise that is shown: given the data, they are independent."""
    made = planned(query, budget, **options)
    (chosen,) = (s for s in made.steps if isinstance(s, Selected))
    assert isinstance(chosen.mechanism, OptimalKeys | ThresholdedGaussian)
    assert selecting(made) == []
    assert "selected-by-count" not in codes(made)
    assert all(e.units is None for e in made.expected)


def estimated(made: Plan, columns: dict[str, Any]) -> dict[str, Estimate]:
    """Estimates from noised columns by the labels of their measures; a column that is not given is zero."""
    size = len(next(iter(columns.values())))
    steps = [s for s in made.steps if isinstance(s, Noised)]
    found = {s.measure: np.asarray(columns.get(s.measure.label, np.zeros(size, np.int64))) for s in steps}
    noisy = NoisyCounts(tuple((str(i),) for i in range(size)), found, {})
    return {e.name: e for e in estimates(made.recipes, made.steps, fitted(made, noisy), made.confidence)}


def law(mechanism: Any, most: int) -> dict[int, float]:
    assert isinstance(mechanism, IntegerLaplace)
    q = math.exp(-1 / float(mechanism.scale))
    return {x: (1 - q) / (1 + q) * q ** abs(x) for x in range(-most, most + 1)}


@pytest.mark.parametrize("n", [1, 4, 6, 9, 30])
@pytest.mark.parametrize("value", [0, 1, 4])
def test_means_and_sums_over_a_count_that_selects(n: int, value: int) -> None:
    """Every noise of the count and of the sum that has any weight, given that the group is shown."""
    made = planned(CHOSEN.aggregate(n=count(), m=mean("x"), s=sum_("x")), ApproxDP(6, 1e-4))
    (step,) = selecting(made)
    (centred,) = (s for s in made.steps if isinstance(s, Noised) and not s.selects)
    assert step.selection is not None
    total, centre = n * value, centred.measure.centre
    pairs = list(product(law(step.mechanism, 25).items(), law(centred.mechanism, 25).items()))
    pairs = [(a, b) for a, b in pairs if n + a[0] >= step.selection.threshold]
    weights = np.array([a[1] * b[1] for a, b in pairs])
    counts = np.array([n + a[0] for a, _ in pairs])
    sums = np.array([total - centre * n + b[0] for _, b in pairs])
    found = estimated(made, {"rows": counts, "centred(x)": sums})
    for name, truth in {"n": n, "m": value, "s": total}.items():
        low, high = np.array(found[name].lower), np.array(found[name].upper)
        covered = float(weights[(low <= truth) & (truth <= high)].sum() / weights.sum())
        assert covered >= 0.95 - 1e-6, (name, covered)
        assert (low <= np.array(found[name].values)).all()
        assert (np.array(found[name].values) <= high).all()


@pytest.mark.parametrize("n", [1, 5, 12])
def test_variances_over_a_count_that_selects(n: int) -> None:
    made = planned(CHOSEN.aggregate(n=count(), v=variance("x"), d=std("x", population=True)), ApproxDP(20, 1e-4))
    (step,) = selecting(made)
    noises = {s.measure.label: s for s in made.steps if isinstance(s, Noised) and not s.selects}
    assert step.selection is not None
    values = np.arange(n) % 5
    centre = noises["centred(x)"].measure.centre
    drawn = [law(step.mechanism, 12), law(noises["centred(x)"].mechanism, 12), law(noises["squares(x)"].mechanism, 20)]
    triples = [t for t in product(*(d.items() for d in drawn)) if n + t[0][0] >= step.selection.threshold]
    weights = np.array([a[1] * b[1] * c[1] for a, b, c in triples])
    exact = {"rows": n, "centred(x)": int((values - centre).sum()), "squares(x)": int(((values - centre) ** 2).sum())}
    found = estimated(
        made, {name: x + np.array([t[i][0] for t in triples]) for i, (name, x) in enumerate(exact.items())}
    )
    truths = {"v": values.var(ddof=1) if n > 1 else None, "d": values.std()}
    for name, truth in truths.items():
        if truth is not None:
            low, high = np.array(found[name].lower), np.array(found[name].upper)
            assert weights[(low <= truth + 1e-9) & (truth - 1e-9 <= high)].sum() / weights.sum() >= 0.95 - 1e-6


def test_the_expected_error_holds_in_groups_that_are_nearly_always_shown() -> None:
    made = planned(CHOSEN.aggregate(n=count()), ApproxDP(1, 1e-6))
    (step,), (expected,) = selecting(made), made.expected
    assert step.selection is not None
    assert expected.units is not None
    assert expected.value is not None
    noise = law(step.mechanism, 60)
    for n in (expected.units, expected.units + 1, expected.units + 20):
        shown = {x: p for x, p in noise.items() if n + x >= step.selection.threshold}
        assert sum(p for x, p in shown.items() if abs(x) <= expected.value) >= 0.95 * sum(shown.values())


# ---- rows chosen by HAVING and LIMIT --------------------------------------------------------------------------------


def shown(made: Plan, counts: list[int]) -> Answered:
    measured = {s.measure: np.array(counts) for s in made.steps if isinstance(s, Noised)}
    return answered(made, NoisyCounts(made.checked.keys or (), measured, {}))


def half(found: Answered, row: int = 0) -> float:
    low, high = found.intervals["n"][row]
    return float(high - low) / 2


COUNTS = list(range(100, 100 + GROUPS))


def cumulated(mechanism: Any, x: float) -> float:
    """P(noise <= x)."""
    q, k = math.exp(-1 / float(mechanism.scale)), math.floor(x)
    return 1 - q ** (k + 1) / (1 + q) if k >= 0 else q**-k / (1 + q)


def test_the_first_of_fifty_equal_groups() -> None:
    """Its noise is the largest of fifty: the chance that this lies within the interval, exactly."""
    query = KEYED.aggregate(n=count())
    plain, first = planned(query, PureDP(1)), planned(query.order_by("n", descending=True).limit(1), PureDP(1))
    (step,) = (s for s in first.steps if isinstance(s, Noised))

    def coverage(reach: float) -> float:
        return cumulated(step.mechanism, reach) ** GROUPS - cumulated(step.mechanism, -reach - 1) ** GROUPS

    assert coverage(half(shown(plain, COUNTS))) < 0.51
    assert coverage(half(shown(first, COUNTS))) >= 0.95


@pytest.mark.parametrize("most", [2, 5, 25, 49])
def test_the_first_few_of_fifty_equal_groups(most: int) -> None:
    """The expected part of the first k whose interval misses, exactly: the largest noises that are too large."""
    made = planned(KEYED.aggregate(n=count()).order_by("n", descending=True).limit(most), PureDP(1))
    (step,) = (s for s in made.steps if isinstance(s, Noised))
    reach = half(shown(made, COUNTS))
    above = 1 - cumulated(step.mechanism, reach)
    binomial = [math.comb(GROUPS, i) * above**i * (1 - above) ** (GROUPS - i) for i in range(GROUPS + 1)]
    too_large = sum(p * min(i, most) for i, p in enumerate(binomial)) / most
    # Those that are too small are among the first k only if fewer than k are not.
    too_small = sum(p * max(0, i - (GROUPS - most)) for i, p in enumerate(binomial)) / most
    assert too_large + too_small <= 0.05


@pytest.mark.parametrize("above", [-3, 0, 3, 6])
def test_having_among_fifty_equal_groups(above: int) -> None:
    """R of fifty pass; given that, each has the law of noise that passes.  Summed over R, exactly."""
    made = planned(KEYED.aggregate(n=count()).having(Compare(">=", Name("n"), Literal(100 + above))), PureDP(1))
    (step,) = (s for s in made.steps if isinstance(s, Noised))
    passes = 1 - cumulated(step.mechanism, above - 1)
    missed = 0.0
    for r in range(1, GROUPS + 1):
        found = shown(made, [100 + above] * r + [0] * (GROUPS - r))
        assert len(found.columns["n"]) == r
        reach = half(found)
        inside = cumulated(step.mechanism, reach) - cumulated(step.mechanism, max(-reach, above) - 1)
        chance = math.comb(GROUPS, r) * passes**r * (1 - passes) ** (GROUPS - r)
        missed += chance * (1 - max(0.0, inside) / passes)
    assert missed <= 0.05


def test_what_is_corrected_and_says_so() -> None:
    query = KEYED.aggregate(n=count())
    plain = half(shown(planned(query, PureDP(1)), COUNTS))
    by_key = query.order_by("k").limit(3)
    same = query.having(Compare(">", Name("n"), Literal(-1000)))
    for other, reach, said in (
        (by_key, plain, False),
        (query.having(Compare("<", Name("k"), Literal(7))), plain, False),
        (query.order_by("n"), plain, False),
        (same, plain, True),  # all pass, so nothing was left out
        (query.order_by("k", "n").limit(3), None, True),
        (query.order_by("n").limit(3), None, True),
        (query.having(Compare(">", Name("n"), Literal(140))), None, True),
    ):
        made = planned(other, PureDP(1))
        found = half(shown(made, COUNTS))
        assert found == reach if reach is not None else found > plain
        assert ("chosen-by-noise" in codes(made)) is said
    assert "at most what the confidence leaves" in note_text({"code": "chosen-by-noise"})
    assert "corregidos" in note_text({"code": "chosen-by-noise"}, "es")
    assert "al menos 17 unidades" in note_text({"code": "selected-by-count", "units": 17}, "es")


def test_a_confidence_that_many_selected_groups_could_not_have_is_refused_before_the_charge() -> None:
    """How many groups pass is known only after it: ten million at 1 - 1e-9 were charged, and then refused."""
    tables = {"t": Table("no-such.csv", columns={"s": "text", "k": {"type": "text", "keys": ["a", "b"]}})}
    query, high, budget = TableQuery.of("t", tables), 1 - 1e-9, ApproxDP(1, 1e-6)
    chosen = query.group_by("s").aggregate(n=count()).order_by("n").limit(1)
    with pytest.raises(InvalidParameter, match=r"to 0\.999999 here"):
        plan(check(chosen.question, tables), budget, confidence=high)
    plan(check(chosen.question, tables), budget, confidence=MOST_CONFIDENCE_CHOSEN)
    level = corrected(MOST_CONFIDENCE_CHOSEN, 1, MOST_GROUPS)
    assert max(1 - (1 - level) / parts for parts in (1, 2, 3, 4)) < 1
    for free in (query.group_by("s").aggregate(n=count()), query.group_by("k").aggregate(n=count()).limit(1)):
        plan(check(free.question, tables), budget, confidence=high)


def test_the_largest_are_chosen_by_other_noise() -> None:
    """Their counts are noised anew, so that all of them need no correction; some of them by LIMIT do."""
    largest = KEYED.aggregate(n=top_k(5))
    made = planned(largest, PureDP(1))
    assert "chosen-by-noise" not in codes(made)
    assert "chosen-by-noise" in codes(planned(largest.limit(2), PureDP(1)))


def test_rows_of_a_tree_cover_at_once() -> None:
    """Their counts were made to agree, so that they are not independent of each other."""
    levels = Tree(("a", "b"), {"x": ["p", "q"], "y": ["p", "q"]})
    tables = {"t": Table("no-such.csv", columns={"a": "text", "b": "text"}, trees={"ab": levels})}
    tree = TableQuery.of("t", tables).tree("ab").aggregate(n=count())
    made = [plan(check(q.question, tables), PureDP(1)) for q in (tree, tree.order_by("n").limit(1))]
    assert ["chosen-at-once" in codes(p) for p in made] == [False, True]
    widths = []
    for one in made:
        steps = [s for s in one.steps if isinstance(s, Noised)]
        nodes = {s.measure: 4 if s.measure.level is None else s.measure.nodes for s in steps}
        noisy = {m: np.full(n, 4 * 10**6 // n) for m, n in nodes.items()}
        (hierarchy,) = {r.tree for r in one.recipes}
        assert hierarchy is not None
        keys = tuple((*node, *(None,) * (2 - len(node))) for node in hierarchy.walk)
        found = answered(one, NoisyCounts(keys, noisy, {}))
        cells = zip(found.columns["n"], found.intervals["n"], strict=True)
        widths.append(next(b - 10**6 for n, (_, b) in cells if round(n) == 10**6))
    (leaves,) = (s for s in steps if s.measure.level is None)
    assert widths == [leaves.error(0.95), leaves.error(1 - 0.05 / 7)]


def test_quantiles_of_chosen_rows_are_within_more_ranks() -> None:
    query = KEYED.aggregate(n=count(), h=median("x", interval=False))
    ranks = []
    for asked in (query, query.order_by("n").limit(1)):
        made = planned(asked, PureDP(1))
        measured = {s.measure: np.array(COUNTS) for s in made.steps if isinstance(s, Noised)}
        (search,) = (s.ranks for s in made.steps if not isinstance(s, Noised))  # type: ignore[union-attr]
        found = answered(made, NoisyCounts(made.checked.keys or (), measured, {search: np.zeros((GROUPS, 1))}))
        ranks.append(found.ranks["h"])
    assert ranks[1] > ranks[0]
