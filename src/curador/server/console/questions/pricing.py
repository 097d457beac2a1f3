"""A form of the page as a body of the API: what is asked, and what is paid or wanted for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from curador.errors import InvalidParameter
from curador.server.bodies import QuestionBody
from curador.server.console.forms import Filled, number_text

CONFIDENCES = ("0.8", "0.9", "0.95", "0.99")
"""Of intervals, as pages offer them."""

USUAL_EPSILONS = ("0.5", "0.2", "0.1", "0.05", "0.02", "0.01", "0.005", "0.002", "0.001")
A_LITTLE = 10
"""A first price is at most one part in so many of what remains: who begins should not spend it all by one click."""

B = TypeVar("B", bound=QuestionBody)


def priced(form: Filled, body: type[B], language: str, **more: Any) -> B:
    """A body of the API.

    Fails: InvalidParameter that names the field in its facts, under "field".
    """
    if not form["sql"].strip():
        raise wrong("sql", "There is no question yet.", "Write SQL, or build one.")
    confidence = confidence_of(form["confidence"])
    price: dict[str, Any] = {"epsilon": number_text(form["epsilon"]), "delta": number_text(form["delta"])}
    if form["by"] == "error":
        if not number_text(form["error"]):
            raise wrong("error", "There is no error yet.", "Write the largest error that you accept.")
        price = {"accuracy": {"error": number_text(form["error"]), "confidence": confidence}, "delta": price["delta"]}
    elif not price["epsilon"]:
        raise wrong("epsilon", "There is no price yet.", "Write an epsilon, such as 0.5.")
    return form.read(
        body, sql=form["sql"], confidence=confidence, rows=_rows(form["rows"]), language=language, **price, **more
    )


def affordable(remaining: Mapping[str, Mapping[str, Any]]) -> str:
    """An epsilon to begin with: a usual one that is a small part of what remains.

    >>> affordable({"ana": {"kind": "pure", "epsilon": 0.6}}), affordable({"ana": {"kind": "zcdp", "rho": 0.3}})
    ('0.05', '0.1')
    """
    least = min((float(one.get("epsilon", 1)) for one in remaining.values()), default=1.0)
    return next((text for text in USUAL_EPSILONS if A_LITTLE * float(text) <= least), USUAL_EPSILONS[-1])


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


def _rows(text: str) -> int | None:
    plain = text.strip().replace(",", "").replace(" ", "")
    if not plain:
        return None
    if not plain.isascii() or not plain.isdigit() or int(plain[:19]) < 1:
        raise wrong("rows", "This is not a number of rows.", "Write a whole number, or leave it empty.")
    return int(plain[:19])


def wrong(place: str, what: str, fix: str) -> InvalidParameter:
    """A refusal next to a field; its code has the text in both languages."""
    return InvalidParameter(what, fix=fix, code=f"field-{place}", facts={"field": place})
