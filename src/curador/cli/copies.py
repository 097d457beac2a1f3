"""Prepared copies of tables that outlive a command: files beside the study, and a list of them.

The list names the version of the data that a copy was made of.  A copy of rows that were reloaded since is not used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from curador.errors import InvalidParameter

if TYPE_CHECKING:
    from curador.curator.curator import Curator
    from curador.query.sql_plan.prepared import Prepared

Entry = dict[str, Any]


def stored(study: Path, curator: Curator) -> list[Prepared]:
    """What was prepared of the data as it is now."""
    from curador.query.sql_plan.prepared import Prepared

    return [
        replace(found, place=str(study.parent / found.place) if entry["file"] else found.place)
        for entry in _entries(study)
        if entry["table"] in curator.scopes.registered and entry["data"] == _version(curator, entry["table"])
        for found in [Prepared.from_json(entry)]
    ]


def place_of(study: Path, curator: Curator, table: str) -> Path | None:
    """A new file for a copy, beside the study; None where the engine keeps it in the database."""
    from curador.engines.registry import home_of

    if home_of(curator.tables[table].source) == "postgresql":
        return None
    number, plain = 1, re.sub(r"\W", "_", table)
    while (place := study.with_name(f"{study.stem}.{plain}-{number}.prepared")).exists():
        number += 1
    return place


def keep(study: Path, curator: Curator, made: Prepared, place: Path | None) -> None:
    """Use a copy in later commands, instead of those that it replaces or that are of older data."""
    entry: Entry = {**made.to_json(), "file": place is not None, "data": _version(curator, made.table)}
    if place is not None:
        entry["place"] = place.name
    _drop(
        study,
        lambda e: e["table"] == made.table and (e["group_by"] == entry["group_by"] or e["data"] != entry["data"]),
        entry,
    )


def forget(study: Path, table: str) -> list[str]:
    """Use no copy of a table any more, and remove their files; the names of all of them."""
    return _drop(study, lambda e: e["table"] == table)


def _drop(study: Path, old: Callable[[Entry], bool], *new: Entry) -> list[str]:
    """Rewrite the list without the old, then remove their files: they hold private rows."""
    from curador.show.files import write_atomically

    entries = _entries(study)
    gone = [e for e in entries if old(e)]
    if gone or new:
        kept = [e for e in entries if e not in gone]
        write_atomically(_list(study), (json.dumps([*kept, *new], indent=1) + "\n").encode(), 0o600)
    for entry in gone:
        place = study.parent / entry["place"]
        if entry["file"] and place.is_dir():  # Spark's
            rmtree(place, ignore_errors=True)
        elif entry["file"]:
            with suppress(OSError):
                place.unlink()
    return [entry["place"] for entry in gone]


def _list(study: Path) -> Path:
    return study.with_name(f"{study.stem}.prepared.json")


def _entries(study: Path) -> list[Entry]:
    file = _list(study)
    try:
        found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
        if not all({"table", "group_by", "place", "file", "data"} <= e.keys() for e in found):
            raise ValueError
    except (OSError, ValueError, AttributeError, TypeError):
        raise InvalidParameter(f"{file.name} cannot be read.", fix="Remove it, and prepare the tables again.") from None
    return list(found)


def _version(curator: Curator, table: str) -> list[list[int]]:
    """Which data a table holds, by the numbers that the ledger gave."""
    return [list(pair) for pair in curator.scopes.versions([table])]
