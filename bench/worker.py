"""Runs one side of a bench file: cases as JSON on stdin, CPU seconds per operation as JSON on stdout.

Runs in a peer's environment too, so it imports nothing but the standard library.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable

ENOUGH = 0.2  # CPU seconds per case and round: far above the clock's step


def children() -> float:
    """CPU seconds of all finished child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


CLOCKS: dict[str, Callable[[], float]] = {"own": time.process_time, "children": children}


def seconds(setup: str, run: str, per: int, clock: str) -> float:
    """CPU seconds per operation, after one run to warm up."""
    scope: dict[str, object] = {}
    exec(setup, scope)
    code = compile(run, "<case>", "exec")
    exec(code, scope)
    if clock == "found":  # not a time: ``run`` measured something itself
        return float(str(scope["found"]))
    now, runs = CLOCKS[clock], 0
    batch = 1
    start = now()
    while (spent := now() - start) < ENOUGH:
        for _ in range(batch):
            exec(code, scope)
        runs += batch
        batch *= 2  # so that reading the clock does not weigh on a case of microseconds
    return spent / (runs * per)


def main() -> None:
    answers: dict[str, float | str] = {}
    for name, code in json.load(sys.stdin).items():
        try:
            answers[name] = seconds(**code)
        except Exception as error:  # noqa: BLE001 - a broken peer is reported, not fatal
            answers[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
