"""The boxes of the page of questions: what is typed is applied, kept and read as meant; prices are plain numbers."""

from __future__ import annotations

import html
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import pytest
from playwright.sync_api import Browser, Page, expect

from curador.errors import InvalidParameter
from curador.server.console.pages import ask
from tests.server.console.browsing import screen, visitor
from tests.server.console.pages.test_ask import BUILT, PART, charges, question
from tests.server.served import STUDY, Served, serving, write_study


def active(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id"))


# ---- Enter -----------------------------------------------------------------------------------------------------------


def test_enter_in_a_box_of_the_builder_applies_it_and_stays(browser: Browser, served: Served) -> None:
    with screen(browser, served, "ana") as seen:
        page = seen.open("/console/ask?table=people")
        page.wait_for_selector("#rehearsal .made-up")
        page.evaluate("window.same = true")
        with page.expect_response("**/ask/build"):
            page.select_option("#where-0-column", "age")
        page.wait_for_selector("#where-0-value-wrong")
        for value in ("41", "42"):  # the first makes the question, the second changes one that can be paid
            page.fill("#where-0-value", value)
            with page.expect_response("**/ask/build"):
                page.press("#where-0-value", "Enter")
            expect(page.locator("#sql")).to_have_value(re.compile(f"age = {value}"))
            assert active(page) == "where-0-value"
        page.fill("#measure-0-name", "people")
        with page.expect_response("**/ask/build"):
            page.press("#measure-0-name", "Enter")
        expect(page.locator("#sql")).to_have_value(re.compile("AS people"))
        assert page.input_value("#measure-0-name") == "people"
        page.fill("#epsilon", "0.02")
        page.press("#epsilon", "Enter")
        page.wait_for_selector("#pay:has-text('0.02'):not([disabled])")
        assert active(page) == "epsilon"
        assert page.evaluate("window.same")  # the page was never loaded anew


def test_what_is_typed_while_choices_are_on_their_way_is_kept(browser: Browser, served: Served) -> None:
    with screen(browser, served, "ana") as seen:
        page = seen.open("/console/ask?table=people")
        page.wait_for_selector("#rehearsal .made-up")
        page.evaluate("""document.addEventListener("htmx:beforeRequest", (event) => {
            const name = document.getElementById("measure-0-name");
            if (event.detail.target.id === "question" && !name.value) setTimeout(() => { name.value = "late"; });
        })""")
        page.select_option("#by-0", "sex")
        expect(page.locator("#sql")).to_have_value(re.compile("AS late"))
        assert "GROUP BY sex" in page.input_value("#sql")


@pytest.mark.parametrize("button", ["estimate", "pay"])
def test_a_choice_that_is_not_in_the_sql_yet_is_neither_lost_nor_paid(served: Served, button: str) -> None:
    before = charges(served)
    with visitor(served, "ana") as ana:
        page = html.unescape(ana.get("/console/ask?table=people").text)
        shown = re.search(r'name="shown" value="([^"]*)"', page)
        assert shown is not None
        chosen = {"table": "people", "measure-0-function": "count", "measure-0-name": "n", "shown": shown[1]}
        form = {**question(0, sql=shown[1]), **chosen, "do": button, "key": "k"}
        moved = {"where-0-column": "age", "where-0-op": ">", "where-0-value": "77"}
        found = html.unescape(ana.post("/console/ask", data={**form, **moved}).text)
    assert "WHERE age > 77</textarea>" in found
    assert charges(served) == before


# ---- numbers as people write them ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "said"), [("3,500", "pay > 3500"), ("0,5", "pay > 0.5"), ("3.500", "Is 3.500 meant as 3.5 or as 3500?")]
)
def test_a_value_with_thousands_is_read_or_asked_back(served: Served, value: str, said: str) -> None:
    chosen = {"measure-0-function": "count", "where-0-column": "pay", "where-0-op": ">", "where-0-value": value}
    with visitor(served, "ana") as ana:
        found = html.unescape(ana.post("/console/ask/build", data={**BUILT, **chosen}, headers=PART).text)
    assert said in found
    assert f'value="{value}"' in found


# ---- prices ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "said"),
    [
        ("0.1", "10 % of what remains"),
        ("0.55", "55 % of what remains"),
        ("1", "all that remains (100 %)"),
        ("1.3", "130 % of what remains"),
        ("3.6", "3.6 times what remains"),
        ("250", "250 times what remains"),
        ("100", "more than a million times as likely"),
        ("0.000000001", "epsilon 0.000000001"),
    ],
)
def test_prices_are_plain_numbers(served: Served, epsilon: str, said: str) -> None:
    form = question(0, sql="SELECT COUNT(*) AS n FROM people WHERE age = 99", epsilon=epsilon)
    with visitor(served, "bea") as bea:  # who has 1 and spends nothing
        found = html.unescape(bea.post("/console/ask/estimate", data=form, headers=PART).text)
    told = re.sub(r"delta \S+", "", found.partition('id="more"')[0])
    assert said in told
    assert not re.search(r"\d(e[+-]\d|\.\d*e)", told)


def test_who_has_nothing_left_has_no_slider_and_is_told(served: Served) -> None:
    served.curator.grant("dan", epsilon="0.02", because="a little")
    served.tokens["dan"] = served.give("analyst", "dan")
    with visitor(served, "dan") as dan:
        some = dan.get("/console/ask").text
        assert "0.02: all that remains" in some
        bought = dan.post("/console/ask", data=question(61, epsilon="0.02", do="pay", key="all"))
        assert "bought=now" in bought.headers["location"]
        none = dan.get("/console/ask").text
        assert 'id="slider"' not in none
        assert "The budget is spent" in none
        served.curator.revoke("dan", because="gone")
        assert "This budget was closed" in dan.get("/console/ask").text


def test_a_better_answer_that_was_bought_is_named_before_another_is_paid(served: Served) -> None:
    sql = "SELECT sex, COUNT(*) AS n FROM people WHERE age > 62 GROUP BY sex"
    with visitor(served, "ana") as ana, visitor(served, "bea") as bea:
        form = question(0, sql=sql, by="error", error="30")
        charge = ana.post("/console/ask", data={**form, "do": "pay", "key": "better"}).headers["location"]
        number = re.findall(r"releases/(\d+)", charge)[0]
        worse = question(0, sql=sql.replace("AS n", "AS m") + " ORDER BY m", epsilon="0.05")
        part = question(0, sql=sql.replace("COUNT(*) AS n", "COUNT(*) AS n, AVG(pay) AS p"), epsilon="0.05")
        mine, some, theirs = (
            html.unescape(one.post("/console/ask/estimate", data=asked, headers=PART).text)
            for one, asked in ((ana, worse), (ana, part), (bea, worse))
        )
    assert f"You already have an answer to this question, with ± 30 (charge {number})" in mine
    assert f'href="/console/releases/{number}"' in mine
    assert f"You have already bought this number or its groups (charge {number})" in some
    assert "You already have" not in theirs
    assert "already bought" not in theirs


# ---- made-up rows ----------------------------------------------------------------------------------------------------


def test_rows_behind_each_number_are_made_up_for_each_group_and_a_vague_answer_is_warned_of(served: Served) -> None:
    sql = "SELECT sex, AVG(pay) AS m FROM people GROUP BY sex"
    with visitor(served, "ana") as ana:
        fine, vague = (
            ana.post("/console/ask/rehearsal", data=question(0, sql=sql, rows="400", epsilon=e), headers=PART).text
            for e in ("1", "0.001")
        )
    assert "800 rows made up" in fine
    assert "About 400 are behind each number" in fine
    assert "would say next to nothing" not in fine
    assert 'id="vague" hx-swap-oob="true"><p class="warn">With about 400 rows' in vague


@pytest.mark.parametrize(("size", "warned"), [("", ""), ("size = 1200", "With about 600 rows"), ("size = 199523", "")])
def test_rows_that_are_only_made_up_discourage_nobody(tmp_path: Path, size: str, warned: str) -> None:
    """Found by a newcomer: "With about 58 rows behind each number" came of 1,000 made-up rows, for 199,523."""
    text = STUDY.replace('unit = "row"', f'unit = "row"\n{size}')
    assert size in text
    with serving(write_study(tmp_path, study=text)) as served, visitor(served, "ana") as ana:
        sql = "SELECT sex, AVG(pay) AS m FROM people GROUP BY sex"
        seen = ana.post("/console/ask/rehearsal", data=question(0, sql=sql, epsilon="0.0003"), headers=PART).text
    assert "rows made up" in seen
    assert ("would say next to nothing" in seen) == bool(warned)
    assert warned in seen


# ---- groups of numbers -----------------------------------------------------------------------------------------------


def test_a_number_with_many_values_is_grouped_by_ranges(browser: Browser, served: Served) -> None:
    with screen(browser, served, "ana", language="es") as seen:
        page = seen.open("/console/ask?table=people")
        page.wait_for_selector("#rehearsal .made-up")
        page.select_option("#by-0", label="pay, por rangos")
        expect(page.locator("#sql")).to_have_value(
            re.compile(r"BIN\(pay, 0, 1000, 2000, 3000, 4000, 5000\) AS pay_range")
        )
        page.wait_for_selector("#pay:not([disabled])")
        written = page.input_value("#sql")
        page.fill("#sql", "SELECT pay, COUNT(*) AS n FROM people WHERE age > 3 GROUP BY pay")
        page.click("#estimate a")
        page.wait_for_selector("#by-0 option[value=pay][selected]", state="attached")
        assert page.input_value("#sql") == written.replace("\nGROUP", "\nWHERE age > 3\nGROUP")
        page.click("#sql-help summary")
        seen.look("ask-ranges")


def test_what_can_be_written_is_shown_by_examples_that_can_be_asked(tmp_path: Path) -> None:
    columns = 'sector = { type = "text", keys = ["health"] }\nage = { type = "integer", bounds = [0, 99] }\n'
    study = STUDY.replace("[tables.people", "[tables.staff").replace('sex = { type = "text", keys = ["F", "M"] }\n', "")
    study = study.replace("age = { type", "old = { type").replace(
        "[tables.staff.columns]\n", f"[tables.staff.columns]\n{columns}"
    )
    with serving(write_study(tmp_path, study=study)) as served, visitor(served, "ana") as ana:
        page = html.unescape(ana.get("/console/ask").text)
        shown = re.findall("<code>(SELECT.*?)</code>", page, re.DOTALL)[0].splitlines()
        for sql in shown:
            found = ana.post("/console/ask/estimate", data=question(0, sql=sql), headers=PART).text
            assert "It costs" in found, sql
    assert len(shown) == 7


def test_an_error_that_depends_on_rows_is_told_in_the_words_of_the_page(served: Served) -> None:
    form = question(0, sql="SELECT AVG(pay) AS m FROM people", by="error", error="50")
    with visitor(served, "ana") as ana:
        asked = ana.post("/console/ask/estimate", data=form, headers=PART).text
        board = {"places": "1", "sql-0": form["sql"], "error-0": "50"}
        together = ana.post("/console/dashboards/estimate", data=board, headers=PART).text
    assert "write it under “More choices”" in asked
    assert "give it a share of the budget" in together
    assert "rows=" not in asked + together


def test_rehearsals_that_wait_for_their_turn_keep_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They had all threads of free requests, and nobody could look at a budget or sign in meanwhile."""
    study = write_study(tmp_path, study=STUDY.replace('tick = "10ms"', 'tick = "10ms"\nthreads = 2'))
    begun, end, entered = threading.Event(), threading.Event(), list[int]()

    def slow(*_: object) -> NoReturn:
        entered.append(len(entered))
        begun.set()
        end.wait(60)
        raise InvalidParameter("A test.", fix="None.")

    monkeypatch.setattr(ask, "rehearsed", slow)
    with serving(study, sign_ins=1000) as few, visitor(few, "ana") as ana, ThreadPoolExecutor(3) as pool:
        sent = [pool.submit(ana.post, "/console/ask/rehearsal", data=question(50 + k), headers=PART) for k in range(3)]
        assert begun.wait(60)
        try:
            with few.client("bea") as bea:
                assert bea.get("/v1/budget", timeout=20).status_code == 200
            assert entered == [0]
        finally:
            end.set()
        assert [one.result().status_code for one in sent] == [200] * 3
