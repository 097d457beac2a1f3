"""A new table: only its first line is read, the study file is shown before it is written, and a bad one never is.

What is written is served at once, by every process.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from playwright.sync_api import Browser

from curador import Curator, PureDP
from curador.curator.study.file import read_study
from curador.engines.duckdb import files
from curador.query.tables.csv_format import CsvFormat
from curador.server.gate.cookies import SESSION
from tests.server.console.browsing import screen, session_of, visitor
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
            page.wait_for_selector("button[value=columns]:enabled")  # it was sent when it was chosen
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
            page.locator("button[value=check]:not(.unseen)").press("Enter")
            page.wait_for_selector("#file")
            assert page.evaluate("document.activeElement.id") == "file"  # what comes next is where the reader is
            assert f"[tables.my_visits_{width}]" in str(page.text_content("pre"))
            assert "secret-person" not in page.content()
            seen.look(f"wizard-{language}-{theme}-{width}")
            page.locator("button[value=write]").press("Enter")
            page.locator("main a.button[href*=ask]").press("Enter")
            page.wait_for_url("**/console/ask?table=my_visits*")
            page.wait_for_selector("#estimate dd")


def test_only_fields_that_a_type_has_are_shown_and_enter_goes_on(browser: Browser, bringing: Served) -> None:
    with screen(browser, bringing, "curator") as seen:
        page = seen.open(NEW)
        page.fill("#source", "stays.parquet")
        assert not page.is_visible("#csv-written")
        page.fill("#source", "stays.csv")
        assert not page.is_visible("#names")
        page.select_option("#header", "no")
        assert page.is_visible("#names")
        page.select_option("#header", "yes")
        page.locator("#source").press("Enter")
        page.wait_for_selector("#unit")
        shown = {
            "": "",
            "integer": "low keys",
            "real": "low",
            "boolean": "",
            "text": "keys",
            "date": "low",
            "timestamp": "low",
        }
        for kind, fields in shown.items():
            page.select_option("#type-1", kind)
            found = [field for field in ("low", "keys") if page.is_visible(f"#{field}-1")]
            assert found == fields.split(), kind
        page.select_option("#type-1", "date")
        assert page.get_attribute("#low-1", "type") == "date"
        page.select_option("#type-1", "text")
        page.fill("#keys-1", "a; b, c")
        assert page.locator(".chip.unclear").count() == 1
        page.fill("#keys-1", "a; b c")
        assert page.locator(".listed .chip").all_inner_texts() == ["a", "b c"]
        page.select_option("#unit", "row")
        assert not page.is_visible("#groups")
        page.select_option("#unit", "=who")
        assert page.is_visible("#groups")
        page.locator("#rows").press("Enter")  # checks all of it, and does not read the columns again
        page.wait_for_selector("#mistakes")
        assert page.evaluate("document.activeElement.id") == "mistakes"
        page.locator("#mistakes a").first.press("Enter")
        assert page.evaluate("location.hash") == "#groups"


def test_without_a_script_a_table_is_declared_too(browser: Browser, bringing: Served) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies(
        [{"name": bringing.cookie(SESSION), "value": session_of(bringing, "curator"), "url": bringing.url}]
    )
    page = context.new_page()
    page.goto(bringing.url + NEW)
    page.fill("#source", "stays.csv")
    page.select_option("#header", "yes")
    page.click("button[value=columns]")
    page.select_option("#unit", "row")
    page.select_option("#type-2", "text")
    page.fill("#keys-2", "north\nsouth")
    page.click("button[value=check]:not(.unseen)")
    page.click("button[value=write]")
    assert "stays is declared" in page.inner_text("main")
    context.close()


def test_what_is_written_opens_with_the_table(bringing: Served) -> None:
    before = bringing.study.read_text()
    with visitor(bringing, "curator") as client:
        assert "stays" in client.post(NEW, data={**FORM, "step": "check"}).text
        assert bringing.study.read_text() == before
        done = client.post(NEW, data={**FORM, "step": "write"})
        again = client.post(NEW, data={**FORM, "step": "write"})
    assert "is declared</h2>" in done.text
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
        ({"names": "a, b"}, "names-wrong"),
        ({"name": "my visits; <b>"}, "name-wrong"),
        ({"delimiter": "x"}, "delimiter-wrong"),
        ({"numbers": "x"}, "numbers-wrong"),
        ({"unit": "=nobody"}, "unit-wrong"),
        ({"type-1": "x"}, "type-1-wrong"),
        ({"low-1": "120", "high-1": "0"}, "low-1-wrong"),
        ({"keys-2": "a, b; c"}, "keys-2-wrong"),
        ({"header": ""}, "header-wrong"),
        ({"unit": ""}, "unit-wrong"),
        ({"groups": "many"}, "groups-wrong"),
        ({"high-1": ""}, "high-1-wrong"),
        ({"type-0": "", "type-1": "", "type-2": ""}, "type-0-wrong"),
        ({"name": "people"}, "name-wrong"),
        ({"name": "PEOPLE"}, "name-wrong"),
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


def test_all_mistakes_are_said_at_once_in_words_and_nothing_else(bringing: Served) -> None:
    """Each at its field and on top of the page, with what to write; no names of other files, nothing about noise."""
    many = {
        "groups": "",
        "low-1": "5,000",
        "high-1": "x",
        "keys-2": "north, north",
        "type-0": "date",
        "low-0": "31/12/2025",
    }
    for language, words in {
        "en": (
            "6 things to correct",
            "31/12/2025 is not a date: write 2025-12-31",
            "x is not a number",
            "north is there twice",
        ),
        "es": (
            "6 cosas que corregir",
            "31/12/2025 no es una fecha: escriba 2025-12-31",
            "x no es un número",
            "dos veces",
        ),
    }.items():
        with visitor(bringing, "curator", **{"Accept-Language": language}) as client:
            told = client.post(NEW, data={**FORM, **many, "step": "check"}).text
        assert [
            word
            for word in (
                *words,
                *(f'id="{x}-wrong"' for x in ("groups", "low-1", "high-1", "keys-2", "low-0", "high-0")),
            )
            if word not in told
        ] == []
        assert not any(word in told for word in ("-draft-", "drawn", "csv = {", "DuckDB", "ruido fue"))


@pytest.mark.parametrize(
    ("content", "changes", "place"),
    [
        (b"who;cost\n1;2\n", {}, "delimiter"),
        ("año,cost\n1,2\n".encode("latin-1"), {}, "encoding"),
        ("año,€\n1,2\n".encode("cp1252"), {"encoding": "latin-1"}, "encoding"),
        (b" who, cost\n1,2\n", {"spaces": "keep"}, "spaces"),
        (b"17,F\n18,M\n", {}, "header"),
        (b"who,who\n18,M\n", {}, "header"),
    ],
)  # fmt: skip
def test_a_file_that_is_written_otherwise_is_said_at_the_field(
    bringing: Served, content: bytes, changes: dict[str, str], place: str
) -> None:
    (bringing.study.parent / "odd.csv").write_bytes(content)
    with visitor(bringing, "curator") as client:
        answer = client.post(NEW, data={**FORM, "spaces": "drop", "source": "odd.csv", **changes, "step": "columns"})
    assert (answer.status_code, f'id="{place}-wrong"' in answer.text, "csv = {" in answer.text) == (422, True, False)


OFFICE = "id;edad;coste;alta;fuma;sala\n" + "".join(
    f"{i};{20 + i};{i % 10}.000,50;{1 + i % 9}/12/2025 8:30;{'sí' if i % 2 else 'no'}; Cirugía\n" for i in range(60)
)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_file_as_offices_have_them_is_read_whole(bringing: Served, encoding: str) -> None:
    """Semicolons, decimal commas, dates from day to year, sí and no, spaces: declared, and then no value is missing."""
    (bringing.study.parent / "oficina.csv").write_bytes(OFFICE.encode(encoding))
    form = {
        "source": "oficina.csv", "header": "yes", "delimiter": ";", "encoding": encoding, "numbers": "1.234,5",
        "dates": "31/12/2025", "spaces": "drop", "yes-words": "sí", "unit": "row", "type-1": "integer", "low-1": "0",
        "high-1": "120", "type-2": "real", "low-2": "0", "high-2": "10.000,00", "type-3": "timestamp",
        "low-3": "1/1/2025 0:00", "high-3": "31/12/2025 23:59", "type-4": "boolean", "keys-4": "left, over",
        "type-5": "text", "keys-5": "Cirugía; Urgencias",
    }  # fmt: skip
    with visitor(bringing, "curator") as client:
        assert "is declared</h2>" in client.post(NEW, data={**form, "step": "write"}).text
    asked = (
        "SELECT SUM(coste) AS s, COUNT(alta) AS a, COUNT_IF(fuma) AS f, COUNT_IF(sala = 'Cirugía') AS c FROM oficina"
    )
    sure = Curator(read_study(bringing.study).tables, PureDP(20_000))
    found = sure.sql(asked, epsilon=10_000, because="exact", override=True)
    sure.close()
    assert [found.numbers(name)[0] for name in "afc"] == [60, 30, 60]
    assert abs(found.numbers("s")[0] - (60 * 4500 + 30)) < 200


def test_nothing_of_the_data_is_read_but_a_header(bringing: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file without a header not a byte, of one with a header no second line."""
    read: list[str] = []
    first_line = files.first_line

    def noted(path: str, *how: CsvFormat) -> list[str]:
        read.append(Path(path).name)
        return first_line(path, *how)

    monkeypatch.setattr(files, "first_line", noted)
    (bringing.study.parent / "bare.csv").write_text("secret-person,12,north\n")
    with visitor(bringing, "curator") as client:
        for step in ("columns", "check", "write"):
            form = {**FORM, "source": "bare.csv", "header": "no", "names": "who, cost, place", "step": step}
            assert client.post(NEW, data=form).status_code == 200
        assert read == []
        assert client.post(NEW, data={**FORM, "step": "columns"}).status_code == 200
    assert set(read) == {"stays.csv"}


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
        assert "is declared</h2>" in client.post(NEW, data={**form, "step": "write"}).text
    with bringing.client("ana") as client:
        asked = {"sql": f"SELECT place, SUM(cost) AS total FROM {name} GROUP BY place", "epsilon": "0.5"}
        assert client.post("/v1/ask", json=asked).status_code == 200


def test_what_the_ledger_knows_otherwise_is_not_written(bringing: Served) -> None:
    """A study file that opens by itself, and not with this ledger, would stop the server at its next start."""
    before = bringing.study.read_text()
    with visitor(bringing, "curator") as client, bringing.client("ana") as ana:
        assert "is declared</h2>" in client.post(NEW, data={**FORM, "step": "write"}).text
        asked = {"sql": "SELECT COUNT(*) AS n FROM stays", "epsilon": "0.5"}
        assert ana.post("/v1/ask", json=asked).status_code == 200
        bringing.study.write_text(before)  # taken out by hand; its rows keep their unit
        other = {**FORM, "unit": "row", "groups": "", "rows": "", "step": "write"}
        answer = client.post(NEW, data=other)
    assert answer.status_code == 422
    assert bringing.study.read_text() == before


@pytest.mark.parametrize("scripts", [True, False])
def test_a_file_is_brought_with_and_without_scripts(browser: Browser, bringing: Served, scripts: bool) -> None:
    context = browser.new_context(java_script_enabled=scripts, locale="en-GB")
    context.add_cookies(
        [{"name": bringing.cookie(SESSION), "value": session_of(bringing, "curator"), "url": bringing.url}]
    )
    page = context.new_page()
    page.goto(f"{bringing.url}{NEW}")
    assert page.locator("#file-to-send").is_visible() == scripts
    assert page.locator("#file-plain").is_visible() != scripts
    if not scripts:
        rows = b"who,side\n" + b"1,north\n" * 200_000  # larger than any other form may be
        page.set_input_files("#file-plain", {"name": "Plain Rows.csv", "mimeType": "text/csv", "buffer": rows})
        page.click("noscript button")
        page.wait_for_url("**/tables/new?source=*")
        assert page.input_value("#source") == "uploads/plain_rows.csv"
        assert (bringing.study.parent / "uploads" / "plain_rows.csv").read_bytes() == rows
        page.select_option("#header", "yes")
        page.click("button[value=columns]")
        assert page.locator("#unit").is_visible()
    context.close()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("nada://x#t", "No hay tal archivo"),
        ("postgresql://127.0.0.1:1/x#t", "no responde o no deja entrar"),
    ],
)
def test_a_source_that_does_not_open_is_told_in_spanish(bringing: Served, source: str, said: str) -> None:
    with visitor(bringing, "curator", **{"Accept-Language": "es"}) as client:
        answer = client.post(NEW, data={**FORM, "source": source, "step": "columns"})
    assert answer.status_code == 422
    assert said in answer.text
    assert 'lang="en"' not in answer.text.replace('value="en" lang="en"', "")
