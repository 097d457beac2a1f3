"""What a charge bought is said in the visitor's language, whatever it was; and a note of any other shape as it is."""

from __future__ import annotations

from typing import Any

import pytest

from curador.server.console.budgets.asked import asked


def noted(note: dict[str, Any]) -> Any:
    """A charge of which only the note is read."""

    class Noted:
        def __init__(self) -> None:
            self.note = note
            self.asked = str(note.get("text", ""))

    return Noted()


RECIPE = {"model": "LinearRegression", "table": "staff", "features": ["age", "years"], "label": "pay"}


@pytest.mark.parametrize(
    ("note", "en", "es"),
    [
        (
            {"text": "2 questions: a, b", "batch": {"order": ["a", "b"], "words": {"title": "Staff"}}},
            "Staff; 2 questions: a, b",
            "Staff; 2 preguntas: a, b",
        ),
        ({"text": "1 questions: a", "batch": {"order": ["a"], "words": {}}}, "1 question: a", "1 pregunta: a"),
        (
            {"text": "quality of staff: age", "quality": "staff", "batch": {"order": ["age"], "words": {}}},
            "How many rows of staff fit",
            "Cuántas filas de staff se ajustan",
        ),
        (
            {"text": "LinearRegression of staff", "training": {}, "recipe": RECIPE},
            "Linear regression · staff: age, years → pay",
            "Regresión lineal · staff: age, years → pay",
        ),
        (
            {"text": "GaussianNB scored on staff", "training": {}},
            "Naive Bayes: how often it is right · staff",
            "Bayes ingenuo: cuántas veces acierta · staff",
        ),
    ],
)
def test_a_charge_is_told_in_both_languages(note: dict[str, Any], en: str, es: str) -> None:
    assert (asked(noted(note), "en"), asked(noted(note), "es")) == (en, es)


@pytest.mark.parametrize(
    "note",
    [
        {"text": "x", "batch": {"order": [], "words": {}}},
        {"text": "x", "batch": "y"},
        {"text": "x", "recipe": "cut", "training": "cut"},
        {"text": "x", "recipe": {**RECIPE, "model": "Unknown"}, "training": {}},
        {"text": "Unknown scored on staff", "training": {}},
        {"text": "GaussianNB scored on staff"},
        {"text": "x", "quality": 3},
    ],
)
def test_what_cannot_be_told_is_shown_as_it_was_noted(note: dict[str, Any]) -> None:
    assert asked(noted(note), "es") == note["text"]
