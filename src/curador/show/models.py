"""Models in words: what fitting one would do and cost, and what a fitted one promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from curador.privacy import Guarantee
from curador.show.explain import bullet, checked_language, guarantee_text, note_text, whom
from curador.show.words.say import say


def fit_sentences(
    guarantee: Guarantee, unit: str | None, neighbors: str, notes: Sequence[Mapping[str, Any]], language: str
) -> list[str]:
    """What fitting would cost, and a sentence for each note."""
    language = checked_language(language)
    costs = say(
        "fit-costs",
        language,
        guarantee=guarantee_text(guarantee, language),
        unit=whom(unit, language),
        neighbors=say(neighbors, language),
    )
    return [costs, *(note_text(note, language) for note in notes)]


def fit_text(text: str, sentences: Sequence[str]) -> str:
    """What fitting would do and cost: a heading, and the sentences below it."""
    return "\n".join([text, *(line for sentence in sentences for line in bullet(sentence))])


def model_text(
    guarantee: Guarantee, unit: str | None, neighbors: str, charge: str | None, language: str, arrays: bool = False
) -> str:
    """What a fitted model promises, for whom, and who counted it; of ``arrays``, for which rows."""
    promise = say(
        "model-keeps",
        language,
        guarantee=guarantee_text(guarantee, language),
        unit=whom(unit, language),
        neighbors=say(neighbors, language),
    )
    paid = say("model-uncounted", language) if charge is None else say("model-charged", language, charge=charge)
    return f"{promise} {paid} {say('model-rows', language)}" if arrays else f"{promise} {paid}"
