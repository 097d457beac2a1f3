"""`curador serve demo`: everything is there, once, however often it is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from curador.cli.serving import named_study
from curador.server.furnished import ANALYST, PEOPLE, QUESTIONS, furnish
from tests.server.console.browsing import visitor
from tests.server.served import serving


def test_the_demonstration_is_furnished_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    study = named_study(Path("demo"))
    assert study == furnish("curador-demo")
    with serving(study, tokens=False, tick="10ms") as served:
        curator = served.curator
        assert curator.charge_count() == 1 + len(QUESTIONS) + 1
        assert curator.charge_count(ANALYST) == len(QUESTIONS)
        with served.client("reader") as reader:
            assert reader.get("/v1/public").json()["releases"] == ["1"]
            assert reader.get("/v1/releases/1").status_code == 200
        assert served.service.collected["drinks"].collector.totals().accepted == PEOPLE
        with visitor(served, "curator") as client:
            assert "staff: age, years, sector → pay" in client.get("/console/models").text
            model = f"models/{1 + len(QUESTIONS) + 1}"
            for page in (
                "overview",
                "models",
                model,
                "tables",
                "analysts",
                "ledger",
                "ledger/1",
                "collect",
                "collect/drinks",
            ):
                answer = client.get(f"/console/{page}")
                assert answer.status_code == 200
                assert len(answer.content) < 300_000


def test_a_folder_stands_for_its_study_file(tmp_path: Path) -> None:
    assert named_study(tmp_path) == tmp_path / "study.toml"
    assert named_study(tmp_path / "other.toml") == tmp_path / "other.toml"
