"""The table of planted faults in docs/audit.md: how many runs each takes to be found, measured, not typed.

``python -m tests.audit.tester.fault_table`` writes it; ``test_faults.py`` measures it again and compares.
"""

from __future__ import annotations

import importlib
import re
import statistics
import sys
from pathlib import Path

from tests.mutants.fault import Fault, every

PAGE = Path(__file__).parents[3] / "docs" / "audit.md"
LADDER = (300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 6_000_000)
RUNS, ENOUGH = 5, 4
LONG = 30_000
"""From so many runs on, a fault is looked for by the slow tests only."""

HEAD = """| fault | what it does | claim | runs on each side | in the prototype | floor |
|---|---|---|---|---|---|"""


def floors_of(fault: Fault, n: int) -> list[float]:
    """What each of five seeded audits certifies where it finds the fault; 0 where it does not."""
    found = [fault.audit(n, seed) for seed in range(RUNS)]
    return [one.floor if one.violated else 0.0 for one in found]


def needed(fault: Fault) -> tuple[int, float]:
    """The first number of runs of the ladder at which four of five audits find the fault, and their middle floor."""
    for n in LADDER:
        found = [floor for floor in floors_of(fault, n) if floor > 0]
        if len(found) >= ENOUGH:
            return n, statistics.median(found)
    raise AssertionError("not found at all")


def line(name: str, fault: Fault, n: int, floor: float) -> str:
    what = (importlib.import_module(f"tests.mutants.{name}").__doc__ or "").strip().removesuffix(".")
    source = f" ({fault.source})" if fault.source else ""
    before = f"{fault.notes:,}" if fault.notes else ""
    return f"| {name} | {what}{source} | {fault.claim.label} | {n:,} | {before} | {floor:.3g} |"


def tabled(page: str) -> dict[str, tuple[int, float]]:
    """The runs and the floor of every fault on the page."""
    rows = re.findall(r"^\| (\w+) \| .* \| ([\d,]+) \| [\d,]* \| (\S+) \|$", part(page, "faults"), re.M)
    return {name: (int(n.replace(",", "")), float(floor)) for name, n, floor in rows}


def part(page: str, name: str) -> str:
    found = re.search(rf"<!-- audit:{name} -->\n(.*?)<!-- /audit:{name} -->", page, re.S)
    assert found, f"docs/audit.md has no part {name}"
    return found[1]


def write(name: str, text: str) -> None:
    """Replace one generated part of the page."""
    page, start = PAGE.read_text(), f"<!-- audit:{name} -->\n"
    PAGE.write_text(page.replace(start + part(page, name), f"{start}{text}\n"))


def main(names: list[str]) -> None:
    """Measure all faults, or those that are named and new to the page."""
    before = tabled(PAGE.read_text())
    lines = []
    for name, fault in every().items():
        n, floor = before[name] if names and name not in names and name in before else needed(fault)
        lines.append(line(name, fault, n, floor))
        print(lines[-1], flush=True)
    write("faults", "\n".join([HEAD, *lines]))


if __name__ == "__main__":
    main(sys.argv[1:])
