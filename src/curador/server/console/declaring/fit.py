"""How many rows of a table fit what is declared: what that costs, and what was bought, in words for each column.

What is said of a column rests on the noised numbers and their intervals alone, and is free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curador import Column, Release
from curador.errors import InvalidParameter
from curador.server.console.forms import Filled, amount, number_text
from curador.server.console.visit import Visit

PRICES = ("0.1", "0.05", "0.02", "0.01", "0.005", "0.002", "0.001")
PART = 10
"""A check is offered for at most this part of what remains."""

STATES = ("fits", "missing", "outside")


def modest(remaining: Mapping[str, Mapping[str, Any]]) -> str:
    """An epsilon to begin with: a tenth of what remains, or less.

    >>> modest({"all": {"kind": "pure", "epsilon": 0.6}}), modest({"all": {"kind": "zcdp", "rho": 0.3}})
    ('0.05', '0.1')
    """
    least = min((float(one.get("epsilon", 1)) for one in remaining.values()), default=1.0)
    return next((text for text in PRICES if float(text) * PART <= least), PRICES[-1])


def affordable(cost: Mapping[str, Any], remaining: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a price is within what remains, as far as numbers of one kind can tell; the ledger decides.

    >>> affordable({"kind": "pure", "epsilon": 0.5}, {"all": {"kind": "pure", "epsilon": 0.4}})
    False
    """
    return all(float(cost.get("epsilon", 0)) <= float(one.get("epsilon", "inf")) for one in remaining.values())


def chosen(form: Filled, columns: Sequence[str]) -> list[str]:
    """The columns that are ticked, by their places."""
    return [name for i, name in enumerate(columns) if form[f"column-{i}"]]


def price_of(form: Filled) -> str:
    """What a form offers to pay; a comma before the fraction is as good as a point."""
    amount(form["epsilon"], "epsilon")
    return number_text(form["epsilon"])


@dataclass(frozen=True)
class FitOfColumn:
    """What was found of a column: three numbers with their intervals, and what they mean."""

    name: str
    numbers: Sequence[str]
    verdict: str
    wrong: bool
    unclear: bool


def fits(visit: Visit, found: Release, columns: Mapping[str, Column]) -> list[FitOfColumn]:
    """What was found of each column; its intervals hold together, and ``columns`` are as declared."""
    names = [str(name) for name in found["column"]]
    return [_fit(visit, found, i, name, columns.get(name)) for i, name in enumerate(names)]


def _fit(visit: Visit, found: Release, i: int, name: str, column: Column | None) -> FitOfColumn:
    kind = "text" if column is None else column.kind.value
    numbers = [_number(found.numbers(state)[i], found.interval(state, i)) for state in STATES]
    code = _verdict({state: found.interval(state, i) for state in STATES})
    outside = found.interval("outside", i)
    if code == "outside":
        code = "unlisted" if column is not None and column.keys else "beyond"
    hint = f"tables.fit-missing-{kind}" if code in ("none-fit", "missing") else ""
    low, high = (f"{round(end):,}" for end in outside)
    said = visit.say(f"tables.fit-is-{code}", low=low, high=high)
    verdict = f"{said} {visit.say(hint)}" if hint else said
    return FitOfColumn(name, numbers, verdict, code not in ("fine", "unclear"), code == "unclear")


def _verdict(ends: Mapping[str, tuple[float, float]]) -> str:
    """What intervals tell: for sure at their confidence, or nothing.

    >>> _verdict({"fits": (-20, 20), "missing": (480, 520), "outside": (-20, 20)})
    'none-fit'
    >>> _verdict({"fits": (480, 520), "missing": (-20, 20), "outside": (-20, 20)})
    'fine'
    """
    (least, most), missing, outside = ends["fits"], ends["missing"][0], ends["outside"][0]
    if missing > max(0, most):
        return "none-fit"
    if outside > max(0, most):
        return "all-outside"
    if missing > 0:
        return "missing"
    if outside > 0:
        return "outside"
    return "fine" if least > max(0, ends["missing"][1], ends["outside"][1]) else "unclear"


def _number(x: float, ends: tuple[float, float]) -> str:
    low, high = (max(0, round(end)) for end in ends)
    return f"{max(0, round(x)):,} ({low:,} … {high:,})"


def is_fit(found: object) -> Release:
    """A release of such a check; any other one is refused."""
    if isinstance(found, Release) and found.question and "quality" in found.question:
        return found
    raise InvalidParameter(
        "This release is no check of a table.", fix="Look at it among the releases.", code="not-a-check"
    )
