"""audit local: the reports of a local task, made by the library or by a device client, against its epsilon."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from curador.cli.audit.mechanism import Runs, Sure
from curador.cli.audit.reporting import Html, report
from curador.cli.options import Json, Language
from curador.cli.screen import words
from curador.errors import InvalidParameter

_SCRIPT = """
globalThis.crypto ??= require("node:crypto").webcrypto;
const client = require(process.argv[1]);
const { document, value, runs } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const task = client.readTask(document);
const rows = Array.from({ length: runs }, () => client.report(task, value));
process.stdout.write(Buffer.concat(rows).toString("base64"));
"""


def local(
    task: Annotated[Path, typer.Argument(metavar="TASK", help="The file that new-task wrote.")],
    client: Annotated[str, typer.Option(help="Who makes the reports: library, python or js (needs Node).")] = "library",
    runs: Runs = 10_000,
    confidence: Sure = 0.999,
    html: Html = None,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Look for reports that are likelier on one value than on another than the task's epsilon allows.

    Reports on the two ends of the task's values are compared. Ends with 1 if its epsilon is refuted.

    Example: curador audit local task.json --client js
    """
    from curador import PureDP
    from curador.audit import InputPair, worst
    from curador.local.collect.files import read_task_file
    from curador.local.collect.rehearsal import made_up
    from curador.local.collect.wire import publish_task

    asked = read_task_file(task)
    first, last = _ends(made_up(asked, 1000))
    makers: dict[str, Callable[[Any, int], Any]] = {
        "library": partial(_library, asked),
        "python": partial(_python, publish_task(asked)),
        "js": partial(_javascript, publish_task(asked)),
    }
    if client not in makers:
        raise InvalidParameter(f"There is no client {client!r}.", fix=f"Choose one of {', '.join(makers)}.")
    found = worst(
        makers[client],
        [InputPair(words("both-ends", first=repr(first), last=repr(last)), first, last)],
        PureDP(float(asked.epsilon)),
        n=runs,
        confidence=confidence,
        subject=f"{asked.name} ({client})",
    )
    report("local", findings=[found], html=html, as_json=as_json, language=language)


def _ends(values: Any) -> tuple[Any, Any]:
    """The first person's value and the last one's."""
    if isinstance(values, dict):
        return tuple({name: _plain(column[at]) for name, column in values.items()} for at in (0, -1))  # type: ignore[return-value]
    return _plain(values[0]), _plain(values[-1])


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _library(task: Any, value: Any, runs: int) -> Any:
    many = {name: [x] * runs for name, x in value.items()} if isinstance(value, dict) else [value] * runs
    return task.to_bytes(task.randomize(many))


def _python(document: Any, value: Any, runs: int) -> Any:
    from curador.local.devices import curador_device

    read = curador_device.read_task(document)
    return _rows(b"".join(curador_device.report(read, value) for _ in range(runs)), runs)


def _javascript(document: Any, value: Any, runs: int) -> Any:
    from importlib.resources import as_file, files

    with as_file(files("curador.local.devices") / "curador_device.js") as source:
        asked = json.dumps({"document": document, "value": value, "runs": runs})
        try:
            done = subprocess.run(
                ["node", "-e", _SCRIPT, str(source)], input=asked, capture_output=True, text=True, check=True
            )
        except (OSError, subprocess.CalledProcessError):
            raise InvalidParameter("Node did not run the client.", fix="Install Node 18 or later.") from None
    return _rows(base64.b64decode(done.stdout), runs)


def _rows(reports: bytes, runs: int) -> Any:
    import numpy as np

    return np.frombuffer(reports, np.uint8).reshape(runs, -1)
