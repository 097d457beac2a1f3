"""Planted faults, each a small file: replay finds every one and names the line, and passes the sound version."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2] / "mutants" / "replayed"
SHARED = {"setting", "descent", "curators", "__init__"}
MUTANTS = sorted(f.stem for f in HERE.glob("*.py") if f.stem not in SHARED)


def test_there_are_many() -> None:
    assert len(MUTANTS) >= 25


@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_fault_is_found_and_the_sound_version_passes(name: str) -> None:
    mutant = import_module(f"tests.mutants.replayed.{name}")
    sound = mutant.audit(sound=True)
    assert not sound.violated, sound.sentence()
    assert sound.samples >= 1
    found = mutant.audit(sound=False)
    assert found.violated
    assert found.details["kind"] == mutant.KIND, found.sentence()
    assert found.floor > 0
    lines = found.details["lines"]
    assert isinstance(lines, list)
    if mutant.KIND != "race":
        assert lines
        assert lines[0] in found.witness


@pytest.mark.parametrize("name", ["clipped_copy_ignored", "no_clip_of_each", "error_of_a_row", "one_draw_for_all"])
def test_the_line_that_caused_it_is_named(name: str) -> None:
    found = import_module(f"tests.mutants.replayed.{name}").audit(sound=False)
    assert f"replayed/{name}.py:" in found.witness
