"""How long answers take with a victim and without: measured and shown.

Nothing is promised about times but by the server: an answer leaves on its clock (docs/audit-demos.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import MappingProxyType

from curador.audit.chances import at_least, at_most, epsilon_floor
from curador.audit.doors.run import AttackRequest, Opens
from curador.audit.doors.stage import ScenesOnDisk
from curador.audit.finding import Finding
from curador.numbers import whole
from curador.show.pages.bars import Bar
from curador.show.pages.charts import Axis
from curador.show.pages.exhibits import Drawing, Exhibit, Listing, Part

CONFIDENCE = 0.99

TIMED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "a count": ("SELECT COUNT(*) AS n FROM people", "plain"),
        "a count that one person passes": ("SELECT COUNT(*) AS n FROM people WHERE pid = 5000", "plain"),
        "500 groups": ("SELECT slot, COUNT(*) AS n FROM people GROUP BY slot", "plain"),
        "a person with 600 rows": ("SELECT SUM(income) AS s FROM people", "many rows"),
    }
)
"""What is timed: the question, and the victim."""


@dataclass(frozen=True)
class TimedPair:
    """Seconds of each of many turns, without the victim and with."""

    question: str
    door: str
    without: tuple[float, ...]
    within: tuple[float, ...]

    @property
    def slower(self) -> int:
        """In how many turns the curator with the victim took longer."""
        return sum(b > a for a, b in zip(self.without, self.within, strict=True))

    @property
    def share(self) -> tuple[float, float, float]:
        """That as a share of the turns, with its limits [CP34]."""
        n, miss = len(self.without), (1 - CONFIDENCE) / 2
        return self.slower / n, at_least(self.slower, n, miss), at_most(self.slower, n, miss)

    def finding(self) -> Finding:
        """The floor that a threshold on times puts under epsilon: chosen on one half of the turns, judged on the other.

        >>> TimedPair("q", "library", (1.0,) * 60, (2.0,) * 60).finding().floor > 1
        True
        """
        # Two turns for the one half, two for the other: who is asked first changes from turn to turn.
        learned = sorted(t for side in (self.without, self.within) for i, t in enumerate(side) if not i // 2 % 2)
        cut = learned[len(learned) // 2]
        judged = [[t for i, t in enumerate(side) if i // 2 % 2] for side in (self.within, self.without)]
        if not judged[0]:
            judged = [list(self.within), list(self.without)]
        longer = [sum(t >= cut for t in side) for side in judged]
        n, half = len(judged[0]), (1 + CONFIDENCE) / 2  # two directions
        floor = max(
            epsilon_floor(longer[0], n, longer[1], n, half),
            epsilon_floor(n - longer[0], n, n - longer[1], n, half),
        )
        words = f"median {1000 * median(self.without):.2f} ms without the victim, {1000 * median(self.within):.2f} with"
        details = {"without": list(self.without), "within": list(self.within)}
        subject = f"time of {self.question} · {self.door}"
        return Finding(subject, None, floor, CONFIDENCE, len(self.without), witness=words, details=details)


def time_service(doors: Mapping[str, Opens], turns: int = 40) -> list[TimedPair]:
    """Ask curators with and without a victim by turns, and take the time of each answer.

    Assumes: the machine does little else; what else it does slows both sides alike, but blurs the comparison.
    """
    n, found = whole(turns, "turns", 2), []
    for door, opens in doors.items():
        for question, (sql, victim) in TIMED.items():
            with ExitStack() as stack:
                sides = []
                for who in (None, victim):
                    stage = ScenesOnDisk(Path(stack.enter_context(TemporaryDirectory(prefix="curador-audit-"))))
                    stage.place(who)
                    sides.append(stack.enter_context(opens(stage.folder)))
                taken: tuple[list[float], list[float]] = ([], [])
                for turn in range(n + 1):
                    for side in (0, 1) if turn % 2 else (1, 0):  # neither is always the first
                        seen = sides[side].ask(AttackRequest(sql))
                        if turn:  # the first opens files and fills caches
                            taken[side].append(seen.seconds)
            found.append(TimedPair(question, door, tuple(taken[0]), tuple(taken[1])))
    return found


def times_exhibit(pairs: Sequence[TimedPair], tick: float = 0.0) -> Exhibit:
    """The times for a page; ``tick`` is that of the server, in seconds.

    >>> times_exhibit([TimedPair("q", "library", (1.0, 1.0), (2.0, 0.5))]).facts["auc"]
    0.5
    """
    bars, rows = [], []
    for one in pairs:
        share, low, high = one.share
        bars.append(Bar(f"{one.question} · {one.door}", share, low, high, mark=0.5))
        here, there = (1000 * median(side) for side in (one.without, one.within))
        rows.append((f"{one.question} · {one.door}", here, there))
    clearest = max(pairs, key=lambda p: abs(p.share[0] - 0.5))
    share, low, high = clearest.share
    facts = {
        "kinds": len({p.question for p in pairs}), "n": len(pairs[0].without), "tick": tick,
        "auc": share, "low": low, "high": high,
        "here": 1000 * median(clearest.without), "there": 1000 * median(clearest.within),
    }  # fmt: skip
    axis = Axis("@times-slower", percent=True, ends=(0, 1))
    drawing = Drawing("times-chart", bars=tuple(bars), x=axis, mark="@times-same")
    listing = Listing("times-table", ("times-question", "times-without", "times-with"), tuple(rows))
    return Exhibit("times", facts, (Part("the-attack", ("times-how", "times-found"), (drawing,), (listing,)),))
