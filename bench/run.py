"""`make bench`: every bench file's cases, ours and each peer's in turn, to the screen and docs/benchmarks.md.

A bench file is any module of this folder with a TITLE and CASES, or with a section() that measures in its own way and
returns its text; adding one adds its section to the page.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench import report
from bench.cases import Case, Code
from bench.sides import OURS, PEERS, ROOT, PeerMissing, interpreter, measure, version

PAGE = ROOT / "docs" / "benchmarks.md"
AUDITED = {"audit_cases", "audit_peers", "audit_worker"}
MACHINERY = {
    *AUDITED,
    "cases",
    "learn_census",
    "learn_peers",
    "learn_sums",
    "report",
    "run",
    "sides",
    "visits",
    "worker",
}
LEAST_ROUNDS = 5


def bench(cases: Sequence[Case], rounds: int) -> tuple[dict[str, dict[str, float | str]], list[str]]:
    """Median seconds per operation by side and case, and the versions of the libraries compared."""
    sides = {OURS: {case.name: case.ours for case in cases}}
    for case in cases:
        for peer, code in case.peers.items():
            sides.setdefault(peer, {})[case.name] = code
    times: dict[str, dict[str, float | str]] = {}
    pythons: dict[str, Path] = {}
    for side, codes in sides.items():
        try:
            pythons[side] = interpreter(side)
        except PeerMissing as error:
            times[side] = dict.fromkeys(codes, f"not installed: {error}")
            print(f"{side} could not be installed: {error}")
    seen: dict[str, list[dict[str, float | str]]] = {side: [] for side in pythons}
    for _ in range(rounds):  # in turn, so that a busy minute falls on every side alike
        for side, python in pythons.items():
            seen[side].append(measured_once(python, sides[side]))
    for side, answers in seen.items():
        times[side] = {name: middle([answer[name] for answer in answers]) for name in sides[side]}
    return times, [version(side, python) for side, python in pythons.items()]


def measured_once(python: Path, codes: Mapping[str, Code]) -> dict[str, float | str]:
    """One round of one side, where code that several cases share is run once."""
    first: dict[Code, str] = {}
    for name, code in codes.items():
        first.setdefault(code, name)
    answers = measure(python, {name: code for code, name in first.items()})
    return {name: answers[first[code]] for name, code in codes.items()}


def middle(answers: Sequence[float | str]) -> float | str:
    """The median, or the first failure."""
    numbers = [answer for answer in answers if isinstance(answer, float)]
    if len(numbers) < len(answers):
        return next(answer for answer in answers if isinstance(answer, str))
    return statistics.median(numbers)


def main() -> None:
    found = sorted({file.stem for file in (ROOT / "bench").glob("*.py")} - MACHINERY)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", default=found, help=f"which of {', '.join(found)}; default all")
    parser.add_argument("--rounds", type=int, default=LEAST_ROUNDS)
    args = parser.parse_args()
    if args.rounds < LEAST_ROUNDS:
        parser.error(f"at least {LEAST_ROUNDS} rounds, or the median says little")
    if unknown := set(args.files) - set(found):
        parser.error(f"no bench file named {', '.join(sorted(unknown))}")
    for name in args.files:
        module = importlib.import_module(f"bench.{name}")
        if hasattr(module, "section"):
            report.write(PAGE, name, module.section())
            continue
        print(f"bench {name}: {len(module.CASES)} cases, {args.rounds} rounds, peers from {PEERS.name}/", flush=True)
        load = os.getloadavg()[0]
        times, versions = bench(module.CASES, args.rounds)
        rows = report.lines(module.CASES, times, OURS)
        about = report.conditions(f"make bench BENCH={name}", args.rounds, versions, load)
        report.screen(module.TITLE, about, rows)
        report.write(PAGE, name, report.markdown(module.TITLE, about, rows))


if __name__ == "__main__":
    main()
