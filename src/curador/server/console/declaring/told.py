"""A declaration in words, as it was understood: a line for whom it protects, and one for each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curador.server.console.declaring.declared import Declared
from curador.server.console.declaring.typed import shown
from curador.server.console.visit import Visit

MOST_SHOWN = 30
"""The most values of a column that are shown as they were understood."""


@dataclass(frozen=True)
class ToldColumn:
    """A column in words: its type and bounds, its values one by one, and what to know about it."""

    name: str
    said: str
    values: Sequence[str] = ()
    more: int = 0
    remark: str = ""


@dataclass(frozen=True)
class ToldTable:
    """A declaration in words."""

    lines: Sequence[str]
    columns: Sequence[ToldColumn]
    left_out: str


def told(visit: Visit, made: Declared, *, selects: bool) -> ToldTable:
    """A declaration in the visitor's language; ``selects`` where the budget pays for groups that are not listed."""
    settings = made.settings
    unit = settings["unit"]["id"] if isinstance(settings["unit"], Mapping) else settings["unit"]
    by_id = isinstance(settings["unit"], Mapping) or unit in settings["columns"]
    lines = [visit.say("tables.told-id", unit=unit) if by_id else visit.say("tables.told-row")]
    kept = settings.get("contribution", {})
    if "groups" in kept:
        groups, rows = kept["groups"], kept["rows"]
        times = groups * rows
        lines.append(visit.say("tables.told-limits", groups=f"{groups:,}", rows=f"{rows:,}", times=f"{times:,}"))
    elif by_id:
        lines.append(visit.say("tables.kept", rows=f"{kept['rows']:,}") if kept else visit.say("tables.kept-none"))
    if settings["neighbors"] == "replace":
        lines.append(visit.say("tables.told-replace"))
    if "size" in settings:
        lines.append(visit.say("tables.size", n=f"{settings['size']:,}"))
    if made.budget:
        amount = ", ".join(f"{name} {x}" for name, x in made.budget.items())
        lines.append(visit.say("tables.told-budget", amount=amount))
    columns = [
        _column(visit, name, column, own=by_id and name == unit, selects=selects)
        for name, column in settings["columns"].items()
    ]
    return ToldTable(lines, columns, ", ".join(made.left_out))


def _column(visit: Visit, name: str, column: Mapping[str, Any], *, own: bool, selects: bool) -> ToldColumn:
    kind, bounds, keys = column["type"], column.get("bounds"), column.get("keys")
    said = visit.say(f"tables.type-{kind}")
    if bounds is not None:
        low, high = map(shown, bounds)
        said = visit.say("tables.told-bounds", kind=said, low=low, high=high)
    if own:
        return ToldColumn(name, said, remark=visit.say("tables.told-own"))
    if keys is not None:
        texts = [key if isinstance(key, str) else f"{key}" for key in keys]
        return ToldColumn(name, said, texts[:MOST_SHOWN], max(0, len(texts) - MOST_SHOWN))
    remark = ""
    if kind == "text":
        remark = visit.say("tables.told-no-keys" if selects else "tables.told-no-keys-no-delta")
    elif kind in ("integer", "real") and bounds is None:
        remark = visit.say("tables.told-no-bounds")
    return ToldColumn(name, said, remark=remark)
