"""Tables: declarations in words, with a way to ask."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.server.console.browsing import screen, screens, visitor
from tests.server.served import STUDY, Served, serving, write_study

MATRIX: dict[tuple[str, str], tuple[set[str | None], dict[str, Any] | None]] = {
    ("GET", "/console/tables"): ({"curator", "analyst", "auditor"}, None),
    ("GET", "/console/tables/fit"): ({"curator", "analyst"}, None),
    ("POST", "/console/tables/fit"): ({"curator", "analyst"}, {"table": "nothing"}),
}


@screens()
def test_declarations_in_words(browser: Browser, served: Served, language: str, theme: str, width: int) -> None:
    with screen(browser, served, "ana", language=language, theme=theme, width=width) as seen:
        page = seen.open("/console/tables")
        said = page.inner_text("main")
        assert "0 … 5,000" in said
        assert ("one row" if language == "en" else "una fila") in said
        seen.look(f"tables-{language}-{theme}-{width}")
        page.click("main a.button")
        page.wait_for_url("**/console/ask?table=people")


FIT = "/console/tables/fit"


@pytest.fixture
def misread(tmp_path: Path) -> Iterator[Served]:
    """Pay with decimal commas, which were not declared; all else fits."""
    study = write_study(tmp_path, study=STUDY)
    lines = [f"{'FM'[i % 2]};{20 + i % 50};{i},5" for i in range(400)]
    (tmp_path / "people.csv").write_text("\n".join(["sex;age;pay", *lines]) + "\n")
    text = study.read_text().replace('"people.csv"', '"people.csv"\ncsv = { delimiter = ";" }')
    study.write_text(text)
    with serving(study, per_token=10000, per_address=10000) as found:
        yield found


@pytest.mark.parametrize(("language", "theme", "width"), [("en", "light", 1280), ("es", "dark", 390)])
def test_a_column_that_was_misread_is_found_for_its_price(
    browser: Browser, misread: Served, language: str, theme: str, width: int
) -> None:
    spent = misread.curator.budgets()[0].spent
    with screen(browser, misread, "curator", language=language, theme=theme, width=width) as seen:
        page = seen.open("/console/tables")
        page.locator("main a[href*='fit?table=people']").press("Enter")
        page.wait_for_selector("#price dd")
        assert "epsilon 0.1" in page.inner_text("#price").replace("é", "e")
        page.fill("#epsilon", "0,6")
        page.wait_for_selector("#price dd >> text=0.6")
        assert misread.curator.budgets()[0].spent == spent  # saying a price costs nothing
        page.locator("#epsilon").press("Enter")  # in a field it asks for the price, and pays nothing
        page.wait_for_selector("#price dd >> text=0.6")
        assert not misread.curator.history()
        seen.look(f"fit-{language}-{theme}-{width}")
        page.locator("button[value=pay]").press("Enter")
        page.wait_for_url("**/console/tables/fit?table=people&charge=*")
        bad = page.locator("tr:has(.bad)")
        assert bad.count() == 1
        assert "pay" in bad.inner_text()
        seen.look(f"fitted-{language}-{theme}-{width}")
        charged = page.url
        page.reload()
        assert page.locator("tr:has(.bad)").count() == 1
        seen.open(f"{FIT}?table=people")
        page.locator("main a[href*='charge=']").press("Enter")  # to look at, instead of paying again
        page.wait_for_url(charged)
        seen.open(f"/console/releases/{charged.rpartition('=')[2]}")
        assert page.locator("h1").is_visible()
        assert "pay" in page.inner_text("main")
    history = misread.curator.history()
    assert [one.asked for one in history] == ["quality of people: sex, age, pay"]


def test_a_value_that_was_forgotten_in_a_list_is_told(tmp_path: Path) -> None:
    lines = ["sex,age,pay", *(f"{'FMX'[i % 3]},{20 + i % 50},1" for i in range(400))]
    study = write_study(
        tmp_path, study=STUDY.replace('unit = "pid"', 'unit = "pid"\ncontribution = { groups = 1, rows = 3 }')
    )
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    with serving(study) as served, visitor(served, "curator") as client:
        paid = {"do": "pay", "key": "f", "column-0": "yes", "table": "people", "epsilon": "0.05"}
        said = html.unescape(client.get(client.post(FIT, data=paid).headers["location"]).text)
        found = re.findall(r"([\d,]+) to ([\d,]+) rows have a value that is not in the list", said)
        assert len(found) == 1
        assert int(found[0][0]) <= 133 <= int(found[0][1])
        assert "Something does not fit" in said
        assert "Of each person at most" not in said
        town = {**paid, "key": "g", "table": "visits"}
        assert "at most 3 rows count" in client.get(client.post(FIT, data=town).headers["location"]).text


def test_a_form_that_is_sent_twice_pays_once(misread: Served) -> None:
    form = {"table": "people", "column-0": "yes", "epsilon": "0.1", "do": "pay", "key": "once-only-1"}
    with visitor(misread, "ana") as client:
        first, second = (client.post(FIT, data=form).headers["location"] for _ in range(2))
    assert first == second
    assert len(misread.curator.history()) == 1


def test_what_keeps_a_check_from_being_bought_is_said_before(served: Served) -> None:
    with visitor(served, "curator", **{"Accept-Language": "es"}) as client:
        assert "cuánto cuenta de una persona" in client.get(FIT, params={"table": "visits"}).text
        assert (
            "más de lo que queda" in client.post(FIT, data={"table": "people", "column-0": "yes", "epsilon": "50"}).text
        )
        assert "al menos una columna" in client.post(FIT, data={"table": "people", "epsilon": "0.1"}).text


def test_a_file_that_is_no_table_as_declared_is_said_and_costs_nothing(misread: Served) -> None:
    """Its first line is fine in any letters; the rows are not, and nobody has read them before."""
    lines = "sex;age;pay\n" + "Señora;30;1\n" * 50
    (misread.study.parent / "people.csv").write_bytes(lines.encode("latin-1"))
    form = {"table": "people", "column-0": "yes", "epsilon": "0.1", "do": "pay"}
    for language, said in (("en", "UTF-8 or Latin-1"), ("es", "UTF-8 o Latin-1")):
        with visitor(misread, "curator", **{"Accept-Language": language}) as client:
            answer = client.post(FIT, data=form)
        assert (answer.status_code, said in answer.text) == (422, True)
        assert "change?table=people" in answer.text
    assert not misread.curator.history()


def test_nothing_is_charged_that_was_not_asked_for(served: Served) -> None:
    before = len(served.curator.history())
    with visitor(served, "curator") as client:
        for form in (
            {"table": "people", "column-0": "yes", "epsilon": "0.1"},
            {"table": "people", "column-0": "yes", "epsilon": "0.1", "do": "price"},
            {"table": "people", "column-0": "yes", "epsilon": "x", "do": "pay"},
            {"table": "people", "column-0": "yes", "epsilon": "9999", "do": "pay"},
        ):
            assert "fit" in client.post(FIT, data=form).text
        assert client.post(FIT, data={"table": "people", "epsilon": "0.1"}).status_code == 422  # of no column
        assert client.get(FIT, params={"table": "nobody"}).status_code == 422
        assert client.get(FIT, params={"table": "people", "charge": "1"}).status_code == 422  # another question's
        assert client.get(FIT, params={"table": "people", "charge": "x"}).status_code == 422
    assert len(served.curator.history()) == before


def test_an_auditor_reads_and_does_not_ask(served: Served) -> None:
    with visitor(served, "auditor") as auditor:
        said = auditor.get("/console/tables").text
    assert "people" in said
    assert "/console/ask" not in said


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_file_that_is_not_there_is_named_to_whoever_can_mend_it(tmp_path: Path, language: str) -> None:
    study = write_study(tmp_path)
    study.with_name("visits.csv").unlink()
    path = str(study.with_name("visits.csv").resolve())
    with serving(study) as served:
        for who, told in (("curator", True), ("ana", False)):
            with visitor(served, who, **{"Accept-Language": language}) as client:
                for page in ("/console/tables", "/console/overview"):
                    said = client.get(page).text
                    assert ("is not there" if language == "en" else "no está") in said, (who, page)
                    assert (path in said) == told, (who, page)
                assert "/console/ask?table=people" in client.get("/console/tables").text
                assert "/console/ask?table=visits" not in client.get("/console/tables").text


def test_a_column_of_very_many_keys_is_not_ticked(tmp_path: Path) -> None:
    """It cannot be checked, and would keep the others from being checked; whoever ticks it is told so."""
    many = ", ".join(f'"municipio {i}"' for i in range(901))
    study = write_study(tmp_path, study=STUDY.replace('"F", "M"', many))
    with serving(study) as found, visitor(found, "ana") as client:
        page = client.get(FIT, params={"table": "people"})
        assert page.status_code == 200
        assert re.findall(r'name="(column-.)"[^>]*checked', page.text) == ["column-1", "column-2"]
        ticked = {"table": "people", "column-0": "yes", "epsilon": "0.1"}
        assert client.post(FIT, data=ticked).status_code == 422
