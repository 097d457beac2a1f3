"""Long work shows how far it is: a bar in a terminal, a callback elsewhere, and neither changes what is answered."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from typing import Any

import pyarrow
import pytest
from rich.console import Console

from curador.curator.curator import Curator
from curador.curator.purchase import Request
from curador.engines.duckdb.engine import DuckDB
from curador.engines.engine import failed
from curador.errors import BudgetExceeded, EngineFailed
from curador.privacy import PureDP
from curador.query.aggregates.counts import count
from curador.query.tables.sources import Frame
from curador.query.tables.table import Table
from curador.show.progress import bar

LOUD: dict[str, Any] = {"because": "a test", "override": True}

FRAME = pyarrow.table({"age": [30, 40, 50] * 100})


class Slow(DuckDB):
    """Tells how far it is, as an engine does during long work."""

    broken = False

    def run(self, exact: Any, progress: Any = None) -> Any:
        for part in (-1.0, 0.25, 1.0):
            if progress is not None:
                progress(part)
        if self.broken:
            raise failed()
        return super().run(exact, progress)


@pytest.fixture
def curator() -> Iterator[Curator]:
    engine = Slow({"people": Frame(FRAME)})
    yield Curator({"people": Table(FRAME, columns={"age": "integer"})}, budget=PureDP(1), engine=engine)
    engine.close()


def test_a_callback_is_told_from_every_door(curator: Curator) -> None:
    told: list[float] = []
    curator.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.1, progress=told.append)
    curator.table("people").aggregate(n=count()).ask(epsilon=0.1, fresh=True, progress=told.append)
    plan = curator.plan("SELECT COUNT(*) AS n FROM people", epsilon=0.1)
    curator.release(plan, Request(fresh=True, progress=told.append))
    assert told == [-1.0, 0.25, 1.0] * 3


def test_nobody_is_told_unless_asked_and_no_bar_is_shown_to_nobody(
    curator: Curator, capfd: pytest.CaptureFixture[str]
) -> None:
    for quiet in (False, True):  # True is a bar in a terminal; a test has none
        assert len(curator.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.1, progress=quiet)) == 1
    assert capfd.readouterr() == ("", "")


def test_a_refusal_and_a_failure_are_the_same_with_a_bar(curator: Curator) -> None:
    with pytest.raises(BudgetExceeded):
        curator.sql("SELECT COUNT(*) AS n FROM people", **LOUD, epsilon=2, progress=True)
    assert curator.history() == ()
    curator._engines._given.broken = True  # type: ignore[union-attr]
    for progress in (True, False):
        with pytest.raises(EngineFailed):
            curator.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.1, progress=progress)
    assert curator.budget().spent == PureDP(0.2)


def test_a_callback_that_fails_costs_an_answer_and_shows_nothing(curator: Curator) -> None:
    def burst(part: float) -> None:
        raise RuntimeError("the screen is off")

    with pytest.raises(EngineFailed) as refused:
        curator.sql("SELECT COUNT(*) AS n FROM people", epsilon=0.1, progress=burst)
    assert refused.value.__context__ is None
    assert curator.budget().spent == PureDP(0.1)


def test_a_bar_is_drawn_in_a_terminal_and_goes_away() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80)
    with bar("reading", console) as tell:
        assert tell is not None
        tell(-1)
        tell(0.5)
        until = time.monotonic() + 60
        while "reading" not in screen.getvalue() and time.monotonic() < until:
            time.sleep(0.05)
    assert "reading" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")  # the line is wiped


def test_no_bar_is_drawn_elsewhere() -> None:
    screen = io.StringIO()
    with bar("reading", Console(file=screen)) as tell:
        assert tell is None
    assert screen.getvalue() == ""
