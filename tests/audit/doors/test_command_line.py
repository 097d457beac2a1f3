"""The same attacks through the command line: a study on files, once with the victim and once without."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from curador.audit.doors.run import ANSWERED, AttackRequest, Observation, differences, error_chain, masked
from curador.audit.doors.scenes import GROUPS, ROWS, SCENES, VICTIMS
from curador.audit.doors.table import Attack, Safe
from curador.cli.app import app
from curador.curator.releases.release import Release
from curador.query.tables.table import Table
from tests.audit.doors.test_attacks import EVERYWHERE, FIRST, arrow, names
from tests.study_files import written

PAID = {"epsilon", "delta", "rho"}
"""What the command line can be paid with; other settings are the library's."""


class CommandLine:
    """The door of a person at a terminal: explain, ask, then look at the budget and the history.

    Every request starts from a new ledger, in the same folder: its path is ours, not the data's.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._study = folder, folder / "study.toml"

    def ask(self, request: AttackRequest) -> Observation:
        shutil.rmtree(self._folder / "study.ledger.keep", ignore_errors=True)
        for file in self._folder.glob("study.ledger*"):
            file.unlink()
        paid = [f"--{name}={value}" for name, value in request.budget.items()]
        _, explain, _ = self._run("explain", request.sql, *paid)
        loud = ["--because=an attack", "--override", "--fresh"]
        status, text, found = self._run("ask", request.sql, *paid, *loud)
        balance = " ".join(self._run(command)[1] for command in ("budget", "history"))
        if found is None:
            return Observation(status, text, (0, ()), (), balance, explain)
        release = Release.from_dict(found)
        order = tuple(tuple(str(release[g][i]) for g in release.groups) for i in range(len(release)))
        shape = len(release), tuple(release.columns)
        rest = {name: x for name, x in found.items() if name not in release.to_dict()}
        return Observation(status, masked(release) + json.dumps(rest), shape, order, balance, explain)

    def _run(self, *arguments: str) -> tuple[str, str, dict[str, object] | None]:
        done = CliRunner().invoke(app, [*arguments, "--study", str(self._study), "--json"])
        if done.exit_code == 0:
            found = json.loads(done.output)
            return ANSWERED, _timeless(done.output), found if arguments[0] == "ask" else None
        error = done.exception
        if error is None or isinstance(error, SystemExit):
            return f"exit code {done.exit_code}", done.output, None
        return type(error).__name__, error_chain(error), None


def _timeless(text: str) -> str:
    """Without times, and without seals, which are made with the key of each ledger."""
    plain = re.sub(r'"seal": "[0-9a-f]+"', '"seal": ""', text)
    return "\n".join(line for line in plain.splitlines() if '"at":' not in line)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables as files, one folder for D and one for each victim."""
    home = tmp_path_factory.mktemp("attacks")
    for victim in (None, *VICTIMS):
        where = home / str(victim)
        where.mkdir()
        for name, scene in SCENES.items():
            extra = {} if victim is None else VICTIMS[victim]
            pq.write_table(arrow(scene, extra.get(name, ())), where / f"{name}.parquet")
    return home


STUDY = "[budget]\nepsilon = 200000\ndelta = 1e-6\n" + written(
    {
        name: Table(f"{name}.parquet", columns=scene.columns, public=True)
        if scene.public
        else Table(f"{name}.parquet", unit=scene.id, columns=scene.columns, contribution=(GROUPS, ROWS))
        for name, scene in SCENES.items()
    }
)

SENT = [a for a in EVERYWHERE if a.request.prepare is None and set(a.request.budget) <= PAID and len(a.sql) < 10_000]


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(a, marks=[] if a in FIRST else [pytest.mark.slow], id=n)
        for a, n in zip(SENT, names(SENT), strict=True)
    ],
)
def test_attack_on_the_command_line(attack: Attack, data: Path, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    seen = []
    for victim in (None, attack.victim):
        for name, scene in SCENES.items():
            if victim is None or not scene.public:  # neighbours share their public files
                shutil.copy(data / str(victim) / f"{name}.parquet", tmp_path)
        seen.append(CommandLine(tmp_path).ask(attack.request))
    here, there = seen
    assert list(differences(here, there, shuffled=attack.safe is Safe.SHUFFLED)) == []
    if attack.safe is Safe.REFUSED:
        assert here.status in ("QuestionRefused", "InvalidParameter", "BudgetExceeded"), here.text
    else:
        assert here.status == ANSWERED, here.text
