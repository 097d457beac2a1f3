"""The figures that are kept are those that the program draws, in both languages."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from examples.course_figures.figures import FIGURES
from examples.course_figures.table import table_5_1
from tests.course.figures import FOLDER, LANGUAGES, TABLE, drawn
from tests.course.page import HEAVIEST, pages

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
APART = 0.25
"""How far two coordinates may be: they are rounded to a tenth, and machines differ in the last digits of a sum."""

LONG = ("reconstruction",)
"""Figures that take seconds."""


def same(kept: str, made: str) -> bool:
    """Whether two figures say the same, with coordinates at the same places."""
    if NUMBER.sub("#", kept) != NUMBER.sub("#", made):
        return False
    pairs = zip(NUMBER.findall(kept), NUMBER.findall(made), strict=True)
    return all(abs(float(a) - float(b)) <= APART for a, b in pairs)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in FIGURES])
def test_a_figure_is_the_one_that_is_drawn(name: str, language: str) -> None:
    kept = (FOLDER / language / f"{name}.svg").read_text()
    assert same(kept, drawn(name, language)), "run `make figures`"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_figure_is_there_and_no_other(language: str) -> None:
    there = sorted((FOLDER / language).iterdir())
    assert {file.name for file in there} == {f"{name}.svg" for name in FIGURES} | {TABLE}
    for file in there:
        assert file.stat().st_size < HEAVIEST
        if file.suffix == ".svg":
            assert_alone(file)


def assert_alone(file: Path) -> None:
    """It is whole XML, it says what it shows, and it asks nobody else for anything."""
    root = ElementTree.parse(file).getroot()
    title, desc = (root.findtext(f"{{http://www.w3.org/2000/svg}}{name}") for name in ("title", "desc"))
    assert title
    assert desc
    text = file.read_text().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|href|url\(|@import|<script", text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_figure_of_cut_off_noise_shows_both_densities_and_where_one_ends(language: str) -> None:
    """Page 13 says so; it once showed delta by the cut, through seven points."""
    chart = ElementTree.parse(FOLDER / language / "truncated-laplace.svg").getroot()
    areas = [a for a in chart.iter("{http://www.w3.org/2000/svg}polygon") if "band" in (a.get("class") or "")]
    ends = [[float(place.split(",")[0]) for place in (area.get("points") or "").split()] for area in areas]
    (left, right), (other_left, other_right) = [(min(x), max(x)) for x in ends]
    assert left < other_left < right < other_right
    marks = [m for m in chart.iter("{http://www.w3.org/2000/svg}line") if m.get("class") == "mark"]
    assert [float(m.get("x1") or 0) for m in marks] == pytest.approx([other_left, right], abs=APART)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_is_the_one_that_is_computed(language: str) -> None:
    table = table_5_1(language)
    assert (FOLDER / language / TABLE).read_text() == table
    for page in pages():  # a page that shows it shows this one
        if page.parent.name == language and table.splitlines()[0] in (text := page.read_text()):
            assert table in text


def test_a_figure_that_was_changed_is_seen() -> None:
    kept = (FOLDER / "en" / "laplace-mu.svg").read_text()
    assert same(kept, kept)
    assert not same(kept, kept.replace("density", "density of noise"))
    assert not same(kept, re.sub(r'y1="(\d+)', lambda m: f'y1="{int(m[1]) + 1}', kept, count=1))
    assert not same((FOLDER / "es" / "laplace-mu.svg").read_text(), kept)
