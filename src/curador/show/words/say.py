"""A text in a language, by its code, with facts filled in."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from curador.errors import CuradorError, InvalidParameter

LANGUAGES = ("en", "es")


def say(code: str, language: str = "en", **facts: object) -> str:
    """The text of a code; that of a page of the console begins with the page's name and a dot, a command's with cli.

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
    if dot:
        return _of_page(page)[name][LANGUAGES.index(language)].format(**facts)
    texts: dict[str, str] = import_module(f"curador.show.words.{language}").TEXTS
    return texts[code].format(**facts)


def knows(code: str) -> bool:
    """Whether a page of the console has a text of this code.

    >>> knows("frame.sign-in"), knows("frame.no-such-text")
    (True, False)
    """
    page, _, name = code.partition(".")
    return name in _of_page(page)


def _of_page(page: str) -> dict[str, tuple[str, str]]:
    file = page if page == "cli" else f"console.{page}"
    found: dict[str, tuple[str, str]] = import_module(f"curador.show.words.{file}").TEXTS
    return found


def refusal(error: CuradorError, language: str, **worded: object) -> tuple[str, str] | None:
    """What happened and what to do, in a language other than English, made from the code and the facts of a refusal.

    ``worded`` are facts in words, in place of the refusal's own.

    >>> refusal(InvalidParameter("x", fix="y", code="not-positive", facts={"name": "epsilon"}), "es")
    ('épsilon debe ser mayor que 0.', 'Escriba un número mayor que 0.')
    >>> refusal(InvalidParameter("x", fix="y", code="no-such-code"), "es") is None
    True
    """
    found = {} if language == "en" else import_module("curador.show.words.refusals").ES
    if error.code not in found:
        return None
    known = import_module("curador.show.words.refusals.facts").FACTS
    facts = {name: _worded(name, x, known, language) for name, x in {**error.facts, **worded}.items()}
    try:
        what, fix = (text.format(**facts) for text in found[error.code])
    except (KeyError, IndexError):  # raised elsewhere without the facts: its own words say more
        return None
    at = facts.get("at")
    where = say("at-place", language, line=at[0], column=at[1]) if isinstance(at, tuple | list) and at else ""
    asked = say("in-question", language, name=facts["question"]) if facts.get("question") else ""
    return asked + where + what, fix


def _worded(name: str, fact: object, known: Mapping[str, Mapping[str, str]], language: str) -> object:
    """A fact that has a word of its own in a language: a column's type, or one that is known by its name.

    >>> _worded("type", "date", {}, "es"), _worded("name", "error", {"name": {"error": "el error"}}, "es")
    ('fecha', 'el error')
    """
    if name.startswith("type") and knows(f"tables.type-{fact}"):
        return say(f"tables.type-{fact}", language)
    return known.get(name, {}).get(fact, fact) if isinstance(fact, str) else fact


def counted(code: str, n: int, language: str = "en") -> str:
    """A number of things: "1 row", "3 rows".

    >>> counted("row", 1), counted("row", 1200)
    ('1 row', '1,200 rows')
    """
    return say(f"one-{code}" if n == 1 else f"n-{code}s", language, n=f"{n:,}")
