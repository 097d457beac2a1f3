"""Everything that a study file states: tables, the budgets of tables and analysts, the ledger's address, the policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal

from curador.curator.policy import Policy
from curador.curator.study.document import read_study_document, section, text
from curador.curator.study.tables import tables_from
from curador.errors import InvalidParameter
from curador.ledger.entries import end_of_day, in_utc
from curador.privacy import Guarantee
from curador.query.plan.budget import budget_of
from curador.query.tables.names import distinct, refuse_unknown
from curador.query.tables.table import Table

SECTIONS = ("tables", "budget", "ledger", "policy", "groups", "analysts", "server")


@dataclass(frozen=True)
class Analyst:
    """An analyst, or a group of analysts, with a budget of their own; an analyst may belong to a group.

    After ``expires`` nothing can be bought with it.  A budget for a period promises for that period alone: a person in
    the data of several periods loses the sum, unless the unit is the pair of an id and a period.  ``kind`` says which
    of the two it is, ``"analyst"`` or ``"group"``, for ever; without it, what it is first used as.

    >>> Analyst(budget_of(epsilon="1/2"), group="health")
    Analyst(budget=PureDP(epsilon=0.5), group='health', expires=None, kind='')
    """

    budget: Guarantee
    group: str | None = None
    expires: datetime | None = None
    kind: Literal["analyst", "group", ""] = ""


@dataclass(frozen=True)
class Study:
    """A study file, read and checked.  Among ``analysts``, groups come before their members.

    ``server`` is for whoever serves the study, and read there.
    """

    tables: Mapping[str, Table]
    budget: Guarantee | Mapping[str, Guarantee] | None
    ledger: str
    keep: Path | None = None
    policy: Policy = field(default_factory=Policy)
    analysts: Mapping[str, Analyst] = field(default_factory=dict)
    server: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, tables: Mapping[str, Table]) -> Study:
        """Tables declared in Python, with nothing else stated."""
        if not isinstance(tables, Mapping):
            raise InvalidParameter(
                "A curator has tables by name.",
                fix="Pass {'name': Table(frame, columns={…})}, or the path of a study file.",
            )
        distinct(map(str, tables), "tables")
        for name, table in tables.items():
            if not isinstance(table, Table):
                raise InvalidParameter(
                    f"{name!r} is not a Table.", fix=f"Write {{{name!r}: Table(frame, columns={{…}})}}."
                )
        return cls(tables, None, "memory:")


def read_study(path: str | Path, content: str | None = None) -> Study:
    """Read a study file, or what would be its content; anything wrong with it is one clear error.

    The ledger is a file next to the study unless ``[ledger]`` gives another address.  A study that states its budget
    may have no tables yet.
    """
    file = Path(path)
    document = read_study_document(file, content)
    refuse_unknown(document, SECTIONS, file.name, "section")
    ledger, keep = _ledger(file, section(document, "ledger", file.name))
    given = {kind: section(document, kind, file.name) for kind in ("groups", "analysts")}
    groups = {name: _analyst(name, "groups", given["groups"], file, ()) for name in given["groups"]}
    people = {name: _analyst(name, "analysts", given["analysts"], file, tuple(groups)) for name in given["analysts"]}
    if twice := set(groups) & set(people):
        raise InvalidParameter(f"{min(twice)!r} is a group and an analyst.", fix="Rename one of them.")
    return Study(
        {} if "tables" not in document and "budget" in document else tables_from(document, file.name, file.parent),
        _budget(document.get("budget"), file),
        ledger,
        keep,
        Policy.from_dict(section(document, "policy", file.name)),
        {**groups, **people},
        section(document, "server", file.name),
    )


def _ledger(file: Path, given: Mapping[str, Any]) -> tuple[str, Path | None]:
    """The ledger's address and the folder of its key; paths are from the study's folder."""
    refuse_unknown(given, ("address", "keep"), f"[ledger] in {file.name}")
    where = text(given, "address", f"{file.stem}.ledger")
    keep = text(given, "keep") if "keep" in given else None
    if "://" not in where and where != "memory:":
        if (file.parent / where).is_dir():
            raise InvalidParameter(f"The ledger of {file.name} is a folder.", fix='Write address = "study.ledger".')
        where = str(file.parent / where)
    return where, None if keep is None else file.parent / keep


def _budget(stated: object, file: Path) -> Guarantee | Mapping[str, Guarantee] | None:
    """One budget for all tables, or one for each."""
    if stated is None:
        return None
    if isinstance(stated, Mapping) and any(isinstance(amount, Mapping) for amount in stated.values()):
        return {name: _amount(amount, f"budget.{name}", file) for name, amount in stated.items()}
    return _amount(stated, "budget", file)


def _amount(stated: object, header: str, file: Path) -> Guarantee:
    if not isinstance(stated, Mapping) or not stated or not set(stated) <= {"epsilon", "delta", "rho"}:
        raise InvalidParameter(
            f"[{header}] in {file.name} is not a budget.",
            fix="Write epsilon, epsilon and delta, or rho below it; or [budget.TABLE] for each table.",
        )
    return budget_of(**stated)


def _analyst(name: str, kind: str, among: Mapping[str, Any], file: Path, groups: tuple[str, ...]) -> Analyst:
    given = section(among, name, file.name, f"{kind}.{name}")
    group = given.get("group")
    if group is not None and group not in groups:
        raise InvalidParameter(f"{name!r} is in a group {group!r} that is not declared.", fix=f"Add [groups.{group}].")
    amount = {k: v for k, v in given.items() if k not in ("group", "expires")}
    stated: Literal["analyst", "group"] = "group" if kind == "groups" else "analyst"
    return Analyst(_amount(amount, f"{kind}.{name}", file), group, _end(name, given.get("expires")), stated)


def _end(name: str, given: object) -> datetime | None:
    if given is None:
        return None
    if isinstance(given, date):
        return end_of(given)
    raise InvalidParameter(f"{name!r}: expires must be a date.", fix="Write expires = 2026-12-31.")


def end_of(given: date) -> datetime:
    """The moment a budget ends: a time is that moment, in UTC where it names no zone, and a day lasts to its end, UTC.

    >>> end_of(date(2026, 12, 31)).isoformat()
    '2027-01-01T00:00:00+00:00'
    """
    if isinstance(given, datetime):
        return in_utc(given) if given.tzinfo else given.replace(tzinfo=UTC)
    return end_of_day(given)
