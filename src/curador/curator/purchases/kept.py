"""What the ledger keeps of a purchase: its measurement, and before it what it was made under.

A measurement is integers of tables as they were declared.  With their declarations beside it, it is shown again
whatever is declared later: bounds that were changed, a table that was withdrawn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curador.curator.study.tables import declared_again, settings_of
from curador.errors import CuradorError
from curador.query.answer.noisy import key_in, key_out
from curador.query.plan.identity import coded, read_from
from curador.query.plan.plan import Plan
from curador.query.tables.columns import Keys
from curador.query.tables.sources import Former
from curador.query.tables.table import Table

if TYPE_CHECKING:
    from curador.curator.purchase import Purchase
    from curador.query.sql_plan.prepared import Prepared

MARK = b'{"made_under":'
"""How the line begins that stands before a measurement; ledgers of older versions have none."""


@dataclass(frozen=True)
class MadeUnder:
    """What a purchase was made under, and the ``code`` of what is asked, by which it is known again.

    Of the questions of a batch by their names, of a single one by the empty name: ``keys``, those of answers that read
    public tables, which may hold others now; and ``copies``, the prepared tables they were answered from.
    """

    code: str | None
    tables: Mapping[str, Table]
    keys: Mapping[str, Keys | None]
    copies: Mapping[str, Prepared]


def kept(purchase: Purchase, measurement: bytes) -> bytes:
    """What the ledger keeps: declarations, in codes and numbers, and the measurement.  Nothing else is of the data."""
    parts: Mapping[str, Any] = getattr(purchase, "plans", {"": purchase})
    plans = {name: part for name, part in parts.items() if isinstance(part, Plan)}
    reads = {name for part in parts.values() for name in getattr(part, "reads", purchase.tables)}
    under = {
        "code": code_of(purchase),
        "tables": {name: _settings(purchase.declared[name]) for name in sorted(reads) if name in purchase.declared},
        "keys": {
            name: _listed(plan.checked.keys) for name, plan in plans.items() if len(plan.tables) < len(plan.reads)
        },
        # Not its snapshot, which is read from the rows.
        "copies": {
            name: {"table": copy.table, "group_by": [e.to_json() for e in copy.group_by], "place": copy.place}
            for name, plan in plans.items()
            if (copy := plan.prepared) is not None
        },
    }
    line = json.dumps({"made_under": under}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return line.encode() + b"\n" + measurement


def opened(content: bytes) -> tuple[bytes, bytes]:
    """What :func:`kept` put together: what it was made under, empty if an older version kept it; the measurement.

    >>> opened(b'{"format":1}')
    (b'', b'{"format":1}')
    """
    if not content.startswith(MARK):
        return b"", content
    line, _, measurement = content.partition(b"\n")
    return line, measurement


def code_of(purchase: Purchase) -> str | None:
    """A digest of what is asked: also of what is bought each time."""
    found: str | None = getattr(purchase, "asked_code", purchase.identity)
    return found


def made_under(line: bytes) -> MadeUnder | None:
    """The first part of what was kept; None where there is none that this version reads."""
    try:
        found = json.loads(line)["made_under"]
        tables = {name: _table(name, dict(settings)) for name, settings in found["tables"].items()}
        keys = {name: _keys(listed) for name, listed in found["keys"].items()}
        copies = {name: _copy(copy, tables) for name, copy in found["copies"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, CuradorError):
        return None
    return MadeUnder(found["code"], tables, keys, copies)


def _settings(table: Table) -> dict[str, object]:
    return {**settings_of(table), "read": coded(read_from(table))}


def _table(name: str, settings: dict[str, Any]) -> Table:
    return declared_again(name, settings, Former(settings.pop("read")))


def _listed(keys: Keys | None) -> list[list[object]] | None:
    return None if keys is None else [[key_out(x) for x in key] for key in keys]


def _keys(listed: list[list[object]] | None) -> Keys | None:
    return None if listed is None else tuple(tuple(key_in(x) for x in key) for key in listed)  # type: ignore[misc]


def _copy(copy: Mapping[str, Any], tables: Mapping[str, Table]) -> Prepared:
    from curador.query.sql_plan.prepared import Prepared, schema_digest  # writes SQL trees: seldom needed

    return Prepared.from_json({**copy, "snapshot": "", "schema": schema_digest(tables[copy["table"]])})
