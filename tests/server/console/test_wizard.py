"""A new table: only its first line is read, the study file is shown before it is written, and a bad one never is.

What is written is served at once, by every process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from playwright.sync_api import Browser

from curador.curator.study.file import read_study
from tests.server.console.browsing import screen, visitor
from tests.server.served import Served, serving, write_study

NEW = "/console/tables/new"
ROWS = b"who,cost,place\nsecret-person,12,north\n"
FORM = {
    "source": "stays.csv", "name": "", "header": "yes", "names": "", "delimiter": ",", "unit": "=who",
    "neighbors": "add-remove", "groups": "3", "rows": "2", "type-0": "text", "type-1": "integer", "low-1": "0",
    "high-1": "50", "type-2": "text", "keys-2": "north, south",
}  # fmt: skip


@pytest.fixture
def bringing(tmp_path: Path) -> Iterator[Served]:
    study = write_study(tmp_path)
    (tmp_path / "stays.csv").write_text("who,cost,place\nsecret-person,12,north\n")
    (tmp_path.parent / "outside.csv").write_text("a,b\n1,2\n")
    with serving(study, per_token=10000, per_address=10000) as found:
        yield found


def test_a_table_is_brought_step_by_step(browser: Browser, bringing: Served) -> None:
    for language, theme, width in (("en", "light", 1280), ("es", "dark", 390)):
        with screen(browser, bringing, "curator", language=language, theme=theme, width=width) as seen:
            page = seen.open(NEW)
            page.set_input_files("#file-to-send", {"name": f"My visits {width}.csv", "mimeType": "", "buffer": ROWS})
            page.focus("#send-file")
            page.keyboard.press("Enter")
            page.wait_for_selector("#file-told:not(:empty)")
            assert page.input_value("#source") == f"uploads/my_visits_{width}.csv"
            page.locator("button[value=columns]").press("Enter")
            page.wait_for_selector("#header-wrong")  # nothing was read before that is said
            assert "secret" not in page.content()
            page.select_option("#header", "yes")
            page.locator("button[value=columns]").press("Enter")
            page.wait_for_selector("#unit")
            page.select_option("#unit", "=who")
            page.fill("#groups", "3")
            page.fill("#rows", "2")
            page.select_option("#type-1", "integer")
            page.fill("#low-1", "0")
            page.fill("#high-1", "50")
            page.locator("button[value=check]").press("Enter")
            page.wait_for_selector("#file")
            assert f"[tables.my_visits_{width}]" in page.inner_text("pre")
            assert "secret-person" not in page.content()
            seen.look(f"wizard-{language}-{theme}-{width}")
            page.locator("button[value=write]").press("Enter")
            page.locator("main a.button").first.press("Enter")
            page.wait_for_url("**/console/ask?sql=*")
            assert f"FROM my_visits_{width}" in page.input_value("#sql")
            page.wait_for_selector("#estimate dd")


def test_what_is_written_opens_with_the_table(bringing: Served) -> None:
    before = bringing.study.read_text()
    with visitor(bringing, "curator") as client:
        assert "stays" in client.post(NEW, data={**FORM, "step": "check"}).text
        assert bringing.study.read_text() == before
        done = client.post(NEW, data={**FORM, "step": "write"})
        again = client.post(NEW, data={**FORM, "step": "write"})
    assert "can be asked now" in done.text
    assert (again.status_code, 'id="name-wrong"' in again.text) == (422, True)
    table = read_study(bringing.study).tables["stays"]
    assert table.unit.id == "who"
    assert table.columns["place"].keys == ("north", "south")
    with bringing.client("ana") as client:  # without a restart
        asked = {"sql": "SELECT place, COUNT(*) AS n FROM stays GROUP BY place", "epsilon": "0.5"}
        assert client.post("/v1/ask", json=asked).status_code == 200


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"source": "../outside.csv"}, "source-wrong"),
        ({"source": "/etc/passwd"}, "source-wrong"),
        ({"source": "nothing.csv"}, "source-wrong"),
        ({"source": ""}, "source-wrong"),
        ({"header": "no"}, "names-wrong"),
        ({"header": ""}, "header-wrong"),
        ({"unit": ""}, "unit-wrong"),
        ({"groups": "many"}, "groups-wrong"),
        ({"high-1": ""}, "high-1-wrong"),
        ({"low-1": "9", "high-1": "3"}, "low-1-wrong"),
        ({"high-1": "5.000"}, "high-1-wrong"),
        ({"keys-1": "a, b"}, "keys-1-wrong"),
        ({"delimiter": ";"}, "delimiter-wrong"),
        ({"type-0": "", "type-1": "", "type-2": ""}, "type-0-wrong"),
        ({"name": "people"}, "name-wrong"),
        ({"neighbors": "replace"}, "refusal"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(bringing: Served, changes: dict[str, str], place: str) -> None:
    before = bringing.study.read_text()
    with visitor(bringing, "curator") as client:
        answer = client.post(NEW, data={**FORM, **changes, "step": "write"})
    assert answer.status_code == 422
    assert f'"{place}"' in answer.text
    assert "secret-person" not in answer.text
    assert bringing.study.read_text() == before


def test_a_table_of_postgresql_is_connected_and_asked_without_a_restart(bringing: Served, postgres_url: str) -> None:
    name = "console_visits"
    with psycopg.connect(postgres_url, autocommit=True) as rows:
        rows.execute(f"DROP TABLE IF EXISTS {name}")
        rows.execute(f"CREATE TABLE {name} (who text, cost integer, place text)")
        rows.execute(f"INSERT INTO {name} VALUES ('secret-person', 12, 'north')")
    form = {**FORM, "source": f"{postgres_url}#{name}", "header": ""}
    with visitor(bringing, "curator") as client:
        read = client.post(NEW, data={**form, "step": "columns"})
        assert "secret-person" not in read.text
        assert "integer" in read.text  # the stored type of a column is declared there, and no row
        assert "can be asked now" in client.post(NEW, data={**form, "step": "write"}).text
    with bringing.client("ana") as client:
        asked = {"sql": f"SELECT place, SUM(cost) AS total FROM {name} GROUP BY place", "epsilon": "0.5"}
        assert client.post("/v1/ask", json=asked).status_code == 200


def test_what_the_ledger_knows_otherwise_is_not_written(bringing: Served) -> None:
    """A study file that opens by itself, and not with this ledger, would stop the server at its next start."""
    before = bringing.study.read_text()
    with visitor(bringing, "curator") as client, bringing.client("ana") as ana:
        assert "can be asked now" in client.post(NEW, data={**FORM, "step": "write"}).text
        asked = {"sql": "SELECT COUNT(*) AS n FROM stays", "epsilon": "0.5"}
        assert ana.post("/v1/ask", json=asked).status_code == 200
        bringing.study.write_text(before)  # taken out by hand; its rows keep their unit
        other = {**FORM, "unit": "row", "groups": "", "rows": "", "step": "write"}
        answer = client.post(NEW, data=other)
    assert answer.status_code == 422
    assert bringing.study.read_text() == before


def test_every_refusal_of_the_steps_is_spanish_on_a_spanish_page(bringing: Served) -> None:
    """Also those of the library: of the file's first line, of bounds, of names."""
    wrong: list[dict[str, str]] = [
        {"source": "nothing.csv"},
        {"header": ""},
        {"header": "no"},
        {"delimiter": ";"},
        {"unit": ""},
        {"groups": "many"},
        {"high-1": ""},
        {"low-1": "cero"},
        {"low-1": "9", "high-1": "3"},
        {"keys-1": "a"},
        {"type-0": "", "type-1": "", "type-2": ""},
        {"name": "people"},
        {"name": "x" * 200},
    ]
    with visitor(bringing, "curator", **{"Accept-Language": "es"}) as client:
        pages = [client.post(NEW, data={**FORM, **changes, "step": "write"}).text for changes in wrong]
    english = [
        (changes, re.findall(r'role="alert"[^>]*lang="en">\s*<p>(.*?)</p>', page))
        for changes, page in zip(wrong, pages, strict=True)
        if re.search(r'role="alert"[^>]*lang="en"', page)
    ]
    assert all('role="alert"' in page for page in pages)
    assert english == []


def test_a_european_csv_is_declared_as_it_is_written(bringing: Served) -> None:
    text = "persona;fecha;gasto (€)\n" + "".join(f"p{i};2025-01-0{i % 9 + 1};{i},5\n" for i in range(400))
    bringing.study.with_name("europe.csv").write_bytes(text.replace("€", "n").encode("latin-1"))
    form = {
        "source": "europe.csv",
        "name": "europe",
        "header": "yes",
        "delimiter": ";",
        "decimal": ",",
        "encoding": "latin-1",
    }
    form |= {"unit": "row", "neighbors": "add-remove", "type-2": "real", "low-2": "0", "high-2": "1000,5"}
    with visitor(bringing, "curator") as client:
        done = client.post(NEW, data={**form, "step": "write"})
    assert "can be asked now" in done.text
    asked = bringing.service.study.reopened().ask('SELECT COUNT("gasto (n)") AS n FROM europe', epsilon=1)
    assert abs(int(str(asked.value)) - 400) < 50
    assert "COUNT%28%22gasto" in done.text  # what is offered first counts readable values
