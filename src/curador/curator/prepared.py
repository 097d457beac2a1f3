"""Prepared copies that outlive a curator: files next to the study file, or tables of a database, and a list of them.

The list keeps, with each copy, the version of the data that it was made of, and which ledger counted it.  A copy of
rows that were reloaded since, or under another ledger, is not used.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import finalize

from curador.curator.analysts import Scopes
from curador.curator.purchase import Buyer, Purchase
from curador.curator.purchases.training import TrainingRun
from curador.engines.engine import Progress, failed
from curador.engines.pool import EnginePool
from curador.engines.registry import engine_class, engine_entry
from curador.errors import CuradorError, InvalidParameter
from curador.forks import after_fork
from curador.ledger.contract import Registration
from curador.query.ask.builder import TableQuery
from curador.query.plan.plan import Plan
from curador.query.tables.sources import Source
from curador.query.tables.table import Table
from curador.show.files import give, write_atomically

if TYPE_CHECKING:
    from curador.curator.curator import Curator
    from curador.query.sql_plan.prepared import Prepared

Version = tuple[str, int, int]
"""The version of a table's data: when the ledger began, which tells it from others, and the numbers that it gave it."""


Stamp = tuple[int, int, int]
"""When the list was written, and which file it is."""


@dataclass(frozen=True)
class StoredCopy:
    """A copy in the list: where it is (a file next to the study, or a table of the database) and of which data."""

    prepared: Prepared
    in_file: bool
    version: Version


class StoredCopies:
    """The prepared copies of a study's tables.

    ``version_of`` returns the present version of a table's data.

    Guarantee: the list and the files are readable by their owner only, since copies hold private rows; the list is
    replaced atomically.
    """

    def __init__(self, study: str | Path, version_of: Callable[[str], Version]) -> None:
        self._study, self._version_of = Path(study), version_of
        self._list = self._study.with_name(f"{self._study.stem}.prepared.json")

    def __bool__(self) -> bool:
        """Whether there is a list at all; it is not read."""
        return self.stamp is not None

    @property
    def stamp(self) -> Stamp | None:
        """What tells one state of the list from another; None where there is none."""
        try:
            found = self._list.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino, found.st_size

    def for_table(self, table: str) -> list[Prepared]:
        """The copies of a table's present rows, oldest first, ready to be attached."""
        found = [copy for copy in self._read() if copy.prepared.table == table]
        now = self._version_of(table) if found else None
        return [self._located(copy) for copy in found if copy.version == now]

    def new_path(self, table: str, source: Source) -> Path | None:
        """A new path for a copy, next to the study; None where the engine stores copies in its database.

        Its number is above all that are there: a copy that was removed may be open in an engine still.
        """
        if not engine_class(engine_entry(source)).copies_in_files:
            return None
        plain, ends = re.sub(r"\W", "_", table), ".prepared"
        begins = f"{self._study.stem}.{plain}-"
        taken = [f.name.removeprefix(begins).removesuffix(ends) for f in self._study.parent.glob(f"*{ends}")]
        last = max((int(number) for number in taken if number.isdecimal()), default=0)
        return self._study.with_name(f"{begins}{last + 1}{ends}")

    def add(self, made: Prepared, path: Path | None, version: Version) -> StoredCopy:
        """Add a copy of this version of a table's rows; those for the same groups, or of others, are removed."""
        new = StoredCopy(made if path is None else replace(made, place=path.name), path is not None, version)

        def old(copy: StoredCopy) -> bool:
            same = copy.prepared.group_by == made.group_by
            return copy.prepared.table == made.table and (same or copy.version != new.version)

        self._rewrite(old, new)
        return new

    def remove(self, table: str) -> list[StoredCopy]:
        """Remove the copies of a table from the list, and their files; a table in a database is left to its owner."""
        return self._rewrite(lambda copy: copy.prepared.table == table)

    def _located(self, copy: StoredCopy) -> Prepared:
        if not copy.in_file:
            return copy.prepared
        return replace(copy.prepared, place=str(self._study.parent / copy.prepared.place))

    def _rewrite(self, old: Callable[[StoredCopy], bool], *new: StoredCopy) -> list[StoredCopy]:
        """Write the list without the old copies and with the new ones, then delete the files of the old."""
        copies = self._read()
        gone = [copy for copy in copies if old(copy)]
        if gone or new:
            kept = [_to_json(copy) for copy in (*copies, *new) if copy not in gone]
            write_atomically(self._list, (json.dumps(kept, indent=1) + "\n").encode(), 0o600)
        for copy in gone:
            if copy.in_file:
                _delete(self._study.parent / copy.prepared.place)
        return gone

    def _read(self) -> list[StoredCopy]:
        if not self._list.exists():
            return []
        try:
            return [_from_json(entry) for entry in json.loads(self._list.read_text(encoding="utf-8"))]
        except (OSError, ValueError, TypeError, KeyError, CuradorError):
            raise InvalidParameter(
                f"{self._list.name} cannot be read.", fix="Remove it, and prepare the tables again."
            ) from None


def _to_json(copy: StoredCopy) -> dict[str, object]:
    return {**copy.prepared.to_json(), "file": copy.in_file, "data": copy.version}


def _from_json(entry: dict[str, Any]) -> StoredCopy:
    from curador.query.sql_plan.prepared import Prepared  # writes SQL trees: loaded when there is a copy

    ledger, data, version = ("", *entry["data"])[-3:]  # before, the ledger was not named
    return StoredCopy(Prepared.from_json(entry), bool(entry["file"]), (str(ledger), int(data), int(version)))


def _delete(path: Path) -> None:
    if path.is_dir():  # Spark writes a folder
        rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


# ---- with a curator ------------------------------------------------------------------------------------------------


class CopyHolder:
    """The part of a curator that prepares copies of its tables; nothing here is released or charged."""

    tables: Mapping[str, Table]
    scopes: Scopes
    _study: Path | None
    _engines: EnginePool
    _buyer: Buyer
    _prepared: list[Prepared]
    _copied: dict[Prepared, Registration]
    _attached: dict[str, Stamp]
    _stored: set[str]
    _made_up: finalize[..., Any] | None  # of a rehearsal: what removes its tables

    def prepare(
        self,
        table: str,
        group_by: Sequence[str] = (),
        *,
        path: str | Path | None = None,
        progress: Progress | None = None,
    ) -> Prepared:
        """Choose the rows of every unit once, so that later questions in these groups cost about a plain GROUP BY.

        Nothing is released and nothing charged.  ``path`` is where an engine that writes files stores the copy; without
        one it is kept in memory.  PostgreSQL stores it in the database.  ``progress`` is as for :class:`Request`.
        """
        from curador.query.sql_plan.prepared import preparation

        groups = TableQuery.of(table, self.tables).group_by(*group_by).groups
        wanted = preparation(table, self.tables[table], [group.expr for group in groups])
        made, known = None, self.scopes.held([table])[table]  # of the rows that are about to be read
        try:
            made = self._engines.of({table}).prepare(wanted, path, progress)
        except CuradorError:
            raise
        except Exception as error:  # noqa: BLE001  it may quote rows
            self._buyer.report(error)
        if made is None:
            raise failed()
        self._use(made, known)
        return made

    @property
    def study_file(self) -> Path | None:
        """The study file that the tables come from; None where they were declared in Python."""
        return self._study

    @property
    def copies(self) -> StoredCopies | None:
        """The prepared copies that are kept next to the study file, if the tables come from one."""
        return None if self._study is None else StoredCopies(self._study, self._version)

    def _version(self, table: str) -> Version:
        return self._counted(self.scopes.registration(table))

    def _counted(self, known: Registration) -> Version:
        return self.scopes.ledger.began(), known.data, known.version

    def _attach_stored(self, table: str) -> None:
        """Attach a table's stored copies when it is first asked about, and those that others stored since.

        So that all who serve a study plan a question alike.  Attaching reads a copy once.
        """
        copies = self.copies
        stamp = None if copies is None else copies.stamp
        if copies is None or stamp is None or self._attached.get(table) == stamp:
            return
        self._attached[table] = stamp
        if table not in self.scopes.registered:  # it is public
            return
        known, listed = self.scopes.registration(table), copies.for_table(table)
        there, now = {p.snapshot for p in self._prepared if p.table == table}, {p.snapshot for p in listed}
        gone = self._stored - now  # replaced by another process, with their files
        for old in [p for p in self._prepared if p.table == table and p.snapshot in gone]:
            self._prepared.remove(old)
            self._copied.pop(old, None)  # a plan of it is planned again
        self._stored |= now
        for prepared in listed:
            if prepared.snapshot not in there:
                self._attach(prepared, known)

    def attach(self, prepared: Prepared) -> None:
        """Use a copy that :meth:`prepare` stored before, of the rows as they are now."""
        self._attach(prepared, self.scopes.held([prepared.table])[prepared.table])

    def _attach(self, prepared: Prepared, known: Registration) -> None:
        self._engines.of({prepared.table}).attach(prepared)
        self._use(prepared, known)

    def _use(self, prepared: Prepared, known: Registration) -> None:
        """Use a copy of the rows that a table stood for before they were read: it may stand for others since."""
        self._prepared.append(prepared)
        self._copied[prepared] = known

    def _copies_of(self, table: str) -> list[Prepared]:
        """The copies of a table's rows as they are now; those of rows that another process reloaded are passed over."""
        mine = [prepared for prepared in self._prepared if prepared.table == table]
        now = self.scopes.registration(table) if mine else None
        return [prepared for prepared in mine if self._copied.get(prepared) == now]

    def _usable_copies(self, table: str) -> list[Prepared]:
        self._attach_stored(table)
        return self._copies_of(table)

    def _refuse_outdated(self, purchase: Purchase, held: Mapping[str, Registration]) -> None:
        """Refuse a copy of rows that were reloaded or renewed since: it would charge other people than it is about.

        Public tables that it was decided since are not public are refused too: they are read, and not charged.
        """
        for part in purchase.parts or (purchase,):
            if isinstance(part, Plan | TrainingRun):
                self.scopes.require_public(part.reads - set(part.tables))
            copy = part.prepared if isinstance(part, Plan) else None
            if copy is not None and self._copied.get(copy) != held[copy.table]:
                raise InvalidParameter(
                    f"The prepared copy of {copy.table!r} is of older rows.",
                    fix="Plan the question again; prepare the table again for the new rows.",
                    code="data-changed",
                )

    def made_anew(self) -> None:
        """In a forked child copies are attached again when needed, and made-up tables are the parent's to remove."""
        self._prepared, self._copied, self._attached, self._stored = [], {}, {}, set()
        if self._made_up is not None:
            self._made_up.detach()


def prepare_stored(
    curator: Curator, table: str, group_by: Sequence[str] = (), progress: Progress | None = None
) -> StoredCopy:
    """Prepare a table, and keep the copy next to the study or in the database for later curators."""
    copies = curator.copies
    if copies is None:
        raise InvalidParameter("Copies are kept next to a study file.", fix="Open the curator from one, or prepare().")
    if table not in curator.scopes.registered:
        raise InvalidParameter(
            f"{table!r} is not a private table of the study.", fix=f"It has {', '.join(curator.scopes.registered)}."
        )
    path = copies.new_path(table, curator.tables[table].source)
    with _owner_only():
        made = curator.prepare(table, group_by, path=path, progress=progress)
    if path is not None and path.exists():
        give(path, path.parent)
    known = curator._copied[made]
    curator._stored.add(made.snapshot)
    return copies.add(made, path, curator._counted(known))


@contextmanager
def _owner_only() -> Iterator[None]:
    """Files made inside are readable by their owner only.

    The mask is the whole process's, also of other threads: of several that are here at once, the first sets it and the
    last sets it back.
    """
    with _MASK.lock:
        if not _MASK.inside:
            _MASK.before = os.umask(0o077)
        _MASK.inside += 1
    try:
        yield
    finally:
        with _MASK.lock:
            _MASK.inside -= 1
            if not _MASK.inside:
                os.umask(_MASK.before)


class _Mask:
    """How many are making files of their own, and the mask that was there before."""

    before = 0o022

    def __init__(self) -> None:
        self.lock, self.inside = Lock(), 0
        after_fork(self)

    def made_anew(self) -> None:
        if self.inside:  # threads of the parent are making files; none of them is here
            os.umask(self.before)
        self.lock, self.inside = Lock(), 0


_MASK = _Mask()
