"""Models: planned for free, bought once by one key, read again, typed at and scored; each role sees its own."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page

from curador.curator.purchase import Request
from curador.learn import LinearRegression
from curador.learn.saved import from_json
from tests.server.console.browsing import screen, visitor
from tests.server.served import Served

BUYERS: set[str | None] = {"curator", "analyst"}
MEMBERS: set[str | None] = {"curator", "analyst", "auditor"}
MATRIX: dict[tuple[str, str], tuple[set[str | None], dict[str, Any] | None]] = {
    ("GET", "/console/models"): (MEMBERS, None),
    ("POST", "/console/models"): (BUYERS, {"model": "nothing", "do": "pay"}),
    ("POST", "/console/models/plan"): (BUYERS, {"model": "nothing"}),
    ("GET", "/console/models/jobs/{job}"): (MEMBERS, None),
    ("GET", "/console/models/{id}"): (MEMBERS, None),
    ("GET", "/console/models/{id}/json"): (MEMBERS, None),
    ("POST", "/console/models/{id}/predict"): (MEMBERS, {"x-0": "nothing"}),
    ("POST", "/console/models/{id}/score"): (BUYERS, {"epsilon": "nothing"}),
}
FORM = {
    "table": "people", "model": "GaussianNB", "label": "sex", "feature-1": "age", "feature-2": "pay",
    "epsilon": "0.25", "delta": "", "key": "first", "because": "a trial", "do": "pay",
}  # fmt: skip


def ended(client: httpx.Client, answer: httpx.Response) -> httpx.Response:
    """The page of a job, once it is done, without what it leads to."""
    assert answer.status_code == 303, answer.text
    place = answer.headers["location"]
    for _ in range(3000):
        found = client.get(place)
        if found.status_code == 303 or "<progress" not in found.text:
            return found
        time.sleep(0.01)
    raise AssertionError("the job does not end")


def planning(page: Page) -> Any:
    """Until the plan of what is done inside has come: to leave a page that waits for one is an error in a browser."""
    return page.expect_event("requestfinished", lambda one: one.url.endswith("/console/models/plan"))


@pytest.mark.parametrize(
    ("who", "language", "theme", "width"), [("curator", "en", "light", 1280), ("ana", "es", "dark", 390)]
)
def test_a_model_is_planned_paid_tried_and_scored(
    browser: Browser, served: Served, who: str, language: str, theme: str, width: int
) -> None:
    """As a person does it, without a mouse."""
    with screen(browser, served, who, language=language, theme=theme, width=width) as seen:
        with planning(seen.page):
            page = seen.open("/console/models")
        page.focus("#model-GaussianNB")
        with planning(page):
            page.keyboard.press("Space")
        with planning(page):
            page.fill("#delta", "")
        with planning(page):
            page.fill("#epsilon", "0.5")
        page.wait_for_selector("#plan dd:text-matches('0.5$')")
        assert page.locator("#n_clusters").is_hidden()
        with planning(page):
            page.check("#model-KMeans")
        assert page.locator("#label").is_hidden()
        assert page.locator("#n_clusters").is_visible()
        with planning(page):
            page.check("#model-GaussianNB")
        seen.look(f"models-{language}-{theme}-{width}")
        page.locator("button[value=pay]").press("Enter")
        page.wait_for_url("**/console/models/*bought=now")
        for details in page.locator("details").all():
            details.evaluate("one => one.open = true")
        page.fill("#x-0", "30")
        page.locator("#typed button").press("Enter")
        page.wait_for_selector("#said dl")
        seen.look(f"model-{language}-{theme}-{width}")
        page.locator("section:has(#score) button").press("Enter")
        page.wait_for_selector("dd small")
        assert "%" in page.inner_text("dd")


def test_looking_is_free_and_a_key_buys_once(served: Served) -> None:
    count = served.curator.charge_count
    with visitor(served, "bea") as client:
        before = count("bea")
        assert "epsilon 0.25" in client.post("/console/models/plan", data=FORM).text
        assert client.post("/console/models", data={**FORM, "do": "plan"}).status_code == 200
        assert count("bea") == before
        first = client.post("/console/models", data=FORM)
        again = client.post("/console/models", data=FORM)  # a second click, or the form sent again by going back
        assert first.headers["location"] == again.headers["location"]
        place = ended(client, first).headers["location"]
        assert "Exactly this was bought before" in client.post("/console/models/plan", data=FORM).text
        other = ended(client, client.post("/console/models", data={**FORM, "key": "second"})).headers["location"]
        assert (other, count("bea")) == (place.replace("now", "again"), before + 1)
        shown = client.get(place).text
        assert "Reason: a trial" in shown
        assert client.get("/console/models").text.count("/console/models/") > 0
        assert place.split("?")[0] in client.get("/console/models").text
        model: Any = from_json(client.get(f"{place.split('?')[0]}/json").json())
        assert model.predict([[30, 100.5]])[0] in ("F", "M")
        assert (
            "/console/releases/" + place.split("/")[3].split("?")[0] + '"' not in client.get("/console/releases").text
        )
    with visitor(served, "ana") as client:
        assert client.get(place).status_code == 404
        assert client.get(f"{place.split('?')[0]}/json").status_code == 404
        assert client.get(first.headers["location"]).status_code == 404
    with visitor(served, "auditor") as client:
        assert client.get(place).status_code == 200
        assert 'action="/console/models"' not in client.get("/console/models").text


def test_who_buys_what_another_bought_pays_and_learns_nothing_of_the_other(served: Served) -> None:
    same = {**FORM, "epsilon": "0.125", "feature-2": ""}
    with visitor(served, "ana") as client:
        place = ended(
            client, client.post("/console/models", data={**same, "because": "a secret of ana", "key": "a"})
        ).headers["location"]
        assert "Reason: a secret of ana" in client.get(place).text
    with visitor(served, "bea") as client:
        spent = served.curator.budget("bea").spent
        own = ended(client, client.post("/console/models", data={**same, "because": "mine", "key": "b"})).headers[
            "location"
        ]
        assert own.endswith("bought=now")
        assert served.curator.budget("bea").spent != spent
        assert own.split("?")[0] in client.get("/console/models").text
        assert own.split("?")[0].replace("models", "releases") not in client.get("/console/releases").text
        shown = client.get(own).text
    assert "Reason: mine" in shown
    assert "secret of ana" not in shown


def test_a_model_of_rows_that_no_declaration_allows_is_learned_anyway(served: Served) -> None:
    odd = {**FORM, "where": "age = 101", "epsilon": "0.01", "key": "odd"}
    before = served.curator.charge_count("ana")
    with visitor(served, "ana") as client:
        planned = client.post("/console/models/plan", data=odd, headers={"HX-Request": "true"}).text
        refused = client.post("/console/models", data=odd)
        assert (refused.status_code, served.curator.charge_count("ana")) == (422, before)
        assert ended(client, client.post("/console/models", data={**odd, "do": "anyway"})).status_code == 303
    assert "By what is declared, age is 0 … 100" in planned
    assert 'value="anyway"' in planned
    assert served.curator.charge_count("ana") == before + 1


def test_a_score_is_charged_and_read_again_for_free(served: Served) -> None:
    count = served.curator.charge_count
    with visitor(served, "ana") as client:
        place = ended(client, client.post("/console/models", data=FORM)).headers["location"].split("?")[0]
        before = count("ana")
        asked = {"epsilon": "0.75", "where": "", "because": "", "key": "score"}
        shown = ended(client, client.post(f"{place}/score", data=asked)).text
        (share,) = re.findall(r"<dd>([\d.]+) %", shown)
        assert 0 <= float(share) <= 100
        assert re.search(r"<small>[\d.]+ % to [\d.]+ %, 95 % of the time", shown)
        again = ended(client, client.post(f"{place}/score", data={**asked, "key": "other"})).text
        assert share in again
        assert count("ana") == before + 1
        assert f"{share} %" in client.get(place).text
        wrong = client.post(f"{place}/score", data={**asked, "epsilon": "much"})
        assert (wrong.status_code, 'id="epsilon-wrong"' in wrong.text) == (422, True)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"model": "Oracle"}, "model-wrong"),
        ({"feature-1": "", "feature-2": ""}, "features-wrong"),
        ({"feature-1": "sex", "feature-2": "nothing"}, "features-wrong"),
        ({"label": "pay"}, "label-wrong"),
        ({"feature-0": "sex"}, "label-wrong"),
        ({"model": "LinearRegression"}, "label-wrong"),
        ({"epsilon": "much"}, "epsilon-wrong"),
        ({"epsilon": "-1"}, "epsilon-wrong"),
        ({"delta": "2"}, "delta-wrong"),
        ({"model": "LogisticRegression"}, "delta-wrong"),
        ({"bins": "some"}, "bins-wrong"),
        ({"epsilon": "3", "because": ""}, "because-wrong"),
        ({"where": "age > 3; DROP TABLE people"}, "refusal"),
        ({"table": "others"}, "refusal"),
    ],
)
def test_what_is_wrong_stands_next_to_its_field_and_costs_nothing(
    served: Served, changes: dict[str, str], place: str
) -> None:
    before = served.curator.charge_count()
    with visitor(served, "curator") as client:
        answer = client.post("/console/models", data={**FORM, **changes, "key": "wrong"})
    assert answer.status_code == 422, answer.headers
    assert f'"{place}"' in answer.text
    assert served.curator.charge_count() == before


def test_a_budget_that_is_short_is_said_before_and_after(served: Served) -> None:
    with visitor(served, "bea") as client:
        large = {**FORM, "epsilon": "1.5", "feature-2": "", "key": "large"}  # more than all of her budget
        assert "does not cover this" in client.post("/console/models/plan", data=large).text
        assert 'class="refusal"' in ended(client, client.post("/console/models", data=large)).text


def test_what_is_no_part_of_a_purchase_is_shown_otherwise_for_free(served: Served) -> None:
    line = {**FORM, "model": "LinearRegression", "feature-2": "", "label": "pay", "key": "line"}
    parts = {**FORM, "model": "PCA", "key": "parts"}
    with visitor(served, "curator") as client:
        places = [
            ended(client, client.post("/console/models", data=form)).headers["location"] for form in (line, parts)
        ]
        before = served.curator.charge_count()
        plain, damped = (client.get(places[0].split("?")[0] + other).text for other in ("", "?other=1e9"))
        assert "Ridge regression" in damped
        assert "Ridge regression" not in plain
        assert "Component 2" in client.get(places[1]).text
        assert "Component 2" not in client.get(places[1].split("?")[0] + "?other=1").text
        for place in places:
            wrong = client.get(place.split("?")[0] + "?other=some")
            assert (wrong.status_code, 'id="other-wrong"' in wrong.text) == (422, True)
        ridge = {**line, "model": "Ridge", "alpha": "7", "key": "ridge"}
        place = ended(client, client.post("/console/models", data=ridge)).headers["location"]
        assert place.endswith("?bought=again&other=7")
        assert "Ridge regression" in client.get(place).text
        assert served.curator.charge_count() == before


@pytest.mark.parametrize(
    ("changes", "said", "closed"),
    [
        ({"epsilon": "0,125"}, "Pay epsilon 0.125 and learn", False),
        ({"epsilon": "50"}, "Pay epsilon 50 and learn", True),
        ({"epsilon": "1,500"}, "Is 1,500 meant as 1.5 or as 1500?", True),
        ({"label": "nothing"}, "Pay and learn", True),
    ],
)
def test_the_button_says_what_it_pays_and_is_closed_where_nothing_can_be_paid(
    served: Served, changes: dict[str, str], said: str, closed: bool
) -> None:
    with visitor(served, "ana") as ana:
        found = ana.post("/console/models/plan", data={**FORM, **changes}, headers={"HX-Request": "true"}).text
    assert said in found
    assert (" disabled" in found.partition('id="pay"')[2].partition(">")[0]) == closed


LINE = {"model": "LinearRegression", "table": "people", "features": ["age"], "label": "pay"}
RECORDS: dict[str, dict[str, Any]] = {
    "named features": {**LINE, "features": {"a": "age", "<b>": "pay"}},
    "longer than a page": {**LINE, "features": {f"{'a' * 50}{i}": "age" for i in range(400)}},
    "features that are nothing": {**LINE, "features": None},
    "features that are a number": {**LINE, "features": 7},
    "features that are lists": {**LINE, "features": [["age"], []]},
    "no model": {**LINE, "model": None},
    "of another time": {"kind": "regression"},
}


@pytest.mark.parametrize("name", RECORDS)
def test_no_record_of_a_fit_costs_others_the_page(served: Served, name: str) -> None:
    curator = served.curator
    model = LinearRegression(epsilon=f"0.00{1 + list(RECORDS).index(name)}")
    run = replace(curator.training(model, "people", features=["age"], label="pay"), recipe=RECORDS[name])
    charge = curator.buy(run, Request(analyst="ana")).charge.id
    for who in ("curator", "auditor", "ana"):
        with visitor(served, who) as client:
            shown = client.get("/console/models")
            assert shown.status_code == 200
            assert f"/console/models/{charge}" in shown.text
            assert ("people: a, &lt;b&gt; → pay" in shown.text) or name != "named features"
            assert client.get(f"/console/models/{charge}").status_code == 422  # it says otherwise than what was bought


def test_what_is_predicted_follows_the_model(browser: Browser, served: Served) -> None:
    """One click on a regression leaves nothing to correct, and one back neither."""
    with screen(browser, served, "ana") as seen:
        page = seen.open("/console/models?table=people")
        assert page.input_value("#label") == "sex"
        page.check("#model-LinearRegression")
        assert page.input_value("#label") == "pay"
        ticked = page.eval_on_selector_all(".ticks input:checked", "all => all.map(one => one.value)")
        assert ticked == ["sex", "age"]
        with page.expect_response("**/models/plan"):
            page.fill("#epsilon", "0.06")
        page.wait_for_selector("#plan .plan")
        page.check("#model-GaussianNB")
        assert page.input_value("#label") == "sex"
        ticked = page.eval_on_selector_all(".ticks input:checked", "all => all.map(one => one.value)")
        assert ticked == ["age", "pay"]
