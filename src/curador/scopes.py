"""How a study stands in a ledger: the budgets of its tables and analysts, its data's versions, its questions' names."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from types import MappingProxyType
from typing import Any

from curador.accounting.events import Event
from curador.errors import InvalidParameter, NotPromised
from curador.ledger.contract import Balance, Ledger, Registration
from curador.ledger.pricing import left, price
from curador.privacy import Guarantee
from curador.query.plan import Plan
from curador.query.schema import Table
from curador.query.sources import EngineTable, Files

POPULATION = "population"
"""The scope that one budget for all tables makes: whoever is in several of them is protected in all together."""

Budget = Guarantee | Mapping[str, Guarantee]


class Scopes:
    """The budgets of a study in a ledger, opened there or found again.

    One budget is the population's, and every private table is a scope below it.  A budget for each table, by name,
    makes each table a root of its own, and promises for each apart.  Analysts and groups have scopes of their own,
    below the population where there is one: what they get is charged to them and to everybody.

    Guarantee: a budget that the ledger knows is never opened again or changed: what the study states must be what the
        ledger says, and raising it is an explicit grant.
    """

    def __init__(self, ledger: Ledger, tables: Mapping[str, Table], budget: Budget | None) -> None:
        self.ledger = ledger
        self._private = {name: table for name, table in tables.items() if not table.public}
        self._addresses = _addresses(self._private)
        self.shared = not isinstance(budget, Mapping)
        if budget is None:
            raise InvalidParameter(
                "A curator needs a budget.", fix="Pass one, such as budget=PureDP(1), or state it in the study file."
            )
        if isinstance(budget, Mapping):
            self._apart(budget)
        else:
            self._together(budget, tables)
        self.registered = MappingProxyType({name: self._registered(name) for name in self._private})

    def _registered(self, name: str) -> Registration:
        # Of a frame in memory nobody knows whether it holds the rows it held before.
        anew = not isinstance(self._private[name].source, EngineTable | Files)
        return self.ledger.register(name, self._addresses[name], scope=self._scope(name), reloaded=anew)

    def _scope(self, name: str) -> str:
        """The scope that a table charges: the one it always did, whatever it was called then."""
        known = self.ledger.registered(name, self._addresses[name])
        return name if known is None else known.scope

    def _apart(self, budget: Mapping[str, Guarantee]) -> None:
        missing = sorted(set(self._private) ^ set(budget))
        if missing:
            raise InvalidParameter(
                f"{missing[0]!r} has a budget and is no private table, or the other way round.",
                fix="Give every private table its budget, and nothing else.",
            )
        if twice := [name for name, table in self._private.items() if self._addresses[name] != address(name, table)]:
            raise InvalidParameter(
                f"{twice[0]!r} reads what another table reads: whoever is in it would lose both budgets.",
                fix="Give all tables one budget.",
            )
        for name, table in self._private.items():
            self._open(self._scope(name), budget[name], neighbors=table.neighbors)

    def _together(self, budget: Guarantee, tables: Mapping[str, Table]) -> None:
        kinds = {table.neighbors for table in self._private.values()}
        if len(kinds) != 1 or POPULATION in tables:
            raise InvalidParameter(
                f"One budget is for private tables about the same neighbours, none called {POPULATION!r}.",
                fix="Declare the same neighbours for all, or give every table a budget of its own.",
            )
        self._open(POPULATION, budget, neighbors=kinds.pop())
        for name in self._private:
            # A table's own ceiling is never below the population's: grants raise it first (see grant).
            self._open(self._scope(name), budget, stated=False, parent=POPULATION)

    def _open(self, name: str, budget: Guarantee, *, stated: bool = True, **how: Any) -> None:
        if name not in self.ledger.scopes():
            try:
                self.ledger.open(name, budget, **how)
                return
            except InvalidParameter:
                if name not in self.ledger.scopes():  # else another process opened it meanwhile
                    raise
        there = self.ledger.balance(name)
        if stated and there.budget != budget:
            raise InvalidParameter(
                f"The ledger holds {there.budget!r} for {name!r}, and the study states {budget!r}.",
                fix="State what the ledger holds; `curador grant` raises it, and nothing lowers it.",
            )
        if how.get("parent") != (None if there.parent is None else there.parent.scope):
            raise InvalidParameter(
                f"{name!r} has another place among the ledger's budgets than in the study.",
                fix="Keep one budget for all, or one for each table, as the ledger was started with.",
            )

    def grant(self, scope: str, more: Guarantee, because: str = "") -> Balance:
        """Raise a budget.  Where tables share the population's, theirs are raised before it."""
        shared = self.of(self._private) if self.shared else ()
        if scope in shared:
            raise InvalidParameter(f"{scope!r} shares the budget of all tables.", fix=f"Raise {POPULATION!r}.")
        if scope == POPULATION:
            # Cut off between two of these, a table may have a ceiling above the population's, which bounds it anyway.
            for table in shared:
                self.ledger.grant(table, more, because=because)
        return self.ledger.grant(scope, more, because=because)

    # -- analysts

    def analyst(
        self, name: str, budget: Guarantee, group: str | None = None, expires: datetime | None = None
    ) -> Balance:
        """Give an analyst, or a group of them, a budget of their own; found again if the ledger knows it."""
        if name in self._private or name == POPULATION:
            raise InvalidParameter(f"{name!r} is a table, not an analyst.", fix="Choose another name.")
        parent = group if group is not None else POPULATION if self.shared else None
        kinds = {table.neighbors for table in self._private.values()}
        if len(kinds) > 1:
            raise InvalidParameter(
                "The tables are about different neighbours.", fix="Give analysts a study of their own."
            )
        how: dict[str, Any] = {"parent": parent} if parent else {"neighbors": kinds.pop()}
        self._open(name, budget, **how, expires=expires)
        found = self.ledger.balance(name)
        if expires is not None and found.expires != expires:
            raise InvalidParameter(
                f"The budget of {name!r} ends otherwise in the ledger.",
                fix="State the same end; give a new analyst a new name.",
            )
        return found

    def of(self, tables: Iterable[str]) -> tuple[str, ...]:
        """The scopes that tables charge, whatever they are called now."""
        return tuple(dict.fromkeys(self.registered[name].scope for name in tables))

    def reloaded(self, table: str) -> int:
        """Say that a table's content changed: answers about the old content are not given for the new."""
        if table not in self._private:
            raise InvalidParameter(f"{table!r} is no private table here.", fix=f"Use {', '.join(self._private)}.")
        made = self.ledger.register(table, self._addresses[table], reloaded=True)
        self.registered = MappingProxyType({**self.registered, table: made})
        return made.version

    def versions(self, tables: Iterable[str]) -> list[tuple[int, int]]:
        """Which data a question is about: numbers that the ledger gave, never anything of the content."""
        found = [self.ledger.registered(name, self._addresses[name]) or self.registered[name] for name in tables]
        return [(known.data, known.version) for known in found]

    def how_many(self, scopes: Iterable[str], event: Event, promise: Guarantee | None) -> int:
        """How often an event can still be bought in these scopes and all above them."""
        most: int | None = None
        for name in scopes:
            balance: Balance | None = self.ledger.balance(name)
            while balance is not None:
                costs = price(balance.state, event, promise)
                fits = [have // cost for have, cost in zip(left(balance.state), costs, strict=True) if cost]
                if balance.closed:
                    fits.append(0)
                most = min([*fits, *([] if most is None else [most])], default=most)
                balance = balance.parent
        if most is None:
            raise NotPromised("This costs nothing here, so any number fits.", fix="Ask as often as you like.")
        return most


def _addresses(tables: Mapping[str, Table]) -> dict[str, str]:
    """What every table's source is called; a source that is declared twice is two tables, each with its name."""
    found: dict[str, str] = {}
    for name, table in tables.items():
        plain = address(name, table)
        found[name] = plain if plain not in found.values() else f"{plain} as {name}"
    return found


def address(name: str, table: Table) -> str:
    """What a table's source is called in the ledger; no password, and no more than the ledger takes."""
    source = table.source
    if isinstance(source, EngineTable):
        said = f"{source.engine}:{hashlib.sha256(source.url.encode()).hexdigest()[:16]}#{source.schema}.{source.table}"
    elif isinstance(source, Files):
        said = f"file:{os.path.realpath(source.pattern)}"  # the same from whatever folder it is named
    else:
        said = f"frame:{name}"
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
