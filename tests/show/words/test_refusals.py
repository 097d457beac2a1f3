"""Refusals in Spanish: made from codes and facts; how many stay English is counted, and may not grow."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from curador.curator.curator import Curator
from curador.errors import CuradorError
from curador.privacy import PureDP
from curador.query.tables.table import Table
from curador.show.words.refusals import ES
from curador.show.words.say import knows, refusal
from tests.show.test_words import blanks

SOURCE = Path(__file__).parents[3] / "src" / "curador"
RAISED = {"QuestionRefused", "InvalidParameter", "NotPromised", "BudgetExceeded", "refuse", "_wrong"}
"""The names by which refusals are made."""

WIZARD = (
    "server/console/wizard.py",
    "server/console/uploading.py",
    "curator/study/draft.py",
    "curator/study/header.py",
)
SQL = ("query/ask/sql/", "query/ask/typed.py", "query/plan/", "query/aggregates/")
ENGLISH = {"wizard": 1, "sql": 112}
"""Places that refuse without a code, and so in English alone: a frame as a draft, and rare parts of SQL."""


def made(source: str) -> list[tuple[int, str | None]]:
    """The line of every refusal that a file makes, and its code where that is written there; None where it has none."""
    found: list[tuple[int, str | None]] = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if called not in RAISED or (called == "refuse" and len(node.args) <= 2):  # by the word itself: always coded
            continue
        place = {"refuse": 4, "_wrong": 1}.get(called)
        given = [k.value for k in node.keywords if k.arg == "code"]
        given += [node.args[place]] if place is not None and len(node.args) > place else []
        if not given:
            found.append((node.lineno, None))
        elif isinstance(given[0], ast.Constant):
            found.append((node.lineno, str(given[0].value)))
    return found


def refusals(*under: str) -> dict[str, str | None]:
    files = [f for f in sorted(SOURCE.rglob("*.py")) if str(f.relative_to(SOURCE)).startswith(under)]
    return {
        f"{f.relative_to(SOURCE)}:{line}": code for f in files for line, code in made(f.read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize(("name", "under"), [("wizard", WIZARD), ("sql", SQL)])
def test_what_stays_english_does_not_grow(name: str, under: tuple[str, ...]) -> None:
    found = refusals(*under)
    plain = sorted(place for place, code in found.items() if code is None)
    assert len(plain) <= ENGLISH[name], plain
    assert len(plain) == ENGLISH[name], "fewer stay English now: lower the number"


OURS_ALONE = {"declarations", "plan-defect", "table-refused"}
"""Codes that need no Spanish: what SHOW TABLES lists, a defect of our own, and the library's words quoted."""


@pytest.mark.parametrize("under", [WIZARD, SQL], ids=["wizard", "sql"])
def test_every_code_has_a_spanish_text(under: tuple[str, ...]) -> None:
    codes = {code for code in refusals(*under).values() if code} - OURS_ALONE
    assert len(codes) > 5
    assert {code for code in codes if code not in ES and not knows(f"frame.error-{code}")} == set()


def test_texts_are_spanish_and_have_names_for_blanks() -> None:
    for code, (what, fix) in ES.items():
        assert re.fullmatch(r"[a-z0-9-]+", code)
        assert what.endswith((".", "?")), code
        assert not re.search(r"\b(the|is|must|not|you)\b", re.sub("'.*?'|[A-Z_]+", "", what + fix)), code
        assert all(blank.isidentifier() for blank in blanks(what + fix)), code


WRONG = {
    "SELECT AVG(agee) AS m FROM people": "no-such-column",
    "SELECT COUNT(*) AS n FROM peple": "no-such-table",
    "SELECT COUNT(* AS n FROM people": "unreadable-sql",
    "SELEC COUNT(*) AS n FROM people": "no-select",
    "DELETE FROM people": "only-reads",
    "SELECT age FROM people": "shows-rows",
    "SELECT COUNT(*)": "no-from",
    "SELECT FOOBAR(age) AS n FROM people": "no-such-function",
    "SELECT KURTOSIS(age) AS n FROM people": "sql-no-estimate",
    "SELECT AVG(SIN(age)) AS n FROM people": "sql-not-exact",
    "SELECT COUNT(*) AS n FROM people WHERE town SIMILAR TO 'a'": "sql-pattern",
    "SELECT COUNT(*) AS n FROM people WHERE age > CURRENT_DATE": "sql-clock",
    "SELECT AVG(town) AS n FROM people": "wrong-type",
    "SELECT AVG(weight) AS n FROM people": "no-bounds",
    "SELECT weight, COUNT(*) AS n FROM people GROUP BY weight": "group-by-real",
    "SELECT town, COUNT(*) AS n FROM people GROUP BY town": "delta-not-granted",
    "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY age": "not-in-answer",
    "SELECT COUNT(*) AS n FROM people GROUP BY 7": "select-number",
    "SELECT COUNT(*) AS n FROM people p JOIN other o": "join-without-on",
    "SELECT COUNT(*) AS n FROM people JOIN other ON people.age > other.age": "join-by-equality",
    "SELECT COUNT(*) AS n FROM people WHERE COUNT(*) > 3": "aggregate-in-row",
    "SELECT COUNT(*) AS n FROM people UNION SELECT COUNT(*) AS n FROM other": "union-of-answers",
    "SELECT COUNT(*) AS n FROM people; SELECT COUNT(*) AS n FROM people": "several-statements",
}
PRICES = {"abc": "not-a-number", "-1": "not-positive", "0": "not-positive", "1e30": "loss-range"}


@pytest.fixture(scope="module")
def curator() -> Curator:
    columns = {
        "age": {"type": "integer", "bounds": [0, 99]},
        "sex": {"type": "text", "keys": ["F", "M"]},
        "town": {"type": "text"},
        "weight": {"type": "real"},
    }
    return Curator({name: Table(f"{name}.csv", columns=columns) for name in ("people", "other")}, budget=PureDP(1))


def spanish(error: CuradorError) -> str:
    if knows(f"frame.error-{error.code}"):
        return error.code
    found = refusal(error, "es")
    return error.code if found is not None and "{" not in found[0] + found[1] else f"English: {error.code} {error.what}"


@pytest.mark.parametrize(("sql", "code"), WRONG.items())
def test_what_an_analyst_mistypes_is_said_in_spanish(curator: Curator, sql: str, code: str) -> None:
    with pytest.raises(CuradorError) as refused:
        curator.plan(sql, epsilon="0.1", delta=None)
    assert spanish(refused.value) == code


@pytest.mark.parametrize(("price", "code"), PRICES.items())
def test_a_wrong_price_is_said_in_spanish(curator: Curator, price: str, code: str) -> None:
    with pytest.raises(CuradorError) as refused:
        curator.plan("SELECT COUNT(*) AS n FROM people", epsilon=price)
    assert spanish(refused.value) == code


def test_the_place_in_the_text_is_said_too(curator: Curator) -> None:
    with pytest.raises(CuradorError) as refused:
        curator.plan("SELECT COUNT(*) AS n\nFROM people WHERE FOOBAR(age) > 1", epsilon=1)
    found = refusal(refused.value, "es")
    assert found is not None
    assert found[0].startswith("Línea 2, columna 19: ")


def test_no_text_is_left_of_a_code_that_nobody_raises() -> None:
    files = [file for file in SOURCE.rglob("*.py") if file.name != "refusals.py"]
    quoted = {code for file in files for code in re.findall(r'"([a-z0-9-]+)"', file.read_text(encoding="utf-8"))}
    assert set(ES) - quoted == set()
