"""What the ledger keeps of a purchase: its measurement, and before it what it was made under.

A measurement is integers of tables as they were declared.  With their declarations beside it, it is shown again
whatever is declared later: bounds that were changed, a table that was withdrawn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curador.curator.study.tables import declared_again, settings_of
from curador.errors import CuradorError
from curador.ledger.records import bounded
from curador.query.answer.noisy import key_in, key_out
from curador.query.ask.question import Question
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
class KeptPart:
    """Of a question, known by its ``code``: what its declarations alone do not tell.

    ``known`` are the keys of an answer that read public tables, which may hold others now, in the order of its
    ``groups``; ``copy`` is the prepared table that it was answered from.
    """

    code: str
    groups: Sequence[str]
    known: Sequence[Keys | None]
    copy: Prepared | None

    def keys_for(self, asked: Question) -> list[Keys | None]:
        """The keys in the order in which another question has the same groups: order and names are free to choose."""
        wanted = _groups(asked)
        as_they_are = wanted == list(self.groups) or sorted(wanted) != sorted(self.groups)  # or another question's
        if as_they_are or not self.known or self.known[0] is None:
            return list(self.known)
        places = [self.groups.index(one) for one in wanted]
        moved = [tuple(key[i] for i in places) for key in self.known[0]]
        ranks = [{x: i for i, x in enumerate(dict.fromkeys(column))} for column in zip(*moved, strict=True)]
        return [tuple(sorted(moved, key=lambda key: [rank[x] for rank, x in zip(ranks, key, strict=True)]))]


@dataclass(frozen=True)
class MadeUnder:
    """What a purchase was made under, and the ``code`` of what is asked, by which it is known again."""

    code: str | None
    tables: Mapping[str, Table]
    parts: Sequence[KeptPart]
    asked: Mapping[str, Any]
    """The questions and their budgets where they are too long for the charge's record; else nothing."""


def kept(purchase: Purchase) -> bytes:
    """What the ledger keeps before a measurement: declarations, in codes and numbers.  Nothing of it is of the data.

    Made before rows are read: a public file that is touched meanwhile is another one, and the question's code is older.
    """
    parts: Mapping[str, Any] = getattr(purchase, "plans", {"": purchase})
    plans = [part for part in parts.values() if isinstance(part, Plan)]
    reads = {name for part in parts.values() for name in getattr(part, "reads", purchase.tables)}
    under = {
        "code": code_of(purchase),
        "tables": {name: _settings(purchase.declared[name]) for name in sorted(reads) if name in purchase.declared},
        "parts": [found for plan in plans if (found := _part(plan))],
        **_too_long(purchase.note),
    }
    line = json.dumps({"made_under": under}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return line.encode() + b"\n"


def opened(content: bytes) -> tuple[bytes, bytes]:
    """What stands in the ledger: what it was made under, empty if an older version kept it; the measurement.

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
        parts = [_read_part(part, tables) for part in found["parts"]]
    except (ValueError, KeyError, TypeError, AttributeError, CuradorError):
        return None
    return MadeUnder(found["code"], tables, parts, dict(found.get("asked", {})))


def _too_long(note: Mapping[str, object]) -> dict[str, object]:
    """The questions, where the record of their charge holds only a digest of them."""
    asked = {name: note[name] for name in ("asked", "budgets") if name in note}
    return {"asked": asked} if bounded(asked) != asked else {}


def _part(plan: Plan) -> dict[str, object]:
    found: dict[str, object] = {}
    if len(plan.tables) < len(plan.reads):
        found["keys"] = _listed(plan.checked.keys)
    if (copy := plan.prepared) is not None:  # not its snapshot, which is read from the rows
        groups = [e.to_json() for e in copy.group_by]
        found["copy"] = {"table": copy.table, "group_by": groups, "place": copy.place}
    return {"code": plan.asked_code, "groups": _groups(plan.question), **found} if found else {}


def _groups(question: Question) -> list[str]:
    return [json.dumps(group.expr.to_json(), sort_keys=True) for group in question.group_by]


def _read_part(part: Mapping[str, Any], tables: Mapping[str, Table]) -> KeptPart:
    known = [_keys(part["keys"])] if "keys" in part else []
    copy = _copy(part["copy"], tables) if "copy" in part else None
    return KeptPart(str(part["code"]), list(part["groups"]), known, copy)


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
