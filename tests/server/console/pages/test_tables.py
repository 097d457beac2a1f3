"""Tables: declarations in words, with a way to ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.server.console.browsing import WIDTHS, screen, visitor
from tests.server.served import Served, serving, write_study

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


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_file_that_is_not_there_is_named_to_whoever_can_mend_it(tmp_path: Path, language: str) -> None:
    study = write_study(tmp_path)
    study.with_name("visits.csv").unlink()
    path = str(study.with_name("visits.csv").resolve())
    with serving(study) as served:
        for who, told in (("curator", True), ("ana", False)):
            with visitor(served, who, **{"Accept-Language": language}) as client:
                for page in ("/console/tables", "/console/overview"):
                    said = client.get(page).text
                    assert ("is not there" if language == "en" else "no está") in said, (who, page)
                    assert (path in said) == told, (who, page)
                assert "/console/ask?table=people" in client.get("/console/tables").text
                assert "/console/ask?table=visits" not in client.get("/console/tables").text
