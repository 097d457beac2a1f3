"""How pages tell a refusal: in the visitor's language, by its code; never where a store is, nor why it failed."""

from __future__ import annotations

import pytest
from fastapi import Request

from curador.errors import CuradorError, EngineFailed, InvalidParameter, LedgerFailed, QuestionRefused
from curador.server.console.rendering import rendered
from curador.server.console.visit import Visit
from curador.server.gate.problems import document, kept

STORE = LedgerFailed("/srv/secret/study.ledger cannot be read.", fix="Mount /srv.", cost="x", code="ledger-unavailable")
MIXED = QuestionRefused("a mixes text and date.", fix="Use one.", code="mixed-types", facts={"expression": "a"})


def visit(language: str) -> Visit:
    scope = {"type": "http", "method": "GET", "path": "/console/ask", "query_string": b"", "headers": []}
    return Visit(Request(scope), language, "auto", "ses_x", fresh=False, caller=None)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MIXED, "a mezcla valores de tipos distintos."),
        (STORE, "no está disponible ahora"),
        (EngineFailed("x", fix="y", cost="the charge is kept", code="engine-failed"), "el cargo se mantiene"),
        (InvalidParameter("x", fix="y", code="not-positive", facts={"name": "epsilon"}), "épsilon debe ser mayor"),
    ],
)
def test_a_refusal_is_told_in_spanish_as_it_happens_and_as_it_is_kept(error: CuradorError, said: str) -> None:
    for one in (error, kept(document(error, "r"))):
        told = visit("es").told(one)
        assert said in told["what"]
        assert told["language"] == "es"
        assert told["cost"] in ("", "nada")


@pytest.mark.parametrize("language", ["en", "es"])
def test_of_a_store_that_failed_nothing_else_is_told(language: str) -> None:
    for one in (STORE, kept(document(STORE, "r"))):
        assert "srv" not in str(visit(language).told(one))


def test_what_has_no_code_is_english_and_marked() -> None:
    told = visit("es").told(InvalidParameter("No tree.", fix="Plant one."))
    assert (told["what"], told["language"]) == ("No tree.", "en")


@pytest.mark.parametrize("template", ["_models_job.html", "_audit.html"])
def test_a_job_that_failed_is_told_in_the_visitors_language(template: str) -> None:
    here = visit("es")
    values = {"say": here.say, "told": here.told, "kept": kept, "visit": here, "one": {"error": document(MIXED, "r")}}
    page = rendered(template, values)
    assert "a mezcla valores de tipos distintos." in page
    assert 'lang="es"' in page
