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

STEPS = 1000
"""Steps of a slider."""

PERCENT = "\u00a0%"
"""The sign behind a number, which no line may begin with."""

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

    @property
    def wide(self) -> bool:
        """Whether its slider is logarithmic: where the largest is a hundred times the least, or more."""
        least = Fraction(self.least)
        return least > 0 and Fraction(self.most) >= 100 * least

    def place(self, text: str) -> int:
        """Where on its slider of 1,000 steps a number is; the nearest end for one out of bounds, or for none.

        >>> Knob("epsilon", "1", "0.01", "10").place("1"), Knob("share", "0.3", "0", "1").place("0.3")
        (667, 300)
        """
        try:
            found = float(self.read(text))
        except InvalidParameter:
            return 0
        least, most = float(self.least), float(self.most)
        part = math.log(found / least) / math.log(most / least) if self.wide else (found - least) / (most - least)
        return round(STEPS * part)

    @property
    def ends(self) -> tuple[str, str]:
        """Its bounds as a sentence says them.

        >>> Knob("people", "10", "0.5", "1000000").ends
        ('0.5', '1,000,000')
        """
        low, high = (f"{int(x):,}" if x.removeprefix("-").isdigit() else x for x in (self.least, self.most))
        return low, high

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
    ('2.303', '73.1\\xa0%')
    """
    return f"{tick_text(float(f'{100 * x:.3g}'))}{PERCENT}" if percent else tick_text(float(f"{x:.4g}"))


def at_least(x: float) -> str:
    """A share as percent, rounded down.

    >>> at_least(0.26894), at_most(0.26894)
    ('26.8\\xa0%', '26.9\\xa0%')
    """
    return f"{tick_text(math.floor(1000 * x) / 10)}{PERCENT}"


def at_most(x: float) -> str:
    """A share as percent, rounded up."""
    return f"{tick_text(math.ceil(1000 * x) / 10)}{PERCENT}"


def tenth(power: float) -> str:
    """The number whose logarithm to the base of ten this is, in figures or as a power of ten.

    >>> tenth(-2.2), tenth(-217.3)
    ('0.0063', '5 × 10⁻²¹⁸')
    """
    whole = math.floor(power)
    if whole >= -4:
        return f"{10**power:.2g}"
    digit = round(10 ** (power - whole))
    digit, whole = (1, whole + 1) if digit == 10 else (digit, whole)
    return f"{digit} × 10{str(whole).translate(_RAISED)}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
