"""A form of the page as a body of the API: what is asked, and what is paid or wanted for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from curador.errors import InvalidParameter
from curador.server.bodies import QuestionBody
from curador.server.console.forms import Filled, amount, number_text

CONFIDENCES = ("0.8", "0.9", "0.95", "0.99")
"""Of intervals, as pages offer them."""

MODEST, PART = 0.1, 10
"""The epsilon that a question begins with, at most, and the part of what remains."""

B = TypeVar("B", bound=QuestionBody)


def priced(form: Filled, body: type[B], language: str, **more: Any) -> B:
    """A body of the API.

    Fails: InvalidParameter that names the field in its facts, under "field".
    """
    if not form["sql"].strip():
        raise wrong("sql", "There is no question yet.", "Write SQL, or build one.")
    confidence = confidence_of(form["confidence"])
    price: dict[str, Any] = {"delta": _number(form["delta"], "delta")}
    if form["by"] == "error":  # and what stands in the field that is not shown now is not looked at
        if not form["error"].strip():
            raise wrong("error", "There is no error yet.", "Write the largest error that you accept.")
        price["accuracy"] = {"error": _number(form["error"], "error", many=True), "confidence": confidence}
    else:
        price["epsilon"] = _number(form["epsilon"], "epsilon")
        if not price["epsilon"]:
            raise wrong("epsilon", "There is no price yet.", "Write an epsilon, such as 0.1.")
    return form.read(
        body, sql=form["sql"], confidence=confidence, rows=_rows(form["rows"]), language=language, **price, **more
    )


def affordable(remaining: Mapping[str, Mapping[str, Any]]) -> str:
    """An epsilon to begin with: a tenth of what remains, in one figure, and never more than a modest one.

    >>> affordable({"ana": {"kind": "pure", "epsilon": 0.3}}), affordable({"ana": {"kind": "zcdp", "rho": 0.3}})
    ('0.03', '0.1')
    >>> affordable({"ana": {"epsilon": 0.2}, "all": {"epsilon": 0.0078}}), affordable({"ana": {"epsilon": 20}})
    ('0.0007', '0.1')
    """
    part = left_of(remaining) / PART
    if not 1e-12 <= part < MODEST:
        return f"{MODEST:g}" if part >= MODEST else "0.01"
    unit = 10.0 ** math.floor(math.log10(part))
    return f"{math.floor(part / unit + 1e-9) * unit:.1g}"


def left_of(remaining: Mapping[str, Mapping[str, Any]]) -> float:
    """The least epsilon that remains of some budgets; infinite where they count otherwise."""
    return min((float(one["epsilon"]) for one in remaining.values() if "epsilon" in one), default=math.inf)


def confidence_of(text: str) -> float:
    """One of the confidences that are offered; 0.95 where none was chosen."""
    return float(text) if text in CONFIDENCES else 0.95


def place_of(error: Any) -> str:
    """The field next to which a refusal is shown."""
    named = str(error.facts.get("field", ""))
    if named:
        return named
    code = error.code or ""
    return "because" if code in ("reason-needed", "override-needed") else "epsilon" if "budget" in code else "sql"


def _number(text: str, place: str, *, many: bool = False) -> str:
    """A positive number as it is asked with.

    >>> _number(" 0,05 ", "epsilon"), _number("1/10", "epsilon"), _number("", "delta")
    ('0.05', '1/10', '')
    """
    if text.strip():
        amount(text, place, many=many)
    return number_text(text)


def _rows(text: str) -> int | None:
    plain = number_text(text.replace(" ", ""))
    if not plain:
        return None
    if not plain.isascii() or not plain.isdigit() or len(plain) > 18 or int(plain) < 1:
        raise wrong("rows", "This is not a number of rows.", "Write a whole number, or leave it empty.")
    return int(plain)


def wrong(place: str, what: str, fix: str) -> InvalidParameter:
    """A refusal next to a field; its code has the text in both languages."""
    return InvalidParameter(what, fix=fix, code=f"field-{place}", facts={"field": place})
