"""The budgets of a study's tables in a ledger: opened there or found again, renewed, and the versions of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from itertools import count
from types import MappingProxyType
from typing import Any, Self

from curador.curator import naming
from curador.curator.naming import ANALYST, PUBLIC, RENEWED, Readers, first, refuse_reserved, unit_of
from curador.errors import InvalidParameter
from curador.ledger.contract import Balance, Ledger, Registration
from curador.privacy import Guarantee
from curador.query.tables.paths import FILE
from curador.query.tables.sources import Frame
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
        self._public = {name: table for name, table in tables.items() if table.public}
        self._addresses: dict[str, str] = {}
        self._kinds = frozenset(table.neighbors for table in self._private.values())
        self._budget = budget
        self._opening: tuple[str, ...] | None = None
        self._others: Mapping[str, Registration] = {}
        self._owner: dict[str, Registration | None] = {}
        self._moved: dict[str, set[str]] = {}
        self._opened: Mapping[str, Sequence[str]] = {}
        self.registered: Mapping[str, Registration] = {}
        self.shared = not isinstance(budget, Mapping)
        if budget is None:
            raise InvalidParameter(
                "A curator needs a budget.", fix="Pass one, such as budget=PureDP(1), or state it in the study file."
            )
        for name in tables:
            refuse_reserved(name)
        self._readers = Readers(tables)
        self._readers.beside({})
        self._readers.refuse_two_units()

    def _over(self, ledger: Ledger) -> Self:
        """The same budgets, read and written through another view of the ledger: a transaction that is open."""
        other = copy(self)
        other.ledger = ledger
        return other

    def _open_tables(self) -> None:
        """Open the scopes of all tables or find them again, and register the tables."""
        tables = {**self._private, **self._public}
        known = {name: found for name in tables if (found := self.ledger.registered(name, "")) is not None}
        self._addresses = naming.addresses(tables, {name: found.source for name, found in known.items()})
        elsewhere = self._of_other_studies()
        self._others = {name: known for name, known in elsewhere.items() if known.scope}
        self._readers.beside(elsewhere)
        self._readers.refuse_two_units()
        self._alike = self._other_addresses(self._readers)
        if isinstance(self._budget, Mapping):
            self._apart(self._budget)
        elif tables:  # without any, whom the budget protects is not known yet
            assert self._budget is not None
            self._together(self._budget)
        for name in self._private:
            if len(mates := self._readers.mates[name] & self._private.keys()) > 1:
                self._refuse_two_roots(name, map(self._scope, mates))
        self.registered = MappingProxyType({name: self._registered(name) for name in self._private})
        for name in self._public:
            self.ledger.register(name, self._addresses[name], scope="", unit=PUBLIC, alike=self._alike[name])

    def _of_other_studies(self) -> dict[str, Registration]:
        """The tables that only other studies declare, private or public."""
        here = {*self._private, *self._public}
        known = self.ledger.registrations(without=ANALYST)  # of whom there may be very many
        return {
            found.table: found for found in known if (found.scope or found.unit == PUBLIC) and found.table not in here
        }

    def _other_addresses(self, readers: Readers) -> dict[str, tuple[str, ...]]:
        """The numbers of each table's files that it is not known by yet; a new one may be known by them.

        One that belongs to other data is left to it where that is read by it now: here, or for a known table anywhere.
        Otherwise the file was moved, or the disk gave its number again: a new table takes over the budget, since that
        cannot be told apart, and a known one takes over the number, unless the other is declared here and has no file.
        """
        own = {name: self.ledger.registered(name, self._addresses[name]) for name in readers.places}
        data = {name: known.data for name, known in own.items() if known is not None}
        here, anywhere = (readers.reading(data, everywhere=everywhere) for everywhere in (False, True))
        lost = {data[name]: name for name in sorted(readers.lost & data.keys() & self._private.keys())}
        found: dict[str, tuple[str, ...]] = {}
        seen: set[str] = set()
        for name, place in readers.places.items():
            owners = self.ledger.owners(place.files)
            reading, mine, others = (here, -1, {}) if own[name] is None else (anywhere, data[name], lost)
            kept = {i for i, known in owners.items() if known.data in {mine, *others, *reading.get(i, ())}}
            self._moved[name] = {others[d] for i in kept if (d := owners[i].data) in others and d != mine}
            free = [i for i in place.files if i not in kept]
            alike = [i for i in free if i not in seen]
            self._owner[name] = next((owners[i] for i in alike if i in owners), None)
            if own[name] is None and self._owner[name] is None:
                mates = readers.mates[name] & self._others.keys() if name in self._private else ()
                for mate in sorted(mates)[:1]:
                    alike, self._owner[name] = [*alike, self._others[mate].source], self._others[mate]
            found[name] = tuple(alike)
            seen.update(place.files)
        return found

    def _registered(self, name: str) -> Registration:
        # Whether a frame in memory still holds the rows it held before cannot be known.
        unit, anew = unit_of(self._private[name]), isinstance(self._private[name].source, Frame)
        return self.ledger.register(
            name, self._addresses[name], scope=self._scope(name), reloaded=anew, unit=unit, alike=self._alike[name]
        )

    def _known(self, name: str) -> Registration | None:
        """The registration of a table's name or source, or of the same source at another address."""
        if name in self._others:
            return self._others[name]
        return self.ledger.registered(name, self._addresses[name]) or self._owner[name]

    def _scope(self, name: str) -> str:
        """The scope that a table charges: the one it always did, whatever it was called then."""
        known = self._known(name)
        if known is not None and known.scope:
            return known.scope
        mates = (self._known(mate) for mate in sorted(self._readers.mates[name] - {name}))
        return next((mate.scope for mate in mates if mate is not None and RENEWED.fullmatch(mate.scope)), name)

    def _apart(self, budget: Mapping[str, Guarantee]) -> None:
        missing = sorted(set(self._private) ^ set(budget))
        if missing:
            raise InvalidParameter(
                f"{missing[0]!r} has a budget and is not a private table, or the other way round.",
                fix="Give every private table its budget, and nothing else.",
            )
        if twice := [name for name in self._private if len(self._readers.mates[name] & self._private.keys()) > 1]:
            raise naming.read_twice(twice[-1], "Give all tables one budget.")
        self._refuse_renamed_frames()
        for name, table in self._private.items():
            self._table(name, budget[name], neighbors=table.neighbors)

    def _refuse_two_roots(self, name: str, scopes: Iterable[str]) -> None:
        """Refuse a table whose rows are charged to these scopes, unless all are below one root."""
        if len({root_of(self.ledger.balance(scope)) for scope in scopes}) > 1:
            fix = "Declare other rows; where these are other people, renew() takes all that read them along."
            raise naming.read_twice(name, fix)

    def _refuse_renamed_frames(self) -> None:
        """Refuse a new table that may be one that is gone: a frame's name is its only address.

        It would silently start another budget for the same people, as would a file that was read into a frame.  In one
        budget for all, it would only where the table that is gone was renewed.
        """
        own = {name: self._scope(name) for name in self._private if self._known(name) is not None}
        new = {n: t for n, t in self._private.items() if n not in own and not RENEWED.fullmatch(self._scope(n))}
        if not new or (self.shared and not any(map(RENEWED.fullmatch, self.ledger.scopes()))):
            return
        frames = any(isinstance(table.source, Frame) for table in new.values())
        gone = [
            known.table
            for known in self._others.values()
            if (not self.shared or RENEWED.fullmatch(known.scope))
            and (known.source == naming.frame_address(known.table) or (frames and known.scope not in own.values()))
        ]
        if gone:
            raise InvalidParameter(
                f"{next(iter(new))!r} is new here and {gone[0]!r} is gone: they may be the same people.",
                fix=f"Call it {gone[0]!r} as before; if both are there, declare both; for other people, renew() it.",
            )

    def _together(self, budget: Guarantee) -> None:
        kinds = {table.neighbors for table in self._private.values()}
        if len(kinds) != 1 or POPULATION in self._private or POPULATION in self._public:
            raise InvalidParameter(
                f"One budget is for private tables about the same neighbours, none called {POPULATION!r}.",
                fix="Declare the same neighbours for all, or give every table a budget of its own.",
            )
        known = any(self.ledger.registered(name, self._addresses[name]) for name in self._private)
        if known and POPULATION not in self.ledger:
            raise naming.elsewhere(next(iter(self._private)))
        self._refuse_renamed_frames()
        self._open(POPULATION, budget, neighbors=kinds.pop())
        whole = self.ledger.balance(POPULATION).budget
        for name in self._private:
            if not RENEWED.fullmatch(self._scope(name)):
                # A table's own ceiling is never below the population's: grants raise it first (see grant).
                self._table(name, whole, stated=False, parent=POPULATION)

    def _table(self, name: str, budget: Guarantee, **how: Any) -> None:
        """Open a table's scope, or find it; never one that belongs to something else."""
        scope = self._scope(name)
        if scope == name and name in self.ledger and not self._tables_own(name, budget):
            what = f"The ledger holds a budget called {name!r} that does not belong to this table."
            fix = "Give the table another name: that one belongs, or belonged, to an analyst."
            raise InvalidParameter(what, fix=fix, code="name-of-analyst", facts={"name": name})
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
    ) -> Balance:
        """Open a scope, or find it; ``accepts_parent(p)``: whether an existing one may keep another parent, p."""
        if scope not in self.ledger:
            return self.ledger.open(scope, budget, parent=parent, **how)
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
            raise naming.elsewhere(scope)
        return there

    def renew(self, tables: Sequence[str], budget: Guarantee, because: str) -> Balance:
        """Decide that the rows of these tables are new people: from now on they charge one new root.
        Tables that read what one of them reads are about the same people, and go with it: also those of other studies.
        """
        for name in tables:
            self._require_known(name)
        if not tables or not because.strip():
            raise InvalidParameter(
                "A new budget is for named tables, and needs a reason: who the new people are.",
                fix="Say it in because=.",
            )
        readers = Readers({**self._private, **self._public})

        def renew_all(ledger: Ledger) -> tuple[str, dict[str, Registration]]:
            view = self._over(ledger)
            mates = readers.beside(others := view._of_other_studies())
            also = [name for name in self._private if not mates[name].isdisjoint(tables)]
            for name in also:
                view._require_source(name)
            elsewhere = [known for name, known in others.items() if known.scope and not mates[name].isdisjoint(tables)]
            kinds = {self._private[name].neighbors for name in also}
            kinds |= {ledger.balance(known.scope).state.neighbors for known in elsewhere}
            if len(kinds) > 1:
                raise InvalidParameter("These tables are about different neighbours.", fix="Renew them one by one.")
            scope = view._unused(tables[0])
            ledger.open(scope, budget, neighbors=kinds.pop())
            for known in elsewhere:
                ledger.renew(known.table, scope, because=because, alike=readers.place_elsewhere(known.table).files)
            made = {n: ledger.renew(n, scope, because=because, alike=readers.places[n].files) for n in also}
            return scope, made

        scope, made = self.ledger.at_once(renew_all)
        self.registered = MappingProxyType({**self.registered, **made})
        return self.ledger.balance(scope)

    def _unused(self, name: str) -> str:
        return next(s for n in count(1) if (s := f"{name}, renewed {n}") not in self.ledger)

    def reload(self, table: str) -> int:
        """Record that a table's content changed: answers about the old content are not given for the new."""
        self._require_known(table)

        def reloaded(ledger: Ledger) -> Registration:
            self._over(ledger)._require_source(table)
            return ledger.register(table, self._addresses[table], reloaded=True)

        made = self.ledger.at_once(reloaded)
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

    def _all_roots(self) -> tuple[str, ...]:
        """All roots; looked up once for many analysts, while they are opened in one transaction."""
        if self._opening == ():
            self._opening = self.roots()
        return self._opening or self.roots()

    def held(self, tables: Iterable[str]) -> dict[str, Registration]:
        """What tables stand for now: whom they charge, and the version of their data.

        Fails: refused once it was decided that a table protects another unit than it is declared with here, or its name
            stands for another source than the one that would be read here.
        """
        held = {name: self._require_source(name) for name in tables}
        for name, found in held.items():
            live = not isinstance(self._private[name].source, Frame)
            known = found if live else self.ledger.registered(name, self._addresses[name]) or found
            naming.require_unit(known, self._private[name])
        return held

    def require_one_root(self, tables: Iterable[str]) -> None:
        """Refuse to charge tables while others read their rows under another root, also those of other studies."""
        there = self._readers.elsewhere
        for name in tables:
            if lost := self._moved[name]:
                self._refuse_two_roots(name, self.of({name, *lost}))
            if len(mates := self._readers.mates[name]) > 1:
                known = [self.ledger.registered(m, "") if m in there else self.registration(m) for m in mates]
                seen = {m: there[m].source if m in there else self._addresses[m] for m in mates}
                self._refuse_two_roots(name, [k.scope for k in known if k and k.scope and k.source == seen[k.table]])

    def require_public(self, tables: Iterable[str]) -> None:
        """Refuse to read tables for free once it was decided that they, or others of the same rows, are not public."""
        there = self._readers.elsewhere
        for name in tables:
            if (known := self.ledger.registered(name, self._addresses[name])) is not None:
                naming.require_unit(known, self._public[name])
            for mate in self._readers.mates[name] & there.keys():
                known = self.ledger.registered(mate, "")
                if known is not None and known.source == there[mate].source:
                    naming.require_unit(known, self._public[name])

    def _require_source(self, name: str) -> Registration:
        """The registration of the rows that would be read now; refused if the name stands for others since."""
        found = self.registration(name)
        if found.source != self._addresses[name]:
            raise InvalidParameter(
                f"{name!r} was opened with another source since: the one read here is not what its budget is for.",
                fix="Declare the source that it has now, and open it again.",
                code="source-changed",
                facts={"table": name},
            )
        return found

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
        known = self.ledger.registered(name, "")
        return known is not None and bool(known.scope)

    def _of_tables(self, scope: str) -> bool:
        """Whether a scope is the population's or a table's, now or formerly, rather than an analyst's."""
        return scope == POPULATION or self._was_table(first(scope))

    def recognise(self, found: Mapping[str, Sequence[str]]) -> None:
        """Remember the addresses that a server gives its tables, also of those that views read; before any charge.

        Globs may read more files than when the curator was opened, and read these from now on: all is looked at again.
        Fails: refused where two tables, now or formerly, read the same rows and charge two budgets.
        """
        numbers = {name: [i for i in alike if i.startswith(FILE)] for name, alike in found.items()}
        served = {name: [i for i in alike if not i.startswith(FILE)] for name, alike in found.items()}
        tables = {**self._private, **self._public}
        self._opened = {**self._opened, **numbers}  # also what another engine opened before
        readers = Readers(tables, self._opened)
        readers.beside(self._of_other_studies())
        readers.refuse_two_units()
        self._readers = readers

        def bind(ledger: Ledger) -> None:
            view = self._over(ledger)
            known = {n: k for n in found if (k := ledger.registered(n, "")) and k.source == self._addresses[n]}
            for name, alike in view._other_addresses(readers).items():
                if alike and name in known:
                    ledger.register(name, self._addresses[name], alike=alike)
            for name in known:
                owners = {i: owner for i in served[name] if (owner := ledger.registered("", i)) is not None}
                others = {view.registration(other).scope for other in self._private if other != name}
                before = set(ledger.scopes_of(name)) - others  # this table's own, until it was renewed
                former = {i for i, o in owners.items() if o.data != known[name].data and o.scope in before}
                new = [i for i in served[name] if i not in owners or i in former]
                if new:
                    ledger.register(name, self._addresses[name], alike=new)
            for name in found:
                unit = unit_of(tables[name])
                for owner in filter(None, (ledger.registered("", i) for i in served[name])):
                    if owner.unit and owner.unit != unit:
                        raise naming.two_units(name, unit, owner.unit)
                    if name in self._private and name in known and view._is_apart(view.registration(name), owner):
                        fix = "Give all tables one budget; renew those that read the same rows together."
                        raise naming.read_twice(name, fix)

        new = self._other_addresses(readers)
        if any(new[name] or served[name] for name in found):
            self.ledger.at_once(bind)

    def _is_apart(self, one: Registration, other: Registration) -> bool:
        """Whether two registrations of the same rows charge two budgets: also where one table alone was renewed."""
        if one.data == other.data or not self.shared:
            return one.data != other.data
        return bool(other.scope) and len({root_of(self.ledger.balance(s)) for s in (one.scope, other.scope)}) > 1


def root_of(balance: Balance) -> str:
    return balance.scope if balance.parent is None else root_of(balance.parent)
