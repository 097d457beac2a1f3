"""Asking: free until the button that pays, which pays once; in a browser and without one."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.server.console.browsing import screen, screens, visitor
from tests.server.served import Served, TooLongOnce, too_long

MATRIX: dict[tuple[str, str], tuple[set[str | None], dict[str, Any] | None]] = {
    ("GET", "/console/ask"): ({"curator", "analyst"}, None),
    ("POST", "/console/ask"): ({"curator", "analyst"}, {"do": "estimate", "sql": "SELECT COUNT(*) FROM people"}),
    ("POST", "/console/ask/build"): ({"curator", "analyst"}, {"table": "people"}),
    ("POST", "/console/ask/read"): ({"curator", "analyst"}, {"sql": "SELECT COUNT(*) FROM people"}),
    ("POST", "/console/ask/estimate"): ({"curator", "analyst"}, {"sql": ""}),
    ("POST", "/console/ask/rehearsal"): ({"curator", "analyst"}, {"sql": ""}),
}

PART = {"HX-Request": "true"}


def question(bound: int, **more: str) -> dict[str, str]:
    """A question that no other test asks."""
    sql = f"SELECT COUNT(*) AS n FROM people WHERE age > {bound}"
    return {"sql": sql, "by": "epsilon", "epsilon": "0.1", "confidence": "0.95", **more}


def charges(served: Served, who: str = "ana") -> int:
    return len(served.curator.history(who))


def test_everything_but_paying_is_free(served: Served) -> None:
    before = charges(served)
    with visitor(served, "ana") as ana:
        for path in ("estimate", "rehearsal", "read", "build"):
            assert ana.post(f"/console/ask/{path}", data=question(20, table="people"), headers=PART).status_code == 200
        said = ana.post("/console/ask", data=question(20, do="estimate")).text
    assert "made-up" in said
    assert charges(served) == before


def test_the_expected_error_follows_epsilon_and_epsilon_the_wanted_error(served: Served) -> None:
    with visitor(served, "ana") as ana:
        errors = [
            float(re.findall(r"± ([\d.]+)", ana.post("/console/ask/estimate", data=question(21, epsilon=e)).text)[0])
            for e in ("0.1", "0.4")
        ]
        wanted = ana.post("/console/ask/estimate", data=question(21, by="error", error="30"), headers=PART).text
    assert errors[0] > 3 * errors[1]
    assert re.search(r"epsilon 0\.\d+", wanted)
    assert "curador ask" in wanted
    assert "CURADOR_TOKEN" in wanted


def test_a_form_that_is_sent_twice_buys_once(served: Served) -> None:
    before = charges(served)
    with visitor(served, "ana") as ana:
        places = [
            ana.post("/console/ask", data=question(22, do="pay", key="twice")).headers["location"] for _ in range(2)
        ]
        other = ana.post("/console/ask", data=question(22, do="pay", key="another tab", confidence="0.9"))
    assert [place.partition("?")[2] for place in places] == ["bought=now", "bought=again"]
    assert places[0].partition("?")[0] == places[1].partition("?")[0] == other.headers["location"].partition("?")[0]
    assert charges(served) == before + 1


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"epsilon": ""}, "epsilon-wrong"),
        ({"by": "error", "error": ""}, "error-wrong"),
        ({"sql": "SELECT * FROM people"}, "sql-wrong"),
        ({"sql": "  "}, "sql-wrong"),
        ({"rows": "many"}, "rows-wrong"),
        ({"epsilon": "2"}, "because-wrong"),
        ({"epsilon": "1000", "because": "x", "override": "yes"}, "epsilon-wrong"),
    ],
)
def test_what_is_wrong_stands_next_to_its_field_and_costs_nothing(
    served: Served, changes: dict[str, str], place: str
) -> None:
    before = charges(served)
    with visitor(served, "ana") as ana:
        answer = ana.post("/console/ask", data={**question(23), "do": "pay", "key": "k", **changes})
    assert answer.status_code >= 400
    assert f'id="{place}"' in answer.text
    assert charges(served) == before


def test_a_hostile_question_is_shown_as_text(served: Served) -> None:
    hostile = "</textarea><script>alert(1)</script>"
    with visitor(served, "ana") as ana:
        said = ana.post("/console/ask", data={**question(24), "sql": hostile, "do": "pay", "key": "h"}).text
    assert "<script>alert" not in said


@screens()
def test_a_question_by_keyboard_and_by_pointing(
    browser: Browser, served: Served, language: str, theme: str, width: int
) -> None:
    with screen(browser, served, "ana", language=language, theme=theme, width=width) as seen:
        page = seen.open("/console/ask?table=people")
        page.wait_for_selector("#rehearsal .made-up")
        first = page.inner_text("#estimate .error")
        page.focus("#slider")
        with page.expect_response("**/ask/rehearsal"):
            for _ in range(3):
                page.keyboard.press("PageDown")
        assert page.inner_text("#estimate .error") != first
        seen.look(f"ask-{language}-{theme}-{width}")
        page.fill("#sql", "")
        page.focus("#sql")
        page.keyboard.type("SELECT AVG(pa")
        page.wait_for_selector("#completions [role=option]")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert page.input_value("#sql") == "SELECT AVG(pay"
        page.keyboard.type(") AS m FROM people")
        page.keyboard.press("Escape")
        page.wait_for_selector("#measure-0-function option[value=mean][selected]", state="attached")  # it follows
        with page.expect_response("**/ask/build"):  # what is chosen is written as SQL at once
            page.select_option("#by-0", "sex")
        page.wait_for_selector("#by-0 option[value=sex][selected]", state="attached")
        assert "GROUP BY sex" in page.input_value("#sql")
        seen.look(f"ask-built-{language}-{theme}-{width}")


def test_a_double_click_and_the_back_button_never_pay_twice(browser: Browser, served: Served) -> None:
    before = charges(served)
    with screen(browser, served, "ana") as seen:
        page = seen.open("/console/ask")
        page.fill("#sql", question(25)["sql"])
        page.fill("#epsilon", "0.1")
        page.dblclick("button[value=pay]")
        page.wait_for_url("**/console/releases/*")
        bought = page.url.partition("?")[0]
        page.go_back()
        page.wait_for_load_state("networkidle")  # a browser that goes back restores what was typed, after it has loaded
        page.fill("#sql", question(25)["sql"])
        page.fill("#epsilon", "0.1")
        page.wait_for_load_state("networkidle")
        page.wait_for_selector("button[value=pay]:not([disabled])")
        page.click("button[value=pay]")
        page.wait_for_url("**/console/releases/*bought=again*")
        assert page.url.partition("?")[0] == bought
        seen.look("release-again")
    assert charges(served) == before + 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sql": "SELECT AVG(hours) AS m FROM people"}, "No hay una columna hours. Hay: sex, age, pay."),
        ({"sql": "SELECT COUNT(*) AS n FROM nobody"}, "No hay una tabla nobody. Hay: people, visits, words, towns."),
        ({"sql": "SELECT SUM(pid) AS s FROM visits"}, "La tabla no dice cuánto cuenta una misma persona"),
        ({"sql": "SELECT * FROM people"}, "Esto mostraría filas"),
        ({"sql": "SELECT sex, pay FROM people"}, "Esto mostraría filas"),
        ({"sql": "how many are there"}, "Una pregunta es una sola sentencia SELECT"),
        ({"sql": "DELETE FROM people"}, "DELETE cambiaría algo"),
        ({"sql": "SELECT COUNT(*) AS n FROM people WHERE (age > 3"}, "Esto no se puede leer como SQL"),
        ({"sql": "SELECT COUNT(*) AS n FROM people WHERE sex = 'F"}, "Esto no se puede leer como SQL"),
        ({"epsilon": "9.99", "because": "x"}, "El presupuesto no alcanza (ana): cuesta épsilon 9.99"),
        ({"epsilon": "2"}, "necesita un motivo"),
        ({"epsilon": "12", "because": "x"}, "casi no promete nada"),
    ],
)
def test_what_people_meet_in_their_first_hour_is_said_in_spanish(
    served: Served, changes: dict[str, str], said: str
) -> None:
    before = charges(served)
    with visitor(served, "ana", **{"Accept-Language": "es"}) as ana:
        answer = html.unescape(
            ana.post("/console/ask", data={**question(26), "do": "pay", "key": "es", **changes}).text
        )
    assert said in answer
    assert '<div class="refusal" role="alert" id' in answer
    assert 'lang="en"' not in answer.partition("<main")[2].partition("</main>")[0]
    assert charges(served) == before


# ---- nothing is paid that was not chosen -----------------------------------------------------------------------------

BUILT = {"table": "people", "measure-0-function": "mean", "by": "epsilon", "epsilon": "0.1", "sql": "SELECT 1"}


@pytest.mark.parametrize(
    ("chosen", "place"),
    [
        ({}, "measure-0-column"),
        ({"measure-0-column": "nobody"}, "measure-0-column"),
        ({"measure-0-function": "count", "where-0-column": "age", "where-0-op": ">"}, "where-0-value"),
        ({"measure-0-function": "count", "where-0-column": "sex", "where-0-op": "="}, "where-0-value"),
    ],
)
def test_what_is_not_fully_chosen_has_no_sql_and_says_at_its_field_what_is_missing(
    served: Served, chosen: dict[str, str], place: str
) -> None:
    with visitor(served, "ana") as ana:
        found = ana.post("/console/ask/build", data={**BUILT, **chosen}, headers=PART).text
        priced = ana.post("/console/ask/estimate", data={**BUILT, "sql": ""}, headers=PART).text
        spanish = ana.post("/console/ask/build", data=BUILT, headers={**PART, "Accept-Language": "es"}).text
    assert f'id="{place}-wrong"' in found
    assert f'aria-describedby="{place}-wrong"' in found
    assert re.search(r"<textarea[^>]*></textarea>", found)  # not that of another question
    assert re.search(r'<button id="pay"[^>]* disabled', priced)
    assert "epsilon" not in re.sub(r"<[^>]+>", "", priced)
    assert "Elija la columna de la que se toma la media." in spanish


def test_columns_and_values_that_fit_are_offered(served: Served) -> None:
    asked = {**BUILT, "where-0-column": "sex", "where-0-op": "="}
    with visitor(served, "ana") as ana:
        found = ana.post("/console/ask/build", data=asked, headers=PART).text
    column, value = (
        re.search(rf'<select id="{x}".*?</select>', found, re.DOTALL) for x in ("measure-0-column", "where-0-value")
    )
    assert column is not None
    assert value is not None
    assert re.findall(r'value="(\w+)"', column[0]) == ["age", "pay"]
    assert re.findall(r'value="(\w+)"', value[0]) == ["F", "M"]


def test_a_question_begins_with_a_modest_part_of_what_remains(served: Served) -> None:
    with visitor(served, "bea") as bea:  # who has 1
        page = bea.get("/console/ask").text
        much = bea.post("/console/ask/estimate", data=question(31, epsilon="0.6"), headers=PART).text
        some = bea.post("/console/ask/estimate", data=question(31, epsilon="0.05"), headers=PART).text
        over = bea.post("/console/ask/estimate", data=question(31, epsilon="0.99999"), headers=PART).text
    assert re.search(r'id="epsilon"[^>]* value="0\.(1|0\d)"', page)
    assert 'class="warn"' in much
    assert "of what remains" in much
    assert 'class="warn"' not in some
    assert "Ask and pay epsilon 0.05" in some
    assert (" disabled" in over.partition('id="pay"')[2].partition(">")[0]) == ("does not fit" in over)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"epsilon": "0,05"}, "epsilon 0.05"),
        ({"epsilon": "abc"}, "Write a decimal or a fraction"),
        ({"epsilon": "1,000"}, "Is 1,000 meant as 1 or as 1000?"),
        ({"by": "error", "error": "1,000"}, "1,000 was read as 1000"),
        ({"by": "error", "error": "1.000"}, "Is 1.000 meant as 1 or as 1000?"),
        ({"by": "error", "error": "30", "epsilon": "5%"}, "epsilon 0.0"),  # what is not shown is not looked at
        ({"error": "5%", "epsilon": "0.05"}, "epsilon 0.05"),
        ({"by": "error", "error": "30,5"}, "epsilon 0.0"),
        ({"by": "error", "error": "many"}, "Write a decimal or a fraction"),
    ],
)
def test_numbers_are_read_as_people_write_them(served: Served, changes: dict[str, str], said: str) -> None:
    with visitor(served, "ana") as ana:
        assert said in ana.post("/console/ask/estimate", data=question(32, **changes), headers=PART).text


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("sex = 'f'", "sex has no declared value 'f'"),
        ("sex IN ('F', 'X')", "sex has no declared value 'X'"),
        ("age = 101", "By what is declared, age is 0 … 100"),
        ("sex = 'F' OR age > 300", ""),
    ],
)
def test_a_value_that_was_never_declared_is_pointed_out_before_it_is_paid(
    served: Served, where: str, said: str
) -> None:
    asked = question(33, sql=f"SELECT COUNT(*) AS n FROM people WHERE {where}")
    with visitor(served, "ana") as ana:
        found = html.unescape(ana.post("/console/ask/estimate", data=asked, headers=PART).text)
    assert said in found
    assert ("noise alone" in found) == bool(said)
    assert ("Did you mean 'F'?" in found) == ("'f'" in where)
    assert ('value="anyway"' in found and "Ask anyway and pay" in found and "anyway=True" in found) == bool(said)


@pytest.mark.parametrize(
    ("who", "language", "said"), [("ana", "en", "did you mean “F”?"), ("bea", "es", "¿quiso decir «F»?")]
)
def test_a_value_that_was_never_declared_is_paid_for_by_the_button_that_says_so(
    served: Served, who: str, language: str, said: str
) -> None:
    asked = question(0, sql=f"SELECT COUNT(*) AS n FROM people WHERE sex = 'f' -- {who}", key="odd", epsilon="0.01")
    before = charges(served, who)
    with visitor(served, who, **{"Accept-Language": language}) as person:
        refused = person.post("/console/ask", data={**asked, "do": "pay"})
        assert (refused.status_code, charges(served, who)) == (422, before)
        assert said in html.unescape(refused.text)
        paid = person.post("/console/ask", data={**asked, "do": "anyway"}).headers["location"]
        again = person.post("/console/ask", data={**asked, "do": "pay", "key": "other"}).headers["location"]
    assert ("bought=now" in paid, "bought=again" in again, charges(served, who)) == (True, True, before + 1)


def test_errors_of_unknown_sizes_are_a_table_and_ranks_are_parts_of_the_rows(served: Served) -> None:
    with visitor(served, "ana") as ana:
        mean, median, known = (
            ana.post(
                "/console/ask/estimate", data=question(34, sql=f"SELECT {x} FROM people", rows=rows), headers=PART
            ).text
            for x, rows in (("AVG(pay) AS m", ""), ("MEDIAN(pay) AS m", ""), ("MEDIAN(pay) AS m", "5000"))
        )
    assert '<td class="n">10,000</td>' in mean
    assert "How many rows there are is not known here" in mean
    assert "ranks" not in median
    assert re.search(r'<td class="n">10,000</td><td class="n">± [\d.]+ %</td>', median)
    assert re.findall(r'<td class="n">([\d,]+)</td><td', known) == ["5,000"]


def test_many_groups_are_worth_a_word(served: Served) -> None:
    with visitor(served, "ana") as ana:
        found = [
            ana.post(
                "/console/ask/estimate",
                data=question(36, sql=f"SELECT {x}, COUNT(*) AS n FROM people GROUP BY {x}"),
                headers=PART,
            ).text
            for x in ("age", "sex")
        ]
    assert ["groups: each of their numbers" in one for one in found] == [True, False]


def test_a_function_without_its_column_cannot_be_paid(browser: Browser, served: Served) -> None:
    with screen(browser, served, "ana") as seen:
        page = seen.open("/console/ask?table=people")
        with page.expect_response("**/ask/estimate"):
            page.select_option("#measure-0-function", "mean")
        page.wait_for_selector("#measure-0-column-wrong")
        page.wait_for_selector("#pay[disabled]")
        assert page.input_value("#sql") == ""
        assert page.locator("#rehearsal .made-up").count() == 0  # nor is the older question drawn
        seen.look("ask-needs-column")
        page.select_option("#measure-0-column", "pay")
        page.wait_for_selector("#pay:not([disabled])")
        assert "AVG(pay)" in page.input_value("#sql")
        page.check('input[name="by"][value="error"]')
        assert not page.is_visible("#epsilon")
        assert page.is_visible("#error")


def test_what_is_written_by_hand_is_never_replaced_by_older_choices(browser: Browser, served: Served) -> None:
    with screen(browser, served, "ana") as seen:
        page = seen.open("/console/ask?table=people")
        page.wait_for_selector("#rehearsal .made-up")
        page.fill("#sql", "SELECT town, COUNT(*) AS n FROM visits GROUP BY town")
        page.select_option("#by-1", "pid")  # waits until the choices are those of this text
        page.wait_for_selector("#by-1 option[value=pid][selected]", state="attached")
        assert "FROM visits" in page.input_value("#sql")
        other = "SELECT COUNT(*) AS n FROM people WHERE age > 3 OR pay > 5"
        page.fill("#sql", other)
        page.wait_for_selector("#builder button[value=restart]")
        assert page.locator("#builder select").count() == 0
        assert page.input_value("#sql") == other
        page.click("#builder button[value=restart]")
        page.wait_for_selector("#builder #table")


def test_enter_prices_and_does_not_pay_and_going_back_finds_the_question(browser: Browser, served: Served) -> None:
    before = charges(served)
    with screen(browser, served, "ana") as seen:
        page = seen.open("/console/ask?table=people")
        page.fill("#epsilon", "0.11")
        page.press("#epsilon", "Enter")
        page.wait_for_load_state()
        assert charges(served) == before
        page = seen.open("/console/ask?table=people")
        page.fill("#sql", question(35)["sql"])
        page.fill("#epsilon", "0.12")
        page.click("#pay")
        page.wait_for_url("**/console/releases/*bought=now*")
        page.go_back()
        page.wait_for_selector("#estimate .good")  # bought before
        assert page.input_value("#sql") == question(35)["sql"]
        assert page.input_value("#epsilon") == "0.12"
        page.click("button[value=es]")
        page.wait_for_selector("html[lang=es] #estimate .good")  # so does who changes the language
        assert page.input_value("#sql") == question(35)["sql"]
        page.click("#pay")
        page.wait_for_url("**/console/releases/*bought=again*")
    assert charges(served) == before + 1


def test_a_question_that_takes_too_long_to_plan_stays_in_its_form(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of the works for a page it is that takes too long."""
    before, form, refused = charges(served), question(47), 0
    with visitor(served, "ana") as ana:
        for path, data in (
            ("", {**form, "do": "read"}),
            ("", {**form, "do": "estimate"}),
            ("", {**form, "do": "pay", "epsilon": "99"}),
            ("/read", form),
            ("/estimate", form),
            ("/rehearsal", form),
        ):
            for turn in range(20):
                once = TooLongOnce(turn)
                monkeypatch.setattr("curador.server.service.bounded", once)
                found = ana.post(f"/console/ask{path}", data=data)
                assert found.status_code in (200, 402, 409, 422), (path, turn, found.text)
                assert path or "age &gt; 47" in found.text, (path, turn)
                if once.left >= 0:
                    break
                refused += 1
            else:
                pytest.fail("a page has no so many works")
        monkeypatch.setattr("curador.server.service.bounded", too_long)
        assert "age &gt; 47" in ana.get("/console/ask", params={"sql": form["sql"]}).text
    assert refused > 8
    assert charges(served) == before
