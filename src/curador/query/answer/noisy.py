"""The noised measurement that is kept of an answer, from which any presentation is made.

It holds noised numbers and the keys of the groups that are shown, nothing exact and no words.  In a ledger it is JSON:
each column of numbers stands behind the code of its measure, and keys stand in an order of the groups that does not
depend on how the question was written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import LedgerBroken
from curador.mechanisms.base import AdditiveNoise
from curador.query.aggregates.base import Array
from curador.query.aggregates.consistent import KeyTable
from curador.query.aggregates.measure import Measure, MeasureKind, RankSearch, Search
from curador.query.aggregates.quantiles.around import Ends, RankedCells, around, cell_ends
from curador.query.plan.identity import FORMAT, canonical, text_of
from curador.query.plan.steps import MACHINE_WORD, Largest, Noised, Ranked
from curador.query.tables.columns import Key

if TYPE_CHECKING:
    from curador.query.plan.plan import Plan

GroupKey = tuple[Key | None, ...]


@dataclass(frozen=True)
class NoisyCounts:
    """The noised measures of a plan: the groups that are shown, and for each its numbers.

    ``ranked`` holds for each search by rank one row of values per group, on the column's grid; ``around`` the counts in
    the cells around them, of which each group may have another number.
    """

    keys: tuple[GroupKey, ...]
    measured: Mapping[Measure, NDArray[Any]]
    ranked: Mapping[RankSearch, Array]
    around: Mapping[Measure, Sequence[NDArray[Any]]] = field(default_factory=dict)

    def cells(self, m: Measure, noise: AdditiveNoise) -> RankedCells:
        """The counts of a measure around chosen values, with their cells and their noise."""
        return RankedCells(ends_around(m, self.ranked), self.around[m], noise)

    def at(self, places: Sequence[int]) -> NoisyCounts:
        """The same with its groups in another order."""
        order = list(places)
        return NoisyCounts(
            tuple(self.keys[i] for i in order),
            {m: x[order] for m, x in self.measured.items()} if _alike(self) else self.measured,
            {r: x[order] for r, x in self.ranked.items()},
            {m: [x[i] for i in order] for m, x in self.around.items()},
        )


def ends_around(m: Measure, ranked: Mapping[RankSearch, Array]) -> list[Ends]:
    """The cells of every group: around all values that were chosen of one column."""
    chosen = [x for r, x in ranked.items() if r.search is Search.VALUE and around(r.measure) == m]
    return [cell_ends(row, m.low, m.high) for row in np.hstack(chosen).tolist()]


def _alike(noisy: NoisyCounts) -> bool:
    """Whether every column has one number per group; over a tree, upper levels have fewer."""
    return all(len(x) == len(noisy.keys) for x in noisy.measured.values())


def not_a_measurement() -> LedgerBroken:
    """The refusal of content that is not a measurement of the question; the charge stands."""
    return LedgerBroken(
        "The ledger holds an answer that is not a measurement of this question.",
        fix="Verify the ledger; ask with fresh=True to buy a new answer.",
        cost="nothing more than was charged for it",
        code="not-a-measurement",
    )


def to_bytes(noisy: NoisyCounts, plan: Plan) -> bytes:
    """A measurement as a ledger keeps it."""
    order = canonical([group.expr for group in plan.question.group_by])
    content = {
        "format": FORMAT,
        "keys": [[key_out(key[i]) for i in order] for key in noisy.keys],
        "measured": [[m.code, x.tolist()] for m, x in noisy.measured.items()],
        "ranked": [[r.code, x.tolist()] for r, x in noisy.ranked.items()],
        "around": [[m.code, [row.tolist() for row in x]] for m, x in noisy.around.items()],
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def from_bytes(content: bytes, plan: Plan) -> NoisyCounts:
    """Read back what :func:`to_bytes` wrote, for any plan of the same measurement, in the order of its groups.

    Fails: a content of another format or of other measures is refused as a broken ledger.
    """
    try:
        data = json.loads(content)
        if data["format"] != FORMAT:
            raise ValueError
        order = canonical([group.expr for group in plan.question.group_by])
        places = sorted(range(len(order)), key=order.__getitem__)
        keys = tuple(tuple([key_in(key[k]) for k in places]) for key in data["keys"])
        columns = {text_of(code): values for code, values in data["measured"]}
        ranks = {text_of(code): rows for code, rows in data["ranked"]}
        near = {text_of(code): rows for code, rows in data["around"]}
        searched = [s for s in plan.steps if isinstance(s, Ranked)]
        noised = [s.measure for s in plan.steps if isinstance(s, Noised)]
        found = NoisyCounts(
            keys,
            {m: _numbers(columns[text_of(m.code)]) for m in noised if m.kind is not MeasureKind.AROUND},
            {
                s.ranks: np.array(ranks[text_of(s.ranks.code)], np.float64).reshape(len(keys), len(s.ranks.quantiles))
                for s in searched
            },
            {m: list(map(_numbers, near[text_of(m.code)])) for m in noised if m.kind is MeasureKind.AROUND},
        )
        if not _whole(found, plan):
            raise ValueError
        return _ordered(found, plan)
    except (KeyError, TypeError, ValueError, IndexError):
        raise not_a_measurement() from None


def _whole(noisy: NoisyCounts, plan: Plan) -> bool:
    """Whether each group is there once, with one number in every column; over a tree, one for each node of a level."""
    tree = next((r.tree for r in plan.recipes if r.tree is not None), None)
    if plan.question.sets and set(noisy.keys) != set(plan.checked.keys or ()):
        return False
    groups, size = len(noisy.keys), len(noisy.keys) if tree is None else len(tree.leaves)
    if len(set(noisy.keys)) != groups or (tree is not None and groups != len(tree.walk)):
        return False
    if any(list(map(len, x)) != list(map(len, ends_around(m, noisy.ranked))) for m, x in noisy.around.items()):
        return False
    return all(len(x) == (size if m.level is None else m.nodes) for m, x in noisy.measured.items())


def _ordered(noisy: NoisyCounts, plan: Plan) -> NoisyCounts:
    """The groups in the order of the plan's own keys; the largest, and nodes of a tree, stay in theirs."""
    if plan.question.tree is not None or any(isinstance(step, Largest) for step in plan.steps):
        return noisy
    if plan.checked.keys is None:
        return noisy.at(sorted(range(len(noisy.keys)), key=lambda i: sortable(noisy.keys[i])))
    if plan.checked.keys == noisy.keys:
        return noisy
    places = {key: i for i, key in enumerate(noisy.keys)}
    if not plan.question.sets:
        return noisy.at([places[key] for key in plan.checked.keys])
    made = {m: _margin_ordered(x, m, noisy.keys, plan) for m, x in noisy.measured.items()}
    return NoisyCounts(plan.checked.keys, made, noisy.ranked)


def _margin_ordered(x: NDArray[Any], m: Measure, keys: tuple[GroupKey, ...], plan: Plan) -> NDArray[Any]:
    """The numbers of a margin, which were kept in the order of other keys, in the order of the plan's own."""
    axes = tuple(range(len(plan.question.group_by))) if m.level is None else plan.question.axes(m.level)
    kept = {node: i for i, node in enumerate(KeyTable(keys).nodes(axes))}
    return x[[kept[node] for node in KeyTable(plan.checked.keys or ()).nodes(axes)]]


def sortable(key: GroupKey) -> tuple[tuple[bool, str, Any], ...]:
    """An order for groups that depends on nothing but their keys; NULL comes first.

    >>> sorted([("b", 2), (None, 1), ("b", 1)], key=sortable)
    [(None, 1), ('b', 1), ('b', 2)]
    """
    return tuple((x is not None, type(x).__name__, x if x is not None else 0) for x in key)


def _numbers(values: list[int | float]) -> NDArray[Any]:
    kinds = set(map(type, values))
    if not kinds <= {int, float}:
        raise TypeError
    if float in kinds:
        return np.array(values, np.float64)
    return np.array(values, np.int64 if max(map(abs, values), default=0) < MACHINE_WORD else object)


def key_out(key: Key | None) -> object:
    """A key of a group as JSON holds it."""
    if isinstance(key, datetime):
        return {"moment": key.isoformat()}
    return {"date": key.isoformat()} if isinstance(key, date) else key


def key_in(x: Any) -> Key | None:
    """Read back what :func:`key_out` wrote."""
    if isinstance(x, dict) and "moment" in x:
        return datetime.fromisoformat(x["moment"])
    if isinstance(x, dict):
        return date.fromisoformat(x["date"])
    if x is not None and not isinstance(x, bool | int | str):
        raise TypeError
    return x
