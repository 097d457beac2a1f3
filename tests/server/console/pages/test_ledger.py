"""The ledger: every charge is found by filter and page, in detail, in files; verification says what it found."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from curador.server.console.budgets.shown import handle
from curador.server.console.pages import ledger as page
from curador.server.console.pages.ledger import ChargeFilter, charges
from tests.server.console.browsing import screen, screens, visitor
from tests.server.served import STUDY, Served, serving, write_study

MATRIX: dict[tuple[str, str], tuple[set[str | None], dict[str, Any] | None]] = {
    ("GET", "/console/ledger"): ({"curator", "auditor"}, None),
    ("GET", "/console/ledger/export"): ({"curator", "auditor"}, None),
    ("GET", "/console/ledger/{id}"): ({"curator", "auditor"}, None),
    ("GET", "/console/ledger/verified/{job}"): ({"curator", "auditor"}, None),
    ("POST", "/console/ledger/verify"): ({"curator", "auditor"}, {}),
}

MANY = 130


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A ledger of three pages, every third charge ana's."""
    with serving(write_study(tmp_path_factory.mktemp("long")), per_token=10000, per_address=10000) as served:
        for i in range(MANY):
            asked = f"SELECT COUNT(*) AS n FROM people WHERE age > {i % 100} AND pay > {i}"
            served.curator.ask(asked, epsilon="0.01", analyst="ana" if i % 3 == 0 else None, because=f"=cmd|'{i}'!A1")
        yield served


@screens()
def test_the_ledger_is_read_and_verified(
    browser: Browser, served: Served, language: str, theme: str, width: int
) -> None:
    with screen(browser, served, "auditor", language=language, theme=theme, width=width) as seen:
        shown = seen.open("/console/ledger")
        shown.locator("form[action='/console/ledger/verify'] button").press("Enter")
        shown.wait_for_selector("#verified .good")
        seen.look(f"ledger-{language}-{theme}-{width}")
        shown.get_by_role("link", name="2", exact=True).press("Enter")
        shown.wait_for_url("**/console/ledger/2")
        assert "psilon 0.7" in shown.inner_text("main")
        seen.look(f"charge-{language}-{theme}-{width}")


@pytest.mark.parametrize("wanted", [{}, {"who": "ana"}, {"table": "people"}, {"who": "ana", "table": "people"}])
def test_pages_show_every_charge_once(long: Served, wanted: dict[str, str]) -> None:
    seen: list[int] = []
    address = f"/console/ledger?{'&'.join(f'{k}={v}' for k, v in wanted.items())}"
    with visitor(long, "curator") as client:
        while address:
            said = client.get(address).text
            seen += map(int, re.findall(r'href="/console/ledger/(\d+)"', said))
            older = re.search(r'href="([^"]+)" rel="next"', said)
            address = older[1].replace("&amp;", "&") if older else ""
    right = [one for one in range(MANY, 0, -1) if "who" not in wanted or one % 3 == 1]
    assert seen == right


def test_looking_through_a_long_ledger_ends_and_says_that_there_is_more(
    long: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PAGE", 20)
    monkeypatch.setattr(page, "LOOKED", 60)
    found = list(charges(long.curator, ChargeFilter()))
    assert len(found) == 61
    assert found[-1] is None


@pytest.mark.parametrize(
    ("query", "place"),
    [("who=nobody", "who"), ("table=nothing", "table"), ("since=yesterday", "since"), ("until=2026-02-31", "until")],
)
def test_a_wish_that_means_nothing_is_refused_at_its_field(served: Served, query: str, place: str) -> None:
    with visitor(served, "curator") as client:
        answer = client.get(f"/console/ledger?{query}")
    assert answer.status_code == 422
    assert f'id="{place}-wrong"' in answer.text


def test_days_choose_charges(served: Served) -> None:
    with visitor(served, "curator") as client:
        assert "No charge matches" in client.get("/console/ledger?until=2020-01-01").text
        assert "No charge matches" in client.get("/console/ledger?since=2999-01-01").text
        assert "/console/ledger/1" in client.get("/console/ledger?since=2020-01-01&until=2999-01-01").text


def test_files_hold_all_charges_and_no_formula(long: Served) -> None:
    with visitor(long, "auditor") as client:
        table = client.get("/console/ledger/export?form=csv&who=ana")
        plain = client.get("/console/ledger/export?form=json").json()
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert len(rows) == len([i for i in range(MANY) if i % 3 == 0])
    assert {row["receiver"] for row in rows} == {"ana"}
    assert all(row["because"].startswith("'=cmd") for row in rows)
    assert "attachment" in table.headers["content-disposition"]
    assert len(plain) == MANY
    assert plain[0]["because"].startswith("=cmd")


def test_an_empty_ledger_says_so(tmp_path_factory: pytest.TempPathFactory) -> None:
    study = STUDY.partition("[analysts.ana]")[0] + '[server]\ntick = "10ms"\n'
    folder = tmp_path_factory.mktemp("empty")
    with serving(write_study(folder, study=study), tokens=False) as served, visitor(served, "curator") as client:
        assert "Nothing was bought yet" in client.get("/console/ledger").text
        assert client.get("/console/ledger/1").status_code == 404


@pytest.mark.parametrize(
    ("language", "right"),
    [
        ("en", [("all tables together", "epsilon 0.7"), ("table people", "epsilon 0.7"), ("ana", "epsilon 0.7")]),
        ("es", [("todas las tablas juntas", "épsilon 0.7"), ("tabla people", "épsilon 0.7"), ("ana", "épsilon 0.7")]),
    ],
)
def test_what_a_charge_cost_is_said_in_the_units_that_people_type(
    served: Served, language: str, right: list[tuple[str, str]]
) -> None:
    """Balances are whole numbers of 1e-12; a page that shows them says 0.7 where 0.7 was asked with."""
    with visitor(served, "auditor", **{"Accept-Language": language}) as client:
        said = client.get("/console/ledger/2").text.partition('id="costs"')[2].partition("</section>")[0]
    cells = re.findall(r"<td>([^<]*)</td>", said)
    assert sorted(zip(cells[::2], cells[1::2], strict=True)) == sorted(right)


def test_decisions_say_what_each_budget_is_of(served: Served) -> None:
    """Tables that share the study's budget are not shown as if each had been given as much again."""
    with visitor(served, "auditor") as client:
        said = client.get("/console/ledger").text.partition('id="decisions"')[2]
    rows = [re.findall(r"<td[^>]*>([^<]*)</td>", row)[1:3] for row in said.split("<tr>")[2:]]
    assert ["The study began, with the budget that all its tables share", "epsilon 20, delta 1e-06"] in rows
    assert ["Table people was declared; it shares the study&#39;s budget", ""] in rows
    assert ["ana was given a budget", "epsilon 10, delta 1e-07"] in rows


@pytest.mark.parametrize(
    ("language", "right"), [("en", "Number of rows by sex · people"), ("es", "Número de filas por sex · people")]
)
def test_what_was_asked_is_said_in_words(served: Served, language: str, right: str) -> None:
    with visitor(served, "curator", **{"Accept-Language": language}) as client:
        for path in ("/console/ledger", "/console/ledger/2", "/console/overview", f"/console/analysts/{handle('ana')}"):
            assert right in client.get(path).text, path
        assert "count() of people by sex" in client.get("/console/ledger/2").text  # and exactly, on its own page
