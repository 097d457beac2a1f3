"""What tables, analysts and questions are called in a ledger: never by anything read from rows."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields

from curador.errors import InvalidParameter
from curador.query.plan.plan import Plan
from curador.query.tables.sources import EngineTable, Files
from curador.query.tables.table import Table

ANALYST = "analyst:"
"""Begins what the name of an analyst or a group is tied to its scope under; no table is called so."""

RENEWED = re.compile(r"(.+), renewed \d+")
"""The names of scopes that began with a decision to renew; nobody else is called so."""


def refuse_reserved(name: str) -> None:
    """Refuse a name of a table, a group or an analyst that only the ledger gives.

    >>> refuse_reserved("people")
    """
    if name.startswith(ANALYST) or RENEWED.fullmatch(name):
        raise InvalidParameter(f"Nothing is called {name!r}: the ledger gives such names.", fix="Rename it.")


def first(scope: str) -> str:
    """What a scope was called before it was renewed.

    >>> first("people, renewed 2"), first("people")
    ('people', 'people')
    """
    found = RENEWED.fullmatch(scope)
    return scope if found is None else found[1]


def addresses(tables: Mapping[str, Table]) -> dict[str, str]:
    """What every table's source is called; a source that is declared twice is two tables, each with its name."""
    found: dict[str, str] = {}
    for name, table in tables.items():
        plain = address(name, table)
        found[name] = plain if plain not in found.values() else f"{plain} as {name}"
    return found


def address(name: str, table: Table) -> str:
    """What a table's source is called in the ledger; no password, and no more than the ledger takes.

    >>> import pyarrow
    >>> address("people", Table(pyarrow.table({"age": [30]}), columns={"age": "integer"}))
    'frame:people'
    """
    source = table.source
    if isinstance(source, EngineTable):
        said = f"{source.scheme}:{hashlib.sha256(source.url.encode()).hexdigest()[:16]}#{source.schema}.{source.table}"
    elif isinstance(source, Files):
        said = f"file:{os.path.realpath(source.pattern)}"  # the same from whatever folder it is named
    else:
        return frame_address(name)
    return _short(said)


def frame_address(name: str) -> str:
    """What a frame is called: all that is known of it is the name that it was given."""
    return _short(f"frame:{name}")


def _short(said: str) -> str:
    return said if len(said) <= 150 and said.isprintable() else f"sha256:{hashlib.sha256(said.encode()).hexdigest()}"


def fingerprint(plans: Mapping[str, Plan], versions: list[tuple[int, int]], *more: object) -> str:
    """What makes two requests the same question: the plans, what is declared of their tables, the data's versions.

    Nothing of it is read from data, so that it may be stored and compared in the open.
    """
    used = {n: t for p in plans.values() for n, t in p.checked.tables.items() if n in _named(p)}
    said = {
        "plans": {name: plan.to_dict() for name, plan in plans.items()},
        "confidence": {name: plan.confidence for name, plan in plans.items()},
        # Which copy, but not its digest: that is read from the rows.
        "copies": {
            name: plan.prepared and (plan.prepared.place, repr(plan.prepared.group_by)) for name, plan in plans.items()
        },
        "keys": {name: repr(plan.checked.keys) for name, plan in plans.items()},
        "tables": {name: _declared(table) for name, table in sorted(used.items())},
        "versions": versions,
        "more": repr(more),
    }
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()


def _named(plan: Plan) -> set[str]:
    return {plan.question.table, *(join.table for join in plan.question.joins)}


def _declared(table: Table) -> dict[str, str]:
    """Everything declared, but for where the rows are: a frame's rows may not come near a text."""
    said = {f.name: repr(getattr(table, f.name)) for f in fields(table) if f.name != "source"}
    if table.public and isinstance(table.source, Files):  # public, so what is in it may be told apart
        paths = sorted(glob.glob(table.source.pattern, recursive=True))
        with suppress(OSError):  # a file that is gone is the engine's to tell
            said["files"] = repr([(path, os.stat(path).st_mtime_ns, os.stat(path).st_size) for path in paths])
    return said
