"""The two clients side by side: the Python one imported, the JavaScript one in one Node process for many jobs."""

from __future__ import annotations

import base64
import json
import math
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from curador.local.collect.wire import publish_task
from curador.local.devices import curador_device as client

ANSWER = Path(__file__).parent / "answer.js"


def in_node(jobs: list[dict[str, Any]]) -> list[Any]:
    """The results of these jobs, by one process."""
    done = subprocess.run(["node", str(ANSWER)], input=json.dumps(jobs), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def named(task: Any) -> Any:
    return task if task.name else task.named("q")


def document(task: Any) -> dict[str, Any]:
    """A task as a device gets it; one that has no name is given one."""
    found: dict[str, Any] = json.loads(json.dumps(publish_task(named(task))))
    return found


def plain(values: Any) -> list[Any]:
    """One value for each person, as JSON has them."""
    if isinstance(values, dict):
        return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    return np.asarray(values).tolist() if isinstance(values, np.ndarray) else list(values)


def for_node(value: Any) -> Any:
    """A value that JSON may carry, whatever it is."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": str(value).replace("inf", "Infinity").replace("nan", "NaN")}
    if type(value) is int and abs(value) >= 1 << 53:
        return {"$integer": str(value)}  # JavaScript has such integers as BigInts only
    if isinstance(value, list):
        return [for_node(x) for x in value]
    if isinstance(value, dict):
        return {name: for_node(x) for name, x in value.items()}
    return value


def script_for(body: Any, size: int, seed: int) -> bytes:
    """Bytes in which the ends of the scale and the bytes of the task's thresholds come up often, so that ties do."""
    rng = np.random.default_rng(seed)
    often = [0, 255, *(byte for number in _numbers(body) for byte in number.to_bytes(8, "big", signed=True)[4:])]
    drawn = rng.integers(0, 256, size, np.uint8)
    return np.where(rng.random(size) < 0.2, rng.choice(np.array(often, np.uint8), size), drawn).tobytes()


def _numbers(body: Any) -> Iterator[int]:
    if isinstance(body, dict | list):
        for part in body.values() if isinstance(body, dict) else body:
            yield from _numbers(part)
    elif isinstance(body, int):
        yield body


def to_text(script: bytes) -> str:
    return base64.b64encode(script).decode()


class Scripted(client.Source):
    """A source that reads a script, and nothing after its end."""

    def __init__(self, script: bytes) -> None:
        super().__init__(self._next)
        self._script, self.fetched = script, 0

    def _next(self, n: int) -> bytes:
        assert self.fetched < len(self._script), "the script is at its end"
        self.fetched += n
        return self._script[self.fetched - n : self.fetched].ljust(n, b"\0")


def or_refused(run: Any) -> Any:
    """What it gives, or why it is refused."""
    try:
        return run()
    except client.Refused as refusal:
        return {"refused": str(refusal)}
