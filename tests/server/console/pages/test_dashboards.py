"""Dashboards: several questions, split by weights or by wanted errors, tried for free, and published once."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.server.console.browsing import WIDTHS, screen, visitor
from tests.server.served import Served

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


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"sql-0": "", "sql-1": ""}, "sql-0-wrong"),
        ({"name-1": "people"}, "epsilon-wrong"),
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


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("es", "dark")])
def test_a_dashboard_in_a_browser(browser: Browser, served: Served, language: str, theme: str, width: int) -> None:
    with screen(browser, served, "ana", language=language, theme=theme, width=width) as seen:
        page = seen.open("/console/dashboards")
        page.fill("#name-1", "pay")
        with page.expect_response("**/dashboards/rehearsal"):
            page.fill("#sql-1", "SELECT sex, AVG(pay) AS m FROM people GROUP BY sex")
        page.wait_for_selector("#rehearsal h3 >> nth=1")
        seen.look(f"dashboard-{language}-{theme}-{width}")
