"""Asking: free until the button that pays, which pays once; in a browser and without one."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.server.console.browsing import WIDTHS, screen, visitor
from tests.server.served import Served

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
        wanted = ana.post("/console/ask/estimate", data=question(21, by="error", error="30")).text
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


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("es", "dark")])
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
        with page.expect_response("**/ask/read"):
            page.click("button[value=read]")
        page.wait_for_selector("#measure-0-function option[value=mean][selected]", state="attached")
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
        page.fill("#sql", question(25)["sql"])
        page.fill("#epsilon", "0.1")
        page.click("button[value=pay]")
        page.wait_for_url("**/console/releases/*bought=again*")
        assert page.url.partition("?")[0] == bought
        seen.look("release-again")
    assert charges(served) == before + 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sql": "SELECT AVG(hours) AS m FROM people"}, "No hay una columna hours. Hay: sex, age, pay."),
        ({"sql": "SELECT COUNT(*) AS n FROM nobody"}, "No hay una tabla nobody. Hay: people, visits."),
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


def test_a_first_price_is_a_small_part_of_what_remains_and_a_comma_is_a_point(served: Served) -> None:
    with visitor(served, "bea") as bea:  # who has 1, or less
        priced = re.search(r'name="epsilon"[^>]* value="([^"]+)"', bea.get("/console/ask").text)
        asked = {"sql": "SELECT COUNT(*) AS n FROM people", "by": "epsilon", "epsilon": "0,05", "confidence": "0.95"}
        said = bea.post("/console/ask/estimate", data=asked).text
    assert priced is not None
    assert float(priced[1]) <= 0.1
    assert "epsilon 0.05" in said


def test_back_from_an_answer_shows_the_question_that_was_asked(browser: Browser, served: Served) -> None:
    with screen(browser, served, "ana") as seen:
        page = seen.open("/console/ask")
        page.fill("#sql", "SELECT COUNT(*) AS mine FROM people WHERE age > 30")
        page.fill("#epsilon", "0.01")
        page.click("button[value=pay]")
        page.wait_for_url("**/console/releases/**")
        page.go_back()
        assert page.input_value("#sql") == "SELECT COUNT(*) AS mine FROM people WHERE age > 30"
        assert page.input_value("#epsilon") == "0.01"
