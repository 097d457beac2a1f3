"""Answers to a question that the asker has bought already, at another price: looking at them is free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from curador.errors import CuradorError
from curador.server.access.auth import Caller
from curador.server.bodies import QuestionBody
from curador.server.console.questions.showing import budget_of_charge
from curador.server.console.visit import Visit
from curador.server.routes import asking
from curador.show.explain import error_text

SHOWN_ONLY = ("having", "order_by", "limit", "offset", "shown")
"""What a question says about noised numbers alone: the same was bought, whatever it says there."""


@dataclass(frozen=True)
class Owned:
    """A charge that bought the same; ``errors`` is how wrong it is, empty where it bought only some of it."""

    charge: str
    errors: str = ""


def owned(visit: Visit, caller: Caller, body: QuestionBody, found: Mapping[str, Any]) -> list[Owned]:
    """What an explanation names as bought before, with the error that it has.

    Guarantee: only charges whose answers went to the asker; explanations name no others.
    """
    charges = dict.fromkeys(str(x["charge"]) for x in found["shared"] if x["code"] in ("shared", "contained"))
    return [Owned(charge, _errors(visit, caller, body, found, charge)) for charge in charges]


def _errors(visit: Visit, caller: Caller, body: QuestionBody, found: Mapping[str, Any], charge: str) -> str:
    curator = visit.serving.curator
    bought = curator.ledger.charge(charge).note.get("asked")
    if not isinstance(bought, Mapping) or set(bought) != {""} or _asked(bought[""]) != _asked(found["question"]):
        return ""
    price = budget_of_charge(curator, charge)
    same = body.model_copy(update={"epsilon": None, "delta": None, "rho": None, "accuracy": None, **price})
    try:
        expected = asking.explained(same, visit.serving, caller).to_dict()["expected"]
    except CuradorError:  # bought in another currency, or as it is declared no more
        return ""
    return "; ".join(dict.fromkeys(error_text(one, visit.language) for one in expected))


def _asked(question: Mapping[str, Any]) -> dict[str, Any]:
    """What is measured, without the names and the order that an answer is shown with."""
    kept = {name: x for name, x in question.items() if name not in SHOWN_ONLY}
    return kept | {
        "aggregates": [one["aggregate"] for one in question["aggregates"]],
        "group_by": [one["expr"] for one in question["group_by"]],
    }
