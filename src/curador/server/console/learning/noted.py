"""A model as the record of its charge names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from curador import Charge
from curador.curator.purchases.plain import from_note


@dataclass(frozen=True)
class LearnedFrom:
    """A model's class, and what it was learned from and to what, in signs that no language needs."""

    model: str
    about: str


def learned_from(charge: Charge) -> LearnedFrom | None:
    """What a charge's model was learned from; None where the record is of any other shape.

    Whoever buys writes the record, and its longest parts are kept as digests: no record may cost others a page.
    """
    noted = charge.note.get("recipe")
    recipe: Any = from_note(noted) if isinstance(noted, Mapping) else None
    match recipe:
        case {"model": str(model), "table": str(), "features": [*_] | {}}:
            return LearnedFrom(model, about(recipe))
    return None


def about(recipe: Mapping[str, Any]) -> str:
    """What a model was learned from, and to what.

    >>> about({"table": "staff", "features": ["age", "years"], "label": "pay"})
    'staff: age, years → pay'
    """
    label = recipe.get("label")
    return f"{recipe['table']}: {', '.join(map(str, recipe['features']))}" + (f" → {label}" if label else "")
