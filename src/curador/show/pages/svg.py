"""The pieces that charts are drawn of: escaped text, scales, ticks, and a frame with a name that is read aloud."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

LETTER = 6.6
"""The width of a letter of the charts' text, about; texts are placed by it, never cut by it."""

LINE = 17.0
"""The height of a line of text."""

WIDE, NARROW = 680, 350
"""The two widths that every chart is drawn for: a page, and a telephone.  Text has the same size in both."""


_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Control characters, those that turn the direction of text, and what neither XML nor UTF-8 can hold."""


def escaped(text: object) -> str:
    """A text that is safe inside an element and a quoted attribute; what is not seen, or turns a text, becomes �.

    >>> escaped('<a href="x">&\\x00')
    '&lt;a href=&quot;x&quot;&gt;&amp;�'
    """
    return html.escape(_UNSEEN.sub("�", str(text)), quote=True)


def number(x: float) -> str:
    """A coordinate: short, and never in exponents.

    >>> number(12.3456), number(40.0), number(-0.001)
    ('12.3', '40', '0')
    """
    text = f"{x:.1f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def label(text: object, x: float, y: float, kind: str = "label", anchor: str = "start") -> str:
    """A text of a chart."""
    return (
        f'<text class="{kind}" x="{number(x)}" y="{number(y)}" text-anchor="{anchor}" fill="currentColor">'
        f"{escaped(text)}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
    return f'<line class="{kind}" {ends} stroke="currentColor"/>'


def polyline(points: Iterable[tuple[float, float]], kind: str) -> str:
    """A line through points."""
    return f'<polyline class="{kind}" points="{_places(points)}" fill="none" stroke="currentColor"/>'


def polygon(points: Iterable[tuple[float, float]], kind: str) -> str:
    """A filled shape, seen through."""
    return f'<polygon class="{kind}" points="{_places(points)}" fill="currentColor" fill-opacity="0.18"/>'


def box(x: float, y: float, width: float, height: float, kind: str, opacity: float | None = None) -> str:
    """A filled rectangle."""
    through = "" if opacity is None else f' fill-opacity="{opacity:.2f}"'
    size = f'width="{number(max(width, 0))}" height="{number(max(height, 0))}"'
    return f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" {size} rx="2" fill="currentColor"{through}/>'


def _places(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


def framed(parts: Iterable[str], width: float, height: float, title: str, desc: str) -> str:
    """An SVG of its own, with a title and a description for those who hear it.

    >>> framed([], 10, 10, "a <b>", "")[:44]
    '<svg class="chart" viewBox="0 0 10 10" width'
    """
    inside = "".join(parts)
    # Ids of one page must differ; the same chart at another width is another chart.
    own = "c" + sha256(f"{width}{title}{desc}{inside}".encode()).hexdigest()[:10]
    return (
        f'<svg class="chart" viewBox="0 0 {number(width)} {number(height)}" width="{number(width)}" '
        f'height="{number(height)}" role="img" aria-labelledby="{own}t {own}d">'
        f'<title id="{own}t">{escaped(title)}</title><desc id="{own}d">{escaped(desc)}</desc>{inside}</svg>'
    )


def stamped(svg: str, text: str) -> str:
    """A chart with a word across it and before its name: that its rows are made up, say.

    >>> made = stamped(framed([], 100, 50, "n", "one number"), "made-up")
    >>> made.count("made-up"), 'class="stamp"' in made
    (2, True)
    """
    found = re.match(r'<svg class="chart" viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    if found is None or not text:
        return svg
    x, y = float(found[1]) / 2, float(found[2]) / 2 + 12
    named = re.sub(r"(<title [^>]*>)", lambda m: f"{m[1]}{escaped(text)}: ", svg, count=1)
    across = (
        f'<text class="stamp" x="{number(x)}" y="{number(y)}" text-anchor="middle" fill="currentColor" '
        f'fill-opacity="0.16" font-size="40" aria-hidden="true">{escaped(text)}</text>'
    )
    return named.replace("</desc>", "</desc>" + across, 1)  # behind what is drawn


# ---- scales --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ruler:
    """From values to places: linear, or logarithmic.

    >>> Ruler(0, 10, 100, 200).at(5), Ruler(1, 100, 0, 10, log=True).at(10)
    (150.0, 5.0)
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Where a value is drawn; one beyond the ends is drawn at the end."""
        low, high, x = (math.log10(v) if self.log else v for v in (self.low, self.high, self._inside(value)))
        return self.start + (self.end - self.start) * ((x - low) / (high - low) if high > low else 0.5)

    def _inside(self, value: float) -> float:
        return self.low if math.isnan(value) else min(max(value, self.low), self.high)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values within the scale, at most about so many, and two at least: one number is no scale.

        >>> Ruler(0, 1, 0, 1).ticks(5), Ruler(0.1, 1000, 0, 1, log=True).ticks()
        ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.1, 1.0, 10.0, 100.0, 1000.0])
        >>> Ruler(2626, 3454, 0, 1).ticks(2)
        [2800.0, 3000.0, 3200.0, 3400.0]
        """
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            every = max(1, math.ceil((last - first + 1) / max(most, 1)))
            return [10.0**k for k in range(first, last + 1, every)]
        if not self.high > self.low:
            return [self.low]
        raw = (self.high - self.low) / max(most, 1)
        power = 10.0 ** math.floor(math.log10(raw))
        step = next((m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999), 10 * power)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        if last <= first and most < 8:
            return self.ticks(most + 1)
        return [round(k * step, 12) for k in range(first, last + 1)]


def tick_text(value: float, percent: bool = False) -> str:
    """A tick in a few letters.

    >>> tick_text(0.2, percent=True), tick_text(20000), tick_text(0.001), tick_text(1e-9), tick_text(1e6)
    ('20 %', '20,000', '0.001', '1e-9', '1,000,000')
    """
    if percent:
        return f"{100 * value:.4g} %"
    if value and not 1e-4 <= abs(value) < 1e7:
        mantissa, power = f"{value:.3g}".split("e") if "e" in f"{value:.3g}" else (f"{value:.3g}", "")
        return f"{mantissa}e{int(power)}" if power else mantissa
    return f"{value:,.6g}" if value != int(value) else f"{int(value):,}"


DATE_STEPS = (1 / 288, 1 / 96, 1 / 24, 1 / 8, 1 / 4, 1, 2, 7, 14, 30, 91, 182, 365, 1826)
"""Days between two ticks of a calendar: from five minutes to five years."""


def date_ticks(ruler: Ruler, most: int) -> list[tuple[float, str]]:
    """Ticks of days since 1970, with their text: times within a day, else dates, UTC; two at least where time allows.

    >>> date_ticks(Ruler(20000, 20003, 0, 1), 4)[0], date_ticks(Ruler(20000.5, 20000.6, 0, 1), 4)[-1][1]
    ((20000, '10-04'), '14:00')
    >>> [text for _, text in date_ticks(Ruler(20000.48, 20000.53, 0, 1), 3)]
    ['11:45', '12:00', '12:15', '12:30']
    """
    wide = ruler.high - ruler.low
    step = next((s for s in DATE_STEPS if wide / s <= most), DATE_STEPS[-1])
    finer = (s for s in reversed(DATE_STEPS) if s <= step and _within(ruler, s) > 1)
    step = next(finer, step)
    form = "%H:%M" if step < 1 else "%m-%d" if step < 60 else "%Y-%m"
    first, last = math.ceil(ruler.low / step - 1e-9), math.floor(ruler.high / step + 1e-9)
    places = [k * step for k in range(first, last + 1)]
    return [(place, (_EPOCH + timedelta(days=place, seconds=0.5)).strftime(form)) for place in places]


def _within(ruler: Ruler, step: float) -> int:
    """How many multiples of a step a scale holds."""
    return math.floor(ruler.high / step + 1e-9) - math.ceil(ruler.low / step - 1e-9) + 1


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def span(values: Sequence[float], *, log: bool = False, zero: bool = False) -> tuple[float, float]:
    """The least and the largest finite value to show, apart from each other.

    >>> span([3, 9], zero=True), span([0.2, 40], log=True), span([])
    ((0.0, 9), (0.1, 100.0), (0.0, 1.0))
    """
    seen = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
    if not seen:
        return (0.1, 1.0) if log else (0.0, 1.0)
    low, high = min(seen), max(seen)
    if log:
        first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
        first = min(max(first, -300), 299)
        return 10.0**first, 10.0 ** min(max(last, first + 1), 300)
    low, high = (min(low, 0.0), max(high, 0.0)) if zero else (low, high)
    low, high = max(low, -1e300), min(high, 1e300)
    if high > low:
        return low, high
    around = max(0.5, abs(low) / 1000)
    return low - around, low + around


def wrapped(text: str, width: float, letter: float = LETTER) -> list[str]:
    """A text in lines that fit a width; a word that is longer than a line is broken.

    >>> wrapped("one two three", 50), wrapped("x" * 10, 50)
    (['one two', 'three'], ['xxxxxxx', 'xxx'])
    """
    most, lines = max(1, int(width / letter)), [""]
    words = (word[i : i + most] for word in text.split() for i in range(0, len(word), most))
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > most:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
