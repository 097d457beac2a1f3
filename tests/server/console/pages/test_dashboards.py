"""Dashboards: several questions, split by weights or by wanted errors, tried for free, and published once."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from curador.server.gate.cookies import SESSION
from tests.server.console.browsing import screen, screens, session_of, visitor
from tests.server.served import Served, too_long

MATRIX: dict[tuple[str, str], tuple[set[str | None], dict[str, Any] | None]] = {
    ("GET", "/console/dashboards"): ({"curator", "analyst"}, None),
    ("POST", "/console/dashboards"): ({"curator", "analyst"}, {"do": "more"}),
    ("POST", "/console/dashboards/estimate"): ({"curator", "analyst"}, {"sql-0": ""}),
    ("POST", "/console/dashboards/rehearsal"): ({"curator", "analyst"}, {"sql-0": ""}),
}

BOARD = {
    "places": "3",
    "epsilon": "0.6",
    "name-0": "people",
    "sql-0": "SELECT COUNT(*) AS n FROM people WHERE age > 31",
    "weight-0": "1",
    "name-1": "pay",
    "sql-1": "SELECT sex, AVG(pay) AS m FROM people WHERE age > 31 GROUP BY sex",
    "weight-1": "5",
}


def test_weights_and_wanted_errors_split_the_budget_for_free(served: Served) -> None:
    before = len(served.curator.history())
    with visitor(served, "ana") as ana:
        by_weight = ana.post("/console/dashboards/estimate", data=BOARD).text
        by_error = ana.post("/console/dashboards/estimate", data={**BOARD, "error-0": "200"}).text
        tried = ana.post("/console/dashboards", data={**BOARD, "do": "estimate"}).text
    assert "epsilon 0.1<" in by_weight
    assert "epsilon 0.5<" in by_weight
    assert "epsilon 0.5<" not in by_error  # what the first one does not need goes to the second
    assert tried.count("made-up rows") >= 2
    assert len(served.curator.history()) == before


def test_a_dashboard_with_a_value_that_was_never_declared_is_published_anyway(served: Served) -> None:
    odd = {**BOARD, "sql-0": "SELECT COUNT(*) AS n FROM people WHERE sex = 'f'", "epsilon": "0.1", "key": "odd board"}
    before = len(served.curator.history())
    with visitor(served, "ana") as ana:
        shown = html.unescape(ana.post("/console/dashboards/estimate", data=odd, headers={"HX-Request": "true"}).text)
        refused = ana.post("/console/dashboards", data={**odd, "do": "pay"})
        assert (refused.status_code, len(served.curator.history())) == (422, before)
        assert "people: sex has no declared value “f”" in html.unescape(refused.text)
        assert "bought=now" in ana.post("/console/dashboards", data={**odd, "do": "anyway"}).headers["location"]
    assert "people: sex has no declared value 'f'" in shown
    assert 'value="anyway"' in shown
    assert len(served.curator.history()) == before + 1


def test_a_dashboard_is_published_once_and_shown(served: Served) -> None:
    before = len(served.curator.history())
    with visitor(served, "ana") as ana:
        places = [
            ana.post("/console/dashboards", data={**BOARD, "do": "pay", "key": "board"}).headers["location"]
            for _ in range(2)
        ]
        said = ana.get(places[0]).text
        assert ana.get(f"{places[0].partition('?')[0]}/csv?name=pay").text.startswith("sex,m")
    assert {place.partition("?")[0] for place in places} == {places[0].partition("?")[0]}
    assert len(served.curator.history()) == before + 1
    assert "part-2" in said


def test_titles_stand_on_the_publication_and_in_its_report(served: Served) -> None:
    titles = {"title": "Work & <pay>", "title-0": "How many", "title-1": "What they earn"}
    sql = {f"sql-{k}": BOARD[f"sql-{k}"].replace("31", "32") for k in range(2)}
    with visitor(served, "ana") as ana:
        place = ana.post("/console/dashboards", data={**BOARD, **titles, **sql, "do": "pay", "key": "titled"})
        base = place.headers["location"].partition("?")[0]
        page, report, listed = (ana.get(path).text for path in (base, f"{base}/report", "/console/releases"))
    for text in (page, report):
        assert "<h1>Work &amp; &lt;pay&gt;</h1>" in text
        assert re.findall("How many|What they earn", text)[:2] == ["How many", "What they earn"]
    assert "Work &amp; &lt;pay&gt;; 2 questions: people, pay" in listed


def test_wanted_errors_alone_need_no_epsilon(served: Served) -> None:
    counts = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    wanted = {**BOARD, "epsilon": "", "error-0": "30", "sql-1": counts, "error-1": "20"}
    with visitor(served, "ana") as ana:
        said, surer = (
            ana.post("/console/dashboards/estimate", data={**wanted, "confidence": c}).text for c in ("0.8", "0.99")
        )
    whole = [float(re.findall(r"<dd>epsilon ([\d.]+)", text)[0]) for text in (said, surer)]
    assert "refusal" not in said
    assert 0 < whole[0] < whole[1]


def test_each_table_of_a_publication_is_sorted_and_named_by_itself(served: Served) -> None:
    sql = {f"sql-{k}": BOARD[f"sql-{k}"].replace("31", "33") for k in range(2)}
    with visitor(served, "ana") as ana:
        place = ana.post("/console/dashboards", data={**BOARD, **sql, "do": "pay", "key": "sorted"})
        base = place.headers["location"].partition("?")[0]
        query = "sort-1=sex&down-1=yes&name-1-1=mean+pay&name-0-0=all"
        page = ana.get(f"{base}?{query}").text
        file = ana.get(f"{base}/csv?name=pay&{query}").text
    assert page.index('<th scope="row">M') < page.index('<th scope="row">F')
    assert "mean pay" in page
    assert "<dt>all</dt>" in page
    assert [line.split(",")[0] for line in file.splitlines()] == ["sex", "M", "F"]
    assert file.startswith("sex,mean pay,")
    assert "name=pay&amp;name-0-0=all&amp;sort-1=sex&amp;down-1=yes&amp;name-1-1=mean+pay" in page


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"sql-0": "", "sql-1": ""}, "sql-0-wrong"),
        ({"name-1": "people"}, "name-1-wrong"),
        ({"epsilon": "2"}, "because-wrong"),
    ],
)
def test_what_is_wrong_costs_nothing(served: Served, changes: dict[str, str], place: str) -> None:
    before = len(served.curator.history())
    with visitor(served, "ana") as ana:
        answer = ana.post("/console/dashboards", data={**BOARD, **changes, "do": "pay", "key": "w"})
    assert answer.status_code >= 400
    assert f'id="{place}"' in answer.text
    assert len(served.curator.history()) == before


@screens()
def test_a_dashboard_in_a_browser(browser: Browser, served: Served, language: str, theme: str, width: int) -> None:
    with screen(browser, served, "ana", language=language, theme=theme, width=width) as seen:
        page = seen.open("/console/dashboards")
        page.fill("#name-1", "pay")
        with page.expect_response("**/dashboards/rehearsal"):
            page.fill("#sql-1", "SELECT sex, AVG(pay) AS m FROM people GROUP BY sex")
        page.wait_for_selector("#rehearsal h3 >> nth=1")
        seen.look(f"dashboard-{language}-{theme}-{width}")


def test_two_questions_of_one_name_are_refused_at_the_second(served: Served) -> None:
    form = {"places": "2", "epsilon": "0.5", "name-0": "all", "name-1": "all"}
    form |= {f"sql-{k}": "SELECT COUNT(*) AS n FROM people" for k in (0, 1)}
    with visitor(served, "ana") as ana:
        page = ana.post("/console/dashboards", data={**form, "do": "pay"}).text
    assert 'id="name-1-wrong"' in page
    assert "There is no price yet" not in page


def shares(page: Page) -> list[int]:
    return [int(page.input_value(f"#weight-{k}")) for k in range(3)]


def filled_board(page: Page) -> None:
    for k, name in enumerate(("one", "two", "three")):
        page.fill(f"#name-{k}", name)
        page.fill(f"#sql-{k}", f"SELECT COUNT(*) AS n{k} FROM people WHERE age > {30 + k}")


@screens()
def test_the_budget_is_split_by_dragging_and_by_arrow_keys(
    browser: Browser, served: Served, language: str, theme: str, width: int
) -> None:
    with screen(browser, served, "ana", language=language, theme=theme, width=width) as seen:
        page = seen.open("/console/dashboards")
        page.click("button[value=more]")
        filled_board(page)
        page.wait_for_selector("#split:visible")
        assert sum(shares(page)) == 100
        bar, border = page.locator("#split"), page.locator("#split .border").first
        border.scroll_into_view_if_needed()
        box, handle = bar.bounding_box(), border.bounding_box()
        assert box is not None
        assert handle is not None
        y = handle["y"] + handle["height"] / 2
        page.mouse.move(handle["x"] + handle["width"] / 2, y)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.2 * box["width"], y, steps=5)
        with page.expect_response("**/dashboards/estimate"):
            page.mouse.up()
        first, second, third = shares(page)
        assert (abs(first - 20) <= 1, first + second + third) == (True, 100)
        assert abs(second - (100 - first - third)) == 0
        border.press("ArrowRight")
        assert shares(page) == [first + 1, second - 1, third]
        assert border.get_attribute("aria-valuenow") == str(first + 1)
        assert f"one {first + 1} %, two {second - 1} %" == border.get_attribute("aria-valuetext")
        border.press("Home")
        assert shares(page) == [1, first + second - 1, third]
        border.press("End")
        assert shares(page) == [first + second - 1, 1, third]
        page.fill("#weight-2", "40")
        page.press("#weight-2", "Tab")
        assert shares(page) == [first + second - 1, 1, 40]  # no box but the one that is typed in
        page.fill("#error-0", "200")  # it takes what it needs, and has no share any more
        assert page.locator("#weight-0").is_hidden()
        assert page.locator("#split .border").count() == 1
        assert shares(page)[1:] == [1, 40]
        assert page.locator("#split b").all_inner_texts() == ["2 %", "98 %"]
        seen.look(f"dashboards-split-{language}-{theme}-{width}")


def test_a_share_that_was_typed_is_never_written_anew_and_is_what_is_paid(browser: Browser, served: Served) -> None:
    with screen(browser, served, "ana") as seen:
        page = seen.open("/console/dashboards")
        page.click("button[value=more]")
        filled_board(page)
        for k, text in enumerate(("30", "60", "10")):  # as somebody types: select what is there, then key by key
            page.focus(f"#weight-{k}")
            page.keyboard.press("Control+a")
            page.keyboard.type(text, delay=40)
        page.keyboard.press("Tab")
        assert shares(page) == [30, 60, 10]
        page.click("button[value=more]")  # nor are they by another question
        page.fill("#sql-3", "SELECT COUNT(*) AS n3 FROM people WHERE age > 34")
        assert shares(page) == [30, 60, 10]
        page.fill("#sql-3", "")
        page.fill("#epsilon", "0.1")
        expect(page.locator("#pay")).to_have_text("Answer all and pay epsilon 0.1")
        page.click("#pay:not([disabled])")
        page.wait_for_url("**/console/releases/*bought=now*")
    note: Any = served.curator.history("ana")[-1].note
    assert [round(note["budgets"][name]["epsilon"], 4) for name in ("one", "two", "three")] == [0.03, 0.06, 0.01]


@pytest.mark.parametrize("box", ["#title", "#epsilon", "#name-0", "#weight-0"])
def test_enter_shows_the_price_and_changes_no_question(browser: Browser, served: Served, box: str) -> None:
    before = len(served.curator.history())
    with screen(browser, served, "ana") as seen:
        page = seen.open("/console/dashboards")
        own = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
        page.fill("#sql-0", own)
        page.press(box, "Enter")
        page.wait_for_selector("#pay:not([disabled])")
        assert page.input_value("#sql-0") == own
        assert page.evaluate("document.activeElement.id") == box[1:]
    context = browser.new_context(java_script_enabled=False)  # nor without a script
    context.add_cookies([{"name": served.cookie(SESSION), "value": session_of(served, "ana"), "url": served.url}])
    plain = context.new_page()
    plain.goto(f"{served.url}/console/dashboards")
    plain.fill("#sql-0", own)
    plain.press(box, "Enter")
    plain.wait_for_selector("#rehearsal h3")
    assert plain.input_value("#sql-0") == own
    context.close()
    assert len(served.curator.history()) == before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sql-1": "SELECT AVG(sex) AS m FROM people"}, "Question 2"),
        ({"epsilon": "50", "because": "x"}, "does not fit"),
        ({"weight-1": "half"}, "Question 2"),
        ({"error-1": "1.000"}, "Is 1.000 meant as 1 or as 1000?"),
        ({"epsilon": ""}, "There is no price yet"),
    ],
)
def test_what_cannot_be_paid_has_no_button_that_pays(served: Served, changes: dict[str, str], said: str) -> None:
    with visitor(served, "ana") as ana:
        right, wrong = (
            ana.post("/console/dashboards/estimate", data={**BOARD, **more}, headers={"HX-Request": "true"}).text
            for more in ({}, changes)
        )
    assert "Answer all and pay epsilon 0.6" in right
    assert " disabled" not in right.partition('id="pay"')[2].partition(">")[0]
    assert said in wrong
    assert " disabled" in wrong.partition('id="pay"')[2].partition(">")[0]


def test_without_a_script_shares_are_numbers(browser: Browser, served: Served) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies([{"name": served.cookie(SESSION), "value": session_of(served, "ana"), "url": served.url}])
    page = context.new_page()
    page.goto(f"{served.url}/console/dashboards")
    assert page.locator("#split").is_hidden()
    for name, value in BOARD.items():
        if page.locator(f"[name={name}]:not([type=hidden])").count():
            page.fill(f"#{name}", value)
    page.click("button.second[value=estimate]")
    said = page.inner_text("#estimate")
    context.close()
    assert "epsilon 0.1" in said
    assert "epsilon 0.5" in said


def test_a_refusal_says_which_question_it_is_about(served: Served) -> None:
    with visitor(served, "ana") as ana:
        wrong = ana.post(
            "/console/dashboards/estimate", data={**BOARD, "sql-1": "SELECT AVG(payy) AS m FROM people"}
        ).text
        whole = ana.post("/console/dashboards/estimate", data={**BOARD, "epsilon": "x"}).text
    assert "Question 2" in wrong
    assert "Question" not in whole


def test_a_question_is_chosen_by_who_writes_no_sql(browser: Browser, served: Served) -> None:
    with screen(browser, served, "ana", width=390) as seen:
        page = seen.open("/console/dashboards")
        page.select_option("#function-1", "mean")
        page.select_option("#of-1", label="pay")
        page.select_option("#by-1", label="sex")
        page.click("button[value=build-1]")
        assert page.input_value("#sql-1") == "SELECT sex, AVG(pay) AS mean_pay FROM people GROUP BY sex"
        page.wait_for_selector("#estimate dd")
        page.locator("fieldset details summary").nth(1).click()
        page.select_option("#by-1", label="town")  # of another table
        page.click("button[value=build-1]")
        assert "another table" in page.inner_text("#of-1-wrong")
        seen.look("dashboards-chosen-390")


def test_a_mean_of_rows_is_refused_where_it_is_chosen(served: Served) -> None:
    form = {"places": "1", "function-0": "mean", "of-0": "0.", "by-0": "", "do": "build-0"}
    with visitor(served, "ana", **{"Accept-Language": "es"}) as ana:
        page = ana.post("/console/dashboards", data=form).text
        assert 'id="of-0-wrong" lang="es"' in page
        assert ana.post("/console/dashboards", data={**form, "do": "build-x"}).status_code == 200


def test_a_dashboard_that_takes_too_long_to_plan_stays_in_its_form(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(served.curator.history())
    monkeypatch.setattr("curador.server.service.bounded", too_long)
    with visitor(served, "ana") as ana:
        for do in ("estimate", "pay", "more"):
            found = ana.post("/console/dashboards", data={**BOARD, "do": do})
            assert "age &gt; 31" in found.text, do
        assert ana.post("/console/dashboards/estimate", data=BOARD).status_code == 200
    assert len(served.curator.history()) == before
