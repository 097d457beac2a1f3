"""Analysts: budgets are given, raised and closed once; links and tokens are shown once and end."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser

from curador import PureDP
from curador.server.access.auth import digest
from curador.server.console.pages.analysts import handle
from tests.server.console.browsing import WIDTHS, screen, visitor
from tests.server.served import Served

MATRIX: dict[tuple[str, str], tuple[set[str | None], dict[str, Any] | None]] = {
    ("GET", "/console/analysts"): ({"curator", "auditor"}, None),
    ("GET", "/console/analysts/{handle}"): ({"curator", "auditor"}, None),
    ("POST", "/console/analysts"): ({"curator"}, {"name": "", "amount": "no"}),
    ("POST", "/console/analysts/{handle}/raise"): ({"curator"}, {}),
    ("POST", "/console/analysts/{handle}/close"): ({"curator"}, {}),
    ("POST", "/console/analysts/doors"): ({"curator"}, {"role": "nobody"}),
    ("POST", "/console/analysts/doors/{id}/end"): ({"curator"}, {}),
}

GIVEN = {"kind": "epsilon", "amount": "0.5", "because": "a study of pay", "group": "", "delta": "", "expires": ""}


def page_of(name: str) -> str:
    return f"/console/analysts/{handle(name)}"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("es", "dark")])
def test_a_curator_sees_analysts_and_what_opens(
    browser: Browser, served: Served, language: str, theme: str, width: int
) -> None:
    with screen(browser, served, "curator", language=language, theme=theme, width=width) as seen:
        page = seen.open("/console/analysts")
        assert {"ana", "bea"} <= set(page.inner_text("main").split())
        for closed in page.locator("details.card > summary").all():
            closed.press("Enter")
        seen.look(f"analysts-{language}-{theme}-{width}")
        seen.open(page_of("ana"))
        for closed in page.locator("details.card > summary").all():
            closed.press("Enter")
        assert "psilon 0.7" in page.inner_text("main")
        seen.look(f"analyst-{language}-{theme}-{width}")


def test_a_budget_is_given_and_a_link_lets_its_analyst_in(browser: Browser, served: Served) -> None:
    """By keyboard: the budget, the link, and what the link opens."""
    with screen(browser, served, "curator") as seen:
        page = seen.open("/console/analysts")
        page.locator("details.card > summary").first.press("Enter")
        page.fill("#name", "carla")
        page.select_option("#kind", "epsilon")
        page.fill("#amount", "1/4")
        page.fill("#because", "the autumn study")
        page.get_by_role("button", name="Give this budget").press("Enter")
        page.wait_for_url(f"**{page_of('carla')}")
        assert served.curator.budget("carla").budget == PureDP(0.25)
        page.get_by_role("button", name="Sign-in link, works once").press("Enter")
        page.wait_for_selector("#secret")
        seen.look("secret")
        link = page.input_value("#secret")
        assert link.startswith(f"{served.url}/console/start#cur_")
    found = served.curator.ledger.access(digest(link.partition("#")[2]))
    assert found is not None
    assert (found.kind, found.role, found.who) == ("code", "analyst", "carla")


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"amount": "much"}, "amount-wrong"),
        ({"amount": "-1"}, "amount-wrong"),
        ({"kind": "approximate", "delta": "2"}, "delta-wrong"),
        ({"expires": "someday"}, "expires-wrong"),
        ({"because": "  "}, "because-wrong"),
        ({"name": "people"}, "name-wrong"),
        ({"name": "population"}, "name-wrong"),
        ({"name": "ana"}, "name-wrong"),
        ({"name": ""}, "name-wrong"),
    ],
)
def test_what_is_wrong_stands_next_to_its_field(served: Served, changes: dict[str, str], place: str) -> None:
    before = served.curator.ledger.scopes()
    with visitor(served, "curator") as client:
        answer = client.post("/console/analysts", data={**GIVEN, "name": "dora", **changes})
    assert answer.status_code in (404, 422)
    assert f'id="{place}"' in answer.text
    assert served.curator.ledger.scopes() == before


def test_no_analyst_gets_the_name_by_which_somebody_else_signs_in(served: Served) -> None:
    code = served.give("curator", once=True)
    with visitor(served) as stranger:
        form = {"code": code, "login": "Nuria", "password": "four words are long", "again": "four words are long"}
        assert stranger.post("/console/start", data=form).status_code == 303
    with visitor(served, "curator") as client:
        answer = client.post("/console/analysts", data={**GIVEN, "name": "nuria"})
    assert answer.status_code == 422
    assert "Somebody else signs in by this name" in answer.text
    assert "nuria" not in served.curator.ledger


def test_a_raise_that_is_sent_twice_raises_once(served: Served) -> None:
    served.curator.grant("elena", epsilon=1)
    with visitor(served, "curator") as client:
        (was,) = re.findall(r'name="was" value="([^"]+)"', client.get(page_of("elena")).text)
        form = {"was": was, "kind": "approximate", "amount": "0.5", "because": "more"}
        first, again = (client.post(f"{page_of('elena')}/raise", data=form) for _ in range(2))
    assert (first.status_code, again.status_code) == (303, 422)
    assert "changed since" in again.text
    assert served.curator.budget("elena").budget == PureDP(1.5)


def test_closing_needs_a_reason_and_a_tick(served: Served) -> None:
    served.curator.grant("fina", epsilon=1)
    with visitor(served, "curator") as client:
        for form in ({}, {"because": "left"}, {"sure": "yes"}):
            assert client.post(f"{page_of('fina')}/close", data=form).status_code == 422
        assert not served.curator.budget("fina").closed
        assert client.post(f"{page_of('fina')}/close", data={"sure": "yes", "because": "left"}).status_code == 303
        assert "was closed" in client.get(page_of("fina")).text
    assert served.curator.budget("fina").closed
    assert served.curator.decisions("fina")[-1].because == "left"


def test_a_token_is_shown_once_and_ends(served: Served) -> None:
    form = {"role": "auditor", "shape": "token", "label": "spare laptop"}
    with visitor(served, "curator") as client:
        made = client.post("/console/analysts/doors", data=form)
        (token,) = re.findall(r"cur_[\w-]+", made.text)
        listed = client.get("/console/analysts").text
        assert token not in listed
        assert "spare laptop" in listed
        id = digest(token)[:16]
        assert client.post(f"/console/analysts/doors/{id}/end", data={"because": "lost"}).status_code == 303
    found = served.curator.ledger.access(digest(token))
    assert found is not None
    assert found.ended


@pytest.mark.parametrize(
    "form",
    [
        {"role": "analyst", "shape": "link", "analyst": ""},
        {"role": "analyst", "shape": "link", "analyst": "people"},
        {"role": "analyst", "shape": "link", "analyst": "nobody"},
        {"role": "reader", "shape": "token", "expires": "2020-01-01"},
        {"role": "king", "shape": "token"},
    ],
)
def test_no_door_is_made_for_nobody(served: Served, form: dict[str, str]) -> None:
    before = len(served.curator.ledger.accesses())
    with visitor(served, "curator") as client:
        answer = client.post("/console/analysts/doors", data=form)
        now = len(served.curator.ledger.accesses())
    assert answer.status_code in (404, 422)
    assert "cur_" not in answer.text
    assert now == before


def test_an_auditor_looks_and_changes_nothing(served: Served) -> None:
    with visitor(served, "auditor") as client:
        for path in ("/console/analysts", page_of("ana")):
            assert "<form" not in client.get(path).text.partition("<main")[2].partition("</main")[0]
        assert client.post("/console/analysts", data={**GIVEN, "name": "gil"}).status_code == 403


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "'\"><img src=x onerror=alert(1)>", "a/b?c#d"])
def test_any_name_has_a_page(served: Served, name: str) -> None:
    served.curator.grant(name, epsilon="0.1")
    with visitor(served, "curator") as client:
        listed, own = client.get("/console/analysts").text, client.get(page_of(name))
    assert own.status_code == 200
    for said in (listed, own.text):
        assert "<script>alert" not in said
        assert "<img" not in said
