"""The registry: which data a table's name and source stand for, whom it charges, and what its budget protects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile

from curador.errors import NOTHING, InvalidParameter
from curador.ledger import history as past
from curador.ledger.entries import Entry, Registered
from curador.ledger.pricing import name_of
from curador.ledger.records import Registration
from curador.ledger.stores.rows import DATA, NAMED, SOURCED, LedgerStore, Rows, row_of

LONGEST_SOURCE = 2000
"""Characters of a source: an address may be longer than a name."""

LAST_CHARACTER = "\U0010ffff"
"""No name has it: it is not printable."""

MOST_LOOKED_UP = 1000
"""Of more sources than these, all known ones are read at once."""


class Registry(ABC):
    """The part of a ledger that knows tables; :class:`curador.ledger.contract.Ledger` documents its methods."""

    _store: LedgerStore

    @abstractmethod
    def _decide(self, rows: Rows, entry: Entry) -> None:
        """Write an entry that the anchor must cover."""

    @abstractmethod
    def _row(self, rows: Rows, scope: str) -> tuple[str, str | None, str, str | None, int]:
        """The row of a scope; refused if there is none."""

    def register(
        self,
        table: str,
        source: str,
        *,
        scope: str | None = None,
        reloaded: bool = False,
        unit: str = "",
        alike: Sequence[str] = (),
    ) -> Registration:
        name_of(table, "table")
        for address in (source, *alike):
            name_of(address, "source", LONGEST_SOURCE)
        if unit:
            name_of(unit, "unit")

        def find_or_tie(rows: Rows) -> Registration:
            named, sourced = rows.get(NAMED, table), rows.get(SOURCED, source)
            owners = {s: row[1] for s in alike if (row := rows.get(SOURCED, s)) is not None}
            meant = {row[1] for row in (named, sourced) if row is not None} or set(owners.values())
            if len(meant) > 1:
                raise InvalidParameter(
                    f"The name {table!r} and its source are registered as different data.",
                    fix="Give it the name, or the source, that it had before; renew() is for other people alone.",
                    code="table-ambiguous",
                    facts={"table": table},
                )
            if not meant:
                if scope is None:
                    raise _unknown_table(table, "Name the scope it charges.")
                if scope:
                    self._row(rows, scope)
                number = rows.head.sequence + 1
                return self._register(rows, Registered(table, source, number, scope, 1, "", unit, list(alike)))
            (data,) = meant
            _, bound, version, stated = row_of(rows, DATA, data)
            if unit and stated and unit != stated:
                raise InvalidParameter(
                    f"{table!r} was registered with the unit {stated!r}, and {unit!r} is stated now.",
                    fix="State it as before; or decide with redeclare(), which keeps the budget and the reason.",
                    code="unit-changed",
                    facts={"table": table, "unit": stated, "stated": unit},
                )
            if scope and bound and scope != bound:
                raise InvalidParameter(
                    f"{table!r} charges {bound!r}; registering it again does not change that.",
                    fix="Decide with renew() to start anew.",
                    code="table-bound",
                    facts={"table": table, "scope": bound},
                )
            new = [s for s in alike if owners.get(s) != data]
            same = named == (table, data, source) and not reloaded
            if same and not new and unit in ("", stated) and (bound or not scope):
                return Registration(table, source, bound, version, data, stated)
            version = version if same else version + 1
            made = Registered(table, source, data, bound or scope or "", version, "", unit or stated, new)
            return self._register(rows, made)

        return self._store.write(find_or_tie)

    def registered(self, table: str, source: str) -> Registration | None:
        def read_registration(rows: Rows) -> Registration | None:
            named = rows.get(NAMED, table)
            known = named or rows.get(SOURCED, source)
            if known is None:
                return None
            return _registration(rows, table, source if named is None else named[2], known[1])

        return self._store.read(read_registration)

    def owners(self, sources: Collection[str]) -> Mapping[str, Registration]:
        def read_owners(rows: Rows) -> Mapping[str, Registration]:
            if len(sources) > MOST_LOOKED_UP:
                wanted = set(sources)
                found = [(row[0], row[1]) for row in rows.scan(SOURCED) if row[0] in wanted]
            else:
                found = [(row[0], row[1]) for s in sources if (row := rows.get(SOURCED, s)) is not None]
            return {source: _registration(rows, "", source, data) for source, data in found}

        return self._store.read(read_owners)

    def registrations(self, without: str = "") -> tuple[Registration, ...]:
        def read_names(rows: Rows) -> tuple[Registration, ...]:
            # Names are in the order of their characters: those that begin alike stand together.
            named = list(takewhile(lambda row: not (without and row[0].startswith(without)), rows.scan(NAMED)))
            named += rows.scan(NAMED, after=(without + LAST_CHARACTER,)) if without else ()
            return tuple(_registration(rows, name, source, data) for name, data, source in named)

        return self._store.read(read_names)

    def renew(self, table: str, scope: str, *, because: str, alike: Sequence[str] = ()) -> Registration:
        _require_reason(because, "A new budget for a registered table")

        def tie_anew(rows: Rows) -> Registration:
            self._row(rows, scope)
            source, _, _, version, unit = _known(rows, table)
            number = rows.head.sequence + 1
            made = Registered(table, source, number, scope, version + 1, because, unit, list(alike), "renewed")
            return self._register(rows, made)

        return self._store.write(tie_anew)

    def redeclare(self, table: str, unit: str, *, because: str) -> Registration:
        _require_reason(because, "Another unit for a registered table")
        name_of(unit, "unit")

        def state_anew(rows: Rows) -> Registration:
            source, data, scope, version, _ = _known(rows, table)
            made = Registered(table, source, data, scope, version + 1, because, unit, [], "redeclared")
            return self._register(rows, made)

        return self._store.write(state_anew)

    def scopes_of(self, table: str) -> tuple[str, ...]:
        return self._store.read(lambda rows: past.scopes_of(rows, table))

    def _register(self, rows: Rows, entry: Registered) -> Registration:
        self._decide(rows, entry)
        return Registration(entry.name, entry.source, entry.scope, entry.version, entry.data, entry.unit)


def _registration(rows: Rows, table: str, source: str, data: int) -> Registration:
    _, scope, version, unit = row_of(rows, DATA, data)
    return Registration(table, source, scope, version, data, unit)


def refuse_other_data(rows: Rows, planned: Sequence[Registration], charge: str = "") -> None:
    """Refuse what was planned with, or has read, data that a table's name does not stand for any more."""
    for known in planned:
        named, data = rows.get(NAMED, known.table), rows.get(DATA, known.data)
        tied = (known.data, known.source)
        if named is None or named[1:] != tied or data is None or data[1:3] != (known.scope, known.version):
            raise InvalidParameter(
                f"The data of {known.table!r} was renewed or reloaded meanwhile.",
                fix="Ask again.",
                cost=f"charge {charge} is kept, and its answer was thrown away" if charge else NOTHING,
                code="data-changed-while-read" if charge else "planned-for-other-data",
                facts={"table": known.table},
            )


def _known(rows: Rows, table: str) -> tuple[str, int, str, int, str]:
    """A table's source, data, scope, version and unit."""
    named = rows.get(NAMED, table)
    if named is None:
        raise _unknown_table(table, "Register it first.")
    data, scope, version, unit = row_of(rows, DATA, named[1])
    return named[2], data, scope, version, unit


def _require_reason(because: str, what: str) -> None:
    if not because.strip():
        raise InvalidParameter(f"{what} needs a reason.", fix="Give it in because=.")


def _unknown_table(table: str, fix: str) -> InvalidParameter:
    return InvalidParameter(
        f"No table is registered as {table!r}.", fix=fix, code="table-unknown", facts={"table": table}
    )
