"""A question that is interrupted at any instant can be asked again, by this thread and by others."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

from curador.curator.curator import Curator
from curador.errors import CuradorError
from curador.privacy import PureDP
from curador.query.tables.table import Table
from tests.ledger.interrupts import Interrupt, interrupted

COUNT = "SELECT COUNT(*) AS n FROM t"
FILES = ("/curator/purchase.py",)

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def test_the_same_question_never_hangs(tmp_path: Path) -> None:
    columns = {"x": {"type": "integer", "bounds": [0, 3]}}
    curator = Curator({"t": Table(pa.table({"x": [1] * 10}), columns=columns)}, budget=PureDP(1000))
    asked = [0]

    def ask() -> object:
        return curator.sql(COUNT, epsilon=1 - asked[0] / 10**6, because="a test").value

    answers: list[object] = []

    def ask_again() -> None:
        answers.append(ask())

    ask()
    asked[0] += 1
    count = interrupted(ask, None, FILES)
    assert count > 60
    for at in range(1, count + 1):
        asked[0] += 1
        with suppress(Interrupt, CuradorError):
            interrupted(ask, at, FILES)
        other = threading.Thread(target=ask_again, daemon=True)
        other.start()
        other.join(20)
        assert answers == [ask()], f"asked again after an interrupt at instant {at}"
        answers.clear()
    charges = curator.history()
    assert len([c for c in charges if c.settled and not c.repeated]) == asked[0] + 1
    curator.ledger.verify()
