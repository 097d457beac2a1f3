"""Refusals that every door of the server shares, and what a refusal says as plain values; no door is named here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel

from curador.curator.releases.explanation import Planned
from curador.errors import CuradorError, InvalidParameter, QuestionRefused

PLAIN = (str, int, float, bool, type(None))


def refused(what: str, fix: str, code: str) -> CuradorError:
    """A refusal by the server itself; it never costs anything."""
    return InvalidParameter(what, fix=fix, code=code)


def not_found() -> CuradorError:
    """The same for what is not there and for what is not yours."""
    return refused("There is nothing here that you may see.", "Check the address.", "not-found")


def malformed(
    found: Sequence[Mapping[str, Any]], fix: str, skip: int = 0, body: type[BaseModel] | None = None
) -> CuradorError:
    """Where a request is wrong, in sentences that quote none of its values.

    ``found`` is what the validator lists; the first ``skip`` names of a place are not the sender's.  ``body`` is what
    the request should have been: with it the fields that it has are listed or suggested.

    >>> print(malformed([{"loc": ("body", "epsilon"), "type": "missing"}], "See it.", 1))
    The request is not as described: `epsilon` is missing. To do: See it. (Cost: nothing was drawn, nothing was spent.)
    """
    places: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for one in found:
        names = (str(name)[:LONGEST_NAME] for name in one["loc"][skip:] if not _TAG.fullmatch(str(name)))
        places.setdefault(tuple(names), []).append(one)
    said, fixes = [], []
    for place, wrong in list(places.items())[:5]:
        name = f"`{'.'.join(place)}`"
        if wrong[0]["type"] == "json_invalid":
            said.append("it is not JSON")
        elif wrong[0]["type"] == "missing":
            said.append(f"{name} is missing")
        elif wrong[0]["type"] == "extra_forbidden":
            said.append(f"there is no field {name}")
            known = _fields(body, place[:-1])
            close = [f"Did you mean `{meant}`?" for meant in get_close_matches(place[-1], known, 1)]
            fixes += close or ([f"The fields are {', '.join(known)}."] if known else [])
        else:
            said.append(f"{name if place else 'it'} must {_wanted(wrong, _fields(body, place))}")
    return refused(
        f"The request is not as described: {'; '.join(said)}.", " ".join([*dict.fromkeys(fixes), fix]), "malformed"
    )


LONGEST_NAME = 60
"""Characters of a field's name that a refusal repeats."""

_TAG = re.compile(r"int|float|str|bool|(constrained|function|lax-or-strict)-.*|\w+\[.*|\w+Body")
"""The names that the validator gives to the alternatives of one field."""

_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "string": "a text",
    "bool": "true or false",
    "list": "a list",
    "dict": "an object",
    "model": "an object",
}
_AMOUNT = ["a whole number", "a number", "a text"]

_LIMITS = {
    "string_too_short": "have at least {min_length} characters",
    "string_too_long": "have at most {max_length} characters",
    "too_short": "have at least {min_length} entries",
    "too_long": "have at most {max_length} entries",
    "greater_than_equal": "be at least {ge}",
    "greater_than": "be above {gt}",
    "less_than_equal": "be at most {le}",
    "less_than": "be below {lt}",
    "literal_error": "be {expected}",
    "string_pattern_mismatch": "match the pattern {pattern}",
}


def _wanted(wrong: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> str:
    """What a field must be, from what the validator says of each of its alternatives.

    >>> _wanted([{"type": "int_type"}, {"type": "float_type"}, {"type": "string_type"}], ())
    'be a number, or one as a text such as "1/10"'
    """
    for one in wrong:
        if one["type"] in _LIMITS:
            if one["ctx"].get("min_length") == 1:
                return "not be empty"
            return _LIMITS[one["type"]].format(**one["ctx"])
    kinds = list(dict.fromkeys(kind for one in wrong if (kind := _KINDS.get(one["type"].partition("_")[0]))))
    if kinds == _AMOUNT:
        return 'be a number, or one as a text such as "1/10"'
    with_fields = f" with the fields {', '.join(fields)}" if fields and "an object" in kinds else ""
    return f"be {' or '.join(kinds)}{with_fields}" if kinds else "be as described"


def _fields(body: type[BaseModel] | None, place: Sequence[str]) -> list[str]:
    """The fields of a body, or of what stands in one of its places; those that are needed first."""
    for name in place:
        field = None if body is None else body.model_fields.get(name)
        body = None if field is None else _model_in(field.annotation)
    found = {} if body is None else body.model_fields
    return sorted(found, key=lambda name: not found[name].is_required())


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for one in get_args(annotation) if (model := _model_in(one)) is not None), None)


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
