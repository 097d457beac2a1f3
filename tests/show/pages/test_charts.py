"""Charts are well-formed, escaped, named for those who hear them, and drawn inside their frame."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.errors import InvalidParameter
from curador.show.pages.bars import Bar, BarGroup, bar_chart, grouped_chart
from curador.show.pages.charts import Axis, Track, line_chart, roc_chart, scatter_chart, xy_chart
from curador.show.pages.columns import column_chart
from curador.show.pages.density import density_chart
from curador.show.pages.dots import dot_chart
from curador.show.pages.heat import heat_chart
from curador.show.pages.svg import NARROW, WIDE, Ruler, escaped, span, stamped, tick_text, wrapped

HOSTILE = "</text><script>alert('x')</script>\"' onload=\"y\" &amp; \x00\x1b[31m"

Draws = Callable[[str, int], str]
CHARTS: dict[str, Draws] = {
    "lines": lambda name, width: line_chart(
        [Track(name, (0, 1, 2), (1, 4, 9), low=(0, 3, 8), high=(2, 5, 10))], title=name, desc=name,
        x=Axis(name), y=Axis(name), width=width,
    ),
    "points": lambda name, width: scatter_chart(
        [Track(name, (1, 10), (1, 4), low=(0, 3), high=(2, 5))], title=name, x=Axis(name, log=True), width=width
    ),
    "roc": lambda name, width: roc_chart(
        [Track(name, (0, 0.1, 1), (0, 0.6, 1), "steps")], title=name, x=name, y=name, width=width
    ),
    "tradeoff": lambda name, width: roc_chart([Track(name, (0, 1), (1, 0))], title=name, width=width, tradeoff=True),
    "grouped": lambda name, width: grouped_chart(
        [BarGroup(name, (Bar(name, 3, 2, 4), Bar("b", -1, -2, math.inf)))], title=name, width=width
    ),
    "dots": lambda name, width: dot_chart([BarGroup(name, (Bar(name, 30, 29, 41),))], title=name, width=width),
    "columns": lambda name, width: column_chart(
        [Bar(name[:9], 3, 2, 4), Bar("b", -1)], title=name, desc=name, x=Axis(name), y=Axis(name), width=width
    ),
    "density": lambda name, width: density_chart(
        [Track(name, (0, 1, 2), (0.1, 0.5, 0.1))], title=name, x=Axis(name), marks=[(name, 1.0)], width=width
    ),
    "heat": lambda name, width: heat_chart(
        [name, "b"], [name, "c"], {(0, 0): 1.0, (1, 1): -2.0}, title=name, desc=name, width=width
    ),
    "bars": lambda name, width: bar_chart(
        [Bar(name, 3, 2, 4, mark=3.5), Bar("b", -1, alarm=True)], title=name, x=Axis(name), mark=name, width=width
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CHARTS)
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_hostile_name_stays_text(kind: str, width: int) -> None:
    drawn = CHARTS[kind](HOSTILE, width)
    tree = ElementTree.fromstring(drawn)  # well-formed, or this fails
    assert {e.tag for e in tree.iter()} <= {
        "svg",
        "title",
        "desc",
        "text",
        "line",
        "polyline",
        "polygon",
        "circle",
        "rect",
    }
    plain = {"class", "viewBox", "width", "height", "role", "aria-labelledby", "id", "x", "y", "text-anchor", "points"}
    plain |= {"x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "fill", "stroke", "fill-opacity", "transform"}
    assert {name for e in tree.iter() for name in e.attrib} <= plain
    said = "".join(tree.itertext())
    assert "<script>alert('x')" in said
    assert "\x00" not in drawn
    assert "\x1b" not in drawn


@pytest.mark.parametrize("kind", CHARTS)
def test_a_chart_has_a_name_and_a_description(kind: str) -> None:
    tree = ElementTree.fromstring(CHARTS[kind]("floors", WIDE))
    title, desc = tree[0], tree[1]
    assert (title.tag, desc.tag, tree.attrib["role"]) == ("title", "desc", "img")
    assert tree.attrib["aria-labelledby"].split() == [title.attrib["id"], desc.attrib["id"]]
    assert title.text == "floors"
    assert (desc.text or "").strip()


@pytest.mark.parametrize("kind", CHARTS)
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_everything_is_drawn_inside_the_frame(kind: str, width: int) -> None:
    tree = ElementTree.fromstring(CHARTS[kind]("a name of some words, as they are", width))
    tall = float(tree.attrib["height"])
    for e in tree.iter():
        for name, most in (("x", width), ("x1", width), ("x2", width), ("cx", width)):
            assert 0 <= float(e.attrib.get(name, 0)) <= most
        for name in ("y", "y1", "y2", "cy"):
            assert 0 <= float(e.attrib.get(name, 0)) <= tall
        for pair in e.attrib.get("points", "").split():
            x, y = map(float, pair.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= tall


def test_values_are_where_they_belong() -> None:
    drawn = ElementTree.fromstring(
        xy_chart([Track("y", (0, 5, 10), (0, 5, 10), "points")], title="t", y=Axis(ends=(0, 10)))
    )
    dots = list(drawn.iter("circle"))[1:]  # after the one of the legend
    x = [float(e.attrib["cx"]) for e in dots]
    y = [float(e.attrib["cy"]) for e in dots]
    assert x[2] - x[1] == pytest.approx(x[1] - x[0], abs=0.2)
    assert y[0] - y[1] == pytest.approx(y[1] - y[2], abs=0.2) and y[0] > y[2]  # noqa: PT018  up is up
    bars = ElementTree.fromstring(bar_chart([Bar("a", 2), Bar("b", 4)], title="t"))
    short, long = (float(e.attrib["width"]) for e in bars.iter("rect"))
    assert long == pytest.approx(2 * short, abs=0.3)


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12), st.integers(2, 12))
def test_ticks_are_round_few_and_inside(low: float, wide: float, most: int) -> None:
    scale = Ruler(low, low + wide, 0, 100)
    ticks = scale.ticks(most)
    assert len(ticks) <= most + 2
    if low + wide > low:
        slack = 1e-6 * (wide + abs(low))
        assert all(low - slack <= t <= low + wide + slack for t in ticks)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=6), st.booleans())
def test_any_values_have_a_span_and_places(values: list[float], log: bool) -> None:
    low, high = span(values, log=log)
    assert math.isfinite(low)
    assert low < high
    scale = Ruler(low, high, 10, 90, log)
    assert all(10 <= scale.at(v) <= 90 for v in values)


@given(st.text(), st.floats(10, 400))
def test_wrapping_keeps_every_word(text: str, width: float) -> None:
    lines = wrapped(text, width)
    assert "".join(lines).replace(" ", "") == "".join(text.split())  # a word longer than a line is broken, not cut
    assert all(len(line) <= max(1, int(width / 6.6)) for line in lines)


def test_escaping_leaves_no_markup() -> None:
    assert not re.search(r"[<>\"]", escaped(HOSTILE))
    assert tick_text(-2.5) == "-2.5"


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InvalidParameter):
        Track("y", (1, 2), (1,))
    with pytest.raises(InvalidParameter):
        xy_chart([], title="nothing")
    with pytest.raises(InvalidParameter):
        bar_chart([], title="nothing")
    with pytest.raises(InvalidParameter):
        Track("y", (1,), (1,), style="<b>")


BARS = [Bar("women", 120, 110, 130), Bar("men", -3, -13, 7)]


def drawn_texts(svg: str, kind: str) -> dict[str, tuple[float, float]]:
    found = re.findall(rf'<text class="{kind}" x="([\d.-]+)" y="([\d.-]+)"[^>]*>([^<]*)<', svg)
    return {text: (float(x), float(y)) for x, y, text in found}


@pytest.mark.parametrize(
    "draws", [bar_chart, lambda bars, **how: dot_chart([BarGroup(b.name, (b,)) for b in bars], **how)]
)
def test_a_chart_has_one_layout_on_a_page_and_on_a_telephone(draws: Callable[..., str]) -> None:
    for width in (WIDE, NARROW):
        made = draws(BARS, title="n", width=width)
        names, values, ticks = (drawn_texts(made, kind) for kind in ("label", "value", "tick"))
        assert len(ticks) >= 2
        for name, value in (("women", "120"), ("men", "-3")):
            assert names[name][1] == values[value][1]  # in one line
        assert values["-3"][0] < values["120"][0]  # each behind its own bar


def test_long_names_stand_above_on_a_telephone_and_no_line_crosses_them() -> None:
    long = [Bar("those who have been here for longer than a year", 5, 4, 6), Bar("others", 3, 2, 4)]
    made = bar_chart(long, title="n", width=NARROW)
    names = drawn_texts(made, "label")
    lines = re.findall(r'<line class="(?:rule|axis)" x1="[\d.]+" y1="([\d.]+)" x2="[\d.]+" y2="([\d.]+)"', made)
    assert all(x == 0 for x, _ in names.values())
    assert lines
    assert not any(float(top) < y - 4 < float(bottom) for top, bottom in lines for _, y in names.values())


def test_a_stamp_is_behind_what_is_drawn() -> None:
    made = stamped(bar_chart(BARS, title="n"), "made-up")
    assert made.index('class="stamp"') < made.index("<rect") < made.index('class="value"')
