"""Tables: declarations in words, with a way to ask."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.server.console.browsing import WIDTHS, screen, visitor
from tests.server.served import Served

MATRIX: dict[tuple[str, str], tuple[set[str | None], dict[str, Any] | None]] = {
    ("GET", "/console/tables"): ({"curator", "analyst", "auditor"}, None),
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("es", "dark")])
def test_declarations_in_words(browser: Browser, served: Served, language: str, theme: str, width: int) -> None:
    with screen(browser, served, "ana", language=language, theme=theme, width=width) as seen:
        page = seen.open("/console/tables")
        said = page.inner_text("main")
        assert "0 … 5,000" in said
        assert ("one row" if language == "en" else "una fila") in said
        seen.look(f"tables-{language}-{theme}-{width}")
        page.click("main a.button")
        page.wait_for_url("**/console/ask?table=people")


def test_an_auditor_reads_and_does_not_ask(served: Served) -> None:
    with visitor(served, "auditor") as auditor:
        said = auditor.get("/console/tables").text
    assert "people" in said
    assert "/console/ask" not in said
