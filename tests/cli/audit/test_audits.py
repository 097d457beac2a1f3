"""curador audit query and model: on declarations alone, with an exit code, and never the word "verified"."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from curador.cli.app import app
from curador.mechanisms.laplace import IntegerLaplace

STUDY = """
[budget]
epsilon = 1

[tables.people]
source = "no-such.csv"
unit = "row"
[tables.people.columns]
age = { type = "integer", bounds = [0, 120] }
rich = { type = "boolean" }
"""
RECIPE = """
model = "LogisticRegression"
table = "people"
features = ["age"]
label = "rich"
[settings]
epsilon = 1
delta = "1e-5"
steps = 4
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "rich.toml").write_text(RECIPE)
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def run(*words: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, ["audit", *words])
    return found.exit_code, found.output


def test_a_question_is_replayed_without_data(study: Path) -> None:
    code, said = run("query", "SELECT AVG(age) AS a FROM people", "--epsilon", "1", "--rows", "20", "-s", str(study))
    assert code == 0
    assert "no violation found with n = " in said
    assert "verified" not in said
    assert not list(study.parent.glob("*.ledger"))


def test_a_violation_has_an_exit_code_and_a_line(study: Path) -> None:
    """The real planner, with a sensitivity that is half of what it should be."""
    made = IntegerLaplace.__init__

    def halved(self: IntegerLaplace, sensitivity: object, *args: object, **kwargs: object) -> None:
        made(self, max(1, int(sensitivity) // 2), *args, **kwargs)  # type: ignore[call-overload, arg-type]

    words = ("query", "SELECT SUM(age) AS s FROM people", "--epsilon", "1", "-s", str(study), "--json")
    with patch.object(IntegerLaplace, "__init__", halved):
        code, said = run(*words)
    (found,) = json.loads(said)["findings"]
    assert code == 1
    assert found["violated"]
    assert found["details"]["kind"] in ("distance", "undercharged")
    assert any(".py:" in line for line in found["details"]["lines"])
    assert run(*words)[0] == 0


def test_a_model_is_replayed_and_attacked(study: Path) -> None:
    recipe = str(study.parent / "rich.toml")
    page = study.parent / "page.html"
    words = ("model", recipe, "--canaries", "30", "--runs", "2", "--rows", "20", "-s", str(study))
    code, said = run(*words, "--json", "--html", str(page))
    assert code == 0
    assert "<script" not in page.read_text()
    replayed, canaries = json.loads(said)["findings"]
    assert "no violation found with n = " in canaries["sentence"]
    assert replayed["details"]["releases"] > 0
    assert canaries["samples"] == 60
