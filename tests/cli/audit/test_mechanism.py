"""`curador audit mechanism` and `audit local`: what they print, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from curador.cli.app import app
from curador.errors import InvalidParameter
from curador.local import KRR
from curador.local.collect.files import write_task


def call(*words: str) -> Result:
    return CliRunner().invoke(app, ["audit", *words], env={"COLUMNS": "200"})


def test_a_mechanism_by_its_kind() -> None:
    done = call("mechanism", "integer-laplace", "--epsilon", "1/2", "-n", "2000")
    assert done.exit_code == 0
    assert "* IntegerLaplace: no violation found with n = 2,000; would have found a scale error ≥" in " ".join(
        done.output.split()
    )
    assert "verified" not in done.output


def test_outputs_from_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    steps = [at + rng.geometric(0.5, 2000) - rng.geometric(0.5, 2000) for at in (0, 1)]
    for name, values in zip("ab", steps, strict=True):
        (tmp_path / name).write_text("\n".join(map(str, values)))
        np.save(tmp_path / f"{name}.npy", values)
    given = ["--first", str(tmp_path / "a"), "--second", str(tmp_path / "b")]
    arrays = ["--first", str(tmp_path / "a.npy"), "--second", str(tmp_path / "b.npy")]
    assert call("mechanism", *given, "--epsilon", "0.7").exit_code == 0
    for files in (given, arrays):
        done = call("mechanism", *files, "--epsilon", "0.2", "--json")
        (found,) = json.loads(done.output)["findings"]
        assert done.exit_code == 1
        assert found["violated"]
        assert 0.2 < found["floor"] <= 0.7
        assert found["claim"] == {"kind": "pure", "epsilon": 0.2}
        assert found["details"]["of"] == 1000
    assert call("mechanism", *given, "--epsilon", "0.2", "--delta", "0.9").exit_code == 0


def test_texts_from_files(tmp_path: Path) -> None:
    for name, word in (("a", "yes"), ("b", "no")):
        (tmp_path / name).write_text(f"{word}\n" * 300)
    done = call("mechanism", "--first", str(tmp_path / "a"), "--second", str(tmp_path / "b"))
    assert done.exit_code == 1
    assert "'yes'" in done.output or "'no'" in done.output


@pytest.mark.parametrize("words", [[], ["laplace", "--first", "a"], ["--first", "a"], ["none"]])
def test_what_is_not_understood_is_refused(words: list[str]) -> None:
    assert isinstance(call("mechanism", *words).exception, InvalidParameter)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    missing = str(tmp_path / "none")
    assert isinstance(call("mechanism", "--first", missing, "--second", missing).exception, InvalidParameter)


@pytest.mark.parametrize("client", ["library", "python", "js"])
def test_the_reports_of_a_task(client: str, tmp_path: Path) -> None:
    """Node draws the system's bytes: at this confidence a false alarm has a chance below 1e-12."""
    task = write_task(tmp_path / "task.json", KRR(["tea", "water"], 1).named("drinks"))
    done = call("local", str(task), "--client", client, "-n", "1000", "--confidence", "0.9999999999999")
    assert done.exit_code == 0
    assert f"* drinks ({client}): no violation found with n = 1,000;" in " ".join(done.output.split())


def test_a_client_that_is_not_there_is_refused(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task.json", KRR(["tea", "water"], 1).named("drinks"))
    assert isinstance(call("local", str(task), "--client", "rust").exception, InvalidParameter)
