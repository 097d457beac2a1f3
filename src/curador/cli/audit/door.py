"""The command line as a door that attacks go through: what a person at a terminal types, and sees."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from curador import Release
from curador.audit.doors.run import ANSWERED, UNSENT, AttackRequest, Door, Observation, observed

PAID = {"epsilon", "delta", "rho", "confidence", "rows"}
"""What a question can be asked with on the command line; other settings are the library's."""


class CommandLine:
    """The door of a person at a terminal: explain, ask, then look at the budget and the history.

    Commands run in this process, through the same entry point as typed ones, which saves starting a program for each.
    """

    def __init__(self, folder: Path) -> None:
        self._study = folder / "study.toml"

    def ask(self, request: AttackRequest) -> Observation:
        """Type one request, and read all that is printed."""
        if not set(request.budget) <= PAID:
            return Observation(UNSENT, "", (0, ()), (), "", "")
        if request.prepare is not None:
            table, groups = request.prepare
            self._typed("prepare", table, *(f"--group-by={g}" for g in groups))
        paid = [f"--{name}={value}" for name, value in request.budget.items()]
        explained = self._typed("explain", request.sql, *paid)
        start = time.perf_counter()
        terms = ("--because=an attack", "--override", "--fresh", "--anyway")
        code, out, said = self._typed("ask", request.sql, *paid, *terms)
        seconds = time.perf_counter() - start
        balance = " ".join(text for command in ("budget", "history") for text in self._typed(command)[1:])
        explain = " ".join(explained[1:])
        if code:
            return Observation(_kind(code, said), out + said, (0, ()), (), balance, explain, seconds=seconds)
        found: dict[str, Any] = json.loads(out)
        release = Release.from_dict(found)
        rest = {name: value for name, value in found.items() if name not in release.to_dict()}
        return observed(release, balance, explain, json.dumps(rest) + said, seconds=seconds)

    def _typed(self, *arguments: str) -> tuple[int, str, str]:
        """The exit code of a command, and what it printed, without times and seals."""
        from curador.cli.start import run

        code = 0
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as said:
            try:
                run([*arguments, f"--study={self._study}", "--json"])
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
            except Exception as error:  # noqa: BLE001  a person sees its traceback
                code, _ = 1, said.write(json.dumps({"error": {"kind": type(error).__name__, "what": repr(error)}}))
        return code, _timeless(out.getvalue()), _timeless(said.getvalue())


@contextmanager
def command_line(folder: Path) -> Iterator[Door]:
    """The command line's door to the study in a folder."""
    yield CommandLine(folder)


def _timeless(text: str) -> str:
    """Without times, and without seals, which are made with the key of each ledger."""
    plain = re.sub(r'"seal": "[0-9a-f]+"', '"seal": ""', text)
    return "\n".join(line for line in plain.splitlines() if '"at": "' not in line)


def _kind(code: int, said: str) -> str:
    """The kind of a refusal, where one was printed."""
    try:
        parsed: Mapping[str, Any] = json.loads(said)
        return str(parsed["error"]["kind"])
    except (ValueError, KeyError, TypeError):
        return ANSWERED if not code else f"exit code {code}"
