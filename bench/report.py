"""Results on screen and in docs/benchmarks.md, which holds one section per bench file between markers."""

from __future__ import annotations

import fcntl
import math
import os
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.cases import Case

HEADINGS = ("case", "Curador", "peer", "its time", "ratio", "wanted", "")


@dataclass(frozen=True, slots=True)
class Line:
    """One comparison: a case against one peer, or against the limit we set ourselves (``peer`` is empty)."""

    case: str
    ours: float | str
    peer: str = ""
    theirs: float | str = ""
    wanted: str = ""
    met: bool | None = None
    unit: str = "s"

    def cells(self) -> tuple[str, ...]:
        times = ratio(self.theirs, self.ours)
        verdict = {None: "", True: "met", False: "MISSED"}[self.met]
        return (
            self.case,
            shown(self.ours, self.unit),
            self.peer,
            shown(self.theirs, self.unit),
            many(times) if times else "",
            self.wanted,
            verdict,
        )


def ratio(theirs: float | str, ours: float | str) -> float | None:
    """How many times faster we are, where both sides have a time."""
    return theirs / ours if isinstance(theirs, float) and isinstance(ours, float) else None


def many(times: float) -> str:
    """How many times faster; where we are slower, one over how many times slower.

    >>> many(6.44), many(0.02)
    ('6.44×', '1/50×')
    """
    return f"{times:.{0 if times >= 100 else 2}f}×" if times > 0.5 else f"1/{1 / times:.3g}×"


def shown(x: float | str, unit: str = "s") -> str:
    """Seconds with three digits and a fitting unit, or bytes; a failure as it was reported."""
    if isinstance(x, str):
        return x
    if unit == "B":
        return f"{x / 1e6:.0f} MB"
    step = min(max(math.floor(math.log10(x) / 3), -3), 0) if x > 0 else 0
    return f"{x * 10.0 ** (-3 * step):.3g} {('s', 'ms', 'µs', 'ns')[-step]}"


def lines(cases: Iterable[Case], times: Mapping[str, Mapping[str, float | str]], ours: str) -> list[Line]:
    """The comparisons of one bench file; ``times`` is indexed by side, then case."""
    found = []
    for case in cases:
        own = times[ours][case.name]
        if case.most is not None:
            met = isinstance(own, float) and own <= case.most
            found.append(Line(case.name, own, wanted=f"≤ {shown(case.most, case.unit)}", met=met, unit=case.unit))
        for peer in case.peers:
            theirs, goal = times[peer][case.name], case.faster.get(peer)
            if goal is None or isinstance(theirs, str):  # nothing wanted, or no peer to compare with
                found.append(Line(case.name, own, peer, theirs))
            else:
                met = (ratio(theirs, own) or 0) >= goal
                found.append(Line(case.name, own, peer, theirs, f"≥ {many(goal) if goal < 0.5 else f'{goal:g}×'}", met))
    return found


def conditions(command: str, rounds: int, versions: Iterable[str], load: float = 0.0) -> str:
    """When, how and on what the numbers were taken; ``load`` is what the machine did besides."""
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    busy = f" Other work ran on the machine: its load was {load:.1f} when this began." if load >= 0.5 else ""
    return (
        f"{when} · `{command}` · {cpu()} · Python {platform.python_version()} · {', '.join(versions)} · "
        f"CPU time, one thread, median of {rounds} alternating rounds.{busy}"
    )


def cpu() -> str:
    """The processor's name; /proc/cpuinfo, where there is one, says more than platform does."""
    info = Path("/proc/cpuinfo")
    models = re.findall(r"^model name\s*: (.*)$", info.read_text(), re.MULTILINE) if info.exists() else []
    return models[0] if models else platform.processor() or platform.machine()


def screen(title: str, about: str, rows: Iterable[Line]) -> None:
    table = Table(*HEADINGS, title=title)
    before = ""
    for row in rows:
        case, ours, *rest = row.cells()
        told = case == before  # a case with several peers is named once
        table.add_row("" if told else case, "" if told else ours, *rest, style="red" if row.met is False else None)
        before = case
    console = Console()
    console = Console(width=max(console.width, 120))
    console.print(table)
    console.print(about, style="dim")


def markdown(title: str, about: str, rows: Iterable[Line]) -> str:
    head = [f"## {title}", "", about, "", f"| {' | '.join(HEADINGS)} |", f"|{'---|' * len(HEADINGS)}"]
    return "\n".join([*head, *(f"| {' | '.join(cell.replace('|', '/') for cell in row.cells())} |" for row in rows)])


def splice(page: str, name: str, section: str) -> str:
    """The page with its section ``name`` replaced, or added at the end.

    >>> page = splice("# Page\\n", "noise", "fast")
    >>> print(splice(page, "noise", "faster"))
    # Page
    <BLANKLINE>
    <!-- bench:noise -->
    faster
    <!-- /bench:noise -->
    <BLANKLINE>
    """
    start, end = f"<!-- bench:{name} -->", f"<!-- /bench:{name} -->"
    block = f"{start}\n{section}\n{end}"
    if start not in page:
        return f"{page.rstrip()}\n\n{block}\n"
    before, rest = page.split(start, 1)
    return before + block + rest.split(end, 1)[1]


def write(page: Path, name: str, section: str) -> None:
    """Replace one section of the page on disk and leave all else, even if several benches end at once.

    A page is replaced as a whole, so that nobody reads half of it, and one that lost its heading is not written to.
    """
    folder = os.open(page.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        before = page.read_text()
        if not before.startswith("# "):
            raise ValueError(f"{page} has lost its heading, and maybe more: take it from git first")
        part = page.with_suffix(".part")
        part.write_text(splice(before, name, section))
        part.replace(page)
    finally:
        os.close(folder)
