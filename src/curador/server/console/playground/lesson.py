"""What a lesson is: a formula, a few numbers to turn within bounds, and what they make of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup

from curador.errors import InvalidParameter
from curador.show.pages.exhibits import Drawing, Listing
from curador.show.pages.svg import tick_text

LONGEST = 12
"""The most characters of a number that is read here."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,2})?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Knob:
    """A number of a lesson, between bounds that keep its work small.

    >>> knob = Knob("epsilon", "1", "0.01", "10")
    >>> knob.read("0,5")
    Fraction(1, 2)
    >>> knob.read("11")
    Traceback (most recent call last):
    curador.errors.InvalidParameter: epsilon must be a number from 0.01 to 10. To do: Write such a number. ...
    """

    name: str
    default: str
    least: str
    most: str
    whole: bool = False

    def read(self, text: str) -> Fraction:
        """The number that a text is; a decimal comma is as good as a point.

        Fails: InvalidParameter with the bounds as facts.
        """
        plain = text.strip().replace(",", ".")
        if len(plain) <= LONGEST and _NUMBER.fullmatch(plain):
            found = Fraction(plain)
            if Fraction(self.least) <= found <= Fraction(self.most) and not (self.whole and found.denominator > 1):
                return found
        kind = "whole number" if self.whole else "number"
        raise InvalidParameter(
            f"{self.name} must be a {kind} from {self.least} to {self.most}.",
            fix="Write such a number.",
            code="outside-whole" if self.whole else "outside",
            facts={"least": self.least, "most": self.most},
        )


@dataclass(frozen=True)
class Illustration:
    """What a lesson finds: facts that fill in its sentences, charts, tables, and code that computes the same."""

    facts: Mapping[str, object]
    drawings: tuple[Drawing, ...]
    code: str
    listings: tuple[Listing, ...] = ()


@dataclass(frozen=True)
class Lesson:
    """A lesson; its texts begin with its name."""

    name: str
    formula: Markup
    knobs: tuple[Knob, ...]
    show: Callable[..., Illustration]

    def defaults(self) -> dict[str, str]:
        """What its numbers are at first."""
        return {knob.name: knob.default for knob in self.knobs}


def number(x: Fraction) -> str:
    """A number as it is written in code.

    >>> number(Fraction(1, 2)), number(Fraction(3))
    ('0.5', '3')
    """
    return str(x.numerator) if x.denominator == 1 else repr(float(x))


def few(x: float, percent: bool = False) -> str:
    """A number in a sentence: four figures at most.

    >>> few(2.302585), few(0.73105, percent=True)
    ('2.303', '73.1 %')
    """
    return f"{tick_text(float(f'{100 * x:.3g}'))} %" if percent else tick_text(float(f"{x:.4g}"))


def at_least(x: float) -> str:
    """A share as percent, rounded down.

    >>> at_least(0.26894), at_most(0.26894)
    ('26.8 %', '26.9 %')
    """
    return f"{tick_text(math.floor(1000 * x) / 10)} %"


def at_most(x: float) -> str:
    """A share as percent, rounded up."""
    return f"{tick_text(math.ceil(1000 * x) / 10)} %"
