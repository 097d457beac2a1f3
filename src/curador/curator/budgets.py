"""The budgets of a study's tables in a ledger: opened there or found again, renewed, and the versions of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Any

from curador.curator.naming import ANALYST, RENEWED, address, addresses, first, frame_address, refuse_reserved
from curador.errors import InvalidParameter
from curador.ledger.contract import Balance, Ledger, Registration
from curador.privacy import Guarantee
from curador.query.tables.sources import EngineTable, Files, Frame
from curador.query.tables.table import Table

POPULATION = "population"
"""The scope of one budget for all tables: a person in several of them is protected in all of them together."""

Budget = Guarantee | Mapping[str, Guarantee]


class TableScopes:
    """The budgets of a study's tables in a ledger, opened there or found again.

    One budget is the population's, and every private table is a scope below it.  A budget for each table, by name,
    makes each table a root of its own, and promises for each apart.  A table that was renewed is about new people, and
    charges a root of its own.

    Guarantee: a budget that the ledger knows is never opened again or changed: what the study states must be a number
        that it has had, raising it is an explicit grant, and starting anew an explicit renewal.  No table takes over
        the scope of an analyst, nor the other way round.
    """

    def __init__(self, ledger: Ledger, tables: Mapping[str, Table], budget: Budget | None) -> None:
        self.ledger = ledger
        self._private = {name: table for name, table in tables.items() if not table.public}
        self._addresses = addresses(self._private)
        self.shared = not isinstance(budget, Mapping)
        if budget is None:
            raise InvalidParameter(
                "A curator needs a budget.", fix="Pass one, such as budget=PureDP(1), or state it in the study file."
            )
        for name in self._private:
            refuse_reserved(name)
        if isinstance(budget, Mapping):
            self._apart(budget)
        else:
            self._together(budget, tables)
        self.registered = MappingProxyType({name: self._registered(name) for name in self._private})

    def _registered(self, name: str) -> Registration:
        # Whether a frame in memory still holds the rows it held before cannot be known.
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
                f"{missing[0]!r} has a budget and is not a private table, or the other way round.",
                fix="Give every private table its budget, and nothing else.",
            )
        if twice := [name for name, table in self._private.items() if self._addresses[name] != address(name, table)]:
            raise InvalidParameter(
                f"{twice[0]!r} reads what another table reads: people in it would lose both budgets.",
                fix="Give all tables one budget.",
            )
        self._refuse_renamed_frames()
        for name, table in self._private.items():
            self._table(name, budget[name], neighbors=table.neighbors)

    def _refuse_renamed_frames(self) -> None:
        """Refuse a frame under a new name: its name is its only address, so it would silently start another budget."""
        new = [
            name
            for name, table in self._private.items()
            if isinstance(table.source, Frame) and self.ledger.registered(name, self._addresses[name]) is None
        ]
        if not new:
            return
        known = self.ledger.scopes()
        if gone := [
            s for s in known if s not in self._private and self.ledger.registered("", frame_address(s)) is not None
        ]:
            raise InvalidParameter(
                f"{new[0]!r} is new here and {gone[0]!r} is gone: they may be the same people.",
                fix=f"Call it {gone[0]!r} as before; if both are there, declare both; for other people, renew() it.",
            )

    def _together(self, budget: Guarantee, tables: Mapping[str, Table]) -> None:
        kinds = {table.neighbors for table in self._private.values()}
        if len(kinds) != 1 or POPULATION in tables:
            raise InvalidParameter(
                f"One budget is for private tables about the same neighbours, none called {POPULATION!r}.",
                fix="Declare the same neighbours for all, or give every table a budget of its own.",
            )
        known = any(self.ledger.registered(name, self._addresses[name]) for name in self._private)
        if known and POPULATION not in self.ledger.scopes():
            raise _elsewhere(next(iter(self._private)))
        self._open(POPULATION, budget, neighbors=kinds.pop())
        whole = self.ledger.balance(POPULATION).budget
        for name in self._private:
            if not RENEWED.fullmatch(self._scope(name)):
                # A table's own ceiling is never below the population's: grants raise it first (see grant).
                self._table(name, whole, stated=False, parent=POPULATION)

    def _table(self, name: str, budget: Guarantee, **how: Any) -> None:
        """Open a table's scope, or find it; never one that belongs to something else."""
        scope = self._scope(name)
        if scope == name and name in self.ledger.scopes() and not self._tables_own(name, budget):
            raise InvalidParameter(
                f"The ledger holds a budget called {name!r} that does not belong to this table.",
                fix="Give the table another name: that one belongs, or belonged, to an analyst.",
            )
        self._open(scope, budget, names=name, **how)

    def _tables_own(self, name: str, budget: Guarantee) -> bool:
        """Whether this scope belongs to the table, or is the untouched remainder of an interrupted opening."""
        there = self.ledger.balance(name)
        blank = not any(there.state.spent) and not there.closed and there.expires is None and there.budget == budget
        # Looked up last: another process may be opening the same table, and have charged it meanwhile.
        return self.ledger.registered(name, self._addresses[name]) is not None or (blank and self._tied(name) is None)

    def _open(
        self,
        scope: str,
        budget: Guarantee,
        *,
        names: str = "",
        stated: bool = True,
        parent: str | None = None,
        accepts_parent: Callable[[str | None], bool] | None = None,
        **how: Any,
    ) -> None:
        """Open a scope, or find it; ``accepts_parent(p)``: whether an existing one may keep another parent, p."""
        if scope not in self.ledger.scopes():
            try:
                self.ledger.open(scope, budget, parent=parent, **how)
                return
            except InvalidParameter as refusal:
                if refusal.code != "budget-exists":  # else another process opened it meanwhile
                    raise
        there = self.ledger.balance(scope)
        if stated and there.budget != budget:
            past = self.ledger.scopes_of(names) if RENEWED.fullmatch(scope) else (scope,)
            if not self.ledger.ever_promised(past, budget):
                raise InvalidParameter(
                    f"The ledger holds {there.budget!r} for {scope!r}, and the study states {budget!r}.",
                    fix="State what the ledger holds, or held at first; a grant raises it, nothing lowers it.",
                    code="budget-stated-otherwise",
                )
        above = None if there.parent is None else there.parent.scope
        if above != parent and not (accepts_parent is not None and accepts_parent(above)):
            raise _elsewhere(scope)

    def renew(self, tables: Sequence[str], budget: Guarantee, because: str) -> Balance:
        """Decide that the rows of these tables are new people: from now on they charge one new root.

        Tables that read what one of them reads are about the same people, and go with it.
        """
        for name in tables:
            self._require_known(name)
        if not tables or not because.strip():
            raise InvalidParameter(
                "A new budget is for named tables, and needs a reason: who the new people are.",
                fix="Say it in because=.",
            )
        plain = {name: address(name, table) for name, table in self._private.items()}
        also = [name for name in plain if plain[name] in {plain[t] for t in tables}]
        kinds = {self._private[name].neighbors for name in also}
        if len(kinds) > 1:
            raise InvalidParameter("These tables are about different neighbours.", fix="Renew them one by one.")
        scope = self._unused(tables[0])
        self.ledger.open(scope, budget, neighbors=kinds.pop())
        made = {name: self.ledger.renew(name, scope, because=because) for name in also}
        self.registered = MappingProxyType({**self.registered, **made})
        return self.ledger.balance(scope)

    def _unused(self, name: str) -> str:
        taken = set(self.ledger.scopes())
        return next(s for n in count(1) if (s := f"{name}, renewed {n}") not in taken)

    def reload(self, table: str) -> int:
        """Record that a table's content changed: answers about the old content are not given for the new."""
        self._require_known(table)
        made = self.ledger.register(table, self._addresses[table], reloaded=True)
        self.registered = MappingProxyType({**self.registered, table: made})
        return made.version

    def _require_known(self, table: str) -> None:
        if table not in self._private:
            raise InvalidParameter(f"{table!r} is not a private table here.", fix=f"Use {', '.join(self._private)}.")

    def of(self, tables: Iterable[str]) -> tuple[str, ...]:
        """The scopes that tables charge, whatever their names are now, also after a renewal by another process."""
        return tuple(dict.fromkeys(self.registration(name).scope for name in tables))

    def charging(self, scope: str) -> tuple[str, ...]:
        """The tables that charge a scope now."""
        return tuple(name for name in self._private if self.registration(name).scope == scope)

    def roots(self, tables: Iterable[str] | None = None) -> tuple[str, ...]:
        """The root budgets that tables charge, by default all of them: one for each set of people."""
        named = self._private if tables is None else tables
        return tuple(dict.fromkeys(root_of(self.ledger.balance(scope)) for scope in self.of(named)))

    def held(self, tables: Iterable[str]) -> dict[str, Registration]:
        """What tables stand for now: whom they charge, and the version of their data."""
        return {name: self.registration(name) for name in tables}

    def live(self, held: Mapping[str, Registration]) -> list[Registration]:
        """Those whose rows are read when they are asked about, so that they may be others by then; not frames."""
        return [known for name, known in held.items() if not isinstance(self._private[name].source, Frame)]

    def registration(self, name: str) -> Registration:
        """The registration of the rows that would be read now.

        A frame is the one this curator was opened with, whatever the ledger has learned of that name since: its rows
        charge the people that they are about.  Files and tables are read live, and follow the ledger.
        """
        if isinstance(self._private[name].source, Frame):
            return self.registered[name]
        return self.ledger.registered(name, self._addresses[name]) or self.registered[name]

    def _tied(self, name: str) -> str | None:
        """The scope of an analyst or a group, if it is known as one."""
        found = self.ledger.registered(ANALYST + name, ANALYST + name)
        return None if found is None else found.scope

    def _was_table(self, name: str) -> bool:
        return self.ledger.registered(name, "") is not None

    def _of_tables(self, scope: str) -> bool:
        """Whether a scope is the population's or a table's, now or formerly, rather than an analyst's."""
        return scope == POPULATION or self._was_table(first(scope))


def _elsewhere(scope: str) -> InvalidParameter:
    return InvalidParameter(
        f"{scope!r} is elsewhere in the ledger's tree of budgets than in the study.",
        fix="Keep one budget for all, or one for each table, as the ledger was started with.",
    )


def root_of(balance: Balance) -> str:
    return balance.scope if balance.parent is None else root_of(balance.parent)
