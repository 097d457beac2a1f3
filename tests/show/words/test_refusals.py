"""Refusals in Spanish: every one that a person can meet has a code, its facts, and a text made from them."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from curador import errors
from curador.curator.curator import Curator
from curador.errors import CuradorError
from curador.privacy import PureDP
from curador.query.tables.table import Table
from curador.show.words.say import REFUSALS, knows, refusal, refusals, texts
from tests.show.test_words import blanks
from tests.show.words.test_console import PAGES
from tests.show.words.unspoken import UNSPOKEN, UNSPOKEN_CODES

ES = {code: (said["es"]["what"], said["es"]["fix"]) for code, said in refusals().items()}
SOURCE = Path(__file__).parents[3] / "src" / "curador"
ROOMS = ("numbers.py", "query/", "curator/", "server/")
CLASSES = {name for name, x in vars(errors).items() if isinstance(x, type) and issubclass(x, CuradorError)}

BY_FIELD = {  # helpers of the console, whose codes are made of what they are given
    "server/console/budgets/granting.py:_wrong": "{3}",
    "server/console/pages/analysts.py:_wrong": "{3}",
    "server/console/pages/collect.py:_wrong": "task-{0}-{3}",
    "server/console/pages/ledger.py:_wrong": "filter-{0}",
    "server/console/learning/chosen.py:wrong": "model-{3|0}",
    "server/console/questions/pricing.py:wrong": "field-{0}",
}


@dataclass(frozen=True)
class Made:
    """A refusal where it is made; its code is None without one, and "" where it is another's, or found at run time."""

    file: str
    function: str
    line: int
    code: str | None
    facts: frozenset[str] | None

    @property
    def place(self) -> str:
        return f"{self.file}:{self.function}"


def made(file: str, source: str) -> Iterator[Made]:
    """Every refusal that a file makes."""
    inside: list[tuple[str, ast.AST]] = [("", ast.parse(source))]
    while inside:
        function, node = inside.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node.name
        inside += [(function, child) for child in ast.iter_child_nodes(node)]
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        called, given = node.func.id, {k.arg or "": k.value for k in node.keywords}
        code: ast.expr | None
        if called in CLASSES:
            code, told = given.get("code"), given.get("facts")
            facts = _keys(told) if told is not None else frozenset()
        elif called == "refuse" and len(node.args) > 2:  # with fewer, the word itself has a code
            code = given.get("code") or (node.args[4] if len(node.args) > 4 else None)
            facts = frozenset({*given, "at"} - {"code"})
        elif called == "refused" and len(node.args) == 3:
            code, facts = node.args[2], frozenset()
        elif f"{file}:{called}" in BY_FIELD:
            code, facts = _by_field(BY_FIELD[f"{file}:{called}"], node.args), frozenset({*given, "field"})
        else:
            continue
        known = None if code is None else code.value if isinstance(code, ast.Constant) else ""
        yield Made(file, function, node.lineno, known if known is None else str(known), facts)


def _keys(facts: ast.expr) -> frozenset[str] | None:
    keys = facts.keys if isinstance(facts, ast.Dict) else [None]
    written = [key.value for key in keys if isinstance(key, ast.Constant)]
    return frozenset(map(str, written)) if len(written) == len(keys) else None


def _by_field(pattern: str, args: list[ast.expr]) -> ast.expr:
    values = [x.value if isinstance(x, ast.Constant) else None for x in args]

    def filled(found: re.Match[str]) -> str:
        chosen = [values[int(i)] for i in found[1].split("|") if int(i) < len(values)]
        return str(next((x for x in chosen if x), ""))

    named = not any(x is None for x in values)
    return ast.Constant(re.sub(r"\{([\d|]+)\}", filled, pattern).rstrip("-") if named else "")


def all_made(*rooms: str) -> list[Made]:
    files = {str(f.relative_to(SOURCE)): f for f in sorted(SOURCE.rglob("*.py"))}
    return [one for name, f in files.items() if name.startswith(rooms) for one in made(name, f.read_text())]


def texts_of(code: str, file: str) -> list[tuple[str, ...]]:
    """The texts that tell a code on a Spanish page: one of all pages, one of a page's own, or one by its code."""
    pages = PAGES if file.startswith("server/console/") else ["frame"]
    found = [tuple(texts(f"console/{page}").get(f"error-{code}", {}).values()) for page in pages]
    return [text for text in [ES.get(code), *found] if text]


MADE = all_made(*ROOMS)


def test_refusals_are_found() -> None:
    assert len(MADE) > 450
    source = "def f():\n    raise QuestionRefused('x', fix='y', code='z', facts={'a': 1})\n    refuse(n, t, 'x', 'y')"
    assert {(one.function, one.code, one.facts) for one in made("a.py", source)} == {
        ("f", "z", frozenset({"a"})),
        ("f", None, frozenset({"at"})),
    }


def test_what_a_person_can_meet_has_a_code_and_a_spanish_text() -> None:
    unspoken = {place for places in UNSPOKEN.values() for place in places}
    silent = {
        f"{one.place} (line {one.line}): {one.code or 'no code'}"
        for one in MADE
        if (one.code is None or (one.code and not texts_of(one.code, one.file)))
        and not {one.place, one.file} & unspoken
        and one.code not in UNSPOKEN_CODES
    }
    assert silent == set(), "write a Spanish text by code, or say in unspoken.py why nobody meets it in the console"


def test_what_is_left_out_is_still_there() -> None:
    there = {one.place for one in MADE} | {one.file for one in MADE}
    assert {place for places in UNSPOKEN.values() for place in places} - there == set()
    assert set(UNSPOKEN_CODES) <= {one.code for one in MADE}
    assert not {code for code in UNSPOKEN_CODES if code in ES}


def test_every_text_has_the_facts_that_it_fills_in() -> None:
    short = {
        f"{one.place} (line {one.line}): {one.code} lacks {sorted(missing)}"
        for one in [*MADE, *all_made("engines/", "ledger/", "learn/")]
        if one.code and one.facts is not None
        for text in texts_of(one.code, one.file)
        if (missing := blanks("".join(text)) - one.facts - {"scope"})
    }
    assert short == set()


def test_texts_are_spanish_and_have_names_for_blanks() -> None:
    for code, (what, fix) in ES.items():
        assert re.fullmatch(r"[a-z0-9-]+", code)
        assert what.endswith((".", "?")), code
        assert fix.endswith("."), code
        assert not re.search(r"\b(the|is|must|not|you)\b", re.sub("'.*?'|[A-Z_]+", "", what + fix)), code
        assert all(blank.isidentifier() for blank in blanks(what + fix)), code
        assert "columns" not in blanks(what + fix) or code == "sets-need-keys"


def test_each_code_has_one_text() -> None:
    files = sorted((SOURCE / "show" / "words" / "refusals").glob("*.toml"))
    assert {file.stem for file in files} == set(REFUSALS)
    assert sum(len(tomllib.loads(file.read_text())) for file in files) == len(ES)


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
    "SHOW TABLES": "declarations",
    "SELECT sex, age, COUNT(*) AS n FROM people GROUP BY sex": "neither-grouped",
    "SELECT COUNT(*) AS n FROM people WHERE age = 'young'": "compared-types",
    "SELECT COUNT(*) AS n FROM people WHERE age > 17.5": "compared-fraction",
    "SELECT COUNT(*) AS n FROM people WHERE town > 'L'": "values-unlisted",
    "SELECT COUNT(*) AS n FROM people WHERE age": "not-a-condition",
    "SELECT COUNT(*) AS n FROM people WHERE age = NULL": "null-untyped",
    "SELECT SUM(age + sex) AS n FROM people": "mixed-arithmetic",
    "SELECT SUM(weight * 2) AS n FROM people": "no-bounds",
    "SELECT UPPER(town) AS t, COUNT(*) AS n FROM people GROUP BY 1": "values-unlisted",
    "SELECT YEAR(age) AS y, COUNT(*) AS n FROM people GROUP BY 1": "needs-date",
    "SELECT AVG(UPPER(age)) AS n FROM people": "needs-text",
    "SELECT DISTINCT sex FROM people": "sql-select-distinct",
    "SELECT sex, COUNT(*) AS n FROM people GROUP BY": "sql-missing-after",
    "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex LIMIT 0": "whole-number",
    "SELECT sex, town, COUNT(*) AS n FROM people GROUP BY ROLLUP(sex, town)": "sets-need-keys",
    "SELECT COUNT(*) AS n FROM public.people": "sql-schema",
    "SELECT COUNT(*) AS n FROM people FULL JOIN other ON people.age = other.age": "full-join",
    "SELECT COUNT(*) AS n FROM (SELECT age FROM people ORDER BY age) t": "inner-part",
    "SELECT QUANTILE(age, 2) AS q FROM people": "probability-range",
    "SELECT CORR(age, age) AS c FROM people": "pair-of-one",
    "SELECT AVG(CAST(age AS DECIMAL(3, 1))) AS n FROM people": "cast-type",
    "SELECT AVG(LN(weight)) AS n FROM people": "curve-untabled",
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
