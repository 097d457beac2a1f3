"""The how-to page runs as it is written."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from curador.server.agents.tools import TOOLS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "let-an-agent-ask.md").read_text()
COMMAND = Path(sys.executable).with_name("curador")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def _run(lines: str, folder: Path) -> str:
    said = ""
    for line in lines.splitlines():
        done = subprocess.run(
            [COMMAND, *shlex.split(line)[1:]], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (line, done.stderr)
        said += done.stdout
    return said


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = _blocks("sh")
    _run(before, tmp_path)
    (stated,) = _blocks("json")
    (started,) = json.loads(stated)["mcpServers"].values()
    (program,) = _blocks("python")
    words = [started["command"], *started["args"]]
    assert json.dumps(words[1:]) in program
    monkeypatch.chdir(tmp_path)
    passed = {name: os.environ[name] for name in os.environ if name.startswith("PYTHON")}
    program = program.replace('command="curador"', f"command={str(COMMAND)!r}, env={passed!r}")
    names: dict[str, object] = {}
    exec(program, names)
    found = names["answer"]
    assert isinstance(found, dict)
    assert found["remaining"]["agent"]["epsilon"] == 0.4
    said = " ".join(_run(after, tmp_path).split())
    assert "weekly report" in said
    assert "0.1" in said


def test_an_installed_package_has_the_reference_of_the_sql(tmp_path: Path) -> None:
    from hatchling.builders.wheel import WheelBuilder

    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with ZipFile(wheel) as package:
        kept = package.read("curador/server/agents/sql.md")
    assert kept == (ROOT / "docs" / "reference" / "sql.md").read_bytes()


def test_the_page_lists_the_tools_there_are() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == set(TOOLS)
