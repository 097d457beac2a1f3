"""What a study file states: tables, the budgets of tables and analysts, the ledger's place, the policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from curador.curator.policy import Policy
from curador.curator.study.tables import read_document, tables_from
from curador.errors import InvalidParameter
from curador.privacy import Guarantee
from curador.query.plan.budget import budget_of
from curador.query.tables.columns import distinct
from curador.query.tables.table import Table

SECTIONS = ("tables", "budget", "ledger", "policy", "groups", "analysts")


@dataclass(frozen=True)
class Analyst:
    """Somebody, or a group, with a budget of their own; an analyst may belong to a group.

    After ``expires`` nothing can be bought with it.  A budget for a time promises for that time alone: whoever is in
    the data in several of them loses the sum, unless the unit is the pair of an id and a time.

    >>> Analyst(budget_of(epsilon=1)).group is None
    True
    """

    budget: Guarantee
    group: str | None = None
    expires: datetime | None = None


@dataclass(frozen=True)
class Study:
    """A study file, read and checked; groups come before the analysts in them."""

    tables: Mapping[str, Table]
    budget: Guarantee | Mapping[str, Guarantee] | None
    ledger: str
    keep: Path | None = None
    policy: Policy = field(default_factory=Policy)
    analysts: Mapping[str, Analyst] = field(default_factory=dict)

    @classmethod
    def of(cls, tables: Mapping[str, Table]) -> Study:
        """Tables declared in Python, with nothing else stated."""
        distinct(map(str, tables), "tables")
        for name, table in tables.items():
            if not isinstance(table, Table):
                raise InvalidParameter(f"{name!r} is no Table.", fix="Declare it as Table(source, columns={…}).")
        return cls(tables, None, "memory:")


def read_study(path: str | Path) -> Study:
    """Read a study file; one clear error for whatever is wrong with it.

    The ledger is a file beside the study unless ``[ledger]`` says where it is.
    """
    file = Path(path)
    document = read_document(file)
    for name in document:
        if name not in SECTIONS:
            raise InvalidParameter(f"{file.name} has a section [{name}] nobody reads.", fix=f"It has {_all(SECTIONS)}.")
    ledger, keep = _ledger(file, _section(document, "ledger", file))
    groups = {n: _analyst(n, given, file, ()) for n, given in _section(document, "groups", file).items()}
    people = {n: _analyst(n, given, file, tuple(groups)) for n, given in _section(document, "analysts", file).items()}
    if twice := set(groups) & set(people):
        raise InvalidParameter(f"{min(twice)!r} is a group and an analyst.", fix="Rename one of them.")
    return Study(
        tables_from(document, file.name, file.parent),
        _budget(document.get("budget"), file),
        ledger,
        keep,
        Policy.from_dict(_section(document, "policy", file)),
        {**groups, **people},
    )


def _section(document: Mapping[str, object], name: str, file: Path) -> Mapping[str, Any]:
    found = document.get(name, {})
    if not isinstance(found, Mapping):
        raise InvalidParameter(f"{name} in {file.name} is no section.", fix=f"Write it as [{name}].")
    return found


def _ledger(file: Path, given: Mapping[str, Any]) -> tuple[str, Path | None]:
    """Where the ledger is: paths are from the study's folder."""
    for name in given:
        if name not in ("address", "keep"):
            raise InvalidParameter(f"[ledger] in {file.name} has no {name!r}.", fix="It has address and keep.")
    where, keep = given.get("address", f"{file.stem}.ledger"), given.get("keep")
    if not isinstance(where, str) or not isinstance(keep, str | None):
        raise InvalidParameter(f"[ledger] in {file.name} names places by texts.", fix='Write address = "study.ledger".')
    if "://" not in where and where != "memory:":
        if (file.parent / where).is_dir():
            raise InvalidParameter(f"The ledger of {file.name} is a folder.", fix='Write address = "study.ledger".')
        where = str(file.parent / where)
    return where, None if keep is None else file.parent / keep


def _budget(stated: object, file: Path) -> Guarantee | Mapping[str, Guarantee] | None:
    if stated is None:
        return None
    try:
        if not isinstance(stated, Mapping):
            raise TypeError
        if any(isinstance(x, Mapping) for x in stated.values()):
            return {name: budget_of(**amount) for name, amount in stated.items()}
        return budget_of(**stated)
    except (TypeError, AttributeError):
        raise InvalidParameter(
            f"{file.name} has a budget that is none.",
            fix="Write [budget] with epsilon, with epsilon and delta, or with rho; or [budget.TABLE] for each table.",
        ) from None


def _analyst(name: str, given: object, file: Path, groups: tuple[str, ...]) -> Analyst:
    if not isinstance(given, Mapping):
        raise InvalidParameter(f"{name!r} in {file.name} is no section.", fix=f"Write it as [analysts.{name}].")
    group = given.get("group")
    if group is not None and group not in groups:
        raise InvalidParameter(f"{name!r} is in a group {group!r} that is not there.", fix=f"Add [groups.{group}].")
    budget = _budget({k: v for k, v in given.items() if k not in ("group", "expires")}, file)
    assert isinstance(budget, Guarantee)
    return Analyst(budget, group, _end(name, given.get("expires")))


def _end(name: str, given: object) -> datetime | None:
    """The moment a budget ends; a date ends at its last midnight, UTC."""
    if given is None:
        return None
    if isinstance(given, datetime):
        return given if given.tzinfo else given.replace(tzinfo=UTC)
    if isinstance(given, date):
        return datetime.combine(given, time(), UTC) + timedelta(days=1)
    raise InvalidParameter(f"{name!r} expires on no date.", fix="Write expires = 2026-12-31.")


def _all(names: tuple[str, ...]) -> str:
    return ", ".join(f"[{name}]" for name in names)
