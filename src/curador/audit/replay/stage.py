"""Curators over made-up tables, with a ledger in memory: the only ones that sell to a run that is watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from curador.accounting.events.base import event_from_json
from curador.audit.replay.neighbours import MadeUpWorld
from curador.audit.replay.seam import current
from curador.audit.replay.trace import CHARGE, READ
from curador.curator.curator import Curator
from curador.curator.study.rehearsal import write

Rebuild = Callable[[Curator], None]


class WatchedLedger:
    """A ledger that notes every charge, with its scopes and what is run for it."""

    def __init__(self, ledger: Any, note: Callable[[str, object], None]) -> None:
        self._ledger, self._note = ledger, note

    def reserve(self, scopes: Any, event: Any, **terms: Any) -> Any:
        """Note it once it is durable; nothing is noted of an answer that was bought before, which is free."""
        made = self._ledger.reserve(scopes, event, **terms)
        ran = (terms.get("note") or {}).get("ran")
        if not made.repeated:
            self._note(CHARGE, (tuple(made.scopes), event if ran is None else event_from_json(ran)))
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)


class WatchedEngine:
    """An engine that notes every reading of rows."""

    def __init__(self, engine: Any, note: Callable[[str, object], None]) -> None:
        self._engine, self._note = engine, note

    def run(self, *args: Any, **kwargs: Any) -> Any:
        self._note(READ, "run")
        return self._engine.run(*args, **kwargs)

    def records(self, *args: Any, **kwargs: Any) -> Any:
        self._note(READ, "records")
        return self._engine.records(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


@contextmanager
def staged(declared: Curator, world: MadeUpWorld, budget: Any = None) -> Iterator[Curator]:
    """A curator by another's declarations over a made-up world; watched, if a run is.

    Nothing of the other's tables, ledger or connections is used.
    """
    with TemporaryDirectory(prefix="curador-audit-") as folder:
        tables = write(declared.tables, world, Path(folder))
        curator = Curator(tables, declared._budget if budget is None else budget, ledger="memory:")
        try:
            watch = current()
            if watch is not None:
                buyer, pool = curator._buyer, curator._engines
                watch.admitted.append(buyer)
                note, of = watch.note, pool.of
                buyer._ledger = WatchedLedger(buyer._ledger, note)
                pool.of = lambda used: WatchedEngine(of(used), note)  # type: ignore[method-assign]
            yield curator
        finally:
            curator.close()


def scope_of(declared: Curator, world: MadeUpWorld, table: str, budget: Any = None) -> str:
    """The name of the budget that a table of such a stage is charged to."""
    with staged(declared, world, budget) as curator:
        return curator.scopes.held((table,))[table].scope
