"""The rules for names: which are allowed, which two are one to an engine, and what to suggest for an unknown one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

from curador.errors import InvalidParameter

LONGEST_NAME = 255
"""The most characters in the name of a table, a column, a level or an output."""

MOST_NAMED = 20
"""The most names that a refusal lists in its facts."""


def identifier(name: object, what: str) -> str:
    """The name itself; refused where some engine could not hold it.

    >>> identifier("hours per week", "A column")
    'hours per week'
    """
    if not isinstance(name, str) or not name or len(name) > LONGEST_NAME:
        raise InvalidParameter(
            f"{what} needs a name of 1 to {LONGEST_NAME} characters, got {str(name)[:40]!r}.",
            fix="Rename it.",
            code="name-length",
            facts={"most": LONGEST_NAME},
        )
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in name):
        raise InvalidParameter(
            f"{what} has a control character in its name {name!r}.", fix="Rename it.", code="control-character"
        )
    return name


def distinct(names: Iterable[str], what: str) -> None:
    """Refuse two names that are one name to an engine that folds case.

    >>> distinct(["age", "Age"], "columns")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.InvalidParameter: Two columns are called 'age' and 'Age'; engines fold case. ...
    """
    seen: dict[str, str] = {}
    for name in names:
        other = seen.get(name.casefold())
        if other is not None:
            raise InvalidParameter(
                f"Two {what} are called {other!r} and {name!r}; engines fold case.",
                fix="Rename one.",
                code="names-alike",
                facts={"name": name, "other": other},
            )
        seen[name.casefold()] = name


def refuse_unknown(given: Iterable[object], known: Iterable[str], where: str, what: str = "setting") -> None:
    """Refuse the first name that is not a known one.

    >>> refuse_unknown(["bound"], ["bounds", "step"], "Column 'age'")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.InvalidParameter: Column 'age' has an unknown setting 'bound'. To do: Did you mean 'bounds'? ...
    """
    names = list(known)
    for name in given:
        if name not in names:
            raise InvalidParameter(f"{where} has an unknown {what} {name!r}.", fix=suggestion(name, names))


def listed(names: Iterable[str]) -> str:
    """Names as a fact of a refusal: the first of them.

    >>> listed(["age", "sex"])
    'age, sex'
    """
    return ", ".join(list(names)[:MOST_NAMED])


def suggestion(word: object, known: Iterable[str], lead: str = "Known are") -> str:
    """A fix for a mistyped word: the closest known one, or all of them.

    >>> suggestion("bound", ["bounds", "step"])
    "Did you mean 'bounds'?"
    >>> suggestion("colour", ["bounds", "step"])
    "Known are 'bounds', 'step'."
    """
    names = list(known)
    close = get_close_matches(str(word).lower(), [n.lower() for n in names], 1)
    match = next((n for n in names if close and n.lower() == close[0]), None)
    if match is not None:
        return f"Did you mean {match!r}?"
    shown = ", ".join(repr(n) for n in names[:12]) + (", …" if len(names) > 12 else "")
    return f"{lead} {shown}." if names else "There are none."
