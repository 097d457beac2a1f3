"""The identity of a plan in a ledger: codes and numbers, never words.

Two plans have one code where they measure the same integers of the same declared tables with the same noise.  Names of
outputs, their order, HAVING, ORDER BY, LIMIT, confidence and wording are not in it: they belong to how a measurement is
presented, which is free.  Nothing in it is read from private rows, so it may be stored and compared in the open.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from datetime import date
from enum import Enum
from fractions import Fraction
from itertools import combinations, count, product
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from curador.forks import process
from curador.mechanisms.sensitivity import Contribution
from curador.query.aggregates.measure import ADDED_UP, Measure
from curador.query.ask.question import Question
from curador.query.language.expressions import Expr
from curador.query.plan.checked import Checked
from curador.query.plan.measurement import declared_limits, limits
from curador.query.tables.columns import Key
from curador.query.tables.csv_format import CsvFormat
from curador.query.tables.paths import listed
from curador.query.tables.sources import Files, Former, Frame
from curador.query.tables.table import Table

if TYPE_CHECKING:
    from curador.query.plan.plan import Plan

FORMAT = 1
"""The format of codes and of stored measurements.  It changes when either does, and then nothing older is matched."""


def text_of(code: object) -> str:
    """A code as one line of JSON: equal for equal codes, whatever the order of their settings.

    >>> text_of({"b": 2, "a": 1})
    '{"a":1,"b":2}'
    """
    return json.dumps(coded(code), sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(code: object) -> str:
    """A short text that stands for a code in this format.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return _digest_of(text_of(code))


def _digest_of(text: str) -> str:
    return hashlib.sha256(f"{FORMAT} {text}".encode()).hexdigest()


_AS_THEY_ARE = frozenset({type(None), bool, int, str})


def coded(x: object) -> object:
    """A value as JSON by its type; what has no code is refused, so that no identity rests on a ``repr``.

    >>> coded({"bounds": (Fraction(1, 2), date(2020, 1, 31))})
    {'bounds': [{'fraction': '1/2'}, {'date': '2020-01-31'}]}
    """
    kind = type(x)
    if kind in _AS_THEY_ARE:
        return x
    if kind is tuple or kind is list:
        return [coded(value) for value in x]  # type: ignore[attr-defined]
    if isinstance(x, Enum):
        return coded(x.value)
    if isinstance(x, bool | int | str):
        return x
    if isinstance(x, Fraction):
        return {"fraction": str(x)}
    if isinstance(x, date):
        return {"date": x.isoformat()}
    if isinstance(x, float):
        return {"double": x.hex()}
    if isinstance(x, Expr):
        return x.to_json()
    if isinstance(x, Mapping):
        return {str(name): coded(value) for name, value in x.items()}
    if isinstance(x, tuple | list):
        return [coded(value) for value in x]
    if is_dataclass(x) and not isinstance(x, type):
        return {f.name: coded(getattr(x, f.name)) for f in fields(x)}
    raise TypeError(f"a {type(x).__name__} has no code")


def plan_digest(plan: Plan) -> str:
    """The digest of the measurement that a plan buys: what is read, how it is cut, and each step with its noise.

    That of {"measurement": …, "steps": […]}, put together from texts: what is read is the same at every price.
    """
    steps = ",".join(sorted(text_of(step.code) for step in plan.steps))
    return _digest_of(f'{{"measurement":{_text_read(plan)},"steps":[{steps}]}}')


def _text_read(plan: Plan) -> str:
    copy = plan.prepared and [plan.prepared.place, plan.prepared.group_by]
    made, key = plan.checked.made, ("read", plan.contribution, plan.prepared)
    if key not in made or len(plan.tables) < len(plan.reads):  # what a public table holds is part of it
        made[key] = text_of(_read(plan.checked, plan.contribution, copy))
    found: str = made[key]
    return found


def measure_codes(plan: Plan) -> dict[str, Measure]:
    """Each measure of a plan by a digest that other plans of the same exact number share, whatever its noise."""
    read = digest(_read(plan.checked, plan.contribution, None))
    return {digest([read, m.code]): m for m in plan.measures}


MOST_CONTAINED = 4
"""Of how many groups at most every choice is looked at for sums; of more, only single ones and the total."""


def contained_codes(plan: Plan) -> list[str]:
    """The codes of measures that are sums of what a plan measures: the same rows in fewer groups.

    Only where these sums are the same numbers: nothing is cut from a unit, and every row is in a group.
    """
    checked, found = plan.checked, []
    if not checked.question.group_by or not checked.rows.single or not checked.every_row:
        return []
    if any(o.aggregate.function == "top_k" for o in checked.question.aggregates):  # of some groups there is no total
        return []
    pairs = list(zip(checked.question.group_by, checked.groups, strict=True))
    sizes = range(len(pairs)) if len(pairs) <= MOST_CONTAINED else (0, 1)
    for kept in (kept for size in sizes for kept in combinations(pairs, size)):
        q = checked.question
        asked = Question(q.table, q.aggregates, q.joins, q.where, tuple(g for g, _ in kept), source=q.source)
        keys = tuple(product(*(t.domain or () for _, t in kept)))
        fewer = replace(checked, question=asked, groups=tuple(t for _, t in kept), keys=keys)
        read = digest(_read(fewer, limits(fewer), None))
        found += [digest([read, m.code]) for m in plan.measures if m.kind in ADDED_UP]
    return found


def _read(checked: Checked, contribution: Contribution, copy: object) -> dict[str, object]:
    question = checked.question
    groups = [group.expr for group in question.group_by]
    # Where units are cut to a few groups, which ones are kept depends on the order of the groups and of their keys.
    free = checked.rows.single
    order = canonical(groups) if free else list(range(len(groups)))
    return {
        "tables": {name: declared(checked.tables[name]) for name in question.reads},
        "table": question.table,
        **({} if question.source is None else {"source": question.source.to_json()}),
        "joins": [join.to_json() for join in question.joins],
        "where": question.where,
        "groups": [groups[i] for i in order],
        "keys": None if checked.keys is None else _keys(checked.keys, order, free),
        "tree": None if question.tree is None else checked.keys,
        "contribution": _limits(contribution),
        "limits": None if copy is None else _limits(declared_limits(checked)),
        "joined": checked.rows.rows_joined_per_unit,
        **({"inside": inside} if (inside := checked.rows.joined_inside) else {}),
        "copy": copy,  # which prepared copy, but not its snapshot: that is read from the rows
    }


def _limits(kept: Contribution) -> dict[str, object]:
    own: dict[str, object] = {"rows": kept.rows, "groups": kept.groups, "fewest": kept.fewest}
    return own if kept.total is None else {**own, "total": kept.total}


def canonical(groups: Sequence[Expr]) -> list[int]:
    """The places of groups in an order that depends on what they are, not on how a question lists them."""
    return sorted(range(len(groups)), key=lambda i: text_of(groups[i]))


def _keys(keys: Sequence[Sequence[Key]], order: list[int], free: bool) -> str:
    """A digest of public keys; where their order is ``free``, the same for every order."""
    rows = [json.dumps(coded([key[i] for i in order])) for key in keys]
    return hashlib.sha256("\n".join(sorted(rows) if free else rows).encode()).hexdigest()


def declared(table: Table) -> dict[str, object]:
    """Every declaration that the measurement depends on, how CSV files are written among them.

    Not where the rows are, nor a size that only errors need.
    """
    return {
        "unit": table.unit.id,
        "neighbors": table.neighbors,
        "columns": table.columns,
        "public": table.public,
        "trees": table.trees,
        **read_from(table),
    }


def read_from(table: Table) -> dict[str, object]:
    """What identifies a measurement of where its rows are read: how CSV files are written, which public rows."""
    if isinstance(table.source, Frame) and isinstance(table.source.data, Former):
        return dict(table.source.data.code)
    code: dict[str, object] = {}
    if isinstance(table.source, Files) and (written := table.source.csv.code) != CsvFormat().code:
        code["csv"] = written
    if table.public and isinstance(table.source, Frame):
        code["frame"] = _stamp(table.source)
    if table.public and isinstance(table.source, Files):  # public, so its content may be part of the identity
        with suppress(OSError):  # a file that is gone is the engine's to report
            there = sorted(path for path in listed(table.source.pattern) if os.path.exists(path))
            code["files"] = [_file(path) for path in there]
    return code


def _file(path: str) -> list[object]:
    about = os.stat(path)
    return [path, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns]


_STARTED = time.time_ns()
_frames: WeakKeyDictionary[Frame, list[int]] = WeakKeyDictionary()
_numbers = count()


def _stamp(frame: Frame) -> list[int]:
    """Numbers that distinguish a frame from every other, in all processes; nothing is read from it."""
    if frame not in _frames:
        _frames[frame] = [*process(), _STARTED, next(_numbers)]  # a forked child counts on from the same number
    return _frames[frame]
