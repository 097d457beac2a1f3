"""The two first hours are run: every command of a page, in order, in an empty folder, with the output it shows."""

from __future__ import annotations

import doctest
import io
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from typer.testing import CliRunner

from curador.cli.app import app
from curador.cli.hints import with_hint
from curador.cli.screen import console, ended
from curador.errors import CuradorError

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def steps(page: str) -> Iterator[tuple[str, str]]:
    """What a page does, in order: ("toml", file), ("python", examples), or a command with what it shows."""
    for kind, block in re.findall(r"^```(toml|console|python)\n(.*?)^```$", page, re.M | re.S):
        if kind != "console":
            yield kind, block
            continue
        yield from re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)


def curador(arguments: list[str]) -> tuple[str, bool]:
    """What a command prints, and whether it was refused."""
    done = CliRunner().invoke(app, arguments)
    if isinstance(done.exception, CuradorError):
        with redirect_stderr(io.StringIO()) as said, redirect_stdout(said):
            code = ended(with_hint(done.exception), as_json=False)
        return said.getvalue(), code != 0
    assert done.exit_code == 0, done.output
    return done.output, False


def _plain(text: str) -> str:
    """Without the length of rules, which follows from how long noised numbers are."""
    return re.sub("─+", "─", text.strip())


def play(page: str, chdir: pytest.MonkeyPatch) -> int:
    count = 0
    for what, content in steps(page):
        count += 1
        if what == "toml":
            name = content.splitlines()[0].removeprefix("# ")
            assert name.endswith(".toml"), "the first line names the file"
            Path(name).write_text(content)
        elif what == "python":
            test = doctest.DocTestParser().get_doctest(content, {}, "page", "page", 0)
            assert not doctest.DocTestRunner(optionflags=LOOSE).run(test).failed
        else:
            program, *arguments = shlex.split(what)
            if program == "cd":
                chdir.chdir(arguments[0])
            elif program == "curador":
                shown, refused = curador(arguments)
                assert refused == ("To do:" in content), shown
                assert doctest.OutputChecker().check_output(_plain(content), _plain(shown), LOOSE), (
                    f"$ {what}\n{shown}\n--- and the page shows\n{content}"
                )
            else:
                assert program in ("cp", "mkdir"), f"no test knows how to run {program!r}"
                subprocess.run([program, *arguments], check=True)
    return count


@pytest.mark.parametrize("name", ["curators-first-hour", "analysts-first-hour"])
def test_the_page_does_what_it_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "_width", 80)
    assert play((HOW_TO / f"{name}.md").read_text(), monkeypatch) > 10


def test_a_page_that_shows_something_else_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for wrong in ("$ curador demo --folder d\n12,345 made-up salaries\n...\n", "$ curador budget\nTo be refused.\n"):
        with pytest.raises(AssertionError):
            play(f"```console\n{wrong}```\n", monkeypatch)
