"""A declared table is changed or withdrawn: what the ledger holds stays, and what that costs is said first."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from curador.curator.study.file import read_study
from tests.server.console.browsing import screen, visitor
from tests.server.served import SQL, STUDY, Served, serving, write_study

CHANGE, WITHDRAW = "/console/tables/change", "/console/tables/withdraw"

MORE = """
[tables.more]
source = "more.csv"
unit = "pid"
size = 300
contribution = { rows = 7 }
[tables.more.columns]
pid = "integer"
region = "text"
town = "text"
day = { type = "date", keys = [2020-01-01, 2020-01-02] }
pay = { type = "real", bounds = [0, 5.5], step = 0.25, nullable = false }
[tables.more.trees.place]
levels = ["region", "town"]
children = { Galicia = ["Lugo", "Vigo"] }
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """People with decimal commas that were not declared, and a public table."""
    made = write_study(tmp_path)
    lines = [f"{'FM'[i % 2]};{20 + i % 50};{i},5" for i in range(400)]
    (tmp_path / "people.csv").write_text("\n".join(["sex;age;pay", *lines]) + "\n")
    text = STUDY.replace('"people.csv"', '"people.csv"  # the census\ncsv = { delimiter = ";" }')
    made.write_text(text)
    return made


@pytest.fixture
def changing(study: Path) -> Iterator[Served]:
    with serving(study, per_token=10000, per_address=10000) as found:
        yield found


class Fields(HTMLParser):
    """What the fields of a page hold."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self.select = self.area = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        name = own.get("name") or ""
        if tag == "input" and name:
            self.found[name] = own.get("value") or ""
        elif tag == "select":
            self.select = name
        elif tag == "option" and "selected" in own:
            self.found[self.select] = own.get("value") or ""
        elif tag == "textarea":
            self.area = name

    def handle_data(self, data: str) -> None:
        if self.area:
            self.found[self.area] = data

    def handle_endtag(self, tag: str) -> None:
        self.area = "" if tag == "textarea" else self.area


def form(served: Served, table: str) -> dict[str, str]:
    """What the page's form would send if nothing was changed."""
    with visitor(served, "curator") as client:
        page = client.get(CHANGE, params={"table": table})
    assert page.status_code == 200, page.text
    fields = Fields()
    fields.feed(page.text)
    return fields.found


@pytest.mark.parametrize(("language", "theme", "width"), [("en", "light", 1280), ("es", "dark", 390)])
def test_a_table_that_was_misread_is_corrected_and_then_fits(
    browser: Browser, changing: Served, language: str, theme: str, width: int
) -> None:
    with screen(browser, changing, "curator", language=language, theme=theme, width=width) as seen:
        page = seen.open("/console/tables")
        page.locator("main a[href*='change?table=people']").press("Enter")
        page.wait_for_selector("#costs")  # what it costs comes first
        page.locator("form details summary").first.press("Enter")
        page.select_option("#numbers", "1234,5")
        page.locator("button[value=check]:not(.unseen)").press("Enter")
        page.wait_for_selector("#file")
        seen.look(f"change-{language}-{theme}-{width}")
        page.locator("button[value=write]").press("Enter")
        page.locator("main a[href*='fit?table=people']").press("Enter")
        page.fill("#epsilon", "1")
        page.wait_for_selector("#price dd >> text=epsilon 1" if language == "en" else "#price dd >> text=épsilon 1")
        page.locator("button[value=pay]").press("Enter")
        page.wait_for_url("**charge=*")
        assert page.locator(".bad").count() == 0
    text = changing.study.read_text()
    assert 'decimal = ","' in text
    assert "# the census" in text
    assert "step = 0.5" in text


def test_what_is_not_changed_stays_as_it_was(changing: Served) -> None:
    before = read_study(changing.study)
    for table in ("people", "visits"):
        with visitor(changing, "curator") as client:
            done = client.post(CHANGE, data={**form(changing, table), "step": "write"})
        assert "is changed</h2>" in done.text, done.text
    after = read_study(changing.study)
    assert (after.tables, after.budget, after.analysts) == (before.tables, before.budget, before.analysts)


def test_what_the_form_has_no_fields_for_is_kept(changing: Served) -> None:
    """Steps, substitutes, trees, keys of dates, limits for all groups together."""
    (changing.study.parent / "more.csv").write_text("pid,town,region,day,pay\n")
    changing.study.write_text(changing.study.read_text() + MORE)
    before = read_study(changing.study).tables["more"]
    with visitor(changing, "curator") as client:
        assert "is changed</h2>" in client.post(CHANGE, data={**form(changing, "more"), "step": "write"}).text
        assert read_study(changing.study).tables["more"] == before
        wider = {**form(changing, "more"), "high-4": "9", "step": "write"}
        assert "is changed</h2>" in client.post(CHANGE, data=wider).text
    after = read_study(changing.study).tables["more"]
    assert after.columns["pay"].bounds == (Fraction(0), Fraction(9))
    assert (after.columns["pay"].step, after.columns["pay"].nullable) == (before.columns["pay"].step, False)
    assert (after.trees, after.contribution, after.columns["day"]) == (
        before.trees,
        before.contribution,
        before.columns["day"],
    )


@pytest.mark.parametrize("csv", ['{ decimal = "," }', "{ header = true }"])
def test_fractions_in_bounds_are_read_back_as_they_were(changing: Served, csv: str) -> None:
    """Also those that somebody could take for thousands."""
    (changing.study.parent / "doses.csv").write_text("dose,unit\n")
    columns = 'columns = { dose = { type = "real", bounds = [0.125, 1.5] } }'
    text = f'[tables.doses]\nsource = "doses.csv"\ncsv = {csv}\nunit = "row"\n{columns}\n'
    changing.study.write_text(changing.study.read_text() + text)
    before = read_study(changing.study).tables["doses"]
    with visitor(changing, "curator") as client:
        assert "is changed</h2>" in client.post(CHANGE, data={**form(changing, "doses"), "step": "write"}).text
    assert read_study(changing.study).tables["doses"] == before


@pytest.mark.parametrize("keys", ['["a ", "b"]', '["Madrid, C. de"]', '["a,", "b"]'])
def test_values_that_the_form_would_read_otherwise_are_not_offered(changing: Served, keys: str) -> None:
    changing.study.write_text(changing.study.read_text().replace('["F", "M"]', keys))
    with visitor(changing, "curator") as client:
        assert "no fields for" in client.get(CHANGE, params={"table": "people"}).text


def test_what_was_spent_stays_spent(changing: Served) -> None:
    with changing.client("ana") as ana:
        asked = {"sql": "SELECT COUNT(*) AS n FROM people", "epsilon": "0.5"}
        assert ana.post("/v1/ask", json=asked).status_code == 200
        spent = changing.curator.budgets()[0].spent
        with visitor(changing, "curator") as client:
            client.post(CHANGE, data={**form(changing, "people"), "high-1": "120", "step": "write"})
        assert read_study(changing.study).tables["people"].columns["age"].bounds == (Fraction(0), Fraction(120))
        assert changing.curator.budgets()[0].spent == spent
        assert ana.post("/v1/ask", json=asked).status_code == 200  # another question now, and paid again
    assert changing.curator.budgets()[0].spent != spent


def test_whom_it_protects_is_changed_with_a_reason_that_the_ledger_keeps(changing: Served) -> None:
    other = {**form(changing, "visits"), "unit": "row", "step": "write"}
    before = changing.study.read_text()
    with visitor(changing, "curator") as client, changing.client("ana") as ana:
        assert 'id="because-wrong"' in client.post(CHANGE, data=other).text
        assert changing.study.read_text() == before
        done = client.post(CHANGE, data={**other, "because": "a visit is a person"})
        assert "is changed</h2>" in done.text
        assert "a visit is a person" in client.get("/console/ledger").text
        asked = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.5"}
        assert ana.post("/v1/ask", json=asked).status_code == 200
    known = changing.curator.ledger.registered("visits", "")
    assert known is not None
    assert known.unit == "row"


def test_a_newer_file_keeps_the_budget(changing: Served) -> None:
    root = changing.study.parent
    with changing.client("ana") as ana, visitor(changing, "curator") as client:
        asked = {"sql": "SELECT COUNT(*) AS n FROM people", "epsilon": "0.5"}
        first = ana.post("/v1/ask", json=asked).json()
        (root / "uploads").mkdir()
        (root / "uploads" / "people.csv").write_text("sex;age;pay\n" + "F;30;1\n" * 4000)
        done = client.post(CHANGE, data={**form(changing, "people"), "source": "uploads/people.csv", "step": "write"})
        assert "is changed</h2>" in done.text, done.text
        second = ana.post("/v1/ask", json=asked).json()
    assert first["columns"]["n"][0] < 1000 < second["columns"]["n"][0]
    spent = changing.curator.budget("ana").spent.to_json()
    assert spent["epsilon"] == 1.0  # of one budget


def test_what_was_typed_stays_with_its_column_in_a_file_of_another_order(changing: Served) -> None:
    (changing.study.parent / "newer.csv").write_text("pay;extra;sex;age\n1;2;F;30\n")
    newer = {**form(changing, "people"), "source": "newer.csv", "high-1": "110"}
    with visitor(changing, "curator") as client:
        shown = Fields()
        shown.feed(client.post(CHANGE, data={**newer, "step": "columns"}).text)
        types = {shown.found[f"of-{i}"]: shown.found.get(f"type-{i}", "") for i in range(4)}
        assert types == {"pay": "real", "extra": "", "sex": "text", "age": "integer"}
        assert "is changed</h2>" in client.post(CHANGE, data={**newer, "step": "write"}).text
    columns = read_study(changing.study).tables["people"].columns
    assert {name: column.kind.value for name, column in columns.items()} == {
        "pay": "real",
        "sex": "text",
        "age": "integer",
    }
    assert columns["age"].bounds == (Fraction(0), Fraction(110))


def test_a_table_whose_file_is_gone_gets_another(changing: Served) -> None:
    """Its columns are filled in as they were declared, once there is a file to read them from."""
    (changing.study.parent / "people.csv").rename(changing.study.parent / "there.csv")
    with visitor(changing, "curator") as client:
        page = client.get(CHANGE, params={"table": "people"})
        assert (page.status_code, 'id="source-wrong"' in page.text) == (422, True)
        shown = Fields()
        shown.feed(page.text)
        found = client.post(CHANGE, data={**shown.found, "source": "there.csv", "step": "columns"})
        again = Fields()
        again.feed(found.text)
        assert again.found["type-2"] == "real"
        assert "is changed</h2>" in client.post(CHANGE, data={**again.found, "step": "write"}).text
    assert read_study(changing.study).tables["people"].columns["pay"].step is not None


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"source": "../outside.csv"}, "source"), ({"source": ""}, "source"), ({"header": ""}, "header"),
        ({"low-1": "200"}, "low-1"), ({"unit": ""}, "unit"), ({"unit": "=sex"}, "groups"),
        ({"type-0": "", "type-1": "", "type-2": ""}, "type-0"),
    ],
)  # fmt: skip
def test_a_change_that_cannot_be_is_said_and_not_written(changing: Served, changes: dict[str, str], place: str) -> None:
    before = changing.study.read_text()
    with visitor(changing, "curator") as client:
        answer = client.post(CHANGE, data={**form(changing, "people"), **changes, "step": "write"})
    assert (answer.status_code, f'id="{place}-wrong"' in answer.text) == (422, True)
    assert changing.study.read_text() == before


def test_another_tables_rows_are_not_taken_over(changing: Served) -> None:
    before = changing.study.read_text()
    with visitor(changing, "curator") as client:
        odd = {**form(changing, "people"), "source": "visits.csv", "delimiter": ",", "type-0": "text", "type-1": "text"}
        answer = client.post(CHANGE, data={**odd, "step": "write"})
        again = client.get(CHANGE, params={"table": "people"})
    assert (answer.status_code, again.status_code) == (422, 200)
    assert changing.study.read_text() == before
    with changing.client("ana") as ana:
        asked = {"sql": "SELECT COUNT(*) AS n FROM people", "epsilon": "0.5"}
        assert ana.post("/v1/ask", json=asked).status_code == 200


def test_files_that_the_study_declared_elsewhere_stay_there(
    changing: Served, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """By a pattern and outside of its folder; no form can name such files anew."""
    folder = tmp_path_factory.mktemp("elsewhere")
    for year in (2024, 2025):
        (folder / f"stays-{year}.csv").write_text("who,cost\nx,1\n")
    text = f'[tables.stays]\nsource = "{folder}/stays-*.csv"\nunit = "row"\ncolumns = {{ cost = "integer" }}\n'
    changing.study.write_text(changing.study.read_text() + text)
    now = form(changing, "stays")
    with visitor(changing, "curator") as client:
        done = client.post(CHANGE, data={**now, "low-1": "0", "high-1": "9", "step": "write"})
        assert "is changed</h2>" in done.text, done.text
        other = client.post(CHANGE, data={**now, "source": f"{folder}/stays-2024.csv", "step": "write"})
    assert 'id="source-wrong"' in other.text
    assert f'source = "{folder}/stays-*.csv"' in changing.study.read_text()


def test_what_cannot_be_changed_here_says_why(changing: Served) -> None:
    with visitor(changing, "curator") as client:
        assert "This table is public" in client.get(CHANGE, params={"table": "towns"}).text
        assert client.get(CHANGE, params={"table": "nobody"}).status_code == 422
        text = changing.study.read_text().replace('delimiter = ";"', 'delimiter = ";", thousands = "\u00a0"')
        changing.study.write_text(text)
        assert "no fields for" in client.get(CHANGE, params={"table": "people"}).text


QUESTIONS = {"sexes": SQL, "pay": "SELECT AVG(pay) AS pay FROM people"}


def published(served: Served) -> tuple[str, str]:
    """A publication that was bought and made public: its charge, and its secret."""
    with served.client("curator") as client:
        made = client.post("/v1/batch", json={"questions": QUESTIONS, "epsilon": "1", "because": "to publish"}).json()
        return made["charge"], client.post(f"/v1/releases/{made['charge']}/link", json={}).json()["link"][11:]


def test_what_was_published_stays_when_its_table_is_changed_and_withdrawn(changing: Served) -> None:
    charge, secret = published(changing)
    with changing.client() as anybody, visitor(changing, "curator") as client:
        before = anybody.get(f"/v1/public/{secret}").json()
        narrower = {**form(changing, "people"), "high-2": "3000", "step": "write"}
        assert "is changed</h2>" in client.post(CHANGE, data=narrower).text
        assert read_study(changing.study).tables["people"].columns["pay"].bounds == (Fraction(0), Fraction(3000))
        assert anybody.get(f"/v1/public/{secret}").json() == before
        assert anybody.get(f"/console/public/{secret}").status_code == 200
        for kind in ("", "/report", "/json", "/csv"):
            assert client.get(f"/console/releases/{charge}{kind}").status_code == 200
        assert client.post(WITHDRAW, data={"table": "people"}).status_code == 303
        assert anybody.get(f"/v1/public/{secret}").json() == before
        for place in (f"public/{secret}", f"releases/{charge}", f"releases/{charge}?confidence=0.8&order=n"):
            assert client.get(f"/console/{place}").status_code == 200
        assert len(changing.curator.history()) == 1


def test_what_an_older_version_kept_is_refused_in_true_words(changing: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curador.curator.purchase.kept", lambda purchase: b"")
    charge, secret = published(changing)
    with changing.client() as anybody, visitor(changing, "curator") as client:
        assert client.post(CHANGE, data={**form(changing, "people"), "high-2": "3000", "step": "write"}).is_success
        told = anybody.get(f"/console/public/{secret}")
        assert told.status_code == 422
        assert "Ask whoever gave it to you" in told.text
        assert "/console/overview" not in told.text
        own = client.get(f"/console/releases/{charge}").text
        assert "paid for again" in own
        assert "/console/overview" in own


# ---- withdrawing -----------------------------------------------------------------------------------------------------


def test_a_table_is_withdrawn_after_what_that_means_was_read(browser: Browser, changing: Served) -> None:
    with changing.client("ana") as ana:
        asked = {"sql": "SELECT COUNT(*) AS n FROM people", "epsilon": "0.5"}
        assert ana.post("/v1/ask", json=asked).status_code == 200
        spent = changing.curator.budgets()[0].spent
        with screen(browser, changing, "curator") as seen:
            page = seen.open(f"{CHANGE}?table=people")
            page.locator("main a[href*=withdraw]").press("Enter")
            page.wait_for_selector("#means")
            assert "stays spent" in page.inner_text("main")
            assert "people" in changing.curator.tables  # reading about it does nothing
            seen.look("withdraw")
            page.locator("button.danger").press("Enter")
            page.wait_for_selector("[role=status]")
            assert "people was withdrawn" in page.inner_text("main")
            for place in ("overview", "releases", "ledger", "ask", "analysts", "dashboards", "models"):
                assert page.goto(f"{changing.url}/console/{place}").status == 200  # type: ignore[union-attr]
        assert ana.post("/v1/ask", json=asked).status_code == 422
        assert changing.curator.budgets()[0].spent == spent
        new = {
            "source": "people.csv",
            "header": "yes",
            "delimiter": ";",
            "unit": "row",
            "type-0": "text",
            "step": "write",
        }
        with visitor(changing, "curator") as client:
            assert "is declared</h2>" in client.post("/console/tables/new", data=new).text
        assert ana.post("/v1/ask", json=asked).status_code == 200
    assert changing.curator.budget("ana").spent.to_json()["epsilon"] == 1.0  # it went on where it was


def test_the_only_table_stays(changing: Served) -> None:
    with visitor(changing, "curator") as client:
        assert client.post(WITHDRAW, data={"table": "people"}).status_code == 303
        assert "at least one" in client.get(WITHDRAW, params={"table": "visits"}).text
        assert client.post(WITHDRAW, data={"table": "visits"}).status_code == 422
        assert client.post(WITHDRAW, data={"table": "people"}).status_code == 422  # it is not there any more
        for public in ("towns", "words"):
            assert client.post(WITHDRAW, data={"table": public}).status_code == 303
    assert list(read_study(changing.study).tables) == ["visits"]


def test_where_tables_have_budgets_of_their_own(tmp_path: Path) -> None:
    study = write_study(tmp_path)
    own = "[budget.people]\nepsilon = 2\n[budget.visits]\nepsilon = 3\n"
    study.write_text(STUDY.split("[budget]")[0] + own + '[server]\ntick = "10ms"\n')
    (tmp_path / "stays.csv").write_text("who,cost\nx,1\n")
    new = {"source": "stays.csv", "header": "yes", "unit": "row", "type-1": "integer", "neighbors": "add-remove"}
    with (
        serving(study, tokens=False, per_token=10000, per_address=10000) as served,
        visitor(served, "curator") as client,
    ):
        assert 'id="budget-epsilon-wrong"' in client.post("/console/tables/new", data={**new, "step": "write"}).text
        done = client.post("/console/tables/new", data={**new, "budget-epsilon": "0,5", "step": "write"})
        assert "is declared</h2>" in done.text, done.text
        assert read_study(study).budget["stays"].epsilon == 0.5  # type: ignore[index, union-attr]
        assert (
            "is changed</h2>"
            in client.post(CHANGE, data={**form(served, "stays"), "low-1": "0", "high-1": "9", "step": "write"}).text
        )
        assert client.post(WITHDRAW, data={"table": "people"}).status_code == 303
    assert sorted(read_study(study).budget) == ["stays", "visits"]  # type: ignore[arg-type]
