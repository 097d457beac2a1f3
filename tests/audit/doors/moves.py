"""How far the exact integers of a plan move between two databases, against what its steps were bought for."""

from __future__ import annotations

from collections import Counter
from typing import Any

from curador.query.aggregates.consistent import KeyTable
from curador.query.aggregates.measure import AROUND_BITS, Measure, MeasureKind
from curador.query.aggregates.quantiles.around import around
from curador.query.plan.plan import Plan
from curador.query.plan.steps import Largest, Noised, Ranked, Selected


def changes(plan: Plan, one: Any, other: Any) -> None:
    """Every step's integers move between two databases by no more than the step was bought for."""
    at = [{tuple(key): i for i, key in enumerate(found.keys)} for found in (one, other)]
    keys = list(dict.fromkeys([*at[0], *at[1]]))

    def moved(m: Measure) -> list[int]:
        columns = one.column(m), other.column(m)
        pairs = [[int(c[i[k]]) if k in i else 0 for c, i in zip(columns, at, strict=True)] for k in keys]
        return [a - b for a, b in pairs]

    def moved_around(m: Measure) -> list[int]:
        """In the finest cells there are, one for each value."""
        values = next(s.ranks.measure for s in plan.steps if isinstance(s, Ranked) and around(s.ranks.measure) == m)
        rows: list[Counter[tuple[Any, int]]] = [Counter(), Counter()]
        for found, places, cells in zip((one, other), at, rows, strict=True):
            lists = found.values(values)
            for key, i in places.items():
                cells.update({(key, v): n << AROUND_BITS for v, n in zip(*(x.tolist() for x in lists[i]), strict=True)})
        return [rows[0][cell] - rows[1][cell] for cell in {*rows[0], *rows[1]}]

    tree = next((r.tree for r in plan.recipes if r.tree is not None), None)
    for step in plan.steps:
        if isinstance(step, Noised) and step.mechanism is not None:  # else a constant, whatever was found
            cells = step.measure.kind is MeasureKind.AROUND
            change = moved_around(step.measure) if cells else moved(step.measure.of_groups)
            if step.measure.level is not None and tree is not None:
                change = list(tree.gather(change, len(step.measure.level)))
            elif step.measure.level is not None:
                change = KeyTable(tuple(map(tuple, keys))).gathered(plan.question.axes(step.measure.level), change)
            sizes = sorted(map(abs, change), reverse=True)
            for s in plan.steps:
                if isinstance(s, Largest):
                    sizes = sizes[: s.mechanism.k]  # of the groups chosen
            assert sum(sizes) <= step.sensitivity.l1
            assert sum(x * x for x in sizes) <= step.sensitivity.l2_squared
            assert max(sizes, default=0) <= step.sensitivity.linf
        elif isinstance(step, Ranked):
            lists = [found.values(step.ranks.measure) for found in (one, other)]
            touched = 0
            for key in keys:
                a, b = (
                    Counter(dict(zip(*(x.tolist() for x in lists[j][at[j][key]]), strict=True)))
                    if key in at[j]
                    else Counter()
                    for j in (0, 1)
                )
                most = max((a - b).total(), (b - a).total())
                touched += most > 0
                assert most <= step.rows
            assert touched <= step.groups
        elif isinstance(step, Selected):
            assert max(map(abs, moved(plan.units)), default=0) <= 1
