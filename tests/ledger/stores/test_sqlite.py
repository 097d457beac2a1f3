"""The file of a SQLite ledger: its owner's alone, wherever it is made."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from curador.accounting.events import PureLoss
from curador.errors import LedgerBroken
from curador.ledger.opening import open_ledger
from curador.privacy import PureDP


@pytest.mark.parametrize("linked", [False, True])
def test_a_new_file_is_its_owners_alone(tmp_path: Path, linked: bool) -> None:
    """Where a name is a link to where no file is yet, SQLite made one that everybody could read."""
    (tmp_path / "volume").mkdir()
    path = tmp_path / "x.db"
    real = tmp_path / "volume" / "real.db" if linked else path
    if linked:
        path.symlink_to(real)
    before = os.umask(0o022)
    try:
        ledger = open_ledger(path)
        ledger.open("people", PureDP(1))
        made = [real, Path(f"{real}-wal"), Path(f"{real}-shm"), tmp_path / "x.db.keep" / "key"]
        assert [oct(one.stat().st_mode & 0o777) for one in made] == ["0o600"] * 4
        ledger.close()
    finally:
        os.umask(before)
    again = open_ledger(path)
    assert again.balance("people").spent == PureDP(0)
    again.close()


def test_a_file_that_was_replaced_is_opened_again_while_an_old_object_lives(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    old = open_ledger(path)
    old.open("people", PureDP(1))
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").rename(tmp_path / f"moved{ending}")
    with closing(sqlite3.connect(tmp_path / "moved")) as copied, closing(sqlite3.connect(path)) as made:
        copied.backup(made)
    again = open_ledger(path)
    again.reserve("people", PureLoss(Fraction(1, 10)))
    with pytest.raises(LedgerBroken) as refused:
        old.reserve("people", PureLoss(Fraction(1, 10)))
    assert refused.value.code == "ledger-replaced"
    for one in (old, again):
        one.close()
