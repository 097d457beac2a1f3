"""The same attacks through the command line: a study on files, once with the victim and once without."""

from __future__ import annotations

from pathlib import Path

import pytest

from curador.audit.doors.run import UNSENT, AttackRequest
from curador.audit.doors.service import faults
from curador.audit.doors.stage import ScenesOnDisk
from curador.audit.doors.table import Attack
from curador.cli.audit.door import CommandLine
from tests.audit.doors.test_attacks import EVERYWHERE, KINDS, names


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> ScenesOnDisk:
    return ScenesOnDisk(tmp_path_factory.mktemp("attacks"))


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(a, marks=[] if a in KINDS else [pytest.mark.slow], id=n)
        for a, n in zip(EVERYWHERE, names(EVERYWHERE), strict=True)
    ],
)
def test_attack_on_the_command_line(attack: Attack, stage: ScenesOnDisk) -> None:
    seen = []
    for victim in (None, attack.victim):
        stage.place(victim)
        seen.append(CommandLine(stage.folder).ask(attack.request))
    here, there = seen
    assert here.status != UNSENT
    assert list(faults(attack, here, there)) == []


def test_a_refusal_is_seen_as_it_is_printed(stage: ScenesOnDisk) -> None:
    stage.place(None)
    seen = CommandLine(stage.folder).ask(AttackRequest("SELECT town FROM people"))
    assert seen.status == "QuestionRefused"
    assert '"fix"' in seen.text
    assert "population" in seen.balance
    assert CommandLine(stage.folder).ask(AttackRequest("SELECT 1", {"weights": {"n": 0}})).status == UNSENT


def test_a_program_that_breaks_is_seen(tmp_path: Path) -> None:
    """Without a study there is nothing to ask; what is printed says so, and no traceback escapes."""
    seen = CommandLine(tmp_path).ask(AttackRequest("SELECT COUNT(*) AS n FROM people"))
    assert seen.status == "InvalidParameter"
    assert "no study file" in seen.text
