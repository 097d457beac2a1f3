"""`curador ask --html` and `curador publish --html`: one file, refused before anything is paid where it cannot be."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

from curador.errors import InvalidParameter
from tests.cli import test_asking, test_cli
from tests.cli.test_asking import BY_TOWN
from tests.cli.test_cli import Invoke

invoke, study = test_cli.invoke, test_asking.study  # the fixtures

BOARD = f"""
title = "Visits"
study = "study.toml"
epsilon = 0.5
[questions.by-town]
title = "By town"
sql = "{BY_TOWN}"
"""


def spent(invoke: Invoke) -> int:
    return len(json.loads(invoke("history", "--json"))["charges"])


def test_ask_writes_a_report_whose_release_verifies(study: Invoke) -> None:
    shown = study("ask", BY_TOWN, "--epsilon", "0.5", "--html", "r.html", "--language", "es")
    assert "Informe: r.html" in shown
    page = Path("r.html").read_text()
    assert '<html lang="es">' in page
    assert "count() of visits by town" in page
    found = re.search(r'download="release.json" href="data:[^,]+,([^"]+)"', page)
    assert found is not None
    Path("release.json").write_bytes(base64.b64decode(found[1]))
    assert "as it was released" in re.sub(r"\s+", " ", study("ledger", "verify", "release.json"))


def test_publish_writes_a_report_beside_its_files(study: Invoke) -> None:
    Path("board.toml").write_text(BOARD)
    shown = study("publish", "board.toml", "--html", "board/report.html")
    assert "3 files in board/" in shown
    page = Path("board/report.html").read_text()
    for said in ("<h1>Visits</h1>", "By town", "SELECT town, COUNT(*)", "integer Laplace", "At most 1 row of each"):
        assert said in page
    assert spent(study) == 1
    first = Path("board/report.html").read_bytes()
    study("publish", "board.toml", "--html", "board/report.html")  # free, and the same
    assert Path("board/report.html").read_bytes() == first
    assert spent(study) == 1


@pytest.mark.parametrize("place", ["nowhere/r.html", "."])
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_paid(study: Invoke, place: str) -> None:
    Path("board.toml").write_text(BOARD)
    for command in (("ask", BY_TOWN, "--epsilon", "0.5"), ("publish", "board.toml")):
        with pytest.raises(InvalidParameter, match="folder"):
            study(*command, "--html", place)
    assert spent(study) == 0


def test_a_full_disk_keeps_the_charge_and_says_so(study: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("curador.show.files.write_atomically", full)
    with pytest.raises(InvalidParameter, match="cannot be written") as refusal:
        study("ask", BY_TOWN, "--epsilon", "0.5", "--html", "r.html")
    assert "charge 1 is kept" in refusal.value.cost
    assert not Path("r.html").exists()


def test_a_rehearsal_is_reported_as_made_up(study: Invoke) -> None:
    Path("board.toml").write_text(BOARD)
    study("ask", BY_TOWN, "--epsilon", "0.5", "--rehearse", "--html", "a.html")
    study("publish", "board.toml", "--rehearse", "--html", "p.html")
    for file in ("a.html", "p.html"):
        page = Path(file).read_text()
        assert "Every number on this page comes from made-up rows." in page
        assert "ledger verify" not in page
        assert 'class="stamp"' in page
    assert not Path("board").exists()
    assert spent(study) == 0
