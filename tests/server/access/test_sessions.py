"""Sessions in the ledger: they last as long as they should, whatever a clock said once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from curador import Access
from curador.ledger.opening import open_ledger
from curador.privacy import PureDP
from curador.server.access.auth import give, known
from curador.server.access.sessions import begin, session


def test_whoever_signs_in_is_in_also_where_a_clock_was_ahead(tmp_path: Path) -> None:
    ahead = open_ledger(tmp_path / "x.db", clock=lambda: datetime.now(UTC) + timedelta(days=3))
    ahead.open("people", PureDP(1))
    ahead.close()
    ledger = open_ledger(tmp_path / "x.db")
    token = give(ledger, Access("", "curator"))
    parent = known(ledger, token)
    assert parent is not None
    found = session(ledger, begin(ledger, parent))
    assert found is not None
    assert found.role == "curator"
    ledger.close()
