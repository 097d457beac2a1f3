"""What a page shows, in codes and numbers: words are found when it is read, in the reader's language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Protocol

from curador.privacy import ApproxDP, Guarantee, PureDP
from curador.show.pages.bars import MOST_BARS, Bar, bar_chart
from curador.show.pages.charts import PLAIN, Axis, Track, roc_chart, xy_chart
from curador.show.tables import Cell
from curador.show.words.say import say

CODE = "@"
"""A name that begins with it is a code; any other stands as it is."""


def named(name: str, language: str, facts: Mapping[str, object] = MappingProxyType({})) -> str:
    """A name in a language.

    >>> named("@exact", "es"), named("ε = 1", "es")
    ('exacto', 'ε = 1')
    """
    return say(name.removeprefix(CODE), language, **facts) if name.startswith(CODE) else name


@dataclass(frozen=True)
class Drawing:
    """A chart: lines and points (``xy``), the two rates of a test (``roc``, ``tradeoff``), or ``bars``.

    Its caption is the text of ``code``; ``mark`` says what the stroke across a bar is.

    >>> Drawing("exact", bars=(Bar("@exact", 3),)).svg("es")[:18]
    '<svg class="chart"'
    """

    code: str
    kind: str = "bars"
    series: tuple[Track, ...] = ()
    bars: tuple[Bar, ...] = ()
    x: Axis = PLAIN
    y: Axis = PLAIN
    mark: str = ""

    def svg(self, language: str = "en", width: int = 680) -> str:
        """The chart in a language, for a width."""
        title = say(self.code, language)
        if self.kind == "bars":
            bars = [Bar(named(b.name, language), b.value, b.low, b.high, b.mark, b.alarm) for b in self.bars]
            mark = named(self.mark, language)
            return bar_chart(bars, title=title, x=self._axis(self.x, language), mark=mark, width=width)
        series = [Track(named(s.name, language), s.x, s.y, s.style, s.low, s.high) for s in self.series]
        x, y = self._axis(self.x, language), self._axis(self.y, language)
        if self.kind == "xy":
            return xy_chart(series, title=title, x=x, y=y, width=width)
        return roc_chart(series, title=title, x=x.name, y=y.name, width=width, tradeoff=self.kind == "tradeoff")

    @staticmethod
    def _axis(axis: Axis, language: str) -> Axis:
        return replace(axis, name=named(axis.name, language))

    def plain(self, language: str) -> dict[str, object]:
        """The numbers of the chart, as plain values."""
        series = [
            {"name": named(s.name, language), "x": list(s.x), "y": list(s.y)}
            | {end: list(v) for end, v in (("low", s.low), ("high", s.high)) if v is not None}
            for s in self.series
        ]
        bars = [
            {"name": named(b.name, language), "value": b.value}
            | {end: v for end, v in (("low", b.low), ("high", b.high), ("mark", b.mark)) if v is not None}
            for b in self.bars
        ]
        axes = {"x": named(self.x.name, language), "y": named(self.y.name, language)}
        return {"caption": say(self.code, language), "kind": self.kind, **axes, "series": series, "bars": bars}


@dataclass(frozen=True)
class Listing:
    """A table: headings and cells; texts in it may be codes.

    >>> Listing("exact", ("output",), (("@free",), (3,))).worded("es")
    (('columna',), (('gratis',), (3,)))
    """

    code: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def worded(self, language: str) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
        """Headings and rows in a language."""
        rows = tuple(tuple(named(c, language) if isinstance(c, str) else c for c in row) for row in self.rows)
        return tuple(say(h, language) for h in self.headings), rows


@dataclass(frozen=True)
class Part:
    """A step of an exhibit under its own heading (``heading`` is a code): sentences by code, charts, tables."""

    heading: str
    says: tuple[str, ...]
    drawings: tuple[Drawing, ...] = ()
    listings: tuple[Listing, ...] = ()


@dataclass(frozen=True)
class Exhibit:
    """A demonstration: ``facts`` are its plain results, which its sentences are filled in with.

    Its title is the text ``CODE-title``.

    >>> shown = Exhibit("join", {"n": 3}, (Part("attack", ("n-rows",)),))
    >>> list(shown.sentences("es"))
    ['3 filas']
    """

    code: str
    facts: Mapping[str, object]
    parts: tuple[Part, ...] = field(default=())

    def title(self, language: str = "en") -> str:
        """Its title in a language."""
        return say(f"{self.code}-title", language)

    def sentences(self, language: str = "en") -> Iterator[str]:
        """All that it says, in order."""
        for part in self.parts:
            yield from (say(code, language, **self.facts) for code in part.says)

    def plain(self, language: str = "en") -> dict[str, object]:
        """All of it as plain values, for programs."""
        return {
            "code": self.code,
            "title": self.title(language),
            "facts": dict(self.facts),
            "sentences": list(self.sentences(language)),
            "charts": [drawing.plain(language) for part in self.parts for drawing in part.drawings],
            "tables": [
                {"caption": say(t.code, language), "columns": list(head), "rows": [list(r) for r in rows]}
                for part in self.parts
                for t in part.listings
                for head, rows in [t.worded(language)]
            ],
        }


class FoundClaim(Protocol):
    """What a report shows of a claim that was attacked: see ``audit/finding.py``."""

    @property
    def subject(self) -> str: ...
    @property
    def claim(self) -> Guarantee | None: ...
    @property
    def floor(self) -> float: ...
    @property
    def confidence(self) -> float: ...
    @property
    def samples(self) -> int: ...
    @property
    def violated(self) -> bool: ...
    @property
    def witness(self) -> str: ...
    @property
    def detectable(self) -> str: ...
    @property
    def details(self) -> Mapping[str, object]: ...


def found_text(found: FoundClaim, language: str = "en") -> str:
    """A finding in words; never that something is verified."""
    facts = {"subject": found.subject, "n": f"{found.samples:,}", "witness": found.witness}
    facts |= {"floor": f"{found.floor:.4g}", "confidence": f"{found.confidence:.1%}"}
    if found.violated:
        return say("found-violated", language, **facts)
    if found.claim is None:
        return say("found-measured", language, **facts)
    tail = say("found-would", language, detectable=found.detectable) if found.detectable else ""
    return say("found-nothing", language, **facts, tail=tail)


def floor_drawing(findings: Sequence[FoundClaim]) -> Drawing | None:
    """Floors against the epsilons that are claimed; None where no floor was shown under any, or there are too many.

    >>> floor_drawing([]) is None
    True
    """
    shown = [(f, f.claim.epsilon) for f in findings if isinstance(f.claim, PureDP | ApproxDP)]
    if not any(f.floor > 0 for f, _ in shown) or len(shown) > MOST_BARS:
        return None
    bars = (Bar(f.subject, f.floor, mark=epsilon, alarm=f.violated) for f, epsilon in shown)
    return Drawing("found-chart", bars=tuple(bars), mark="@found-claim")


def found_plain(found: FoundClaim, language: str = "en") -> dict[str, object]:
    """A finding as plain values."""
    return {
        "subject": found.subject,
        "claim": None if found.claim is None else found.claim.to_json(),
        "floor": found.floor,
        "confidence": found.confidence,
        "samples": found.samples,
        "violated": found.violated,
        "witness": found.witness,
        "detectable": found.detectable,
        "sentence": found_text(found, language),
        "details": dict(found.details),
    }
