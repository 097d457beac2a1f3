"""Printing for commands: one console, JSON on request, refusals on standard error."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING
from unicodedata import category

from rich.console import Console
from rich.table import Table
from rich.text import Text

from curador.cli.opening import BALANCES
from curador.errors import CuradorError

if TYPE_CHECKING:
    from curador import Guarantee

console = Console(highlight=False)


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
        words = {"what": refusal.what, "fix": refusal.fix, "cost": refusal.cost}
        facts = dict(refusal.facts)
        remaining = facts.pop(BALANCES, {})  # as an answer shows it: an object by scope
        parts = {"kind": type(refusal).__name__, **words, "code": refusal.code, "facts": facts}
        shown = Text(json_text({"error": parts, "remaining": remaining}))
    else:
        shown = Text.assemble((clean(refusal.what), "red"), clean(f"\n  To do: {refusal.fix}\n  Cost: {refusal.cost}."))
        for note in left:
            shown.append(clean(f"\n  Remaining: {note}."))
    Console(stderr=True, highlight=False).print(shown, soft_wrap=True)


def worded(guarantee: Guarantee) -> str:
    """A guarantee in a few words."""
    return guarantee.label


def amount(guarantee: Guarantee) -> str:
    """A guarantee for a narrow column: one number below another."""
    return worded(guarantee).replace(", ", "\n")


def some(names: Sequence[str], most: int = 5) -> str:
    """A few names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def grid() -> Table:
    """An empty table in the style of all of them."""
    from rich.box import SIMPLE_HEAD

    return Table(box=SIMPLE_HEAD, pad_edge=False)
