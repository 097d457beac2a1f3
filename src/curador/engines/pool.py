"""The open engines of a set of tables: each is opened when it is first needed, and kept open."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from threading import Lock

from curador.engines.engine import Engine
from curador.engines.registry import engine_entry, missing_file, open_engine, shared_engine
from curador.errors import InvalidParameter
from curador.forks import after_fork
from curador.query.tables.table import Table


class EnginePool:
    """Opens the engines of tables; one engine for all of them may be ``given`` instead.

    Guarantee: an engine is opened once, also when threads need it together.  Any engine, also a given one, is returned
    only after the declared columns were checked against the stored ones.  A forked child gets it opened again, or is
    refused.
    Fails: a source that no engine can read is refused at once.  A table whose file is missing is refused when it is
    asked about; others are read without it.  ``recognise`` may refuse an engine when it is opened, by the addresses
    that it knows its tables by.
    """

    def __init__(
        self,
        tables: Mapping[str, Table],
        given: Engine | None,
        on_error: Callable[[Exception], None] | None,
    ) -> None:
        self._tables, self._given, self._on_error = tables, given, on_error
        self.recognise: Callable[[Mapping[str, Sequence[str]]], None] | None = None
        self._names = {} if given is not None else {n: engine_entry(t.source).name for n, t in tables.items()}
        self._open: dict[str, Engine] = {}
        self._left_out: set[str] = set()
        self._opening, self._closed = Lock(), False
        self._met: set[str] = set()
        after_fork(self)

    def of(self, used: Collection[str]) -> Engine:
        """The engine of these tables, which must live in a single one."""
        if self._closed:
            raise InvalidParameter("This curator was closed.", fix="Open it again.")
        if self._given is not None:
            self._given.reopen()
            with self._opening:
                if not self._met.issuperset(used):
                    self._meet(self._given, {n: self._tables[n] for n in self._met.union(used)})
                    self._met.update(used)
            return self._given
        with self._opening:
            home = shared_engine(self._tables[name].source for name in used).name
            self._refuse_missing(used)
            if home not in self._open:
                here = {n: t.source for n, t in self._tables.items() if self._names[n] == home}
                sources = {n: source for n, source in here.items() if not missing_file(source)}
                self._left_out |= here.keys() - sources.keys()
                opened = open_engine(sources, self._on_error)
                try:
                    self._meet(opened, {n: self._tables[n] for n in sources})
                except BaseException:
                    opened.close()
                    raise
                self._open[home] = opened
            self._open[home].reopen()
            return self._open[home]

    @property
    def outdated(self) -> bool:
        """Whether a table that was left out, because its file was missing, could be read now."""
        return any(not missing_file(self._tables[name].source) for name in self._left_out)

    def _refuse_missing(self, used: Collection[str]) -> None:
        """Refuse tables whose file is missing, or was when the others were opened; no row is read for that."""
        for name in sorted(used):
            if missing := missing_file(self._tables[name].source):
                raise InvalidParameter(
                    f"The rows of {name!r} are not there: file {os.path.basename(missing)!r} was not found.",
                    fix="Put the file back where the study says, or take the table out of the study; other tables can "
                    "be asked.",
                    code="file-missing",
                    facts={"table": name, "file": os.path.basename(missing)},
                )
            if name in self._left_out:
                raise InvalidParameter(
                    f"The file of {name!r} was not there when the study was opened.",
                    fix="Open the study again, or start the server again.",
                    code="file-back",
                    facts={"table": name},
                )

    def _meet(self, engine: Engine, tables: Mapping[str, Table]) -> None:
        """Check an engine before its first question: its tables' columns, and the owners of their rows."""
        engine.check(tables)
        if self.recognise is not None:
            self.recognise({name: engine.identities(name) for name in tables})

    def made_anew(self) -> None:
        """Forget locks in a forked child: another thread of the parent may have been opening an engine."""
        self._opening = Lock()

    def close(self) -> None:
        """Close every engine that was opened here; the pool refuses questions from now on."""
        self._closed = True
        for engine in self._open.values():
            engine.close()
        self._open.clear()
