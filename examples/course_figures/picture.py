"""A chart as a file of its own: it brings its colours, light or dark as the reader's screen is, and its paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from curador.show.pages.page import tokens_and_charts
from curador.show.pages.svg import LETTER, LINE, escaped, number, wrapped

WIDTH = 600
MARGIN = 16
Words = Callable[[str, str], str]
"""Picks one of two texts: English, Spanish."""


def words(language: str) -> Words:
    """What a figure says its texts with.

    >>> words("es")("people", "personas")
    'personas'
    """
    return (lambda _, es: es) if language == "es" else (lambda en, _: en)


def taken_apart(chart: str) -> tuple[float, float, str, str, str]:
    """Width, height, title, description and the rest of a chart of ``curador.show.pages``."""
    found = re.fullmatch(
        r'<svg class="chart" viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>'
        r"<title[^>]*>(.*?)</title><desc[^>]*>(.*?)</desc>(.*)</svg>",
        chart,
        re.DOTALL,
    )
    assert found is not None, "not a chart of curador.show.pages"
    wide, tall, title, desc, inside = found.groups()
    return float(wide), float(tall), title, desc, inside


def stacked(charts: Sequence[tuple[str, str]], title: str) -> str:
    """Charts below each other, each under its heading, as one chart."""
    wide, y, said, parts = 0.0, 0.0, [], []
    for heading, chart in charts:
        across, tall, _, desc, inside = taken_apart(chart)
        for text in wrapped(heading, across, 1.1 * LETTER):  # bold letters are wider
            parts.append(f'<text class="heading" x="0" y="{number(y + 14)}" font-weight="600">{escaped(text)}</text>')
            y += LINE
        parts.append(f'<g transform="translate(0 {number(y + 10)})">{inside}</g>')
        wide, y = max(wide, across), y + tall + 26
        said.append(f"{escaped(heading)}. {desc}")
    return (
        f'<svg class="chart" viewBox="0 0 {number(wide)} {number(y - 16)}"><title>{escaped(title)}</title>'
        f"<desc>{' '.join(said)}</desc>{''.join(parts)}</svg>"
    )


def standalone(chart: str) -> str:
    """A chart as the text of a file.

    >>> from curador.show.pages.charts import Track, line_chart
    >>> drawn = standalone(line_chart([Track("y", (0, 1), (0, 1))], title="a line"))
    >>> drawn[:38], "prefers-color-scheme: dark" in drawn
    ('<svg xmlns="http://www.w3.org/2000/svg', True)
    """
    wide, tall, title, desc, inside = taken_apart(chart)
    w, h = number(wide + 2 * MARGIN), number(tall + 2 * MARGIN)
    body = re.sub(r"(?<=>)(?=<(?:text|line|polyline|polygon|rect|circle|g)\b)", "\n", inside)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
        f'role="img">\n<title>{title}</title>\n<desc>{desc}</desc>\n<style>{_style(inside)}</style>\n'
        f'<rect width="100%" height="100%" rx="6" class="paper"/>\n'
        f'<g transform="translate({MARGIN} {MARGIN})">{body}\n</g>\n</svg>\n'
    )


def _style(inside: str) -> str:
    """The rules for colours, and those of charts that this one needs."""
    text = re.sub(r"/\*.*?\*/", "", tokens_and_charts(), flags=re.DOTALL)
    dark = re.search(r"@media \(prefers-color-scheme: dark\) \{.*?\}\s*\}", text, re.DOTALL)
    light = re.search(r":root \{.*?\}", text, re.DOTALL)
    assert dark, "tokens.css has changed"
    assert light, "tokens.css has changed"
    used = {name for names in re.findall(r'class="([^"]+)"', inside) for name in names.split()} | {"text"}
    rules = [
        rule
        for rule in re.findall(r"^\.chart[^{}]*\{[^{}]*\}|(?<=\} )\.chart[^{}]*\{[^{}]*\}", text, re.MULTILINE)
        if any(set(re.findall(r"\.([\w-]+)", one)) - {"chart"} <= used for one in rule.split("{")[0].split(","))
    ]
    look = " ".join([light[0], dark[0], *rules, ".paper { fill: var(--paper); }"])
    return re.sub(r"\s+", " ", look)
