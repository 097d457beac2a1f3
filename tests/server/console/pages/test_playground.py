"""The playground: every lesson for every role, with its numbers in bounds, live and without a script."""

from __future__ import annotations

import re
from contextlib import suppress
from html import unescape
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Route

from curador.server.console.playground.lessons import LESSONS
from curador.show.words.say import say
from tests.server.console.browsing import screen, visitor
from tests.server.served import Served

MATRIX: dict[tuple[str, str], tuple[set[str | None], dict[str, Any] | None]] = {
    ("GET", "/console/playground"): ({"curator", "analyst", "auditor", "reader"}, None),
    ("GET", "/console/playground/{name}"): ({"curator", "analyst", "auditor", "reader"}, None),
}
PATH = "/console/playground"


def test_the_playground_lists_its_lessons(served: Served) -> None:
    with visitor(served, "reader") as reader:
        said = reader.get(PATH).text
    assert re.findall(rf'href="{PATH}/(\w+)"', said) == list(LESSONS)
    assert next(iter(LESSONS)) == "deciding"  # a game to begin with, before any formula
    assert said.index("Start here") < said.index(f"{PATH}/accuracy") < said.index("For the curious")


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_lesson_is_whole(served: Served, language: str) -> None:
    with visitor(served, "reader", **{"Accept-Language": language}) as reader:
        for name in LESSONS:
            found = reader.get(f"{PATH}/{name}")
            said = unescape(found.text)
            assert found.status_code == 200
            assert say(f"playground.{name}-question", language) in said
            answer = re.escape(say(f"playground.{name}-answer", language))
            assert re.search(rf"<details[^>]*>\s*<summary>.*</summary>\s*<p>{answer}", said)
            assert '<math display="block">' in said
            assert '<svg class="chart"' in said
            assert "<pre" in said
            assert len(re.sub(r"<svg.*?</svg>", "", found.text, flags=re.DOTALL)) < 300_000


def test_a_number_out_of_bounds_is_refused_next_to_its_field(served: Served) -> None:
    wrong = ("", "much", "1e99", "-1e9", "nan", "<b>", "9" * 500)
    knobs = [(lesson.name, knob.name) for lesson in LESSONS.values() for knob in lesson.knobs]
    with visitor(served, "ana") as ana:
        for k, (name, knob) in enumerate(knobs + knobs):
            found = ana.get(f"{PATH}/{name}", params={knob: wrong[k % len(wrong)]})
            assert 400 <= found.status_code < 500
            assert f'id="{knob}-wrong"' in found.text
            assert found.text.count('aria-invalid="true"') == 1
            assert "<b>" not in found.text
            assert "<figure" not in found.text


def test_a_part_is_sent_to_htmx(served: Served) -> None:
    with visitor(served, "ana", **{"HX-Request": "true"}) as ana:
        said = ana.get(f"{PATH}/accuracy", params={"epsilon": "0,25"}).text
    assert "<html" not in said
    assert 'hx-swap-oob="innerHTML"' in said
    assert "At ε = 0.25 a count is within ± 12" in said


def test_nothing_is_spent_and_nothing_read(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages come from the lessons alone: a curator that answers nothing at all is no hindrance."""
    before = served.curator.ledger.scopes(), [charge.at for charge in served.curator.history()]
    for name in ("ask", "release", "plan", "explain", "table", "history"):
        monkeypatch.setattr(type(served.curator), name, property(_refused))
    with visitor(served, "ana") as ana:
        assert {ana.get(f"{PATH}/{name}").status_code for name in LESSONS} == {200}
    monkeypatch.undo()
    assert before == (served.curator.ledger.scopes(), [charge.at for charge in served.curator.history()])


def _refused(_: object) -> None:
    raise AssertionError("the playground asked the curator")


def hidden(said: str) -> dict[str, str]:
    """The fields of the form that guesses."""
    return dict(
        re.findall(
            r'<input type="hidden" name="(\w+)" value="([^"]*)">',
            said.partition('class="guess"')[2].partition("</form>")[0],
        )
    )


def test_a_game_keeps_its_score_in_the_form(served: Served) -> None:
    with visitor(served, "ana") as ana:
        fields = hidden(ana.get(f"{PATH}/deciding", params={"epsilon": "10"}).text)
        for k in range(1, 6):
            guess = "in" if int(fields["answer"]) >= 1 else "out"
            sent = {**fields, "guess": guess}
            said = ana.get(f"{PATH}/deciding", params=sent).text
            again = ana.get(f"{PATH}/deciding", params=sent).text
            assert ("Alice was in." in said) == ("Alice was in." in again)  # the coin had fallen before the guess
            fields = hidden(said)
            assert "Without her the count is 0, with her 1." in said  # else there is nothing to reason with
            assert fields["played"] == str(k)
            assert fields["right"] == fields["attacker"]  # as the best attacker plays


def test_the_page_does_not_give_the_coin_away(served: Served) -> None:
    with visitor(served, "ana") as ana:
        fields = hidden(ana.get(f"{PATH}/deciding").text)
    assert set(fields) == {"epsilon", "prior", "nonce", "answer", "played", "right", "attacker"}


@pytest.mark.parametrize(("language", "theme", "width"), [("en", "light", 1280), ("es", "dark", 390)])
def test_a_student_plays(browser: Browser, served: Served, language: str, theme: str, width: int) -> None:
    with screen(browser, served, "reader", language=language, theme=theme, width=width) as seen:
        page = seen.open(PATH)
        seen.look(f"playground-{language}-{theme}-{width}")
        page.get_by_role("link", name=say("playground.deciding-title", language)).click()
        page.get_by_label("ε", exact=True).fill("2")
        page.keyboard.press("Enter")
        page.locator(".found", has_text="88").wait_for()
        page.get_by_role("button", name=say("playground.deciding-in", language), exact=True).click()
        page.locator(".tally", has_text="/ 1").wait_for()
        assert page.locator("#heard").inner_text().split(" ")[0] in ("Alice", "Alicia")
        page.locator(".answer summary").click()
        assert "ln 9" in page.locator("details.answer[open]").inner_text()
        seen.look(f"playground-deciding-{language}-{theme}-{width}")
        for name in ("divergence", "composing"):
            seen.open(f"{PATH}/{name}")
            seen.look(f"playground-{name}-{language}-{theme}-{width}")


def test_the_toy_stands_before_the_formula(served: Served) -> None:
    with visitor(served, "reader") as reader:
        for name in LESSONS:
            said = reader.get(f"{PATH}/{name}").text
            assert said.index('id="try"') < said.index("<math")
        said = reader.get(f"{PATH}/deciding").text
        assert said.index('id="play"') < said.index('id="try"')


@pytest.mark.parametrize("name", ["accuracy", "response", "composing"])
def test_a_slider_turns_its_number_by_keyboard(browser: Browser, served: Served, name: str) -> None:
    knob = LESSONS[name].knobs[0]
    with screen(browser, served, "reader") as seen:
        page = seen.open(f"{PATH}/{name}")
        slider = page.locator(f"#slide-{knob.name}")
        before, told = page.input_value(f"#{knob.name}"), page.locator(".found").first.inner_text()
        slider.focus()
        page.keyboard.press("PageUp")
        page.wait_for_function("told => document.querySelector('.found').innerText !== told", arg=told)
        now = page.input_value(f"#{knob.name}")
        assert float(now) > float(before)
        assert slider.get_attribute("aria-valuetext") == now
        for key, end in (("End", knob.most), ("Home", knob.least)):
            slider.focus()
            page.keyboard.press(key)
            page.wait_for_function(
                "([id, end]) => Number(document.getElementById(id).value) === end", arg=[knob.name, float(end)]
            )
            assert page.locator("[aria-invalid=true]").count() == 0


def test_the_newest_place_of_a_slider_counts_also_while_an_older_one_is_drawn(browser: Browser, served: Served) -> None:
    """The second of two quick moves was queued at a form that the answer to the first then replaced, and was lost."""
    knob = LESSONS["composing"].knobs[0]
    with screen(browser, served, "reader") as seen:
        page = seen.open(f"{PATH}/composing")
        held: list[Route] = []
        page.route(f"**{PATH}/composing?*", lambda route: route.continue_() if held else held.append(route))
        slider = page.locator(f"#slide-{knob.name}")
        slider.focus()
        with page.expect_request("**/composing?*"):
            page.keyboard.press("End")
        with page.expect_response("**/composing?*"):
            page.keyboard.press("Home")
            with suppress(Error):  # it was given up meanwhile
                held[0].continue_()
        page.wait_for_function("() => !document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')")
        assert float(page.input_value(f"#{knob.name}")) == float(knob.least)
