"""The models of the course's homework on Adult: how much accuracy privacy costs."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_homework_from_end_to_end(capsys: pytest.CaptureFixture[str]) -> None:
    if not (ROOT / "data" / "adult_data.csv").is_file():
        pytest.skip("Adult is not here; run `make data`")
    found = runpy.run_path(str(ROOT / "examples" / "homework.py"))["main"]("memory:")
    said = capsys.readouterr().out
    best = found["without privacy"][0]
    assert best > 0.845
    assert best - found["always <=50K"][0] > 0.08  # what "less than 10 points" would allow
    assert best - found["epsilon 1"][0] < 0.008
    assert best - found["DP-SGD, clip 1, noise 1"][0] < 0.012
    assert found["without privacy"][1] - found["epsilon 1"][1] < 0.01
    assert "epsilon 1.58387, delta 1e-05" in said
    assert "What is left of the budget" in said


@pytest.mark.slow
def test_who_was_in_it_is_hardly_seen_in_the_private_model(capsys: pytest.CaptureFixture[str]) -> None:
    """The discussion of the homework: membership, measured for the classic model and for the private ones."""
    if not (ROOT / "data" / "adult_data.csv").is_file():
        pytest.skip("Adult is not here; run `make data`")
    script = runpy.run_path(str(ROOT / "examples" / "homework_membership.py"))
    found = script["main"](people=200, shadows=24, targets=8)
    said = capsys.readouterr().out
    classic, private, ten = found["without privacy"], found["epsilon 1"], found["epsilon 10"]
    assert classic.auc > 0.58 > 0.53 > private.auc  # seeded; private is a coin, within what 1,600 guesses show
    assert private.finding.floor <= 1
    assert ten.finding.floor <= found["canaries"].floor
    assert 2 < found["canaries"].floor <= 10
    assert found["epsilon 1, and the classic beside it"].auc == classic.auc
    assert not any(risk.finding.violated for risk in (private, ten))
    assert "Without any risk, no" in said
