"""A text in a language, by its code, with facts filled in."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from curador.errors import CuradorError, InvalidParameter

LANGUAGES = ("en", "es")

REFUSALS = ("prices", "sql_words", "sql_rows", "sql_columns", "sql_types", "tables", "study")
"""The files of refusals: prices and policy, SQL, tables, and people."""

Texts = Mapping[str, dict[str, str]]
"""Texts by code, each by language."""


@cache
def texts(*files: str) -> Texts:
    """The texts of some files of this folder, which are read when they are first needed.

    >>> texts("release")["n-rows"]["es"]
    '{n} filas'
    """
    return {code: text for file in files for code, text in _read(file).items()}


def _read(file: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(f"{file}.toml").read_text("utf-8"))


def pages() -> list[str]:
    """The pages of the console that have a file of texts."""
    files = resources.files(__package__).joinpath("console").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def say(code: str, language: str = "en", **facts: object) -> str:
    """The text of a code: ``cli.`` begins the code of a command, the name of a page that of the console.

    >>> say("groups-selected", "es")
    'Los grupos con pocas unidades se omiten; cuáles se muestran es aleatorio.'
    >>> say("n-rows", "en", n="3")
    '3 rows'
    >>> say("frame.sign-in", "es")
    'Iniciar sesión'
    """
    if language not in LANGUAGES:
        raise InvalidParameter(f"There is no language {language!r}.", fix=f"Use one of {', '.join(LANGUAGES)}.")
    page, dot, name = code.partition(".")
    found = _of_page(page)[name] if dot else texts("report", "release")[code]
    return found[language].format(**facts)


def knows(code: str) -> bool:
    """Whether a page of the console has a text of this code.

    >>> knows("frame.sign-in"), knows("frame.no-such-text")
    (True, False)
    """
    page, _, name = code.partition(".")
    return name in _of_page(page)


def _of_page(page: str) -> Texts:
    return texts("cli" if page == "cli" else f"console/{page}")


@cache
def refusals() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Refusals in words, by code and language: ``what`` happened and how to ``fix`` it."""
    return {code: text for name in REFUSALS for code, text in _read(f"refusals/{name}").items()}


def refusal(error: CuradorError, language: str, **worded: object) -> tuple[str, str] | None:
    """Word a refusal in a language other than English, from its code and its facts.

    ``worded`` are facts in words, in place of the refusal's own.

    >>> refusal(InvalidParameter("x", fix="y", code="not-positive", facts={"name": "epsilon"}), "es")
    ('épsilon debe ser mayor que 0.', 'Escriba un número mayor que 0.')
    >>> refusal(InvalidParameter("x", fix="y", code="no-such-code"), "es") is None
    True
    """
    if language == "en" or error.code not in refusals():
        return None
    found = refusals()[error.code][language]
    facts = {name: _worded(name, x, language) for name, x in {**error.facts, **worded}.items()}
    try:
        what, fix = (found[part].format(**facts) for part in ("what", "fix"))
    except (KeyError, IndexError):  # raised elsewhere without the facts: its own words say more
        return None
    at = facts.get("at")
    where = say("at-place", language, line=at[0], column=at[1]) if isinstance(at, tuple | list) and at else ""
    asked = say("in-question", language, name=facts["question"]) if facts.get("question") else ""
    return asked + where + what, fix


def _worded(name: str, fact: object, language: str) -> object:
    """A fact that has a word of its own in a language: a column's type, or one that is known by its name.

    >>> _worded("type", "date", "es"), _worded("name", "error", "es")
    ('fecha', 'el error')
    """
    if name.startswith("type") and knows(f"tables.type-{fact}"):
        return say(f"tables.type-{fact}", language)
    known: Mapping[str, Any] = texts("facts").get(name, {})
    return known.get(fact, {}).get(language, fact) if isinstance(fact, str) else fact


def counted(code: str, n: int, language: str = "en") -> str:
    """A number of things: "1 row", "3 rows".

    >>> counted("row", 1), counted("row", 1200)
    ('1 row', '1,200 rows')
    """
    return say(f"one-{code}" if n == 1 else f"n-{code}s", language, n=f"{n:,}")
