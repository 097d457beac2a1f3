"""Intervals of what is computed from answers cover, near zero denominators too, and are no wider than they must be."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.answer import derived
from curador.query.answer.noise import noise
from curador.query.answer.noisy import NoisyCounts
from curador.query.answer.postprocess import Answered, answered
from curador.query.ask.sql.read import parse
from curador.query.plan.checked import check
from curador.query.plan.plan import Plan
from curador.query.plan.planner import plan
from curador.query.plan.steps import Noised
from curador.query.tables.table import Table
from tests.query.answer.found import Answers

BLOCKS, EACH = 500, 6
CELLS = BLOCKS * EACH
TABLES = {
    "t": Table(
        "no-such.csv",
        columns={
            "x": {"type": "real", "bounds": [-4, 12], "step": 0.25},
            "w": {"type": "integer", "bounds": [0, 5], "nullable": False},
            "b": {"type": "integer", "keys": range(BLOCKS)},
            "k": {"type": "integer", "keys": range(EACH)},
            "ok": "boolean",
            "town": "text",
        },
    )
}
BUDGETS: dict[str, tuple[Guarantee, str | None]] = {
    "laplace": (PureDP(1), None),
    "gaussian": (ApproxDP(1, 1e-6), "gaussian"),
    "integer gaussian": (ZCDP(0.1), None),
}


def planned(what: str, budget: str, after: str = "", confidence: float = 0.95) -> Plan:
    asked = parse(f"SELECT b, k, {what} FROM t GROUP BY b, k {after}", TABLES)
    paid, kind = BUDGETS[budget] if budget in BUDGETS else (PureDP(0.1), None)
    return plan(check(asked, TABLES), paid, noise=kind, confidence=confidence)


@cache
def truth(rows: int) -> Mapping[str, NDArray[np.int64]]:
    """What there is in each group: about so many rows, of which some have no x, some are ok, and their sums."""
    draw = np.random.default_rng(rows)
    n = draw.integers(rows // 2, rows + 1, CELLS)
    present = draw.binomial(n, 0.8)
    return {"rows": n, "present": present, "ok": draw.binomial(n, 0.4), "mean": draw.integers(-10, 40, CELLS)}


def exact(made: Plan, rows: int) -> dict[Measure, list[int]]:
    """The measures of a plan, of which each is consistent with the others."""
    t = truth(rows)
    out: dict[Measure, NDArray[np.int64]] = {}
    for m in made.measures:
        text = str(m.column)
        if m.kind is MeasureKind.ROWS:
            out[m] = t["rows"]
        elif m.kind is MeasureKind.PRESENT:
            out[m] = t["ok"] if "ok" in text else t["present"]
        elif "w" in text:
            out[m] = t["mean"] * t["present"] * 2 if "x" in text else 2 * t["rows"] - m.centre * t["rows"]
        elif m.kind is MeasureKind.CENTRED and "COALESCE" in text:
            out[m] = t["mean"] * t["present"] - m.centre * t["rows"]
        else:
            assert "x" in text
            out[m] = (t["mean"] - m.centre) * t["present"]
    return {m: x.tolist() for m, x in out.items()}


def both(made: Plan, rows: int) -> tuple[Answered, Answered]:
    """What is true, and what is released."""
    measures, keys = exact(made, rows), [(b, k) for b in range(BLOCKS) for k in range(EACH)]
    known = NoisyCounts(tuple(keys), {m: np.array(x) for m, x in measures.items()}, {})
    return answered(made, known), answered(made, noise(made, Answers(keys, measures)))


def covered(true: Sequence[Any], ends: Sequence[tuple[float, float]]) -> float:
    hits = [bool(low <= x <= high) for x, (low, high) in zip(true, ends, strict=True) if x is not None]
    return sum(hits) / len(hits)


LINEAR = {
    "a factor": "100.0 * COUNT(*)",
    "a difference": "COUNT(*) - COUNT_IF(ok)",
    "three": "COUNT(*) + SUM(w) / 4 - 2 * COUNT_IF(ok)",
    "a total": "SUM(COUNT(*)) OVER (PARTITION BY b)",
    "from a total": "COUNT(*) - AVG(COUNT(*)) OVER (PARTITION BY b)",
}
RATIOS = {
    "a mean": "SUM(x) / COUNT(*)",
    "a mean of values": "SUM(x) / COUNT(x)",
    "a weighted mean": "SUM(w * x) / SUM(w)",
    "a share": "COUNT(*) FILTER (WHERE ok) / NULLIF(COUNT(*), 0)",
    "percent": "100.0 * COUNT_IF(ok) / COUNT(*)",
    "the rest": "1 - COUNT_IF(ok) * 1.0 / COUNT(*)",
    "of the block": "COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY b)",
    "three noises": "(COUNT(*) - COUNT_IF(ok)) / (COUNT(*) + SUM(w))",
}
BOXES = {
    "rounded": "ROUND(SUM(w * x) / SUM(w), 1)",
    "a difference of ratios": "SUM(w * x) / SUM(w) - COUNT_IF(ok) / COUNT(*)",
    "a product": "COUNT(*) * COUNT_IF(ok)",
    "the largest": "GREATEST(COUNT(*) - 40, COUNT_IF(ok), 0)",
    "a size": "ABS(COUNT(*) - 2 * COUNT_IF(ok))",
    "a choice": "CASE WHEN COUNT(*) > 30 THEN COUNT(*) ELSE 0 END",
    "a choice by groups": "CASE WHEN k < 3 THEN COUNT(*) ELSE -COUNT(*) END",
    "or else": "COALESCE(SUM(w * x) / SUM(w), 0)",
    "the largest of a block": "MAX(COUNT(*)) OVER (PARTITION BY b)",
    "a root": "SQRT(COUNT(*))",
    "a growth": "LN(COUNT(*)) + EXP(COUNT_IF(ok) / 100)",
    "whole and rest": "COUNT(*) // 7 + COUNT(*) % 7",
}
# Below: three thousand intervals, or five hundred blocks of six that depend on each other, and a chance of 1e-6.
FEWEST, FEWEST_BLOCKS = 0.95 - 5 * math.sqrt(0.0475 / CELLS), 0.95 - 5 * math.sqrt(0.0475 / BLOCKS)


@pytest.mark.thin(50)
@pytest.mark.parametrize("rows", [4000, 60])
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("what", {**LINEAR, **RATIOS, **BOXES}.items(), ids=lambda pair: pair[0])
def test_intervals_cover(what: tuple[str, str], budget: str, rows: int) -> None:
    """With hundreds of rows in a group, and with so few that noise is as large as what it is added to."""
    true, found = both(planned(f"{what[1]} AS y", budget), rows)
    share = covered(true.columns["y"], found.intervals["y"])
    assert share >= (FEWEST_BLOCKS if "OVER" in what[1] else FEWEST)
    for y, (low, high) in zip(found.columns["y"], found.intervals["y"], strict=True):
        assert y is None or low <= y <= high
        assert not math.isnan(low + high) or (low, high) == (-math.inf, math.inf)


@pytest.mark.parametrize("budget", ["little laplace", "gaussian"])  # much noise: that it is whole hardly counts
@pytest.mark.parametrize("what", {**LINEAR, **RATIOS}.items(), ids=lambda pair: pair[0])
def test_intervals_by_a_joint_law_are_no_wider_than_they_must_be(what: tuple[str, str], budget: str) -> None:
    true, found = both(planned(f"{what[1]} AS y", budget), 4000)
    assert covered(true.columns["y"], found.intervals["y"]) <= 0.985


def test_a_denominator_that_may_be_zero_leaves_no_ends() -> None:
    """Where the count is mere noise, an interval has no ends, and what is divided by zero is NULL; never NaN."""
    made = planned("COUNT_IF(ok) / COUNT(*) AS y", "laplace")
    _, found = both(made, 2)
    assert sum(ends == (-math.inf, math.inf) for ends in found.intervals["y"]) > CELLS / 2
    assert None in found.columns["y"]
    assert all(y is None or math.isfinite(y) for y in found.columns["y"])


@pytest.mark.thin(25)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("what", [*LINEAR.values(), *RATIOS.values(), *BOXES.values()])
def test_no_confidence_fails_after_the_charge(what: str, budget: str) -> None:
    """The highest and the lowest that may be asked for, divided by groups and parts: where doubles end, so do ends."""
    for confidence in (1 - 1e-9, 1e-6):
        made = planned(f"{what} AS y", budget, "HAVING COUNT(*) > 2 ORDER BY y LIMIT 2", confidence)
        _, found = both(made, 60)
        assert all(low <= high for low, high in found.intervals["y"])


# ---- rows that were chosen by noise ---------------------------------------------------------------------------------

GROUPS, ROUNDS = 40, 120
CHOSEN_FROM = {
    "t": Table(
        "no-such.csv",
        columns={"g": {"type": "integer", "keys": range(GROUPS)}, "ok": {"type": "boolean", "nullable": False}},
    )
}


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("what", "after", "note"),
    [
        ("COUNT_IF(ok) / COUNT(*)", "ORDER BY y DESC LIMIT 3", "chosen-by-noise"),
        ("COUNT(*) - COUNT_IF(ok)", "HAVING COUNT(*) - COUNT_IF(ok) > 305", "chosen-by-noise"),
        ("COUNT(*) - COUNT_IF(ok)", "ORDER BY COUNT(*) - COUNT_IF(ok) LIMIT 3 OFFSET 1", "chosen-by-noise"),
        ("COUNT(*) / SUM(COUNT(*)) OVER ()", "ORDER BY y DESC LIMIT 3", "chosen-at-once"),
        ("SUM(COUNT(*)) OVER ()", "HAVING COUNT(*) > 403", "chosen-at-once"),
        ("COUNT(*) / SUM(COUNT(*)) OVER ()", "HAVING COUNT(*) > 403", "chosen-at-once"),
        ("MAX(COUNT(*)) OVER ()", "HAVING COUNT(*) > 403", "chosen-at-once"),
    ],
)
def test_intervals_cover_what_noise_chose(what: str, after: str, note: str) -> None:
    """Groups that are all alike: whatever is shown was chosen by its noise.  Of what is shown, few miss on average."""
    asked = parse(f"SELECT g, {what} AS y FROM t GROUP BY g {after}", CHOSEN_FROM)
    made = plan(check(asked, CHOSEN_FROM), PureDP(0.5))
    assert note in [n["code"] for n in made.facts["notes"]]
    numbers = {m: [400 if m.kind is MeasureKind.ROWS else 100] * GROUPS for m in made.measures}
    keys = [(g,) for g in range(GROUPS)]
    missed = []
    for _ in range(ROUNDS):
        found = answered(made, noise(made, Answers(keys, numbers)))
        shown = len(found.columns["y"])
        groups = shown if "HAVING" in after and "OVER" in what else GROUPS
        true = {"C": 0.25, "/": 1 / max(1, groups), "S": 400 * groups, "M": 400, "-": 300}[_kind(what)]
        ends = found.intervals["y"]
        missed.append(sum(not low <= true <= high for low, high in ends) / max(1, shown))
    assert np.mean(missed) <= 0.05 + 5 * math.sqrt(0.0475 / ROUNDS)


def _kind(what: str) -> str:
    if "OVER" in what:
        return "/" if "/" in what else what[0]
    return "-" if "-" in what else "C"


@pytest.mark.parametrize("budget", [ApproxDP(1, 1e-6), ZCDP(0.1, 1e-6)])
@pytest.mark.parametrize("what", ["COUNT(*) * 2 + SUM(w)", "SUM(w) / COUNT(*)", "COUNT(*) / SUM(COUNT(*)) OVER ()"])
def test_intervals_cover_in_groups_that_their_count_selects(what: str, budget: Guarantee) -> None:
    """The count decides whether a group is shown: near its threshold only large noise is seen."""
    asked = parse(f"SELECT town, {what} AS y FROM t GROUP BY town", TABLES)
    made = plan(check(asked, TABLES), budget)
    assert any(isinstance(s, Noised) and s.selects for s in made.steps)
    groups = 400
    rows = [12 + i % 25 for i in range(groups)]
    numbers = {m: rows if m.kind is MeasureKind.ROWS else [(2 - m.centre) * n for n in rows] for m in made.measures}
    missed, shown = 0, 0
    for _ in range(8):
        found = answered(made, noise(made, Answers([(f"{i:03}",) for i in range(groups)], numbers)))
        sizes = [rows[int(name)] for name in found.columns["town"]]
        true = [n / sum(sizes) if "OVER" in what else 2.0 if "/" in what else 4.0 * n for n in sizes]
        missed += sum(not low <= y <= high for y, (low, high) in zip(true, found.intervals["y"], strict=True))
        shown += len(sizes)
    assert shown > 500
    assert missed / shown <= 0.05 + 5 * math.sqrt(0.0475 / shown)


WHOLE = st.integers(-(10**6), 10**6)


@given(st.tuples(WHOLE, WHOLE), st.tuples(WHOLE, WHOLE), st.sampled_from(["+", "-", "*", "/", "//"]), st.booleans())
def test_an_end_that_is_the_truth_is_kept(a: tuple[int, int], b: tuple[int, int], op: str, parts: bool) -> None:
    """Noise is whole, so that the truth is often an end: 49 * (1 / 49) is less than 1, and missed it."""
    unit = Fraction(1, 10) if parts else Fraction(1)
    spans = [span_of(*(float(x * unit) for x in sorted(ends))) for ends in (a, b)]
    found = derived._RULES[op](*spans)
    rules: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
        "//": lambda x, y: Fraction(int(x / y)),
    }
    for x in spans[0].low[0], spans[0].high[0]:
        for y in spans[1].low[0], spans[1].high[0]:
            if y or op not in ("/", "//"):
                true = rules[op](Fraction(x), Fraction(y))
                assert found.low[0] <= true <= found.high[0]
                assert parts or op == "/" or found.low[0] == np.trunc(found.low[0])


def span_of(low: float, high: float) -> derived.Span:
    return derived.Span(np.array([low]), np.array([high]), np.array([False]))


@pytest.mark.parametrize("what", ["COUNT(*) / 49", "100 * COUNT(*) / 49", "FLOOR(COUNT(*) / 49)", "COUNT(*) // 49"])
def test_quotients_of_counts_that_select_their_groups_cover(what: str) -> None:
    asked = parse(f"SELECT town, {what} AS y FROM t GROUP BY town", TABLES)
    made = plan(check(asked, TABLES), ApproxDP(2, 1e-6))
    keys = [(f"{i:03}",) for i in range(800)]
    missed, shown = 0, 0
    for _ in range(4):
        found = answered(made, noise(made, Answers(keys, {m: [49] * 800 for m in made.measures})))
        true = 100 if "100" in what else 1
        missed += sum(not low <= true <= high for low, high in found.intervals["y"])
        shown += len(found.columns["y"])
    assert shown > 3000
    assert missed / shown <= 0.05 + 5 * math.sqrt(0.0475 / shown)


@pytest.mark.parametrize("what", ["0 / SUM(w)", "(SUM(w) - SUM(w)) / COUNT(*)"])
def test_nothing_in_any_number_of_parts_is_nothing(what: str) -> None:
    """A numerator that is zero for sure left no ends, as if the denominator might be zero."""
    made = planned(f"{what} AS y", "laplace")
    numbers = {m: [10_000] * CELLS for m in made.measures}
    found = answered(made, noise(made, Answers([(b, k) for b in range(BLOCKS) for k in range(EACH)], numbers)))
    assert set(found.intervals["y"]) == {(0.0, 0.0)}


@pytest.mark.parametrize(
    ("what", "ends"),
    [
        ("SQRT(ABS(COUNT(*) - 100) * 0.5)", (0.0, 1.5)),
        ("LEAST(SQRT(ABS(COUNT(*) - 100) * 0.5), 1000)", (0.0, 1.5)),
        ("(ABS(COUNT(*) - 100) * 0.5) % 3", (0.0, 2.1)),
        ("SQRT(AVG(w) * 0)", (0.0, 0.0)),
    ],
)
def test_an_end_that_is_zero_stays_zero(what: str, ends: tuple[float, float]) -> None:
    """A step below it a root has no value, and the rest of a division another sign."""
    made = planned(f"{what} AS y", "laplace")
    numbers = {m: [100 if m.kind is MeasureKind.ROWS else 0] * CELLS for m in made.measures}
    found = answered(made, noise(made, Answers([(b, k) for b in range(BLOCKS) for k in range(EACH)], numbers)))
    low, high = (np.array(side) for side in zip(*found.intervals["y"], strict=True))
    assert low.min() >= ends[0]
    assert np.median(high) <= ends[1]
