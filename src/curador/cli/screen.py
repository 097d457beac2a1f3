"""What commands print with: one console, JSON on request, refusals on standard error."""

from __future__ import annotations

import json
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from curador.errors import CuradorError

if TYPE_CHECKING:
    from curador.privacy import Guarantee

console = Console(highlight=False)


def emit(values: object) -> None:
    """Print plain values as JSON; what is not plain stands as its text."""
    print(json.dumps(values, ensure_ascii=False, indent=2, default=str))


def say(text: str, style: str = "") -> None:
    """Print a text as it is: brackets in it are no markup."""
    console.print(Text(text, style))


def whole(text: str, style: str = "") -> None:
    """Print a text whose lines may be copied: none is broken."""
    console.print(Text(text, style), soft_wrap=True)


def bullet(text: str, style: str = "", indent: int = 0, mark: str = "*") -> None:
    """Print a sentence behind a mark; its further lines stand below its first word."""
    first = " " * indent + mark + " "
    lines = wrap(text, console.width, initial_indent=first, subsequent_indent=" " * len(first))
    console.print(Text("\n".join(lines), style))


def told(refusal: CuradorError, *, as_json: bool) -> None:
    """Say on standard error what happened, what to do, what it cost and what remains."""
    left = getattr(refusal, "__notes__", [])
    if as_json:
        said = {"kind": type(refusal).__name__, "what": refusal.what, "fix": refusal.fix, "cost": refusal.cost}
        shown = Text(json.dumps({"error": {**said, "remaining": left}}, ensure_ascii=False, indent=2))
    else:
        shown = Text.assemble((refusal.what, "red"), f"\n  To do: {refusal.fix}\n  Cost: {refusal.cost}.")
        for note in left:
            shown.append(f"\n  Remaining: {note}.")
    Console(stderr=True, highlight=False).print(shown, soft_wrap=True)


def worded(promise: Guarantee) -> str:
    """A guarantee in a few words."""
    from curador.query.explain import worded as said  # heavy: help and completion do without

    return said(promise)


def amount(promise: Guarantee) -> str:
    """A guarantee for a narrow column: one number below another."""
    return worded(promise).replace(", ", "\n")


def some(names: Sequence[str], most: int = 5) -> str:
    """A few names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def grid() -> Table:
    """An empty table in the style of all of them."""
    from rich.box import SIMPLE_HEAD

    return Table(box=SIMPLE_HEAD, pad_edge=False)
