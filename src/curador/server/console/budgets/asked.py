"""What was bought with a charge, in words of the visitor's language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from curador import Charge
from curador.curator.releases.titles import noted_title
from curador.server.console.learning.noted import learned_from
from curador.show.words.say import knows, say

SCORED = re.compile(r"(?P<model>\w+) scored on (?P<table>.+)")
"""How the charge of a score is noted for people."""


def asked(charge: Charge, language: str) -> str:
    """The question of a charge as a title, several by their names, a model by its own; else as it was noted for people.

    Whoever buys writes the note, so that one of any other shape is shown as it is.
    """
    note = charge.note
    return noted_title(note, language) or _fit(note, language) or _several(note, language) or _model(charge, language)


def _fit(note: Mapping[str, Any], language: str) -> str | None:
    """How many rows of a table fit."""
    table = note.get("quality")
    return say("tables.fit-title", language, table=table) if isinstance(table, str) else None


def _several(note: Mapping[str, Any], language: str) -> str | None:
    match note:
        case {"batch": {"order": [_, *_] as names, "words": Mapping() as words}}:
            title = words.get("title")
            facts = {"n": f"{len(names):,}", "names": ", ".join(map(str, names))}
            said = say("ledger.one-question" if len(names) == 1 else "ledger.n-questions", language, **facts)
            return f"{title}; {said}" if isinstance(title, str) and title else said
    return None


def _model(charge: Charge, language: str) -> str:
    """A model by its name and what it was learned from, or a score by its model's and the table it was counted on."""
    found = learned_from(charge)
    if found is not None:
        model = _named(found.model, language)
        return charge.asked if model is None else f"{model} · {found.about}"
    score = SCORED.fullmatch(charge.asked) if "training" in charge.note else None
    model = None if score is None else _named(score["model"], language)
    if score is None or model is None:
        return charge.asked
    return say("models.scored-on", language, model=model, table=score["table"])


def _named(model: str, language: str) -> str | None:
    code = f"models.name-{model}"
    return say(code, language) if knows(code) else None
