"""Analysts: budgets are given, raised and closed once; links and tokens are shown once and end."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from curador import ApproxDP, PureDP
from curador.errors import InvalidParameter
from curador.server.access.auth import digest
from curador.server.console.budgets.shown import handle
from tests.server.console.browsing import screen, screens, visitor
from tests.server.served import STUDY, Served, serving, write_study

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


@screens()
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
        page.select_option("#kind", "epsilon")  # in a study with a delta the choice is open
        page.fill("#amount", "1/4")
        page.fill("#because", "the autumn study")
        page.get_by_role("button", name="Only give the budget").press("Enter")
        page.wait_for_url(f"**{page_of('carla')}?done=given")
        assert "Now make a link" in page.inner_text("[role=status]")
        assert served.curator.budget("carla").budget == PureDP(0.25)
        page.get_by_role("button", name="Make a sign-in link").press("Enter")
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
        ({"expires": "2020-01-01"}, "expires-wrong"),
        ({"group": "nobody"}, "group-wrong"),
        ({"name": "n" * 190}, "name-wrong"),
        ({"because": "  "}, "because-wrong"),
        ({"delta": "1e-6"}, "delta-wrong"),  # counted in epsilon, it would be dropped, for ever
        ({"kind": "approximate"}, "delta-wrong"),
        ({"amount": "18.9"}, "amount-wrong"),  # 18.8 is left for all
        ({"name": "<script>alert(1)</script>"}, "name-wrong"),
        ({"name": "people"}, "name-wrong"),
        ({"name": "population"}, "name-wrong"),
        ({"name": "ana"}, "name-wrong"),
        ({"name": ""}, "name-wrong"),
    ],
)
def test_what_is_wrong_stands_next_to_its_field(served: Served, changes: dict[str, str], place: str) -> None:
    before = served.curator.ledger.scopes()
    form = {**GIVEN, "name": "dora", **changes}
    with visitor(served, "curator") as client:
        answer = client.post("/console/analysts", data=form)
        spanish = client.post("/console/analysts", data=form, headers={"Accept-Language": "es"})
    assert re.findall(r'class="refusal"[^>]*lang="(\w+)"', spanish.text) == ["es"]
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


def test_many_raises_at_once_raise_once_and_stop_nobody(tmp_path: Path) -> None:
    """Those that waited for their turn had every thread of free requests, one of which the first needed."""
    study = write_study(tmp_path, study=STUDY.replace('tick = "10ms"', 'tick = "10ms"\nthreads = 2'))
    with serving(study, sign_ins=1000) as few:
        few.curator.grant("elena", epsilon=1)
        with visitor(few, "curator") as client, ThreadPoolExecutor(6) as pool:
            (was,) = re.findall(r'name="was" value="([^"]+)"', client.get(page_of("elena")).text)
            form = {"was": was, "kind": "approximate", "amount": "0.5", "because": "more"}
            answers = pool.map(lambda _: client.post(f"{page_of('elena')}/raise", data=form).status_code, range(6))
            assert sorted(answers)[0] == 303
        assert few.curator.budget("elena").budget == PureDP(1.5)


def test_an_analyst_who_came_meanwhile_is_not_raised(served: Served) -> None:
    served.curator.grant("gala", epsilon=1)
    for seen in ("", "1 gala"):
        with pytest.raises(InvalidParameter) as refused:
            served.curator.grant("gala", epsilon=1, seen=seen)
        assert refused.value.code == ("raised-since" if seen else "analyst-exists")
    assert served.curator.budget("gala").budget == PureDP(1)


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
        spanish = client.post("/console/analysts/doors", data=form, headers={"Accept-Language": "es"})
        assert re.findall(r'class="refusal"[^>]*lang="(\w+)"', spanish.text) == ["es"]
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


def test_an_analyst_is_added_with_a_link_in_one_step(served: Served) -> None:
    with visitor(served, "curator") as client:
        form = {**GIVEN, "name": "Inés del Río", "shape": "link", "expires": "2099-12-31"}
        made = client.post("/console/analysts", data=form)
        (code,) = re.findall(r"/console/start#(cur_[\w-]+)", made.text)
        own = client.get(page_of("Inés del Río")).text
    found = served.curator.ledger.access(digest(code))
    assert found is not None
    assert (found.kind, found.who) == ("code", "Inés del Río")
    assert "2099-12-31" in own
    assert "2100" not in own  # the last day is the one that was typed


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_last_day_is_the_day_that_was_typed_on_every_page(tmp_path: Path, language: str) -> None:
    with serving(write_study(tmp_path)) as served:
        with visitor(served, "curator", **{"Accept-Language": language}) as client:
            assert client.post("/console/analysts", data={**GIVEN, "name": "gala", "expires": "2099-12-31"}).is_redirect
            said = [client.get(path).text for path in ("/console/analysts", page_of("gala"))]
        served.tokens["gala"] = served.give("analyst", "gala")
        with visitor(served, "gala") as gala:
            said.append(gala.get("/console/overview").text)
    for page in said:
        assert "2099-12-31" in page
        assert "2100-01-01" not in page


def test_the_budget_of_all_tables_is_raised_on_its_page(tmp_path: Path) -> None:
    with serving(write_study(tmp_path)) as served, visitor(served, "curator") as client:
        address = page_of("population")
        assert f'href="{address}"' in client.get("/console/analysts").text
        said = client.get(address).text
        assert "Budget of all tables together" in said
        assert "/close" not in said
        assert "/doors" not in said
        (was,) = re.findall(r'name="was" value="([^"]+)"', said)
        form = {"was": was, "kind": "approximate", "amount": "5", "because": "the second year"}
        first, again = (client.post(f"{address}/raise", data=form) for _ in range(2))
        assert (first.status_code, again.status_code) == (303, 422)
        assert served.curator.budgets()[0].budget == ApproxDP(25, 1e-6)
        assert served.curator.decisions("population")[-1].because == "the second year"


def test_what_analysts_have_together_and_what_is_left_is_said(tmp_path: Path) -> None:
    """ana has 10 and bea 1 of 20; once all tables have less, whoever asks first spends it, and the page says so."""
    with serving(write_study(tmp_path)) as served, visitor(served, "curator") as client:
        assert "Whoever asks first" not in client.get("/console/analysts").text
        served.curator.ask("SELECT COUNT(*) AS n FROM people", epsilon="9.5", because="much at once")
        said = client.get("/console/analysts").text
        assert "Analysts have epsilon 11 left together, and all tables only epsilon 10.5, delta 1e-06." in said
        served.curator.ask("SELECT COUNT(*) AS n FROM people WHERE age > 3", epsilon="9.9", because="much at once")
        said = client.get("/console/analysts").text
        assert "of it only epsilon 0.6, delta 1e-06 now" in said
        refused = client.post("/console/analysts", data={**GIVEN, "name": "hugo", "amount": "0.7"})
        assert "Only epsilon 0.6, delta 1e-06 is left for all together" in refused.text
        assert "hugo" not in served.curator.ledger


def test_ending_a_door_says_so_where_it_was_ended(served: Served) -> None:
    token = served.give("analyst", "bea", label="old laptop")
    with visitor(served, "curator") as client:
        form = {"because": "lost", "back": handle("bea")}
        answer = client.post(f"/console/analysts/doors/{digest(token)[:16]}/end", data=form)
        assert answer.headers["location"] == f"{page_of('bea')}?done=ended"
        assert "nobody comes in with it any more" in client.get(answer.headers["location"]).text
        elsewhere = client.post(f"/console/analysts/doors/{digest(token)[:16]}/end", data={"back": "//evil.example"})
        assert elsewhere.headers["location"] == "/console/analysts?done=ended"


@pytest.mark.parametrize(("language", "typed", "given"), [("en", "0,2", 0.2), ("es", "0,25", 0.25), ("es", "1,5", 1.5)])
def test_an_amount_with_a_decimal_comma_is_read_as_it_is_meant(
    tmp_path: Path, language: str, typed: str, given: float
) -> None:
    with (
        serving(write_study(tmp_path)) as served,
        visitor(served, "curator", **{"Accept-Language": language}) as client,
    ):
        assert client.post("/console/analysts", data={**GIVEN, "name": "iker", "amount": typed}).is_redirect
        assert served.curator.budget("iker").budget == PureDP(given)
        # fifteen hundred, or one and a half: not for a program to say
        for amount in ("1,500", "1,000.5", "1,000,000.5"):
            assert client.post("/console/analysts", data={**GIVEN, "name": "jon", "amount": amount}).status_code == 422
