"""Names of tables and analysts in a ledger, made of nothing that was read from rows."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping

from curador.errors import InvalidParameter
from curador.ledger.pricing import LONGEST_NAME, name_of
from curador.query.tables.sources import EngineTable, Files
from curador.query.tables.table import Table

ROOM = 20
"""Characters that the ledger may put before or behind a name."""

ANALYST = "analyst:"
"""Prefix of an analyst's or group's registry key.  Table names may not start with it."""

RENEWED = re.compile(r"(.+), renewed \d+")
"""The names of scopes that began with a decision to renew; no other scope may have such a name."""


def refuse_reserved(name: str) -> None:
    """Refuse a name for a table, a group or an analyst that is reserved for the ledger.

    >>> refuse_reserved("people")
    """
    if name.startswith(ANALYST) or RENEWED.fullmatch(name):
        raise InvalidParameter(f"{name!r} is a name that only the ledger gives.", fix="Rename it.")
    name_of(name, "table, a group or an analyst", LONGEST_NAME - ROOM)


def first(scope: str) -> str:
    """The name of a scope before it was renewed.

    >>> first("people, renewed 2"), first("people")
    ('people', 'people')
    """
    found = RENEWED.fullmatch(scope)
    return scope if found is None else found[1]


def addresses(tables: Mapping[str, Table]) -> dict[str, str]:
    """The address of every table's source; a source that is declared twice is two tables, each with its name."""
    found: dict[str, str] = {}
    for name, table in tables.items():
        plain = address(name, table)
        found[name] = plain if plain not in found.values() else f"{plain} as {name}"
    return found


def address(name: str, table: Table) -> str:
    """The address of a table's source in the ledger: without a password, and no longer than the ledger accepts.

    >>> import pyarrow
    >>> address("people", Table(pyarrow.table({"age": [30]}), columns={"age": "integer"}))
    'frame:people'
    """
    source = table.source
    if isinstance(source, EngineTable):
        text = f"{source.scheme}:{hashlib.sha256(source.url.encode()).hexdigest()[:16]}#{source.schema}.{source.table}"
    elif isinstance(source, Files):
        text = f"file:{os.path.realpath(source.pattern)}"  # the same from whatever folder it is named
    else:
        return frame_address(name)
    return _short(text)


def frame_address(name: str) -> str:
    """The address of a frame: all that is known of it is the name that it was given."""
    return _short(f"frame:{name}")


def _short(text: str) -> str:
    return text if len(text) <= 150 and text.isprintable() else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
