"""Audit: a mechanism is tested as a job, and what was found is said with how many runs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser

from curador.audit.tester.named import KINDS
from tests.server.console.browsing import NARROW, WIDE, screen, visitor
from tests.server.served import Served

MATRIX: dict[tuple[str, str], tuple[set[str | None], dict[str, Any] | None]] = {
    ("GET", "/console/audit"): ({"curator", "auditor"}, None),
    ("POST", "/console/audit"): ({"curator", "auditor"}, {"kind": "nothing"}),
    ("GET", "/console/audit/{job}"): ({"curator", "auditor"}, None),
}


@pytest.mark.parametrize(("language", "width"), [("en", WIDE), ("es", NARROW)])
def test_a_mechanism_is_tested(browser: Browser, served: Served, language: str, width: int) -> None:
    with screen(browser, served, "auditor", language=language, theme="dark", width=width) as seen:
        page = seen.open("/console/audit")
        page.select_option("#kind", "randomized-response")
        page.select_option("#runs", "3000")
        page.locator("main form button").press("Enter")
        said = page.locator("p[role=status]", has_text="n = ").inner_text()
        assert "3,000" in said
        assert ("Claimed is epsilon 1;" if language == "en" else "Se declara épsilon 1;") in said
        assert "verif" not in said.lower()
        seen.open("/console/audit")
        seen.look(f"audit-{language}-{width}")


@pytest.mark.parametrize("changes", [{"kind": "nothing"}, {"epsilon": "much"}, {"epsilon": "-1"}, {"runs": "10"}])
def test_what_is_wrong_is_said_and_nothing_runs(served: Served, changes: dict[str, str]) -> None:
    form = {"kind": "laplace", "epsilon": "1", "delta": "", "runs": "3000", **changes}
    with visitor(served, "curator") as client:
        answer = client.post("/console/audit", data=form)
    assert answer.status_code == 422
    assert 'class="refusal"' in answer.text


def test_every_mechanism_has_a_name_in_both_languages(served: Served) -> None:
    """No page shows the codes of kinds, which say nothing to whoever writes no code."""
    for language in ("en", "es"):
        with visitor(served, "auditor", **{"Accept-Language": language}) as client:
            said = client.get("/console/audit").text
        shown = dict(re.findall(r'<option value="([a-z-]+)"[^>]*>([^<]+)</option>', said))
        assert set(shown) == set(KINDS)
        assert all(" " in text and text != kind for kind, text in shown.items())
