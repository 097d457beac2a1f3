"""Refusals that every door of the server shares, and what a refusal says as plain values; no door is named here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

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
    """Where a request is wrong, in sentences that quote no value; ``skip`` names of a place are not the sender's.

    ``found`` are pydantic's errors about a ``body``.

    >>> class Asked(BaseModel, extra="forbid"):
    ...     sql: str
    >>> malformed([{"loc": ("body", "sq"), "type": "extra_forbidden"}], "See it.", 1, Asked).what
    'The request is not as described: unknown field `sq`: did you mean `sql`?'
    """
    places: dict[str, list[tuple[Mapping[str, Any], _Place]]] = {}
    for one in found:
        place = _Place.of(one["loc"][skip:], body)
        places.setdefault(place.name, []).append((one, place))
    said = "; ".join(_sentence([one for one, _ in here], here[0][1]) for here in list(places.values())[:5])
    return refused(f"The request is not as described: {said}{'' if said.endswith('?') else '.'}", fix, "malformed")


LONGEST_NAME = 60
"""Characters of a field's name that a refusal repeats."""

_LABEL = re.compile(r"(int|float|bool|str|none|constrained-str|dict|list|tuple|function)\b.*")
"""What pydantic calls the parts of a union, which no sender wrote."""

_TAKES = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}

_LIMITS = {
    "missing": "is missing",
    "string_too_short": "needs at least {min_length} characters",
    "string_too_long": "has at most {max_length} characters",
    "too_short": "needs at least {min_length} entries",
    "too_long": "has at most {max_length} entries",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be above {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be below {lt}",
    "literal_error": "must be {expected}",
    "string_pattern_mismatch": "must have the form {pattern}",
}


@dataclass(frozen=True)
class _Place:
    """A place in a body: its name, the field there, and which fields there are where it is none."""

    name: str
    field: FieldInfo | None
    known: tuple[str, ...]

    @classmethod
    def of(cls, steps: Sequence[object], body: type[BaseModel] | None) -> _Place:
        path, field, known, left = list[str](), None, tuple[str, ...](), [str(step) for step in steps]
        while left and (body is not None or not path):
            path.append(left.pop(0))
            if body is None:  # a part of the address, which has no fields
                break
            known, field = tuple(body.model_fields), body.model_fields.get(path[-1])
            parts = () if field is None else tuple(_parts(field.annotation))
            if left and not _LABEL.fullmatch(left[0]) and {dict, list} & set(map(get_origin, parts)):
                path.append(left.pop(0))
                field = None
            body = next((x for x in parts if isinstance(x, type) and issubclass(x, BaseModel)), None)
        return cls(".".join(path), field, known)


def _parts(annotation: Any) -> Iterator[Any]:
    """A type and all that it is made of."""
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)


def _sentence(errors: Sequence[Mapping[str, Any]], place: _Place) -> str:
    """What is wrong at a place; of a union there are several errors."""
    kind, name = errors[0]["type"], f"`{place.name[:LONGEST_NAME]}`"
    if not place.name:
        return "there is no body" if kind == "missing" else "the body is a JSON object, sent as application/json"
    if kind == "extra_forbidden":
        near = get_close_matches(place.name.rpartition(".")[2], place.known, 1)
        return f"unknown field {name}" + (f": did you mean `{near[0]}`?" if near else f" (of {', '.join(place.known)})")
    takes = dict.fromkeys(_TAKES[one["type"]] for one in errors if one["type"] in _TAKES)
    if "a number" in takes:
        takes.pop("a whole number", None)
    if takes and len(takes) >= len({one["type"] for one in errors} - {"int_type"}):
        example = place.field.examples if place.field is not None else None
        return f"{name} takes {json.dumps(example[0]) if example else ' or '.join(takes)}"
    stated = next((one for one in errors if one["type"] in _LIMITS), None)
    if stated is None:
        return f"{name} is not as described"
    said = _LIMITS[stated["type"]].format(**stated.get("ctx", {}))
    return f"{name} {said}".replace(" 1 characters", " 1 character").replace(" 1 entries", " 1 entry")


def no_json(error: str, text: str, place: int, fix: str) -> CuradorError:
    """Where a text stops being JSON.

    >>> no_json("Expecting value", '{"a":', 5, "See it.").what
    'The request is not JSON: Expecting value at line 1, column 6.'
    """
    line, column = text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)
    return refused(f"The request is not JSON: {error} at line {line}, column {column}.", fix, "not-json")


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
