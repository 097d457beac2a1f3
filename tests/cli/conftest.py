"""Every test of commands begins in English, whatever the one before or the environment said."""

from __future__ import annotations

import pytest

from curador.cli.screen import LANGUAGE, decide_language


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LANGUAGE, raising=False)
    decide_language()
