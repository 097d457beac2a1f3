"""Refusals that every door of the server shares, and what a refusal says as plain values; no door is named here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from curador.curator.releases.explanation import Planned
from curador.errors import CuradorError, InvalidParameter, QuestionRefused

PLAIN = (str, int, float, bool, type(None))


def refused(what: str, fix: str, code: str) -> CuradorError:
    """A refusal by the server itself; it never costs anything."""
    return InvalidParameter(what, fix=fix, code=code)


def not_found() -> CuradorError:
    """The same for what is not there and for what is not yours."""
    return refused("There is nothing here that you may see.", "Check the address.", "not-found")


def malformed(found: Sequence[Mapping[str, Any]], fix: str, skip: int = 0) -> CuradorError:
    """Where a request is wrong, without quoting it; ``skip`` names of a place are not the sender's.

    >>> malformed([{"loc": ("body", "epsilon"), "type": "missing"}], "See it.", 1).what
    'The request is not as described (epsilon: missing).'
    """
    places = [f"{'.'.join(str(x) for x in one['loc'][skip:])}: {one['type']}" for one in found[:5]]
    return refused(f"The request is not as described ({'; '.join(places)}).", fix, "malformed")


def unforeseen() -> CuradorError:
    """One constant error for whatever nobody foresaw."""
    return CuradorError(
        "The server could not do this.",
        fix="Try again later; look at your history before you pay again.",
        cost="what was charged stays charged",
        code="server-failed",
    )


def refuse_many_groups(plan: Planned, most: int) -> None:
    """Refuse an answer of more groups than are given out at once; free."""
    if plan.groups is not None and plan.groups > most:
        raise QuestionRefused(
            f"The answer has {plan.groups:,} groups; the most here is {most:,}.",
            fix="Group by less.",
            code="too-many-groups",
            facts={"n": plan.groups, "most": most},
        )


def code_of(error: CuradorError) -> str:
    """The stable name of a refusal: its code, or its class: ``QuestionRefused`` is question-refused."""
    return error.code or "".join(f"-{c.lower()}" if c.isupper() else c for c in type(error).__name__).lstrip("-")


def plain(value: object) -> Any:
    """A fact of a refusal as JSON holds it; what JSON does not know is a text."""
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(x) for name, x in value.items()}
    return [plain(x) for x in value] if isinstance(value, list | tuple) else str(value)
