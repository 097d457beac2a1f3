"""Sessions: they last as long as they should, whatever a clock said once, and never become many."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from curador import Access, Ledger
from curador.errors import InvalidParameter
from curador.ledger.opening import open_ledger
from curador.ledger.stores.memory import MemoryLedger
from curador.privacy import PureDP
from curador.server.access import sessions as kept
from curador.server.access.auth import give, known
from curador.server.access.sessions import LASTS, Sessions


def door(ledger: Ledger, role: str = "curator") -> Access:
    found = known(ledger, give(ledger, Access("", role)))
    assert found is not None
    return found


def test_whoever_signs_in_is_in_also_where_a_clock_was_ahead(tmp_path: Path) -> None:
    ahead = open_ledger(tmp_path / "x.db", clock=lambda: datetime.now(UTC) + timedelta(days=3))
    ahead.open("people", PureDP(1))
    ahead.close()
    ledger, sessions = open_ledger(tmp_path / "x.db"), Sessions(tmp_path / "sessions")
    found = sessions.visitor(ledger, sessions.begin(ledger, door(ledger)))
    assert found is not None
    assert found.role == "curator"
    ledger.close()


def test_a_session_ends_by_the_clock_also_where_the_ledger_is_ahead(tmp_path: Path) -> None:
    """Else one entry of a clock that was a year ahead made cookies last a year."""
    ahead = [timedelta(days=365)]
    ledger = open_ledger(tmp_path / "x.db", clock=lambda: datetime.now(UTC) + ahead[0])
    ledger.open("people", PureDP(1))
    ahead[0] = timedelta()
    sessions, start = Sessions(tmp_path / "sessions"), datetime.now(UTC)
    cookie = sessions.begin(ledger, door(ledger), now=start)
    assert sessions.visitor(ledger, cookie, now=start + LASTS / 2) is not None
    assert sessions.visitor(ledger, cookie, now=start + LASTS) is None
    sessions.begin(ledger, door(ledger), now=start + LASTS)
    assert sum(sessions.open_at(start).values()) == 1  # the ended one is not kept
    ledger.close()


def test_sessions_leave_nothing_in_the_ledger_and_do_not_pile_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "EACH", 3)
    ledger, sessions = MemoryLedger(), Sessions(tmp_path / "sessions")
    one, other = door(ledger), door(ledger, "auditor")
    entries = ledger.verify()
    cookies = [sessions.begin(ledger, one) for _ in range(5)]
    lasting = sessions.begin(ledger, other)
    assert [sessions.visitor(ledger, cookie) is not None for cookie in cookies] == [False] * 2 + [True] * 3
    now = datetime.now(UTC)
    assert sessions.open_at(now) == {one.token: 3, other.token: 1}
    assert sessions.open_at(now + LASTS + timedelta(minutes=1)) == {}
    assert ledger.verify() == entries
    sessions.begin(ledger, one, now=now + 2 * LASTS)  # those that have ended are forgotten
    assert sessions.open_at(now - timedelta(days=9)) == {one.token: 1}
    assert Sessions(tmp_path / "sessions").visitor(ledger, lasting) is None
    assert (tmp_path / "sessions").stat().st_mode & 0o777 == 0o600


def test_other_processes_know_a_session_and_its_end(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    one, other = Sessions(tmp_path / "sessions"), Sessions(tmp_path / "sessions")
    cookie = one.begin(ledger, door(ledger))
    assert other.visitor(ledger, cookie) is not None
    other.finish(cookie)
    assert one.visitor(ledger, cookie) is None
    assert one.visitor(ledger, "ses_" + "é" * 9) is None


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="list of sessions"):
        Sessions(tmp_path / "missing" / "sessions")
