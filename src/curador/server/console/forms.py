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
"""A decimal comma that can be nothing else: 0,125 and 12,5."""

_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", re.ASCII)
"""Commas between thousands, as pages print them."""

_DOUBTFUL = re.compile(r"[+-]?[1-9]\d{0,2}\.\d\d0", re.ASCII)
"""50.000 is 50 to some and fifty thousand to others; nobody writes it for 50."""


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
    """A number of a form as programs write it: a decimal comma is as good as a point, and 1,000 is a thousand.

    >>> number_text(" 0,05 "), number_text("12,5"), number_text("1/4"), number_text("1,000"), number_text("1,000.5")
    ('0.05', '12.5', '1/4', '1000', '1000.5')
    """
    plain = text.strip()
    if _THOUSANDS.fullmatch(plain):
        return plain.replace(",", "")
    return plain.replace(",", ".") if _COMMA.fullmatch(plain) else plain


def read_as(text: str) -> str:
    """A number with commas between thousands as it was read, to be said; nothing where there are none.

    >>> read_as("1,000"), read_as("0,5"), read_as("1000")
    ('1000', '', '')
    """
    return number_text(text) if _THOUSANDS.fullmatch(text.strip()) else ""


def refuse_doubtful(text: str, field: str, *, small: bool = False) -> None:
    """Refuse what is one number to some people and a thousand times as much to others.

    ``small`` is for prices: of them 1.500 is no thousand, and 1,500 may be either.

    Fails: InvalidParameter that names the field in its facts, under "field".
    """
    plain = text.strip()
    found = _THOUSANDS if small else _DOUBTFUL
    if found.fullmatch(plain):
        whole, _, rest = plain.partition(".") if "," in plain else (plain, "", "")
        other = re.sub("[.,]", "", whole) + (f".{rest}" if rest else "")
        one = f"{float(whole.replace(',', '.')):g}" if whole.count(",") < 2 and not rest else ""
        raise InvalidParameter(
            f"{plain} can be read in two ways.",
            fix=f"Write {one} or {other}." if one else f"Write {other}.",
            code="number-unclear",
            facts={"field": field, "text": plain[:40], "one": one or other, "other": other},
        )


def amount(text: str, field: str, below: int | None = None, *, many: bool = False) -> Fraction:
    """A positive number of a form, as a decimal or a fraction; refused with its field.

    One of more digits than anybody means is refused before it is made: nothing else would run meanwhile.  ``many`` is
    for what may well be thousands.

    >>> amount("1/4", "epsilon"), amount("1e-6", "delta", 1), amount("1,000", "error", many=True)
    (Fraction(1, 4), Fraction(1, 1000000), Fraction(1000, 1))
    """
    refuse_doubtful(text[:100], field, small=not many)
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


async def filled(request: Request) -> Filled:
    """The texts of a form that was sent; files are left out."""
    sent = await request.form()
    return Filled({name: value for name, value in sent.items() if isinstance(value, str)})
