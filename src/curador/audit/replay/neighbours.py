"""One unit more, or another one, made from declarations alone: the victims that break things.

Extremes and what lies beyond them, NaN, infinities, nothing, keys that were not declared, and more rows than count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np

from curador.curator.curator import Curator
from curador.curator.study.rehearsal import made_up
from curador.mechanisms.sensitivity import Contribution
from curador.privacy import Neighbors

MadeUpTable = Mapping[str, Sequence[Any]]
MadeUpWorld = Mapping[str, MadeUpTable]

WORD = 2**63
MANY = 4
"""A victim with many rows has so many times what counts, and a few more."""

ODD: Mapping[str, tuple[object, ...]] = {
    "integer": (None, -WORD, WORD - 1, 0, -1, "x", 1.5),
    "real": (None, math.nan, math.inf, -math.inf, -0.0, 1e308, -1e308, 5e-324, "x"),
    "boolean": (None, True, False, "perhaps"),
    "text": (None, "zz of the victim alone", "a\"b'; --", "\u202e", "L" * 300),
    "date": (None, date(1, 1, 1), date(9999, 12, 31), "never"),
    "timestamp": (None, datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59), "never"),
}
"""Values that break things, whatever is declared."""


def base_world(curator: Curator, rows: int = 60, seed: int = 0) -> dict[str, dict[str, list[Any]]]:
    """Made-up tables by a curator's declarations, as lists; nothing of its own rows is read."""
    found = made_up(curator.tables, rows, seed)
    return {name: {c: list(values) for c, values in columns.items()} for name, columns in found.items()}


LIKE = 8
"""So many rows that are there already are tried as victims, where it is to be thorough."""


def victims(
    curator: Curator, name: str, world: MadeUpWorld, thorough: bool = False, also: Sequence[str] = ()
) -> Iterator[tuple[str, Any]]:
    """Neighbours of a world in one table, each with what is odd about its victim.

    Under add-remove the victim comes to the others, under replace it takes the place of the last unit.  ``thorough``
    tries every odd value of every column by itself, and victims like those who are there.  ``also`` are further tables
    that the victim is in, with many rows of its own: without them no join would find it.
    """
    table, columns = curator.tables[name], world[name]
    plain = {c: values[0] for c, values in columns.items()}
    id, limit = table.unit.id, table.contribution or Contribution(1, 1)
    if id is not None:
        plain[id] = _stranger(columns[id])
    odd = {c: _odd(column) for c, column in table.columns.items() if c != id}
    rows: list[tuple[str, list[dict[str, Any]]]] = [("an ordinary victim", [plain])]
    for which, label in ((0, "lowest"), (1, "highest")):
        row = {**plain, **{c: _end(column, which) for c, column in table.columns.items() if c != id}}
        rows.append((f"the {label} of everything", [row]))
    rows.append(("nothing but NULL", [{c: plain[c] if c == id else None for c in plain}]))
    widest = max(map(len, odd.values()), default=0)
    mixed = [{**plain, **{c: x[i % len(x)] for c, x in odd.items()}} for i in range(widest)]
    if id is None:
        rows += [(f"odd values, set {i}", [row]) for i, row in enumerate(mixed)]
    else:
        many = MANY * limit.most + 3
        rows.append(("odd values in many rows", mixed))
        rows.append((f"one row {many} times", [plain] * many))
        rows += [(f"{label}, {many} times", [row[0]] * many) for label, row in rows[1:3]]
        rows.append((f"{many} rows in every group", _spread(table, rows[2][1][0], many)))
        rows.append(("an id of nothing", [{**plain, id: None}]))
    if thorough:
        size = len(next(iter(columns.values())))
        there = [{c: plain[c] if c == id else columns[c][i] for c in columns} for i in range(min(size, LIKE))]
        rows += [(f"like row {i}", [row]) for i, row in enumerate(there)]
        rows += [(f"{c} is {str(x)[:30]!r}", [{**plain, c: x}]) for c, values in odd.items() for x in values]
    further = {}
    for other, own in _further(curator, name, world, also):
        further[other] = _with(world[other], own, curator.tables[other].unit.id, curator.tables[other].neighbors)
    for label, added in rows:
        yield label, {**world, **further, name: _with(columns, added, id, table.neighbors)}


def with_victim(curator: Curator, name: str, world: MadeUpWorld, others: Sequence[str]) -> dict[str, MadeUpTable]:
    """A world in whose other tables the victim of one is already, with many rows: its neighbours differ in that alone.

    >>> from curador import PureDP, Table
    >>> tables = {n: Table(f"no-such-{n}.csv", unit="id", contribution=1, columns={"id": "integer"}) for n in "ab"}
    >>> curator = Curator(tables, budget={"a": PureDP(1), "b": PureDP(1)})
    >>> world = with_victim(curator, "a", base_world(curator, 5), ["b"])
    >>> there = next(made["a"]["id"][-1] for _, made in victims(curator, "a", world))
    >>> there in world["a"]["id"], there in world["b"]["id"]
    (False, True)
    """
    found = dict(world)
    for other, own in _further(curator, name, world, others):
        found[other] = _with(world[other], own, curator.tables[other].unit.id, Neighbors.ADD_REMOVE)
    return found


def _further(
    curator: Curator, name: str, world: MadeUpWorld, others: Sequence[str]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The rows in other tables of a victim of one, by table; none where no id says whose rows they are."""
    id = curator.tables[name].unit.id
    for other in others:
        table = curator.tables[other]
        if table.unit.id is not None and id is not None:
            first = {c: values[0] for c, values in world[other].items()} | {table.unit.id: _stranger(world[name][id])}
            yield other, _spread(table, first, MANY * (table.contribution or Contribution(1, 1)).most + 3)


def _spread(table: Any, row: dict[str, Any], many: int) -> list[dict[str, Any]]:
    """A row many times, in every group that is declared."""
    keyed = {c: column.keys for c, column in table.columns.items() if column.keys is not None and c != table.unit.id}
    return [{**row, **{c: keys[i % len(keys)] for c, keys in keyed.items()}} for i in range(many)]


def _with(columns: MadeUpTable, added: list[dict[str, Any]], id: str | None, kind: Neighbors) -> MadeUpTable:
    size = len(next(iter(columns.values())))
    kept = list(range(size))
    if kind is Neighbors.REPLACE:
        kept = kept[:-1] if id is None else [i for i in kept if columns[id][i] != columns[id][-1]]
    return {c: [*(values[i] for i in kept), *(row[c] for row in added)] for c, values in columns.items()}


def _stranger(ids: Sequence[Any]) -> Any:
    """An id that nobody has."""
    known = [x for x in ids if x is not None]
    return "unit of the victim" if any(isinstance(x, str) for x in known) else 10_000 + max(map(int, known), default=0)


def _end(column: Any, which: int) -> Any:
    if column.keys is not None:
        return column.keys[-which]
    if column.bounds is None:
        return ODD[str(column.kind)][1 + which]
    end = column.bounds[which]
    return date.fromordinal(date(1970, 1, 1).toordinal() + int(end)) if str(column.kind) == "date" else _plain(end)


def _odd(column: Any) -> list[Any]:
    found = list(ODD[str(column.kind)])
    if column.bounds is not None and str(column.kind) in ("integer", "real"):
        low, high = (_plain(x) for x in column.bounds)
        found += [low, high, low - 1, high + 1, high * 1000 + 1000]
    return [*found, *(column.keys or ())]


def _plain(x: Any) -> Any:
    return int(x) if x.denominator == 1 else float(x)


# ---- arrays ----------------------------------------------------------------------------------------------------------


def array_victims(X: Any, y: Any, labels: Sequence[Any]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Neighbours of rows in an array: one row more at the end, with each of the labels; NaN and what is far outside.

    >>> X, y = np.zeros((3, 2)), np.array([0, 1, 0])
    >>> [len(x) for _, (x, _) in array_victims(X, y, [0, 7])][:2]
    [4, 4]
    """
    given = np.asarray(X, float)
    far = 1e6 * (1 + np.abs(np.nan_to_num(given)).max(initial=0))
    for value in (0.0, far, -far, math.nan, math.inf, -math.inf, 1e308, 5e-324):
        for label in labels:
            row = np.full((1, given.shape[1]), value)
            yield f"a row of {value:g} with the label {label!r}", (np.vstack([given, row]), _labelled(y, label))
    mixed = np.where(np.arange(given.shape[1]) % 2 == 0, far, -far)[None, :]
    yield "a row of both ends", (np.vstack([given, mixed]), _labelled(y, labels[-1]))
    yield "a row that is there already", (np.vstack([given, given[:1]]), _labelled(y, None if y is None else y[0]))


def _labelled(y: Any, label: Any) -> Any:
    return None if y is None else np.array([*np.asarray(y).tolist(), label], dtype=object)
