"""Names of tables and analysts in a ledger, made of nothing that was read from rows."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping

from curador.errors import InvalidParameter
from curador.query.tables.sources import EngineTable, Files
from curador.query.tables.table import Table

ANALYST = "analyst:"
"""Prefix of an analyst's or group's registry key.  Table names may not start with it."""

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
