"""What a form says, read into the same bodies as requests to the API; what is wrong stands next to its field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from curador.errors import CuradorError, InvalidParameter

B = TypeVar("B", bound=BaseModel)

LARGEST = 10**300
"""The largest number of a form: a double holds it."""

_AMOUNT = re.compile(r"[+]?(\d+/\d+|[\d.]+(e[+-]?0*\d{1,3})?)", re.ASCII | re.IGNORECASE)

_COMMA = re.compile(r"[+-]?(0*,\d+|\d+,(\d\d?|\d{4,}))(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
"""A decimal comma; 1,000 may be a thousand, and is none."""


@dataclass(frozen=True)
class Filled:
    """A form as it was filled in, and the refusals by field; the empty name is for the form as a whole.

    >>> form = Filled({"login": "ana"}).refused("login", InvalidParameter("No.", fix="Yes."))
    >>> form["login"], form.errors["login"].what, form["password"]
    ('ana', 'No.', '')
    """

    values: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, CuradorError] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    def refused(self, name: str, error: CuradorError) -> Filled:
        """The same with a refusal next to a field."""
        return Filled(self.values, {**self.errors, name: error})

    def read(self, body: type[B], **values: Any) -> B:
        """A body of the API; fields that are empty are left out, as where nothing was chosen.

        Fails: InvalidParameter that names the field in its facts, under "field".
        """
        try:
            return body.model_validate({name: value for name, value in values.items() if value not in ("", None)})
        except ValidationError as error:
            where = ".".join(str(x) for x in error.errors()[0]["loc"])
            raise InvalidParameter(
                "This is not filled in as it should be.", fix="Look again.", code="malformed", facts={"field": where}
            ) from None


def number_text(text: str) -> str:
    """A number of a form as programs write it: a decimal comma is as good as a point.

    >>> number_text(" 0,05 "), number_text("12,5"), number_text("1/4"), number_text("1,000")
    ('0.05', '12.5', '1/4', '1,000')
    """
    plain = text.strip()
    return plain.replace(",", ".") if _COMMA.fullmatch(plain) else plain


def amount(text: str, field: str, below: int | None = None) -> Fraction:
    """A positive number of a form, as a decimal or a fraction; refused with its field.

    One of more digits than anybody means is refused before it is made: nothing else would run meanwhile.

    >>> amount("1/4", "epsilon"), amount("1e-6", "delta", 1)
    (Fraction(1, 4), Fraction(1, 1000000))
    """
    plain = number_text(text[:100])
    try:
        found = Fraction(plain) if len(text) <= 60 and _AMOUNT.fullmatch(plain) else Fraction(0)
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if found <= 0 or found > LARGEST or (below is not None and found >= below):
        raise InvalidParameter(
            "This is not an amount.",
            fix="Write a decimal or a fraction: 0.5, 1/10.",
            code="amount",
            facts={"field": field},
        )
    return found


def decimal(text: str, language: str = "en") -> str:
    """A number with its decimal comma as a point, where the comma can be nothing else: after 0, or on a Spanish page.

    >>> decimal("0,2"), decimal("1,5", "es"), decimal("1,500"), decimal("1/2")
    ('0.2', '1.5', '1,500', '1/2')
    """
    sure = r"\d{1,15}" if language == "es" else "0?"
    return re.sub(rf"^(\s*{sure}),(\d{{1,30}}\s*)$", r"\1.\2", text, flags=re.ASCII)


async def filled(request: Request) -> Filled:
    """The texts of a form that was sent; files are left out."""
    sent = await request.form()
    return Filled({name: value for name, value in sent.items() if isinstance(value, str)})
