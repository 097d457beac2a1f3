"""A release is drawn as what it is: bars, dots, lines, histograms or a grid; in files and notebooks too."""

from __future__ import annotations

import math
import re
import sys
from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from curador.curator.releases.publication import Publication
from curador.curator.releases.release import Release
from curador.errors import InvalidParameter
from curador.privacy import PureDP
from curador.show.pages.svg import NARROW, WIDE
from curador.show.report.fragments import fragment
from curador.show.report.pictures import pictures

SEXES, TOWNS = ("F", "M"), tuple(f"town {i}" for i in range(8))
DAYS = tuple(date(2024, 1, 1) + timedelta(31 * i) for i in range(12))


def aggregate(name: str, function: str, column: str | None = None, *parameters: str) -> dict[str, Any]:
    return {"name": name, "aggregate": {"function": function, "column": column, "parameters": list(parameters)}}


def made(columns: dict[str, Any], *aggregates: dict[str, Any], reach: float = 2.0, **other: Any) -> Release:
    groups = tuple(name for name in columns if name not in {a["name"] for a in aggregates} and not name.startswith("o"))
    intervals = {
        name: tuple((x - reach, x + reach) for x in cells)
        for name, cells in columns.items()
        if name not in groups and all(isinstance(x, int | float) for x in cells)
    }
    question = {"aggregates": list(aggregates), **other.pop("question", {})}
    return Release(columns, groups, intervals, {}, 0.95, PureDP(1), "7", question=question, **other)


def drawn(release: Release, width: int = WIDE) -> list[str]:
    return [one.svg(width) for one in pictures(release)]


def test_counts_are_bars_from_zero_and_means_are_dots() -> None:
    release = made(
        {"sex": SEXES, "n": (5, 7), "o_mean": (50.5, 51.0)}, aggregate("n", "count"), aggregate("o_mean", "mean", "age")
    )
    bars, dots = drawn(release)
    assert (bars.count('class="bar"'), dots.count("<circle")) == (2, 2)
    assert bars.count('class="reach"') == 6  # a line and two caps each
    assert "50.5" in dots


def test_outputs_share_a_chart_only_where_they_share_a_scale() -> None:
    release = made(
        {"sex": SEXES, "n": (5, 7), "old": (2, 3), "q_p25": (20, 21), "q_p75": (60, 61), "s": (500, 800)},
        aggregate("n", "count"),
        aggregate("old", "count", "x"),
        aggregate("q", "quantiles", "age", "1/4", "3/4"),
        aggregate("s", "sum", "pay"),
        aggregate("q_p25", ""),
        aggregate("q_p75", ""),
    )
    counts, quantiles, sums = drawn(release)
    assert counts.count('s2 block"') == 2 + 1  # with the legend
    assert quantiles.count("<circle") == 4
    assert sums.count('class="bar"') == 2


def test_dates_are_a_line_with_a_band_in_their_order() -> None:
    shuffled = (*DAYS[6:], *DAYS[:6])
    (svg,) = drawn(made({"month": shuffled, "n": tuple(range(12))}, aggregate("n", "count")))
    points = re.search(r'<polyline class="s1 line" points="([^"]+)"', svg)
    assert points is not None
    x = [float(p.split(",")[0]) for p in points[1].split()]
    assert x == sorted(x)
    assert "<polygon" in svg
    assert "2024-01" in svg


def test_numbered_keys_are_a_histogram_and_many_of_them_a_line() -> None:
    (few,) = drawn(made({"band": tuple(range(20)), "n": tuple(range(20))}, aggregate("n", "count")))
    assert few.count('class="bar"') == 20
    (many,) = drawn(made({"band": tuple(range(500)), "n": tuple(range(500))}, aggregate("n", "count")))
    assert many.count('class="s1 line"') == 2  # with its legend
    assert 'class="bar"' not in many


def test_a_thousand_groups_are_the_largest_and_all_as_one_line() -> None:
    values = tuple((i * 37) % 1000 for i in range(1000))
    release = made({"town": tuple(f"t{i}" for i in range(1000)), "n": values}, aggregate("n", "count"))
    largest, all_of_them = pictures(release)
    svg = largest.svg(NARROW)
    assert svg.count('class="bar"') == 30
    assert {f">{v}<" in svg for v in range(970, 1000)} == {True}
    points = re.search(r'<polyline class="s1 line" points="([^"]+)"', all_of_them.svg(WIDE))
    assert points is not None
    assert len(points[1].split()) == 1000
    assert "tend to be too large" in largest.caption


def test_a_steep_line_is_drawn_on_a_logarithmic_scale_and_says_so() -> None:
    values = tuple(100_000 / (i + 1) ** 1.5 for i in range(1000))
    _, ranked = pictures(made({"town": tuple(f"t{i}" for i in range(1000)), "n": values}, aggregate("n", "count")))
    assert "logarithmic" in ranked.caption
    assert "100,000" in ranked.svg(WIDE)


def test_two_keys_are_side_by_side_or_a_grid_or_lines() -> None:
    pairs = [(s, t) for s in SEXES for t in TOWNS]
    few = made(
        {"sex": tuple(s for s, _ in pairs), "town": tuple(t for _, t in pairs), "n": tuple(range(16))},
        aggregate("n", "count"),
    )
    assert drawn(few)[0].count("block") == 16 + 2
    pairs = [(f"a{a}", b) for a in range(20) for b in TOWNS]
    columns = {
        "a": tuple(a for a, _ in pairs),
        "b": tuple(b for _, b in pairs),
        "n": tuple(i - 5 for i in range(160)),
    }
    (grid,) = pictures(made(columns, aggregate("n", "count")))
    assert (grid.svg(WIDE).count('class="cell'), grid.svg(WIDE).count("minus")) == (160, 5)
    assert "at most ± 2" in grid.caption
    dated = [(s, d) for s in SEXES for d in DAYS]
    lines = made(
        {"sex": tuple(s for s, _ in dated), "month": tuple(d for _, d in dated), "n": tuple(range(24))},
        aggregate("n", "count"),
    )
    assert len(re.findall(r'<polyline class="s\d line"', drawn(lines)[0])) == 2


def test_totals_of_grouping_sets_are_left_to_the_table() -> None:
    release = made({"sex": (*SEXES, None), "n": (5, 7, 12)}, aggregate("n", "count"), question={"sets": [["sex"], []]})
    (svg,) = drawn(release)
    assert svg.count('class="bar"') == 2
    assert "NULL" not in svg
    kept = made({"sex": (*SEXES, None), "n": (5, 7, 12)}, aggregate("n", "count"))  # here NULL is a key
    assert drawn(kept)[0].count('class="bar"') == 3


@pytest.mark.parametrize("value", [math.nan, math.inf, None, -1e300, 1e300, 0])
def test_any_number_can_be_drawn_and_none_is_not(value: Any) -> None:
    release = Release(
        {"k": ("a", "b"), "n": (value, 3)}, ("k",), {"n": ((-math.inf, math.inf), (2.0, 4.0))}, {}, 0.95, PureDP(1), "7"
    )
    for svg in drawn(release):
        ElementTree.fromstring(svg)
        assert "nan" not in re.sub(r"<(title|desc).*?</\1>", "", svg)


def test_what_is_no_number_has_no_chart() -> None:
    release = Release({"k": ("a",), "day": (DAYS[0],)}, ("k",), {}, {}, 0.95, PureDP(1), "7")
    assert pictures(release) == []
    with pytest.raises(InvalidParameter, match="nothing to draw"):
        release.plot()
    assert "2024-01-01" in release._repr_html_()


# ---- fragments, notebooks, files -------------------------------------------------------------------------------------

COUNTS = made({"sex": ("F", "<b>"), "n": (5, 7)}, aggregate("n", "count"))


def test_fragments_have_classes_and_no_styles_scripts_or_addresses() -> None:
    pieces = fragment(made({"sex": SEXES, "n": (5, 7)}, aggregate("n", "count"), rehearsal=True))
    assert pieces.label
    assert len(pieces.charts) == 1
    assert 'class="stamp"' in pieces.charts[0]
    for text in (*pieces.charts, pieces.table, pieces.html):
        assert not re.search(r"style=|<style|<script|href=|src=|\son\w+=|http", text)


def test_a_notebook_is_left_alone() -> None:
    for shown in (COUNTS, Publication({"a": COUNTS}, PureDP(1), None, "7"), COUNTS.plot()):
        page = shown._repr_html_()
        (css,) = re.findall("<style>(.*?)</style>", page, re.DOTALL)
        selectors = [s.strip() for rule in re.findall(r"([^{}]+)\{", css) for s in rule.split(",")]
        assert all(s.startswith(".curador-shown") for s in selectors)
        assert "<script" not in page
        assert "<b>" not in page
        assert page.startswith('<div class="curador-shown">')
        assert "<svg" in page
    assert "currentColor" in css


def test_a_plot_is_one_svg_that_needs_nothing(tmp_path: Path) -> None:
    plotted = Publication({"a": COUNTS, "b": COUNTS}, PureDP(1), None, "7").plot(language="es")
    assert len(plotted) == 2
    tree = ElementTree.fromstring(plotted.svg)
    assert len(tree.findall("{http://www.w3.org/2000/svg}svg")) == 2
    assert "var(" not in plotted.svg
    assert plotted._repr_svg_() == plotted.svg
    assert "intervalos del 95 %" in plotted.svg
    assert plotted.save(tmp_path / "x.svg").read_text() == plotted.svg
    with pytest.raises(InvalidParameter, match="neither SVG nor PNG"):
        plotted.save(tmp_path / "x.gif")
    with pytest.raises(InvalidParameter, match="cannot be written"):
        plotted.save(tmp_path / "nowhere" / "x.svg")


def test_a_png_is_drawn_where_there_is_a_program_and_a_font(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def fonts(svg_string: str, zoom: float = 1) -> bytes:
        asked.append(svg_string)
        return svg_string.encode()

    monkeypatch.setitem(sys.modules, "resvg_py", SimpleNamespace(svg_to_bytes=fonts))
    assert COUNTS.plot().save(tmp_path / "x.png").read_bytes() == COUNTS.plot().svg.encode()
    monkeypatch.setitem(sys.modules, "resvg_py", SimpleNamespace(svg_to_bytes=lambda svg_string, zoom=1: b"blank"))
    with pytest.raises(InvalidParameter, match="No font"):
        COUNTS.plot().save(tmp_path / "y.png")
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(InvalidParameter, match="not installed"):
        COUNTS.plot().save(tmp_path / "y.png")
    assert not (tmp_path / "y.png").exists()


def test_csv_is_safe_for_spreadsheets_and_keeps_numbers() -> None:
    keys = ("=1+1", "+x", "-3", "@y", "\t=z", "a;=1", "plain", "＝1", "-2.5")
    release = Release({"=k": keys, "n": (-5, 1, 2, 3, 4, 5, 6, 7, 8)}, ("=k",), {}, {}, 0.95, PureDP(1), "7")
    lines = release.to_csv().split("\n")
    assert lines[0] == "'=k,n"
    assert lines[1:-1] == [
        "'=1+1,-5",
        "'+x,1",
        "-3,2",
        "'@y,3",
        '"\'\t=z",4',
        '"a;=1",5',
        "plain,6",
        "'＝1,7",
        "-2.5,8",
    ]
