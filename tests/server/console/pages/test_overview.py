"""The overview: budgets in numbers, charts and words, for each role its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from curador import BudgetExceeded, within
from curador.server.console.budgets.shown import handle
from curador.server.console.pages import overview as page_of_budgets
from tests.server.console.browsing import screen, screens, visitor
from tests.server.served import STUDY, Served, serving, write_study

MATRIX: dict[tuple[str, str], tuple[set[str | None], dict[str, Any] | None]] = {
    ("GET", "/console/overview"): ({"curator", "analyst", "auditor", "reader"}, None),
}


@screens()
def test_a_curator_sees_all_budgets(browser: Browser, served: Served, language: str, theme: str, width: int) -> None:
    with screen(browser, served, "curator", language=language, theme=theme, width=width) as seen:
        page = seen.open("/console/overview")
        said = page.inner_text("main")
        assert ("epsilon 18.8" if language == "en" else "épsilon 18.8") in said
        assert ("about" if language == "en" else "cerca de") in said
        assert page.get_by_role("img", name="6 %").count() == 1  # the gauge: 1.2 of 20
        assert {"ana", "bea"} <= set(said.split())
        assert page.locator("figure svg:visible").count() == 1  # charges of one minute are listed, not drawn
        seen.look(f"overview-{language}-{theme}-{width}")


def test_an_analyst_sees_their_own_budget_alone(served: Served) -> None:
    with visitor(served, "ana") as ana:
        said = re.sub(r"<[^>]*>", " ", ana.get("/console/overview").text)  # tags hold random tokens
    assert "epsilon 9.3" in said
    assert "bea" not in said
    assert "18.8" not in said
    assert "20, delta" not in said


def test_a_reader_sees_no_budget(served: Served) -> None:
    with visitor(served, "reader") as reader:
        said = reader.get("/console/overview").text
    assert "Nothing is public yet" in said
    assert "epsilon" not in said


def test_an_empty_study_says_what_to_do_first(browser: Browser, tmp_path: Path) -> None:
    study = STUDY.partition("[analysts.ana]")[0] + '[server]\ntick = "10ms"\n'
    with (
        serving(write_study(tmp_path, study=study), tokens=False) as served,
        screen(browser, served, "curator", width=390) as seen,
    ):
        said = seen.open("/console/overview").inner_text("main")
        assert "Nothing was asked yet" in said
        assert "No analyst has a budget yet" in said
        seen.look("overview-empty")


def test_what_still_fits_is_what_can_be_bought(tmp_path: Path) -> None:
    with serving(write_study(tmp_path)) as served, visitor(served, "bea") as bea:
        found = re.search(r"people: about (\d+) more counts within ± (\d+)\.", bea.get("/console/overview").text)
        assert found is not None
        fits, error = int(found[1]), int(found[2])

        def buy(number: int) -> None:
            asked = f"SELECT COUNT(*) AS n FROM people WHERE age > {number}"
            served.curator.ask(asked, accuracy=within(error), analyst="bea")

        for number in range(fits):
            buy(number)
        with pytest.raises(BudgetExceeded):
            buy(fits)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "'\"><img src=x onerror=alert(1)>"])
def test_names_are_shown_as_they_are(served: Served, name: str) -> None:
    served.curator.grant(name, epsilon="0.1")
    served.curator.ask("SELECT COUNT(*) AS n FROM people WHERE age > 30", epsilon="0.05", analyst=name)
    try:
        with visitor(served, "curator") as curator:
            said = curator.get("/console/overview").text
        assert name not in said
        assert "&lt;" in said
    finally:
        served.curator.revoke(name)


def test_tables_that_share_a_budget_are_not_said_to_have_it_each(tmp_path: Path) -> None:
    """Six counts of one table or of the other are six, not twelve."""
    people = STUDY.partition("[tables.visits]")[0]
    again = people.replace("tables.people", "tables.again")
    with serving(write_study(tmp_path, study=again + STUDY)) as served:
        for who in ("curator", "bea"):
            with visitor(served, who) as client:
                said = client.get("/console/overview").text
            assert len(re.findall("more counts within", said)) == 1
            assert re.search(r"About \d+ more counts within ± \d+ in all, be they of again or people\.", said)


def test_who_spent_what_adds_up_and_an_empty_budget_says_where_it_is_raised(tmp_path: Path) -> None:
    with serving(write_study(tmp_path)) as served, visitor(served, "curator") as client:
        served.curator.ask("SELECT COUNT(*) AS n FROM people WHERE age > 3", epsilon="0.5", analyst="ana")
        served.curator.ask("SELECT COUNT(*) AS n FROM people", epsilon="19.5", because="all of it", override=True)
        said = client.get("/console/overview").text
        rows = re.findall(r"<td[^>]*>([^<]*)</td>", said.partition('id="analysts"')[2])
        assert [rows[i : i + 4] for i in range(0, len(rows), 4)] == [
            ["ana", "1", "epsilon 0.5", "epsilon 9.5, delta 1e-07"],
            ["bea", "0", "epsilon 0", "epsilon 1, delta 1e-07"],
            ["the curator", "1", "epsilon 19.5", "no budget of their own"],
            ["All together", "2", "epsilon 20", "epsilon 0, delta 1e-06"],
        ]
        assert "Not even one" in said or "not even one" in said
        assert f'href="/console/analysts/{handle("population")}#raise"' in said
        with visitor(served, "bea") as bea:
            assert "Ask the curator for more" in bea.get("/console/overview").text


def test_the_axis_of_what_is_spent_ends_at_the_whole_budget(
    browser: Browser, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that 6 % does not touch the top and look like all."""
    monkeypatch.setattr(page_of_budgets, "APART", 0)
    with screen(browser, served, "curator") as seen:
        page = seen.open("/console/overview")
        assert {"0 %", "100 %"} <= set(page.locator("figure svg:visible text").all_text_contents())
        seen.look("overview-over-time")


@pytest.mark.parametrize(
    ("left_out", "unit"),
    [
        ("tables.visits", "about any one row."),
        ("tables.people", "about all rows of any one person."),
        ("nothing", "about all rows of any one person (of a table without ids, any one row)."),
    ],
)
def test_the_promise_names_what_the_tables_protect(tmp_path: Path, left_out: str, unit: str) -> None:
    parts = re.split(r"(?m)^(?=\[tables\.\w+\]|\[budget)", STUDY)
    study = "".join(part for part in parts if not part.startswith(f"[{left_out}]"))
    with serving(write_study(tmp_path, study=study)) as served, visitor(served, "curator") as client:
        assert unit in client.get("/console/overview").text
