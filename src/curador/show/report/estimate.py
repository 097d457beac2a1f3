"""A price in words: what an answer tells about one person at most, how wrong it will be, and what remains."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from curador.accounting.meaning import posterior
from curador.errors import CuradorError
from curador.numbers import shown_up
from curador.privacy import ApproxDP, Guarantee, Neighbors, PureDP, guarantee_from_json
from curador.show.explain import error_text, guarantee_text, note_text, output_text
from curador.show.report.odds import odds
from curador.show.words.say import say

EVEN = Fraction(1, 2)
POPULATION = "population"
"""The budget of all tables together, as a ledger calls it."""


@dataclass(frozen=True)
class Foreseen:
    """What an answer would cost and how wrong it would be, as pages say it."""

    cost: str
    errors: tuple[tuple[str, str], ...]
    risk: tuple[str, ...]
    odds: str
    remaining: tuple[tuple[str, str], ...]
    fits: int | None
    free: bool
    notes: tuple[str, ...]


def estimated(found: Mapping[str, Any], fits: int | None, language: str) -> Foreseen:
    """An estimate from what the API explains, and from how many such answers fit."""
    guarantee = guarantee_from_json(found["guarantee"])
    shared = found.get("shared", [])
    protects = [(found["unit"], Neighbors(found["neighbors"]))]
    return Foreseen(
        guarantee_text(guarantee, language),
        tuple((output_text(one, language), error_text(one, language)) for one in found["expected"]),
        risk(guarantee, language),
        odds(guarantee, None, protects, language),
        left(found["remaining"], language),
        fits,
        any(note["code"] == "bought-before" for note in shared),
        tuple(note_text(note, language) for note in (*shared, *found["notes"])),
    )


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
    ratio = shown_up(math.exp(min(point.epsilon, 700)) * (1 + 1e-15), 3)
    most = shown_up(100 * Fraction(belief.upper), 3)
    return (say("ask.risk-ratio", language, ratio=ratio), say("ask.risk-belief", language, most=most))


def left(remaining: Mapping[str, Any], language: str) -> tuple[tuple[str, str], ...]:
    """What remains of each budget now."""
    shared = {POPULATION: say("ask.all-tables", language)}
    return tuple(
        (shared.get(scope, scope), guarantee_text(guarantee_from_json(one), language, down=True))
        for scope, one in remaining.items()
    )


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
