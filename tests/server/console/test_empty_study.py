"""A study that has a budget and no tables yet: it is served, and every page leads to the first table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from curador import Curator, PureDP
from curador.curator.study.draft import blank
from curador.curator.study.file import read_study
from curador.errors import InvalidParameter
from tests.server.console.browsing import screen, visitor
from tests.server.served import Served, serving

ROWS = b"who,cost\n" + b"".join(b"%d,%d\n" % (i, i % 40) for i in range(300))
PAGES = (
    *("overview", "tables", "tables/new", "ask", "dashboards", "models", "releases", "analysts"),
    *("ledger", "collect", "audit", "playground"),
)
LEADS = ("overview", "tables", "ask", "dashboards", "models", "analysts")


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Served]:
    study = tmp_path / "study.toml"
    study.write_text(blank("3") + '[server]\ntick = "10ms"\n')
    with serving(study, tokens=False, per_token=10000, per_address=10000) as found:
        yield found


def test_every_page_is_there_and_leads_to_the_first_table(empty: Served) -> None:
    with visitor(empty, "curator") as client:
        for page in PAGES:
            found = client.get(f"/console/{page}")
            assert found.status_code == 200, page
            assert "/console/tables/new" in found.text or page not in LEADS, page
        assert "epsilon 3" in client.get("/console/overview").text
    with visitor(empty, "auditor") as client:
        for page in ("overview", "tables", "models", "releases", "analysts", "ledger"):
            found = client.get(f"/console/{page}")
            assert found.status_code == 200, page
            assert "/console/tables/new" not in found.text
    with visitor(empty, "reader") as client:
        for page in ("overview", "releases", "playground"):
            assert client.get(f"/console/{page}").status_code == 200, page


def test_what_needs_a_table_is_refused_and_nothing_is_opened(empty: Served) -> None:
    with empty.client("curator") as client:
        for path, body in (
            ("/v1/ask", {"sql": "SELECT COUNT(*) AS n FROM people", "epsilon": "1"}),
            ("/v1/explain", {"sql": "SELECT COUNT(*) AS n FROM people", "epsilon": "1"}),
            ("/v1/batch", {"questions": {"n": "SELECT COUNT(*) AS n FROM people"}, "epsilon": "1"}),
        ):
            refused = client.post(path, json=body)
            assert (refused.status_code, refused.json()["code"]) == (422, "no-tables-yet")
    with pytest.raises(InvalidParameter, match="no tables yet"):
        empty.curator.grant("ana", epsilon=1)
    with pytest.raises(InvalidParameter, match="no tables yet"):
        empty.curator.budget()
    assert empty.curator.budgets() == ()
    assert empty.curator.ledger.scopes() == ()


@pytest.mark.parametrize(("language", "theme", "width"), [("en", "light", 1280), ("es", "dark", 390)])
def test_the_first_table_is_brought_and_asked_in_the_browser(
    browser: Browser, empty: Served, language: str, theme: str, width: int
) -> None:
    with screen(browser, empty, "curator", language=language, theme=theme, width=width) as seen:
        page = seen.open("/console/overview")
        seen.look(f"empty-{language}-{theme}-{width}")
        page.locator("main a.button[href='/console/tables/new']").press("Enter")
        page.set_input_files("#file-to-send", {"name": "visits.csv", "mimeType": "", "buffer": ROWS})
        page.wait_for_selector("button[value=columns]:enabled")
        page.select_option("#header", "yes")
        page.locator("button[value=columns]").press("Enter")
        page.wait_for_selector("#unit")
        assert "curador grant population --delta" in page.content()  # epsilon alone finds no groups
        page.select_option("#unit", "row")
        page.select_option("#type-1", "integer")
        page.fill("#low-1", "0")
        page.fill("#high-1", "50")
        page.locator("button[value=check]:not(.unseen)").press("Enter")
        page.wait_for_selector("#file")
        page.locator("button[value=write]").press("Enter")
        page.locator("main a.button[href*=ask]").press("Enter")
        page.wait_for_selector("#estimate dd")
    assert list(read_study(empty.study).tables) == ["visits"]
    with empty.client("curator") as client:
        asked = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "1"}
        assert client.post("/v1/ask", json=asked).status_code == 200
        assert client.get("/v1/budget").json()["budgets"][0]["budget"]["epsilon"] == 3


def test_a_budget_may_be_stated_otherwise_until_there_is_a_table(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    for epsilon in ("3", "1/2"):
        study.write_text(blank(epsilon))
        Curator(study).close()
    (tmp_path / "people.csv").write_text("age\n30\n")
    study.write_text(blank("1/2") + '[tables.people]\nsource = "people.csv"\nunit = "row"\ncolumns.age = "integer"\n')
    curator = Curator(study)
    assert curator.budget().budget == PureDP(0.5)
    curator.close()


@pytest.mark.parametrize(
    "text", ["", "[server]\n", "[tables]\n[budget]\nepsilon = 1\n", "[budget.people]\nepsilon = 1\n"]
)
def test_a_file_that_states_no_budget_or_an_empty_section_is_refused(tmp_path: Path, text: str) -> None:
    study = tmp_path / "study.toml"
    study.write_text(text)
    with pytest.raises(InvalidParameter):
        Curator(study)
