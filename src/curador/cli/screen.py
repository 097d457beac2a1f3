"""Printing for commands: one console, JSON on request, refusals on standard error."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING
from unicodedata import category

from rich.console import Console
from rich.table import Table
from rich.text import Text

from curador.errors import CuradorError, InvalidParameter
from curador.show.words.say import LANGUAGES
from curador.show.words.say import say as in_language

if TYPE_CHECKING:
    from curador import Guarantee

console = Console(highlight=False)

BALANCES = "balances"
"""The fact of a refusal under which the command line notes what remains of each budget."""

LANGUAGE = "CURADOR_LANGUAGE"
"""The variable that names the language of what commands print, where ``--language`` does not."""

_spoken = LANGUAGES[0]


def asks_back() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty() and console.is_terminal


def decide_language(named: str = "") -> str:
    """Print from now on in the language that is named, else in that of the environment, else in English.

    Fails: a language that there is not is refused, and the one before stays.
    """
    asked = named or os.environ.get(LANGUAGE, "") or LANGUAGES[0]
    if asked not in LANGUAGES:
        where = "--language" if named else LANGUAGE
        known = " or ".join(LANGUAGES)
        raise InvalidParameter(f"There is no language {asked!r}.", fix=f"Set {where} to {known}.", code="no-language")
    global _spoken
    _spoken = asked
    return asked


def spoken() -> str:
    """The language that was decided."""
    return _spoken


def chosen_language(named: str) -> str:
    """The language of a command: the one that is named after it, else the one that was decided before."""
    return decide_language(named) if named else _spoken


def words(code: str, **facts: object) -> str:
    """What a command says, by its code, in the language that was decided.

    >>> decide_language("en")
    'en'
    >>> words("nothing-spent")
    'Nothing was spent.'
    """
    return in_language(f"cli.{code}", _spoken, **facts)


def clean(text: str) -> str:
    """A text without the control characters of terminals: names come from files, and files from anywhere.

    >>> clean("a\\x1b[31mb\\x9b2Jc é ε\\n")
    'a?[31mb?2Jc é ε\\n'
    """
    return _UNUSUAL.sub(lambda found: found[0] if found[0].isprintable() or category(found[0]) == "Zs" else "?", text)


def json_text(values: object) -> str:
    """Plain values as JSON, with the control characters of terminals escaped; other values are written as text.

    >>> json_text("\\x9b2J ε")
    '"\\\\u009b2J ε"'
    """
    text = json.dumps(values, ensure_ascii=False, indent=2, default=str)
    return _UNUSUAL.sub(lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text)


_UNUSUAL = re.compile(r"[^\n\x20-\x7e]")


def emit(values: object) -> None:
    """Print plain values as JSON."""
    print(json_text(values))


def say(text: str, style: str = "") -> None:
    """Print a text as it is: brackets in it are not markup."""
    console.print(Text(clean(text), style))


def whole(text: str, style: str = "") -> None:
    """Print a text whose lines may be copied: none is broken."""
    console.print(Text(clean(text), style), soft_wrap=True)


def bullet(text: str, style: str = "", indent: int = 0, mark: str = "*") -> None:
    """Print a sentence behind a mark; its further lines stand below its first word."""
    first = " " * indent + mark + " "
    lines = wrap(clean(text), console.width, initial_indent=first, subsequent_indent=" " * len(first))
    console.print(Text("\n".join(lines), style))


def ended(refusal: CuradorError, *, as_json: bool) -> int:
    """Print what ended a command, and return its exit code: what SHOW TABLES and DESCRIBE ask for is an answer."""
    if refusal.code != "declarations":
        print_refusal(refusal, as_json=as_json)
        return 1
    if as_json:
        emit({"declarations": refusal.what})
    else:
        whole(refusal.what)
    return 0


def print_refusal(refusal: CuradorError, *, as_json: bool) -> None:
    """Print on standard error what happened, what to do, what it cost and what remains."""
    left = getattr(refusal, "__notes__", [])
    if as_json:
        said = {"what": refusal.what, "fix": refusal.fix, "cost": refusal.cost}
        facts = dict(refusal.facts)
        remaining = facts.pop(BALANCES, {})  # as an answer shows it: an object by scope
        parts = {"kind": type(refusal).__name__, **said, "code": refusal.code, "facts": facts}
        shown = Text(json_text({"error": parts, "remaining": remaining}))
    else:
        lines = [words("to-do", fix=refusal.fix), words("cost", cost=refusal.cost)]
        lines += [words("remaining", left=note) for note in left]
        shown = Text.assemble((clean(refusal.what), "red"), *(clean(f"\n  {line}") for line in lines))
    Console(stderr=True, highlight=False).print(shown, soft_wrap=True)


def loss(guarantee: Guarantee) -> str:
    """A guarantee in a few words, rounded up: what was spent, and what a budget is.

    >>> from curador.privacy import ApproxDP
    >>> decide_language("es")
    'es'
    >>> loss(ApproxDP(1, 1e-6))
    'épsilon 1, delta 1e-06'
    >>> decide_language("en")
    'en'
    """
    return loss_names(guarantee.label)


def loss_left(guarantee: Guarantee) -> str:
    """The same rounded down, for what remains."""
    return loss_names(guarantee.label_down)


_NAMES = re.compile(r"epsilon (\S+) at order ([^\s,]+)|\b(epsilon|delta|rho)\b")


def loss_names(label: str) -> str:
    """A label, whose numbers are named in the language that was decided."""
    return _NAMES.sub(
        lambda found: words(found[3]) if found[3] else words("at-order", epsilon=found[1], order=found[2]), label
    )


def amount(guarantee: Guarantee) -> str:
    """A guarantee for a narrow column: one number below another."""
    return loss(guarantee).replace(", ", "\n")


def amount_left(guarantee: Guarantee) -> str:
    """What remains, for a narrow column."""
    return loss_left(guarantee).replace(", ", "\n")


def some(names: Sequence[str], most: int = 5) -> str:
    """A few names, and how many more there are."""
    few = ", ".join(names[:most])
    return words("and-more", names=few, n=len(names) - most) if len(names) > most else few


def grid() -> Table:
    """An empty table in the style of all of them."""
    from rich.box import SIMPLE_HEAD

    return Table(box=SIMPLE_HEAD, pad_edge=False)
