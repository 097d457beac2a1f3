"""A price in words: what an answer tells about one person at most, how wrong it will be, and what remains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from curador.accounting.meaning import posterior
from curador.errors import CuradorError
from curador.numbers import shown_down, shown_up
from curador.privacy import ApproxDP, Guarantee, Neighbors, PureDP, guarantee_from_json
from curador.show.explain import UNDECLARED, error_text, guarantee_text, note_text, output_text
from curador.show.report.odds import HUGE, odds
from curador.show.tables import real_text
from curador.show.words.say import say

EVEN = Fraction(1, 2)
POPULATION = "population"
"""The budget of all tables together, as a ledger calls it."""


SORTED = (1_000, 10_000, 100_000)
"""Numbers of rows for which an error in ranks is told as a part of them."""
MUCH = Fraction(1, 2)
"""An answer that takes more than this part of what remains is warned of."""


@dataclass(frozen=True)
class ForeseenError:
    """How wrong one output would be: one number, or one for each of several numbers of rows behind it.

    ``sorted`` marks an error that is a part of the rows, sorted by their value.
    """

    output: str
    text: str = ""
    by_rows: tuple[tuple[str, str], ...] = ()
    sorted: bool = False


@dataclass(frozen=True)
class Foreseen:
    """What an answer would cost and how wrong it would be, as pages say it.

    ``share`` says which part of what remains it would take, where both are epsilons; ``much`` that it is large.
    """

    cost: str
    errors: tuple[ForeseenError, ...]
    risk: tuple[str, ...]
    odds: str
    remaining: tuple[tuple[str, str], ...]
    fits: int | None
    free: bool
    notes: tuple[str, ...]
    share: str = ""
    much: bool = False
    undeclared: tuple[str, ...] = ()


def estimated(found: Mapping[str, Any], fits: int | None, language: str) -> Foreseen:
    """An estimate from what the API explains, and from how many such answers fit."""
    guarantee = guarantee_from_json(found["guarantee"])
    shared = found.get("shared", [])
    protects = [(found["unit"], Neighbors(found["neighbors"]))]
    part = _share(guarantee, found["remaining"])
    return Foreseen(
        guarantee_text(guarantee, language),
        tuple(foreseen_error(one, found.get("rows"), language) for one in found["expected"]),
        risk(guarantee, language),
        odds(guarantee, None, protects, language),
        left(found["remaining"], language),
        fits,
        any(note["code"] == "bought-before" for note in shared),
        tuple(note_text(note, language) for note in (*shared, *found["notes"]) if note["code"] not in UNDECLARED),
        "" if part is None else share_text(part, language),
        part is not None and part > MUCH,
        undeclared_texts(found["notes"], language),
    )


def undeclared_texts(notes: Iterable[Mapping[str, Any]], language: str) -> tuple[str, ...]:
    """What is said of values that no declaration allows, before they are paid for."""
    return tuple(note_text(note, language) for note in notes if note["code"] in UNDECLARED)


def foreseen_error(expected: Mapping[str, Any], rows: int | None, language: str) -> ForeseenError:
    """An expected error as pages show it; one in ranks as a part of the rows, which says more than ranks do.

    >>> found = {"output": "m", "error": 50.0, "unit": "ranks", "by_rows": [], "fitted": False, "interval": 80.0}
    >>> foreseen_error(found, 1000, "en").by_rows
    (('1,000', '± 8 %'),)
    """
    output = output_text(expected, language)
    if expected["unit"] == "ranks" and expected["error"] is not None:
        reach = max(expected["error"], expected.get("interval") or 0.0)
        numbers = (rows,) if rows else SORTED
        return ForeseenError(output, "", tuple((f"{n:,}", _part_of(reach, n)) for n in numbers), sorted=True)
    if expected["error"] is None and expected["by_rows"]:
        return ForeseenError(output, "", tuple((f"{n:,}", f"± {real_text(e, 3)}") for n, e in expected["by_rows"]))
    return ForeseenError(output, error_text(expected, language))


def _part_of(ranks: float, rows: int) -> str:
    return f"± {shown_up(min(100.0, 100 * ranks / rows), 2)} %"


def _share(guarantee: Guarantee, remaining: Mapping[str, Any]) -> Fraction | None:
    """The part of what remains that is taken; None where one of them is no epsilon, or nothing remains."""
    least = min((Fraction(one["epsilon"]) for one in remaining.values() if "epsilon" in one), default=Fraction(0))
    if not isinstance(guarantee, PureDP | ApproxDP) or not least:
        return None
    return Fraction(guarantee.epsilon) / least


def share_text(part: Fraction, language: str) -> str:
    """A part of what remains in words; a count of times where it is more than there is.

    >>> [share_text(Fraction(x), "en") for x in (0.1, 1, 250)]
    ['10 % of what remains', 'all that remains (100 %)', '250 times what remains']
    """
    if part >= 2:
        if part > HUGE:
            return say("ask.share-huge", language)
        return say("ask.share-times", language, n=f"{float(part):.2g}" if part < 10 else f"{round(part):,}")
    if abs(part - 1) < Fraction(1, 200):
        return say("ask.share-all", language)
    percent = float(100 * part)
    if percent < 0.01:
        return say("ask.share-little", language)
    return say("ask.share", language, share=f"{percent:.0f} %" if percent >= 10 else f"{real_text(percent, 2)} %")


def risk(guarantee: Guarantee, language: str) -> tuple[str, ...]:
    """The odds at a guarantee in a sentence or two; nothing where it is not an epsilon."""
    if isinstance(guarantee, PureDP):
        point = ApproxDP(guarantee.epsilon, 0.0)
    elif isinstance(guarantee, ApproxDP):
        point = guarantee
    else:
        return ()
    try:
        belief = posterior((point,), EVEN)
    except CuradorError:  # a delta that bounds no belief
        return ()
    ratio = math.exp(min(point.epsilon, 700)) * (1 + 1e-15)
    if ratio > HUGE:
        return (say("ask.risk-huge", language),)
    most = shown_up(100 * Fraction(belief.upper), 3)
    sure = say("ask.risk-sure", language) if most == "100" else say("ask.risk-belief", language, most=most)
    return (say("ask.risk-ratio", language, ratio=f"{Decimal(shown_up(ratio, 3)):,f}"), sure)


def left(remaining: Mapping[str, Any], language: str) -> tuple[tuple[str, str], ...]:
    """What remains of each budget now."""
    shared = {POPULATION: say("ask.all-tables", language)}
    return tuple(
        (shared.get(scope, scope), guarantee_text(guarantee_from_json(one), language, down=True))
        for scope, one in remaining.items()
    )


def left_text(x: float, digits: int = 3) -> str:
    """What remains as a plain decimal, never more than it is.

    >>> left_text(0.01987), left_text(0.0000123456)
    ('0.0198', '0.0000123')
    """
    return f"{Decimal(shown_down(x, digits)):f}"


def shares(found: Mapping[str, Any], language: str) -> tuple[str, list[tuple[str, str, str]]]:
    """What several answers together would cost; and of each its name, its own cost and its expected errors."""
    whole = guarantee_text(guarantee_from_json(found["guarantee"]), language)
    each = [
        (
            name,
            guarantee_text(guarantee_from_json(one["guarantee"]), language),
            "; ".join(f"{output_text(x, language)}: {error_text(x, language)}" for x in one["expected"]),
        )
        for name, one in found["questions"].items()
    ]
    return whole, each
