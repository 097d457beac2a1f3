"""The command line as a person meets it: help, examples, completion, refusals, exit codes."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from curador import __version__
from curador.cli.app import app
from curador.cli.screen import BALANCES, console, ended, print_refusal
from curador.errors import CuradorError, InvalidParameter

Invoke = Callable[..., str]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from curador.cli.app import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment},
    )


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run a command in an empty folder, on a terminal of 80 columns; gives what was printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "_width", 80)

    def call(*arguments: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, list(arguments))
        if isinstance(done.exception, CuradorError):
            raise done.exception
        assert done.exit_code == code, done.output
        # Statements and paths are for copying, and are not broken.
        free = "--json" in arguments or arguments[0] == "explain"
        if not free:
            assert max(map(len, done.output.splitlines())) <= 80
        return done.output

    return call


def leaves(group: Any, *path: str) -> dict[tuple[str, ...], Any]:
    """Every command by its words."""
    found: dict[tuple[str, ...], Any] = {}
    for name, command in group.commands.items():
        found |= leaves(command, *path, name) if hasattr(command, "commands") else {(*path, name): command}
    return found


COMMANDS = leaves(typer.main.get_command(app))


def test_all_commands_are_there() -> None:
    first = [
        ("demo",),
        ("init",),
        ("check",),
        ("quality",),
        ("prepare",),
        ("reload",),
        ("explain",),
        ("ask",),
        ("sql",),
    ]
    then = [
        ("limits",),
        ("publish",),
        ("fit",),
        ("predict",),
        ("budget",),
        ("grant",),
        ("renew",),
        ("revoke",),
        ("history",),
        ("ledger", "verify"),
    ]
    local = [("local", name) for name in ("new-task", "simulate", "collect", "estimate", "compare", "client")]
    attacks = ("mechanism", "query", "model", "service", "local", "reconstruct", "link", "game")
    audit = [("audit", name) for name in attacks]
    server = [("serve",), ("mcp",), ("token", "new"), ("token", "list"), ("token", "end")]
    ledger = [("ledger", "redeclare"), ("ledger", "restore")]
    assert set(COMMANDS) == {*first, *then, *ledger, *local, *audit, *server}


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_shows_an_example_that_it_understands_and_gives_json(path: tuple[str, ...]) -> None:
    command = COMMANDS[path]
    printed = path != ("mcp",)  # what an agent reads is the protocol
    assert ("--json" in [option for parameter in command.params for option in parameter.opts]) is printed
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    (example,) = re.findall(r"Example: curador (.*?)\s*$", command.help, re.M)
    assert example.split()[0] in shown.output
    words = shlex.split(example)
    assert tuple(words[: len(path)]) == path
    command.make_context(path[-1], words[len(path) :])  # parsed, not run; ends with code 2 if not understood


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_commands_that_need_a_study_name_it_in_the_same_way(path: tuple[str, ...]) -> None:
    studies = [p for p in COMMANDS[path].params if p.name == "study"]
    without = path[0] in ("demo", "init", "publish", "local", "predict", "audit", "serve", "mcp")
    assert len(studies) == (not without or path in (("audit", "query"), ("audit", "model")))
    for option in studies:
        assert (option.opts, str(option.default)) == (["--study", "-s"], "study.toml")


def test_version_and_help() -> None:
    assert __version__ in run("--version").stdout
    shown = run("--help")
    assert shown.returncode == 0
    assert "ledger" in shown.stdout


def test_completion_works() -> None:
    """As bash asks for it: what can follow `curador led`, and which options begin with --acc."""
    asked = {"_CURADOR_COMPLETE": "complete_bash", "COMP_WORDS": "curador led", "COMP_CWORD": "1"}
    script = str(Path(sys.executable).parent / "curador")
    done = subprocess.run([script], capture_output=True, text=True, check=False, env={**os.environ, **asked})
    assert done.stdout.split() == ["ledger"]
    option = {**asked, "COMP_WORDS": "curador ask --acc", "COMP_CWORD": "2"}
    done = subprocess.run([script], capture_output=True, text=True, check=False, env={**os.environ, **option})
    assert done.stdout.split() == ["--accuracy"]


def test_help_and_completion_load_no_heavy_library() -> None:
    code = (
        "import sys, curador.cli.app; print([x for x in ('numpy', 'scipy', 'duckdb', 'sqlglot') if x in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_refusal_is_one_message_and_code_1(tmp_path: Path) -> None:
    refused = run("ask", "SELECT COUNT(*) FROM t", "--epsilon", "1", "-s", str(tmp_path / "gone.toml"))
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert "There is no study file gone.toml." in refused.stderr
    assert "To do: " in refused.stderr
    assert "Cost: nothing was drawn" in refused.stderr
    assert "Traceback" not in refused.stderr
    told_json = run("budget", "--json", "-s", str(tmp_path / "gone.toml"))
    assert told_json.returncode == 1
    assert json.loads(told_json.stderr)["error"]["kind"] == "InvalidParameter"
    assert run("ask").returncode == 2
    assert run("asks").returncode == 2


def test_declarations_that_were_asked_for_are_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    told = InvalidParameter("Tables: visits.", fix="Ask about one.", code="declarations")
    assert ended(told, as_json=False) == 0
    assert ended(told, as_json=True) == 0
    assert ended(InvalidParameter("No.", fix="Look."), as_json=False) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("Tables: visits.\n{")
    assert shown.err.startswith("No.")


def test_a_refusal_is_told_with_what_remains(capsys: pytest.CaptureFixture[str]) -> None:
    refusal = InvalidParameter("No [red]such thing.", fix="Look again.")
    refusal.add_note("population epsilon 0.5")
    print_refusal(refusal, as_json=False)
    assert capsys.readouterr().err.splitlines() == [
        "No [red]such thing.",  # brackets are no markup
        "  To do: Look again.",
        "  Cost: nothing was drawn, nothing was spent.",
        "  Remaining: population epsilon 0.5.",
    ]
    refusal.facts = {"n": 1, BALANCES: {"population": {"kind": "pure", "epsilon": 0.5}}}
    print_refusal(refusal, as_json=True)
    told = json.loads(capsys.readouterr().err)
    assert told["remaining"] == {"population": {"kind": "pure", "epsilon": 0.5}}  # as with an answer
    assert told["error"]["facts"] == {"n": 1}
