"""How a study stands in a ledger: the budgets of its tables and analysts, and its data's versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from itertools import count
from types import MappingProxyType
from typing import Any

from curador.curator.naming import ANALYST, RENEWED, address, addresses, first, frame_address, refuse_reserved
from curador.errors import InvalidParameter
from curador.ledger.contract import Balance, Decision, Ledger, Registration
from curador.privacy import ApproxDP, Guarantee, PureDP
from curador.query.tables.sources import EngineTable, Files, Frame
from curador.query.tables.table import Table

POPULATION = "population"
"""The scope that one budget for all tables makes: whoever is in several of them is protected in all together."""

Budget = Guarantee | Mapping[str, Guarantee]


class Scopes:
    """The budgets of a study in a ledger, opened there or found again.

    One budget is the population's, and every private table is a scope below it.  A budget for each table, by name,
    makes each table a root of its own, and promises for each apart.  Analysts and groups have scopes of their own,
    below the population where there is one: what they get is charged to them and to everybody.  A table that was
    renewed is about new people, and charges a root of its own.

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
        self._refuse_renamed_frames()
        for name, table in self._private.items():
            self._table(name, budget[name], neighbors=table.neighbors)

    def _refuse_renamed_frames(self) -> None:
        """A frame has no address but its name, so under another name it would begin a budget of its own, unseen."""
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
                f"{new[0]!r} is new here and {gone[0]!r} is gone: whether they are the same people, nobody can see.",
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
        """Open a table's scope, or find it; never one that somebody else has."""
        scope = self._scope(name)
        if scope == name and name in self.ledger.scopes() and not self._tables_own(name, budget):
            raise InvalidParameter(
                f"The ledger holds a budget called {name!r} that is not this table's.",
                fix="Give the table another name: that one is an analyst's, or was.",
            )
        self._open(scope, budget, names=name, **how)

    def _tables_own(self, name: str, budget: Guarantee) -> bool:
        """Whether a scope of this name is a table's, or what an opening that was cut off left of it."""
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
        beside: Callable[[str | None], bool] | None = None,
        **how: Any,
    ) -> None:
        """``beside`` says which other places than below ``parent`` a scope that is there already may have."""
        if scope not in self.ledger.scopes():
            try:
                self.ledger.open(scope, budget, parent=parent, **how)
                return
            except InvalidParameter:
                if scope not in self.ledger.scopes():  # else another process opened it meanwhile
                    raise
        there = self.ledger.balance(scope)
        if stated and there.budget != budget:
            past = self.ledger.scopes_of(names) if RENEWED.fullmatch(scope) else (scope,)
            if not self.ledger.ever_promised(past, budget):
                raise InvalidParameter(
                    f"The ledger holds {there.budget!r} for {scope!r}, and the study states {budget!r}.",
                    fix="State what the ledger holds, or held at first; `curador grant` raises it, nothing lowers it.",
                )
        above = None if there.parent is None else there.parent.scope
        if above != parent and not (beside is not None and beside(above)):
            raise _elsewhere(scope)

    # -- decisions

    def grant(
        self,
        name: str,
        more: Guarantee,
        because: str = "",
        group: str | None = None,
        expires: datetime | None = None,
    ) -> Balance:
        """Raise a budget, or give an analyst one.  Where tables share the population's, theirs are raised before it."""
        scope = self.named(name)
        if expires is not None and expires <= datetime.now(UTC):
            raise InvalidParameter("This budget would have ended already.", fix="Let it end on a later day.")
        if scope not in self.ledger.scopes():
            return self.analyst(name, more, group, expires, because)
        if group is not None or expires is not None:
            raise InvalidParameter(
                f"{name!r} has a budget already, whose group and end stay as they are.",
                fix="Raise it without them, or give a new analyst a new name.",
            )
        more = _alike(more, self.ledger.balance(scope).budget, name)
        sharing = [s for s in self.of(self._private) if not RENEWED.fullmatch(s)] if self.shared else []
        if scope in sharing:
            raise InvalidParameter(f"{name!r} shares the budget of all tables.", fix=f"Raise {POPULATION!r}.")
        if self._tied(name) is not None and self._retired(scope):
            return self._anew(name, scope, more, because)
        if scope == POPULATION:
            # Cut off between two of these, a table may have a ceiling above the population's, which bounds it anyway.
            for table in sharing:
                self.ledger.grant(table, more, because=because)
        return self.ledger.grant(scope, more, because=because)

    def renew(self, tables: Sequence[str], budget: Guarantee, because: str) -> Balance:
        """Decide that the rows of these tables are new people: from now on they charge one new root.

        Tables that read what one of them reads are about the same people, and go with it.
        """
        for name in tables:
            self._known(name)
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

    def decisions(self) -> tuple[Decision, ...]:
        """What was decided about budgets; the reason for an analyst's stands with its opening."""
        found: list[Decision] = []
        opened: dict[str, int] = {}
        for decision in self.ledger.decisions():
            if decision.name.startswith(ANALYST) and decision.scope in opened:
                number = opened[decision.scope]
                found[number] = replace(found[number], because=decision.because)
                continue
            if decision.kind == "opened":
                opened[decision.scope] = len(found)
            found.append(decision)
        return tuple(found)

    # -- analysts

    def analyst(
        self,
        name: str,
        budget: Guarantee,
        group: str | None = None,
        expires: datetime | None = None,
        because: str = "",
    ) -> Balance:
        """Give an analyst, or a group of them, a budget of their own; found again if the ledger knows it."""
        refuse_reserved(name)
        tied = self._tied(name)
        if name in self._private or name == POPULATION or (tied is None and self._was_table(name)):
            raise InvalidParameter(f"{name!r} is a table, not an analyst.", fix="Choose another name.")
        kinds = {table.neighbors for table in self._private.values()}
        if len(kinds) > 1:
            raise InvalidParameter(
                "The tables are about different neighbours.", fix="Give analysts a study of their own."
            )
        scope, parent = tied or name, self._above(group)
        if parent is not None and scope not in self.ledger.scopes() and self._retired(parent):
            raise InvalidParameter(
                f"{name!r} would have a budget below {parent!r}, and no table is about those people any more.",
                fix=f"Say below which budget instead, as its group: {', '.join(map(repr, self.roots()))}.",
            )
        how: dict[str, Any] = {"parent": parent} if parent else {"neighbors": kinds.pop()}

        def beside(above: str | None) -> bool:
            """Below an older scope of the group, or an older population."""
            if above is None or group is not None:
                return above is not None and first(above) == group
            return self.shared and self._of_tables(above)

        self._open(scope, budget, names=ANALYST + name, beside=beside, **how, expires=expires)
        found = self.ledger.balance(scope)
        if expires is not None and found.expires != expires:
            raise InvalidParameter(
                f"The budget of {name!r} ends otherwise in the ledger.",
                fix="State the same end; give a new analyst a new name.",
            )
        if tied is None:
            self._tie(name, scope, because)
        return found

    def _above(self, group: str | None) -> str | None:
        """The scope that a new analyst's is below."""
        if group is not None:
            return self._tied(group) or group
        if not self.shared:
            return None
        roots = self.roots(self._private)
        return roots[0] if len(roots) == 1 else POPULATION

    def _anew(self, name: str, scope: str, budget: Guarantee, because: str) -> Balance:
        """Give an analyst whose budget is below people that are asked no more one below the new people."""
        parent = self.ledger.balance(scope).parent
        group = first(parent.scope) if parent is not None and not self._of_tables(parent.scope) else None
        above = self._above(group)
        if above is None or self._retired(above):
            raise InvalidParameter(
                f"{name!r} has a budget for people that no table is about any more.",
                fix=f"Give the group a new one first: {group!r}." if group else "Give a new analyst a new name.",
            )
        fresh = self._unused(name)
        self.ledger.open(fresh, budget, parent=above)
        self._tie(name, fresh, because or "new people")
        return self.ledger.balance(fresh)

    def _tie(self, name: str, scope: str, because: str) -> None:
        key = ANALYST + name
        if self._tied(name) is None:
            self.ledger.register(key, key, scope=scope)
        if because:
            self.ledger.renew(key, scope, because=because)

    def _tied(self, name: str) -> str | None:
        """The scope of an analyst or a group, if it is known as one."""
        found = self.ledger.registered(ANALYST + name, ANALYST + name)
        return None if found is None else found.scope

    def _was_table(self, name: str) -> bool:
        return self.ledger.registered(name, "") is not None

    def _of_tables(self, scope: str) -> bool:
        """Whether a scope is the population's or a table's, now or formerly, rather than an analyst's."""
        return scope == POPULATION or self._was_table(first(scope))

    def _retired(self, scope: str) -> bool:
        """Whether a scope is below people that no table is about any more."""
        root = _root(self.ledger.balance(scope))
        return self._of_tables(root) and root not in self.roots(self._private)

    def receiver(self, name: str, tables: Iterable[str]) -> str:
        """The scope of an analyst who asks about tables; refused where it is below other people than theirs.

        Charged all the same, it would take from people whom the answer is not about.
        """
        tied = self._tied(name)
        scope = tied or name
        root = _root(self.ledger.balance(scope))
        if tied is None and self._of_tables(scope):
            raise InvalidParameter(f"{name!r} is no analyst.", fix="Name an analyst, or a group.")
        if self._of_tables(root) and root not in (roots := self.roots(tables)):
            raise InvalidParameter(
                f"{name!r} has a budget below {root!r}, and this is about {roots[0]!r}.",
                fix="Ask whoever holds the budget for one there: `curador grant` gives it.",
            )
        return scope

    # -- tables

    def named(self, name: str) -> str:
        """The scope of a table, an analyst or a group as it stands now; any other scope by its own name."""
        if name in self._private:
            return self.of([name])[0]
        return self._tied(name) or name

    def of(self, tables: Iterable[str]) -> tuple[str, ...]:
        """The scopes that tables charge, whatever they are called now, and whoever renewed them meanwhile."""
        return tuple(dict.fromkeys(self._now(name).scope for name in tables))

    def charging(self, scope: str) -> tuple[str, ...]:
        """The tables that charge a scope now."""
        return tuple(name for name in self._private if self._now(name).scope == scope)

    def ever(self, name: str) -> tuple[str, ...]:
        """The scopes that a table, an analyst or a group has had, oldest first."""
        scope = self.named(name)
        if not RENEWED.fullmatch(scope) or scope == name:
            return (scope,)
        return self.ledger.scopes_of(name if name in self._private else ANALYST + name)

    def roots(self, tables: Iterable[str] | None = None) -> tuple[str, ...]:
        """The budgets above all that are charged for tables, by default for any: one for each set of people."""
        named = self._private if tables is None else tables
        return tuple(dict.fromkeys(_root(self.ledger.balance(scope)) for scope in self.of(named)))

    def _now(self, name: str) -> Registration:
        return self.ledger.registered(name, self._addresses[name]) or self.registered[name]

    def reload(self, table: str) -> int:
        """Record that a table's content changed: answers about the old content are not given for the new."""
        self._known(table)
        made = self.ledger.register(table, self._addresses[table], reloaded=True)
        self.registered = MappingProxyType({**self.registered, table: made})
        return made.version

    def _known(self, table: str) -> None:
        if table not in self._private:
            raise InvalidParameter(f"{table!r} is no private table here.", fix=f"Use {', '.join(self._private)}.")

    def versions(self, tables: Iterable[str]) -> list[tuple[int, int]]:
        """Which data a question is about: numbers that the ledger gave, never anything of the content."""
        return [(known.data, known.version) for known in map(self._now, tables)]


def _elsewhere(scope: str) -> InvalidParameter:
    return InvalidParameter(
        f"{scope!r} has another place among the ledger's budgets than in the study.",
        fix="Keep one budget for all, or one for each table, as the ledger was started with.",
    )


def _alike(more: Guarantee, budget: Guarantee, name: str) -> Guarantee:
    """What is granted, in the kind of the budget that it raises."""
    if isinstance(more, PureDP) and isinstance(budget, ApproxDP):
        return ApproxDP(more.epsilon, 0)
    if type(more) is not type(budget):
        counts = " and ".join(f.name for f in fields(budget))  # type: ignore[arg-type]
        raise InvalidParameter(f"The budget of {name!r} counts {counts}.", fix=f"Grant {counts}.")
    return more


def _root(balance: Balance) -> str:
    return balance.scope if balance.parent is None else _root(balance.parent)
