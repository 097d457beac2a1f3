"""`curador init` and `curador check`: they show no value, and end with the code they document."""

from __future__ import annotations

import gzip
import json
import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest
import typer
from pyarrow import parquet
from typer.testing import CliRunner

from curador.cli.app import app
from curador.cli.hints import HINTS
from curador.curator.curator import Curator
from curador.curator.policy import Policy
from curador.curator.study.draft import ColumnDraft, TableDraft, source_text, table_name
from curador.curator.study.file import SECTIONS
from curador.curator.study.tables import TABLE_SETTINGS
from curador.errors import CuradorError, InvalidParameter
from curador.mechanisms.base import KINDS
from curador.query.tables.columns import Kind
from curador.query.tables.sources import read_source
from curador.query.tables.table import SETTINGS
from curador.server.gate.settings import Settings
from tests.cli import test_cli
from tests.cli.test_cli import Invoke, run

invoke = test_cli.invoke  # the fixture

ROOT = Path(__file__).parents[2]
SECRET = "Zaragoza-9137"
"""A value in the rows: nothing that is printed or written may hold it."""


def write_csv(path: str = "people.csv") -> None:
    Path(path).write_text(f"age,town,paid\n39,{SECRET},100\nforty,{SECRET},inf\n")


def write_parquet(path: str = "people.parquet") -> None:
    rows = {"age": [39], "town": [SECRET], "paid": [1.5], "raw": [b"x"], "ok": [True]}
    parquet.write_table(pyarrow.table(rows), path)


FILLED = """
[budget]
epsilon = 1

[tables.people]
source = "people.parquet"
unit = "row"

[tables.people.columns]
age = { type = "integer", bounds = [0, 120] }
town = { type = "text", keys = ["Lugo", "Vigo"] }
paid = { type = "real", bounds = [0, 1000] }
ok = "boolean"
"""


# ---- init ---------------------------------------------------------------------------------------------------------


def test_a_csv_is_drafted_from_its_header_line(invoke: Invoke) -> None:
    write_csv()
    shown = invoke("init", "people.csv", "--header")
    text = Path("study.toml").read_text()
    document = tomllib.loads(text)["tables"]["people"]
    assert document["source"] == "people.csv"
    assert document["columns"] == {"age": {"type": ""}, "town": {"type": ""}, "paid": {"type": ""}}
    for word in ("unit", "budget", "type", "bounds", "keys", "the first line of people.csv", "curador check"):
        assert word in shown
    assert "nothing else was read" in text
    for said in (shown, text):
        assert SECRET not in said
        assert "forty" not in said


def test_values_change_nothing(invoke: Invoke) -> None:
    """The same header over other rows makes the same draft and the same words: nothing is sniffed."""
    seen = set()
    for rows in ("1,2,3\n", "a,b,c\n" * 100, "", '"\n\0,,,,,'):
        Path("people.csv").write_text(f"age,town,paid\n{rows}")
        shown = invoke("init", "people.csv", "--header", "--out", "draft.toml")
        seen.add((shown, Path("draft.toml").read_text()))
        Path("draft.toml").unlink()
    assert len(seen) == 1


PERSON = "73,White,Female,1700.09\n58,Black,Male,1053\n"


@pytest.mark.parametrize(
    ("content", "options", "code"),
    [
        (PERSON, [], "header-unstated"),
        ("age,sex\n1,F\n", [], "header-unstated"),
        (PERSON, ["--header"], "header-like-values"),
        ("White,2020-01-31\n", ["--header"], "header-like-values"),
        ("White,31/1/2020\n", ["--header"], "header-like-values"),
        ("White,Female,White\n", ["--header"], "header-like-values"),
        ("White,,Female\n", ["--header"], "header-like-values"),
        ("White,NA\n", ["--header"], "header-like-values"),
        ('age,"sex\nWhite,Female\n', ["--header"], "header-like-values"),
        ("White;1.700,09\n", ["--header", "--delimiter", ";"], "header-like-values"),
        ("age;sex\n1;F\n", ["--header"], "csv-delimiter"),
        ("age,sex\n".replace(",", "\t"), ["--header"], "csv-delimiter"),
        ("age, sex\n1, F\n", ["--header"], "csv-spaces"),
        ("a\xf1o,sex\n", ["--header"], "csv-encoding"),
    ],
)
def test_init_writes_no_row_into_the_public_study(invoke: Invoke, content: str, options: list[str], code: str) -> None:
    Path("people.csv").write_bytes(content.encode("latin-1"))
    with pytest.raises(InvalidParameter) as refused:
        invoke("init", "people.csv", *options)
    assert refused.value.code == code
    assert code in HINTS
    assert not Path("study.toml").exists()
    for value in ("73", "White", "Female", "1700.09", "2020"):
        assert value not in str(refused.value)


def test_files_without_header_are_drafted_from_names(invoke: Invoke) -> None:
    Path("people.csv").write_text(PERSON)
    shown = invoke("init", "people.csv", "--no-header", "--names", "age, race,sex,pay")
    text = Path("study.toml").read_text()
    table = tomllib.loads(text)["tables"]["people"]
    assert table["csv"] == {"header": False, "names": ["age", "race", "sex", "pay"]}
    assert list(table["columns"]) == ["age", "race", "sex", "pay"]
    assert "nothing in people.csv was read" in shown
    assert "may be deleted" in text
    assert not any(value in text for value in ("73", "White", "1700.09"))
    Path("study.toml").unlink()
    invoke("init", "people.csv", "--header", "--names", "age,race,sex,pay")  # names in place of those in the first line
    assert "White" not in Path("study.toml").read_text()


def test_what_was_stated_about_a_file_is_drafted_and_read(invoke: Invoke) -> None:
    Path("data.csv.gz").write_bytes(gzip.compress("año; pago\n2020; 1,5\n".encode("latin-1")))
    how = ("--header", "--delimiter", ";", "--encoding", "latin-1", "--decimal", ",", "--trim")
    invoke("init", "data.csv.gz", *how, "--dates", "dd/mm/yyyy", "--yes", "sí, vale", "--no", "nunca")
    text = Path("study.toml").read_text()
    table = tomllib.loads(text)["tables"]["data"]
    written = {"header": True, "delimiter": ";", "encoding": "latin-1", "decimal": ",", "trim": True}
    assert table["csv"] == {**written, "dates": "dd/mm/yyyy", "yes": ["sí", "vale"], "no": ["nunca"]}
    assert list(table["columns"]) == ["año", "pago"]
    filled = text.replace('unit = ""', 'unit = "row"').replace("# [budget]", "[budget]").replace("# eps", "eps")
    _, columns = states(invoke, filled.replace('type = ""', 'type = "real"'), 0)
    assert columns["pago"]["stored"] == "VARCHAR"


def test_on_a_terminal_init_asks_for_the_header(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,sex\n1,F\n")
    monkeypatch.setattr("curador.cli.studies.asks_back", lambda: True)
    refused = CliRunner().invoke(app, ["init", "people.csv"], input="n\n")
    assert isinstance(refused.exception, InvalidParameter)
    assert "needs names" in refused.exception.what
    assert CliRunner().invoke(app, ["init", "people.csv"], input="y\n").exit_code == 0
    assert list(tomllib.loads(Path("study.toml").read_text())["tables"]["people"]["columns"]) == ["age", "sex"]


def test_parquet_is_drafted_from_its_schema(invoke: Invoke) -> None:
    write_parquet()
    found = json.loads(invoke("init", "people.parquet", "--json", "--name", "folk", "--out", "s.toml"))
    columns = tomllib.loads(Path("s.toml").read_text())["tables"]["folk"]["columns"]
    types = {"age": "integer", "town": "text", "paid": "real", "ok": "boolean"}
    assert {name: declared["type"] for name, declared in columns.items()} == types
    assert found["table"] == "folk"
    assert found["left"]["bounds"] == ["age", "paid"]
    assert found["left"]["keys"] == ["town"]
    assert found["unusable"] == ["raw"]
    assert SECRET not in Path("s.toml").read_text()


def test_a_table_of_a_database_is_drafted_from_its_declared_types(invoke: Invoke) -> None:
    Path("deep er").mkdir()
    with duckdb.connect("deep er/health.duckdb") as database:
        database.execute("CREATE TABLE visits (pid BIGINT, seen TIMESTAMP, cost DECIMAL(10, 2))")
        database.execute("CREATE SCHEMA clinic")
        database.execute("CREATE TABLE clinic.stays (pid VARCHAR)")
    invoke("init", "duckdb:///deep%20er/health.duckdb#visits", "--out", "deep er/a.toml")
    declared = tomllib.loads(Path("deep er/a.toml").read_text())["tables"]["visits"]
    assert declared["source"] == "duckdb:///health.duckdb#visits"
    assert {name: c["type"] for name, c in declared["columns"].items()} == {
        "pid": "integer",
        "seen": "timestamp",
        "cost": "real",
    }
    invoke("init", "duckdb:///deep%20er/health.duckdb#clinic.stays", "--out", "b.toml")
    for path in ("deep er/a.toml", "b.toml"):  # each finds the database from its own folder
        filled = Path(path).read_text().replace('unit = ""', 'unit = "pid"').replace("# contr", "contr")
        Path(path).write_text(filled.replace("# [budget]", "[budget]").replace("# epsilon", "epsilon"))
        assert json.loads(invoke("check", "--study", path, "--json"))["sound"]


def test_a_table_of_postgresql_is_drafted_and_checked(invoke: Invoke, postgres_url: str) -> None:
    import psycopg

    with psycopg.connect(postgres_url) as database:
        database.execute("CREATE TABLE drafted (pid bigint, town text, seen date, cost numeric(10, 2), place point)")
        database.execute("INSERT INTO drafted (town) VALUES (%s)", [SECRET])
    try:
        invoke("init", f"{postgres_url}#drafted")
        declared = tomllib.loads(Path("study.toml").read_text())["tables"]["drafted"]
        kinds = {name: c["type"] for name, c in declared["columns"].items()}
        assert kinds == {"pid": "integer", "town": "text", "seen": "date", "cost": "real"}
        filled = Path("study.toml").read_text().replace('unit = ""', 'unit = "pid"').replace("# contr", "contr")
        found, columns = states(invoke, filled + "\n[budget]\nepsilon = 1\n", 0)
        assert columns["cost"]["stored"] == "numeric"
        assert columns["place"]["declared"] is None
        assert SECRET not in filled + json.dumps(found)
    finally:
        with psycopg.connect(postgres_url) as database:
            database.execute("DROP TABLE drafted")


def test_a_study_elsewhere_names_its_files_from_there(invoke: Invoke) -> None:
    Path("data").mkdir()
    Path("studies").mkdir()
    write_parquet("data/people.parquet")
    invoke("init", "data/people.parquet", "--out", "studies/s.toml")
    filled = Path("studies/s.toml").read_text().replace('unit = ""', 'unit = "row"')
    Path("studies/s.toml").write_text(filled + "\n[budget]\nepsilon = 1\n")
    assert tomllib.loads(filled)["tables"]["people"]["source"] == "../data/people.parquet"
    curator = Curator("studies/s.toml")
    assert len(curator.sql("SELECT COUNT(*) AS n FROM people", epsilon=1)) == 1
    curator.close()


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("data/Adult 2020.csv", "adult_2020"),
        ("visits/*.parquet", "visits"),
        ("2020.csv", "table_2020"),
        ("*.csv", "table"),
        ("postgresql://db/health#clinic.visits", "visits"),
    ],
)
def test_tables_are_named_after_their_source(source: str, name: str) -> None:
    assert table_name(read_source(source)) == name


@pytest.mark.parametrize(
    ("address", "written"),
    [
        ("postgresql://ana:secret@db:5432/health#visits", "postgresql://ana@db:5432/health#visits"),
        ("postgresql://:secret@db/health#visits", "postgresql://db/health#visits"),
        ("postgresql://ana@db/health#visits", "postgresql://ana@db/health#visits"),
        ("spark://local#visits", "spark://local#visits"),
    ],
)
def test_a_password_is_not_written(address: str, written: str) -> None:
    assert source_text(read_source(address), Path(".")) == written


def test_a_draft_refuses_names_that_engines_fold() -> None:
    with pytest.raises(InvalidParameter, match="fold case"):
        TableDraft("t", "t.csv", [ColumnDraft("a"), ColumnDraft("A")])


# ---- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (b"mine", "is not TOML"),
        (b"\xff", "cannot be read as text"),
        (b'tables = { a = { source = "a.csv" } }\n', "as it is written"),
        (b"[tables.People]\n", "has a table 'people' already"),
    ],
)
def test_what_is_there_is_not_overwritten(invoke: Invoke, there: bytes, said: str) -> None:
    write_csv()
    Path("study.toml").write_bytes(there)
    with pytest.raises(InvalidParameter, match=said):
        invoke("init", "people.csv", "--header")
    assert Path("study.toml").read_bytes() == there


def test_a_second_table_is_added_and_the_rest_stays(invoke: Invoke) -> None:
    write_csv()
    write_parquet()
    Path("study.toml").write_bytes((FILLED + "# mine, too").replace("\n", "\r\n").encode())
    before = Path("study.toml").read_bytes()
    shown = invoke("init", "people.parquet", "--name", "folk")
    after = Path("study.toml").read_bytes()
    assert after.startswith(before)
    assert (b"budget" in before, b"budget" in after[len(before) :], "  budget" in shown) == (True, False, False)
    assert "study.toml: table folk with" in shown
    assert "Until this is filled in" in shown
    assert list(tomllib.loads(after.decode())["tables"]) == ["people", "folk"]
    filled = after.decode().replace('unit = ""', 'unit = "row"')
    found, _ = states(invoke, filled, 0)
    assert [table["name"] for table in found["tables"]] == ["people", "folk"]
    assert json.loads(invoke("init", "people.csv", "--header", "--name", "third", "--json"))["added"]


def test_a_folder_of_parquet_files_is_drafted(invoke: Invoke) -> None:
    for folder in ("p[q", "none"):
        Path(folder).mkdir()
    write_parquet("p[q/1.parquet")
    write_parquet("p[q/2.parquet")
    assert "table p_q with" in invoke("init", "p[q")
    text = Path("study.toml").read_text().replace('unit = ""', 'unit = "row"') + "\n[budget]\nepsilon = 1\n"
    found, columns = states(invoke, text, 0)
    assert (found["sound"], columns["age"]["stored"]) == (True, "BIGINT")
    with pytest.raises(InvalidParameter, match="'none' has no Parquet files"):
        invoke("init", "none", "--name", "n")


def test_options_of_csv_for_another_file_are_named_as_they_were_typed(invoke: Invoke) -> None:
    write_parquet()
    with pytest.raises(InvalidParameter, match="Leave --no-header, --names out"):
        invoke("init", "people.parquet", "--no-header", "--names", "a")
    with pytest.raises(InvalidParameter, match="Leave --header out"):
        invoke("init", "people.parquet", "--header")


@pytest.mark.parametrize(("content", "sound"), [("a,b\n1,2\n", True), ("a,b\n1,2\n3\n", False)])
def test_check_agrees_with_the_first_question_about_a_csv_file(invoke: Invoke, content: str, sound: bool) -> None:
    Path("r.csv").write_text(content)
    study = '[budget]\nepsilon = 1\n[tables.r]\nsource = "r.csv"\nunit = "row"\ncolumns = { a = "integer" }\n'
    found, columns = states(invoke, study, 0 if sound else 1)
    assert (found["sound"], columns["b"]["stored"]) == (sound, "VARCHAR")
    asked = ("sql", "SELECT COUNT(*) FROM r", "--epsilon", "1")
    if sound:
        invoke(*asked)
        return
    with pytest.raises(CuradorError) as refused:
        invoke(*asked)
    assert found["tables"][0]["wrong"] == f"{refused.value.what} {refused.value.fix}"


@pytest.mark.parametrize(
    ("source", "content", "said"),
    [
        ("gone.csv", None, "No file 'gone.csv'"),
        ("empty.csv", "", "'empty.csv' is empty"),
        ("blank.csv", "\n\n", "first line of 'blank.csv' is empty"),
        ("sheet.xlsx", "PK\x03\x04\0", "'sheet.xlsx' is neither Parquet nor CSV"),
        ("renamed.csv", "PK\x03\x04\0", "'renamed.csv' is not a text file"),
        ("twice.csv", "a,A\n1,2\n", "looks like values, not names of columns: a field is repeated"),
        ("text.txt", "a\n1\n", "neither Parquet nor CSV"),
        ("fake.parquet", "not parquet", "could not open"),
        ("duckdb:///gone.duckdb#t", None, "No DuckDB file"),
        ("mysql://db/x#t", None, "engine://"),
    ],
)
def test_sources_that_cannot_be_drafted(invoke: Invoke, source: str, content: str | None, said: str) -> None:
    if content is not None:
        Path(source).write_text(content)
    with pytest.raises(InvalidParameter, match=re.escape(said)):
        invoke("init", source, *(["--header"] if source.endswith((".csv", ".xlsx")) else []))
    assert not Path("study.toml").exists()


def test_a_place_that_cannot_be_written(invoke: Invoke) -> None:
    write_csv()
    with pytest.raises(InvalidParameter, match="cannot be written"):
        invoke("init", "people.csv", "--header", "--out", "no-such-folder/study.toml")


def test_exit_codes(tmp_path: Path) -> None:
    """0 where all is well, 1 where something was refused, 2 where the command was not understood."""
    (tmp_path / "bad.toml").write_text("a = 1\nb = = 2\n")
    refused = run("check", "--study", str(tmp_path / "bad.toml"))
    assert refused.returncode == 1
    assert "line 2" in refused.stderr
    assert "To do: Correct that line." in refused.stderr
    assert run("init").returncode == 2
    assert run("init", "x.csv", "--colour", "red").returncode == 2
    gone = run("check", "-s", str(tmp_path / "[red]gone.toml"))
    assert gone.returncode == 1
    assert "[red]gone.toml" in gone.stderr  # a name is no markup
    write_parquet(str(tmp_path / "people.parquet"))
    (tmp_path / "s.toml").write_text(FILLED)
    assert run("check", "-s", str(tmp_path / "s.toml")).returncode == 0
    for done in (refused, gone):
        assert "Traceback" not in done.stderr


# ---- check --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "csv", "said"),
    [
        ("39,paid", "{ header = true }", "looks like values, not names of columns: field 1 is a number"),
        ("age;paid", "{ header = true }", "one field, with semicolons"),
        ("age, paid", "{ header = true }", "spaces around them"),
        ("age;paid", '{ delimiter = ";" }', "decimal commas"),
        ("age,paid", "{ trim = true }", "trim drops"),
        ("age,paid", '{ encoding = "latin-1" }', "characters that latin-1 has not"),
    ],
)
def test_check_doubts_how_a_file_is_declared(invoke: Invoke, header: str, csv: str, said: str) -> None:
    """Doubts are from the declaration and the first line alone: the same with other rows, or none."""
    declared = f"""
[budget]
epsilon = 1
[tables.people]
source = "people.csv"
csv = {csv}
unit = "row"
[tables.people.columns]
age = {{ type = "text", keys = [" F", "€"] }}
paid = {{ type = "real", bounds = [0, 1] }}
"""
    seen = set()
    for rows in ("", "\n1,2\n", "\n\x00;;;"):
        Path("people.csv").write_text(header + rows)
        Path("study.toml").write_text(declared)
        done = CliRunner().invoke(app, ["check", "--json"])
        [table] = json.loads(done.output)["tables"]
        seen.add(json.dumps([table["doubts"], table["columns"]]))
        assert said in done.output
        assert "39" not in done.output
    assert len(seen) == 1


def test_check_fails_for_ids_without_contribution(invoke: Invoke) -> None:
    write_parquet()
    study = FILLED.replace('unit = "row"', 'unit = "age"')
    found, _ = states(invoke, study, 1)
    assert "contribution = { groups = 5, rows = 3 }" in found["tables"][0]["wrong"]
    states(
        invoke,
        study.replace("[tables.people.columns]", "contribution = { groups = 5, rows = 3 }\n[tables.people.columns]"),
        0,
    )


def test_a_sound_study(invoke: Invoke) -> None:
    write_parquet()
    Path("study.toml").write_text(FILLED)
    shown = invoke("check")
    for said in ("protects one row", "0 … 120", "2 keys", "BIGINT", "budget: epsilon 1", "Questions can be asked."):
        assert said in shown
    assert re.search(r"raw .*BLOB.*not declared", shown)
    assert SECRET not in shown


def test_a_fresh_draft_lists_all_that_is_missing(invoke: Invoke) -> None:
    write_csv()
    invoke("init", "people.csv", "--header")
    shown = invoke("check", code=1)
    assert shown.count("type missing") == 4  # three columns, and what it means
    assert "what is protected" in shown


def states(invoke: Invoke, text: str, code: int) -> tuple[dict[str, Any], dict[str, Any]]:
    Path("study.toml").write_text(text)
    found = json.loads(invoke("check", "--json", code=code))
    assert found["sound"] is (code == 0)
    return found, {c["name"]: c for c in found["tables"][0]["columns"]}


def test_everything_wrong_is_told_at_once(invoke: Invoke) -> None:
    write_parquet()
    wrong = FILLED.replace('"text"', '"date"').replace("keys", "# keys").replace("[0, 120]", "[9, 1]")
    wrong = re.sub(r"^town.*$", 'town = "date"\nraw = "text"', wrong, flags=re.M)
    found, columns = states(invoke, wrong + 'height = "real"\n', 1)
    assert columns["height"]["wrong"] == "not in the source"
    assert "hold no value" in columns["age"]["wrong"]
    assert columns["raw"]["wrong"] == "cannot be read as text"
    assert columns["town"]["wrong"] == ""  # a text may be a date; what is none becomes NULL
    assert columns["paid"]["public"] == "0 … 1,000"
    assert found["tables"][0]["wrong"] == ""


def test_what_is_left_does_not_stand_in_the_way(invoke: Invoke) -> None:
    write_parquet()
    bare = re.sub(r"^(age|town|paid) = .*type = (\S+),.*$", r"\1 = \2", FILLED, flags=re.M)
    _, columns = states(invoke, bare, 0)
    assert [columns[c]["left"] for c in ("age", "town", "paid", "ok")] == ["no bounds", "no keys", "no bounds", ""]


def test_a_public_table_has_nothing_left_to_fill_in(invoke: Invoke) -> None:
    write_parquet()
    public = '[tables.towns]\nsource = "towns.csv"\npublic = true\ncolumns = { town = "text", size = "integer" }\n'
    Path("towns.csv").write_text("town,size\nLugo,1\n")
    Path("study.toml").write_text(FILLED + public)
    found = json.loads(invoke("check", "--json"))
    assert [c["left"] for t in found["tables"] if t["name"] == "towns" for c in t["columns"]] == ["", ""]


def test_parquet_files_that_differ_are_found_by_their_footers(invoke: Invoke) -> None:
    for name, ages in (("1", [30]), ("2", ["old"])):
        parquet.write_table(pyarrow.table({"age": ages}), f"people-{name}.parquet")
    table = '[tables.people]\nsource = "people-*.parquet"\nunit = "row"\ncolumns = { age = "integer" }\n'
    Path("study.toml").write_text("[budget]\nepsilon = 1\n" + table)
    (found,) = json.loads(invoke("check", "--json", code=1))["tables"]
    assert found["columns"][0]["wrong"] == "cannot be read as integer"
    assert "different types in different files" in found["columns"][0]["stored"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[budget]\nepsilon = 1", "", "No budget"),
        ("epsilon = 1", "epsilon = -1", "epsilon must be above 0"),
        ("epsilon = 1", "sigma = 1", "[budget] in study.toml is not a budget"),
        ("[budget]\n", "[budget.folk]\n", "'folk'"),
    ],
)
def test_a_wrong_budget(invoke: Invoke, old: str, new: str, said: str) -> None:
    write_parquet()
    found, _ = states(invoke, FILLED.replace(old, new), 1)
    assert said in found["wrong"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('unit = "row"', 'unit = "pid"', "'pid' is not a declared column"),
        ('unit = "row"', 'unit = "row"\nsizes = 3', "Did you mean 'size'"),
        ('"people.parquet"', '"gone.parquet"', "No file 'gone.parquet'"),
        ('"people.parquet"', '"spark://local#t"', "Spark"),
    ],
)
def test_a_wrong_table(invoke: Invoke, old: str, new: str, said: str) -> None:
    write_parquet()
    found, columns = states(invoke, FILLED.replace(old, new), 1)
    assert said in found["tables"][0]["wrong"]
    assert columns["age"]["declared"] == "integer"


@pytest.mark.parametrize("text", ["", "tables = 3", "[tables]"])
def test_a_file_without_tables(invoke: Invoke, text: str) -> None:
    Path("study.toml").write_text(text)
    with pytest.raises(InvalidParameter, match="declares no tables"):
        invoke("check")


def test_names_are_no_markup(invoke: Invoke) -> None:
    parquet.write_table(pyarrow.table({"[red]age": [1]}), "people.parquet")
    invoke("init", "people.parquet", "--name", "[bold]t")
    assert "[red]age" in invoke("check", code=1)


# ---- documented ---------------------------------------------------------------------------------------------------


def commands(group: Any, path: str = "curador") -> dict[str, Any]:
    """Every command by all its words."""
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        inside = commands(command, f"{path} {name}") if hasattr(command, "commands") else {}
        found |= inside or {f"{path} {name}": command}
    return found


def test_every_command_and_option_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text()
    found = commands(typer.main.get_command(app))
    for name, command in found.items():
        assert f"## {name}\n" in page
        section = page.split(f"## {name}\n")[1].split("\n## ")[0]
        if name == "curador sql":
            assert "curador ask" in section
            continue
        shown = {p.metavar if p.param_type_name == "argument" else p.opts[0] for p in command.params} - {"--help"}
        documented = re.findall(r"^\| `([^`]+)`", section, re.M)
        assert sorted(documented) == sorted(shown), name
    assert sorted(re.findall(r"^## (curador [\w -]+)$", page, re.M)) == sorted(found)
    assert re.findall(r"^\| (\d) \|", page, re.M) == ["0", "1", "2"]


def test_the_example_of_init_is_what_is_printed(invoke: Invoke) -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text()
    (block,) = re.findall(r"^```\n\$ curador init visits.parquet\n(.*?)^```$", page, re.M | re.S)
    parquet.write_table(pyarrow.table({"pid": [1], "cost": [1.5], "town": ["Lugo"]}), "visits.parquet")
    shown = [line.rstrip() for line in invoke("init", "visits.parquet").splitlines()]
    assert shown == block.splitlines()


def test_every_setting_of_a_study_file_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "study-file.md").read_text()
    settings = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
    policy = {field.name for field in fields(Policy)}
    other = {"epsilon", "delta", "rho", "levels", "children", "address", "keep", "group", "expires"}
    server = {field.name for field in fields(Settings)}
    assert settings == {*TABLE_SETTINGS, *SETTINGS, *policy, *other, *server}
    assert {name.split(".")[0] for name in re.findall(r"^## .*?`\[([\w.]+)\]`", page, re.M)} >= {*SECTIONS} - {
        "analysts"
    }
    for kind in (*Kind, *KINDS):
        assert f"`{kind}`" in page
    (block,) = re.findall(r"^```toml\n(.*?)^```$", page, re.M | re.S)
    assert set(tomllib.loads(block)) == set(SECTIONS)


def test_the_example_of_the_study_page_can_be_rehearsed(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "reference" / "study-file.md").read_text()
    (block,) = re.findall(r"^```toml\n(.*?)^```$", page, re.M | re.S)
    (tmp_path / "study.toml").write_text(block)
    stage = Curator(tmp_path / "study.toml").rehearse(rows=100)
    assert len(stage.sql("SELECT sex, AVG(cost) AS cost FROM visits GROUP BY sex", epsilon=0.1)) == 2
    stage.close()
