"""The engines of a set of tables, each opened when it is first needed and kept open."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from threading import Lock

from curador.engines.engine import Engine
from curador.engines.registry import home_of, open_engine, shared_home
from curador.errors import InvalidParameter
from curador.query.tables.table import Table


class EnginePool:
    """Where tables live; one engine for all of them may be given instead.

    Guarantee: an engine is opened once, also when threads ask for it together, and only after declared columns were
    checked against how they are stored.
    """

    def __init__(
        self, tables: Mapping[str, Table], given: Engine | None, on_error: Callable[[Exception], None] | None
    ) -> None:
        self._tables, self._given, self._on_error = tables, given, on_error
        self._open: dict[str, Engine] = {}
        self._opening, self._closed = Lock(), False

    def of(self, used: Collection[str]) -> Engine:
        """The one engine that these tables live in."""
        if self._closed:
            raise InvalidParameter("This curator was closed.", fix="Open it again.")
        if self._given is not None:
            return self._given
        with self._opening:
            home = shared_home(self._tables[name].source for name in used)
            if home not in self._open:
                sources = {n: t.source for n, t in self._tables.items() if home_of(t.source) == home}
                opened = open_engine(sources, self._on_error)
                try:
                    opened.check({n: self._tables[n] for n in sources})
                except BaseException:
                    opened.close()
                    raise
                self._open[home] = opened
            return self._open[home]

    def close(self) -> None:
        """Let go of what was opened here; nothing is asked after that."""
        self._closed = True
        for engine in self._open.values():
            engine.close()
        self._open.clear()
