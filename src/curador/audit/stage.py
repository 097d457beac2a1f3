"""A real curator over made-up rows, for as long as a demonstration lasts."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from curador.curator.curator import Curator
from curador.curator.releases.release import Release
from curador.privacy import Guarantee, Unit
from curador.query.tables.table import Table
from curador.show.pages.bars import Bar
from curador.show.pages.exhibits import CODE


@dataclass(frozen=True)
class MadeUp:
    """A table of made-up rows: what a study would declare, and its values by column.

    >>> MadeUp({"age": {"type": "integer", "bounds": [0, 9]}}, {"age": [1, 2]}).unit
    ''
    """

    columns: Mapping[str, object]
    values: Mapping[str, Sequence[object]]
    unit: str = ""
    contribution: tuple[int, int] | int | None = None


@contextmanager
def staged(tables: Mapping[str, MadeUp], budget: Guarantee) -> Iterator[Curator]:
    """Open a curator on made-up tables, written as files like any other's; they are gone afterwards.

    >>> from curador.privacy import PureDP
    >>> people = MadeUp({"age": {"type": "integer", "bounds": [0, 120]}}, {"age": [30, 40, 50]})
    >>> with staged({"people": people}, PureDP(2000)) as curator:
    ...     asked = dict(epsilon=2000, because="made-up rows", override=True)
    ...     curator.ask("SELECT COUNT(*) AS n FROM people", **asked).value
    3
    """
    with TemporaryDirectory(prefix="curador-audit-") as folder:
        declared = {}
        for i, (name, made) in enumerate(tables.items()):
            path = Path(folder) / f"{i}.csv"
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(made.values)
                writer.writerows(zip(*made.values.values(), strict=True))
            unit = made.unit or Unit.row()
            declared[name] = Table(str(path), unit, made.columns, contribution=made.contribution)
        with closing(Curator(declared, budget=budget)) as curator:
            yield curator


def released_bars(release: Release, exact: Mapping[str, float], coded: str = "") -> tuple[tuple[Bar, ...], float]:
    """A release of one number by one group as bars, with a mark at what is true; and half its widest interval.

    Groups have the names that they are stored with, or texts of codes that begin with ``coded``.

    >>> from curador.privacy import PureDP
    >>> answer = Release({"g": ("a",), "n": (10,)}, ("g",), {"n": ((7.0, 13.0),)}, {}, 0.95, PureDP(1), "1")
    >>> released_bars(answer, {"a": 11})
    ((Bar(name='a', value=10.0, low=7.0, high=13.0, mark=11.0, alarm=False),), 3.0)
    """
    (group,), (output,) = release.groups, release.outputs
    bars = []
    for i, (name, value) in enumerate(zip(release[group], release[output], strict=True)):
        low, high = map(float, release.interval(output, i))
        shown = f"{CODE}{coded}-{str(name).replace(' ', '-')}" if coded else str(name)
        bars.append(Bar(shown, float(str(value)), low, high, mark=float(exact[str(name)])))
    return tuple(bars), max((b.high or 0.0) - (b.low or 0.0) for b in bars) / 2
