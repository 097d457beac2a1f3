"""docs/course/map.md: no item of the course documents is missing, and all that a row names is there."""

from __future__ import annotations

import ast
import pkgutil
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
COURSE = ROOT / "docs" / "course"
LIST: dict[str, Any] = tomllib.loads((COURSE / "items.toml").read_text())
NOT_YET: list[str] = LIST.pop("not_yet")
PHRASES: dict[str, list[str]] = LIST.pop("phrases")
ITEMS = {item: heading for document in LIST.values() for item, heading in document.items()}

CHECKLIST = {"knoppia": 31, "riascos": 24, "clase": 33, "thesis": 31, "navarro": 10}
"""How many points of each document the checklist numbers; one that holds several has a row for each, by letter."""

NUMBERED = {
    "Def.": {"2.1": 1, "2.2": 1, "2.4": 3, "3.1": 8, "3.2": 2, "4.1": 2, "A.0": 3},
    "Prop.": {"2.1": 1, "2.3": 7, "2.4": 3, "3.3": 3, "4.1": 3, "4.2": 1, "4.3": 1}
    | {"5.1": 2, "5.2": 1, "5.3": 1, "A.0": 1},
    "Lemma": {"2.3": 3, "3.3": 1, "A.0": 1},
    "Cor.": {"2.3": 1, "2.4": 2, "4.2": 1, "5.2": 1},
    "Thm": {"3.3": 2, "5.2": 1, "5.3": 1, "A.0": 3},
    "Figure": {"5": 3},
    "Table": {"5": 1},
}
"""The thesis's own numbers: how many statements of each kind a section has."""


@dataclass(frozen=True)
class Row:
    """One line of the map."""

    item: str
    heading: str
    functions: list[str]
    tests: list[str]
    errata: list[str]
    pages: list[str]
    not_yet: bool


def read(line: str) -> Row:
    item, heading, functions, tests, errata, pages = (cell.strip() for cell in line.split("|")[1:-1])
    return Row(
        item,
        heading,
        re.findall(r"`([^`]+)`", functions),
        re.findall(r"`([^`]+)`", tests),
        re.findall(r"\[([A-Z]\d+)\]\(\.\./course-errata\.md\)", errata),
        re.findall(r"\]\(([^)]+)\)", pages),
        functions == "**not yet**",
    )


ROWS = [read(line) for line in (COURSE / "map.md").read_text().splitlines() if re.match(r"\| \d", line)]
ERRATA = re.findall(r"^\| ([A-Z]\d+) \|", (ROOT / "docs" / "course-errata.md").read_text(), re.MULTILINE)


@cache
def functions_in(file: Path) -> frozenset[str]:
    found = ast.parse(file.read_text()).body
    return frozenset(node.name for node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def missing(row: Row) -> list[str]:
    """What the row names and is not there, or does not name and should."""
    found = []
    for name in row.functions:
        try:
            thing = pkgutil.resolve_name(name)
        except (AttributeError, ImportError, ValueError):
            found.append(name)
            continue
        if not (name.startswith("curador.") and (callable(thing) or hasattr(type(thing), "__get__"))):
            found.append(name)
    for name in row.tests:
        file, _, test = name.partition("::")
        there = file.startswith("tests/") and (ROOT / file).is_file()
        if not (there and test.startswith("test_") and test in functions_in(ROOT / file)):
            found.append(name)
    found += [page for page in row.pages if not (COURSE / page).is_file()]
    found += [erratum for erratum in row.errata if erratum not in ERRATA]
    if row.not_yet and (row.functions or row.tests):
        found.append("a row that is not yet there names something")
    if not row.not_yet and not (row.functions and row.tests):
        found.append("a function and a test, or **not yet**")
    return found


def test_the_map_has_every_item_once_and_no_other() -> None:
    assert [(row.item, row.heading) for row in ROWS] == list(ITEMS.items())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.item)
def test_what_a_row_names_is_there(row: Row) -> None:
    assert missing(row) == []


def test_what_is_not_yet_there_is_what_the_list_admits() -> None:
    assert [row.item for row in ROWS if row.not_yet] == NOT_YET


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_item_is_told_in_both_languages(language: str) -> None:
    """By a page of the course, or by a notebook of it."""
    assert [row.item for row in ROWS if not own(row, language)] == []


def own(row: Row, language: str) -> list[Path]:
    """The pages of the course, in a language, that a row leads to."""
    return [COURSE / page for page in row.pages if re.match(rf"(notebooks/)?{language}/", page)]


def stated(row: Row, language: str, text: str) -> bool:
    """Whether a text has the item's phrase, or names one of its functions."""
    if row.item in PHRASES:
        return PHRASES[row.item][("en", "es").index(language)] in text
    parts = [name.split(".")[-2:] for name in row.functions]
    names = [name for before, name in parts] + [before for before, _ in parts if before[0].isupper()]
    return any(re.search(rf"\b{name}\b", text) for name in names)


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_page_of_every_item_states_it(language: str) -> None:
    pages = {row.item: "".join(page.read_text() for page in own(row, language)) for row in ROWS if not row.not_yet}
    assert [row.item for row in ROWS if row.item in pages and not stated(row, language, pages[row.item])] == []
    assert PHRASES.keys() <= pages.keys()
    assert not any(stated(row, language, "nothing of it") for row in ROWS if row.item in pages)


def test_every_erratum_is_named_by_a_row() -> None:
    assert set(ERRATA) - {erratum for row in ROWS for erratum in row.errata} == set()


@pytest.mark.parametrize(("document", "points"), CHECKLIST.items())
def test_no_point_of_the_checklist_is_left_out(document: str, points: int) -> None:
    """Points are numbered from 1 on, and the parts of one are lettered from a on."""
    number = list(CHECKLIST).index(document)
    together = groupby(LIST[document], key=lambda item: item.rstrip(ascii_lowercase))
    parts = {point: [item.removeprefix(point) for item in items] for point, items in together}
    assert list(parts) == [f"{number}.{i}" for i in range(1, points + 1)]
    assert all(letters in ([""], list(ascii_lowercase[: len(letters)])) for letters in parts.values())


@pytest.mark.parametrize("kind", NUMBERED)
def test_every_number_of_the_thesis_has_a_row(kind: str) -> None:
    headings = [heading.partition(":")[0] for heading in LIST["thesis"].values()]
    found = [number for heading in headings for number in re.findall(rf"{re.escape(kind)} ([\dA][\d.]*\d)", heading)]
    wanted = [f"{section}.{i}" for section, most in NUMBERED[kind].items() for i in range(1, most + 1)]
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize(
    "line",
    [
        "| 0.1 | a | `curador.nonsense` | `tests/whole/test_course_map.py::test_every_erratum_is_named_by_a_row` | | |",
        "| 0.1 | a | `math.sin` | `tests/whole/test_course_map.py::test_every_erratum_is_named_by_a_row` | | |",
        "| 0.1 | a | `curador.Laplace` | `tests/whole/test_course_map.py::test_nonsense` | | |",
        "| 0.1 | a | `curador.Laplace` | `tests/whole/test_course_map.py::read` | | |",
        "| 0.1 | a | `curador.Laplace` | `tests/whole/nonsense.py::test_nonsense` | | |",
        "| 0.1 | a | `curador.Laplace` | | | |",
        "| 0.1 | a | | | | |",
        "| 0.1 | a | **not yet** | `tests/whole/test_course_map.py::test_every_erratum_is_named_by_a_row` | | |",
        "| 0.1 | a | **not yet** | | [Z1](../course-errata.md) | |",
        "| 0.1 | a | **not yet** | | | [nowhere](nowhere.md) |",
    ],
)
def test_a_wrong_row_is_seen(line: str) -> None:
    assert len(missing(read(line))) == 1
