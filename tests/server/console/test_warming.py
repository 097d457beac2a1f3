"""A server starts whatever was bought."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import httpx
import pytest

from curador import Curator
from curador.server.console import warming
from tests.server.served import SQL, serving, write_study


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study that has published three times; what is the same for every study is not made."""
    monkeypatch.setattr(warming, "_loaded", lambda: None)
    file = write_study(tmp_path)
    curator = Curator(file)
    for n in range(3):
        asked = {"a": SQL, "b": f"SELECT COUNT(*) AS n FROM people WHERE age > {n}"}
        curator.publish(curator.batch(asked, epsilon="0.1"))
    curator.close()
    return file


def test_what_cannot_be_shown_again_does_not_keep_a_server_from_starting(
    study: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    recalled = []

    def recall(curator: Curator, charge: str) -> Any:
        recalled.append(charge)
        if charge == "2":
            raise ValueError("a secret")

    monkeypatch.setattr(warming, "recall", recall)
    with caplog.at_level(logging.ERROR, "curador.server"), serving(study) as served:
        assert httpx.get(f"{served.url}/health").status_code == 200
    assert recalled == ["3", "2", "1"]
    assert "ValueError" in caplog.text
    assert "a secret" not in caplog.text


def test_a_start_does_not_wait_for_all_that_was_published(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recalled = []
    monkeypatch.setattr(warming, "LONGEST", -1.0)
    monkeypatch.setattr(warming, "recall", lambda curator, charge: recalled.append(charge))
    with serving(study):
        assert recalled == []
