"""Opening a curator: one transaction however much is in it, the same data known again, and nothing left half done."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from curador.cli.app import app
from curador.cli.hints import with_hint
from curador.curator.curator import Curator
from curador.curator.naming import ConfusableName, address, skeleton
from curador.curator.study.file import Analyst
from curador.errors import CuradorError, InvalidParameter
from curador.ledger.opening import open_ledger
from curador.privacy import PureDP, Unit
from curador.query.tables.table import Table
from tests.real_engines import to_postgres
from tests.steps import at_most

X = {"x": {"type": "integer", "bounds": [0, 3]}}
COUNT = "SELECT COUNT(*) AS n FROM {}"


def csv(path: Path) -> Path:
    path.write_text("x,y\n1,1\n")
    return path


def apart(folder: Path, **sources: object) -> Curator:
    tables = {name: Table(source, columns=X) for name, source in sources.items()}
    return Curator(tables, budget=dict.fromkeys(tables, PureDP(1)), ledger=folder / "ledger.db")


# ---- at once -------------------------------------------------------------------------------------------------------


def transactions(monkeypatch: pytest.MonkeyPatch, ledger: Any, work: Callable[[], object]) -> dict[str, int]:
    """How many transactions of each kind some work takes."""
    found = {"read": 0, "write": 0}
    with monkeypatch.context() as patch:
        for kind in found:
            plain = getattr(ledger._store, kind)

            def counted(*given: Any, kind: str = kind, plain: Any = plain, **named: Any) -> Any:
                found[kind] += 1
                return plain(*given, **named)

            patch.setattr(ledger._store, kind, counted)
        work()
    return found


@pytest.mark.parametrize("many", [3, 60])
def test_however_many_tables_and_analysts_are_opened_in_one_transaction(
    many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger(tmp_path / "ledger.db")
    tables = {f"t{i}": Table(f"t{i}.csv", columns=X) for i in range(many)}
    analysts = {f"analyst {i}": Analyst(PureDP(0.5)) for i in range(many)}

    def opened() -> Curator:
        return Curator(tables, budget=PureDP(1), analysts=analysts, ledger=ledger)

    assert transactions(monkeypatch, ledger, opened) == {"read": 1, "write": 1}
    assert transactions(monkeypatch, ledger, opened) == {"read": 1, "write": 0}
    curator = opened()
    assert transactions(monkeypatch, ledger, lambda: curator.grant("population", epsilon=1))["write"] == 1
    assert {b.budget for b in map(ledger.balance, ("population", "t0", f"t{many - 1}"))} == {PureDP(2)}
    assert transactions(monkeypatch, ledger, lambda: curator.grant("new", epsilon=1))["write"] == 1
    assert opened().budget("analyst 1").budget == PureDP(0.5)
    assert ledger.verify() > 4 * many
    ledger.close()


@pytest.mark.slow
@pytest.mark.parametrize(("tables", "analysts"), [(1, 10_000), (1000, 1)])
def test_large_studies_are_opened_with_little_work_for_each(tables: int, analysts: int, tmp_path: Path) -> None:
    for _ in range(2):
        declared = {f"t{i}": Table(f"t{i}.csv", columns=X) for i in range(tables)}
        known = {f"analyst {i}": Analyst(PureDP(0.5)) for i in range(analysts)}
        with at_most(5_000 * (tables + analysts)):
            Curator(declared, budget=PureDP(1), analysts=known, ledger=tmp_path / "ledger.db").close()


def test_what_is_refused_leaves_nothing_open(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path / "ledger.db")
    table = {"t": Table("t.csv", columns=X)}
    for name in ("n" * 181, "n" * 193, "n" * 200, " ana", "ana "):
        with pytest.raises(InvalidParameter):
            Curator(
                table, budget=PureDP(1), analysts={"bob": Analyst(PureDP(1)), name: Analyst(PureDP(1))}, ledger=ledger
            )
        assert ledger.scopes() == ()
    curator = Curator(table, budget=PureDP(1), ledger=ledger)
    with pytest.raises(InvalidParameter):
        curator.grant("n" * 193, epsilon=1)
    curator.grant("n" * 180, epsilon=1)
    assert ledger.scopes() == ("n" * 180, "population", "t")
    ledger.close()


# ---- names ---------------------------------------------------------------------------------------------------------


def test_an_analyst_has_one_name_however_its_letters_are_composed(tmp_path: Path) -> None:
    composed, apart_ = "Jos\u00e9", "Jose\u0301"
    curator = Curator(
        {"t": Table(csv(tmp_path / "t.csv"), columns=X)}, PureDP(9), analysts={apart_: Analyst(PureDP(1))}
    )
    assert curator.budget(composed).scope == curator.budget(apart_).scope == composed
    first = curator.sql(COUNT.format("t"), epsilon=0.5, analyst=apart_, key="k")
    assert curator.sql(COUNT.format("t"), epsilon=0.5, analyst=composed, key="k").repeated
    assert first.charge == "1"
    curator.grant(apart_, epsilon=1)
    assert curator.budget(composed).budget == PureDP(2)


@pytest.mark.parametrize("twin", ["\u0430na", "Ana", "an\u03b1", "ana1", "a na", "\uff41na", "anna"])
def test_a_name_that_looks_like_another_is_warned_about(twin: str) -> None:
    other = "anal" if twin == "ana1" else "ana"
    curator = Curator({"t": Table("t.csv", columns=X)}, PureDP(1), analysts={other: Analyst(PureDP(1))})
    with pytest.warns(ConfusableName, match=f"looks like '{other}'"):
        curator.grant(twin, epsilon=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curator.grant(twin, epsilon=1)  # known by now
        curator.grant("bob", epsilon=1)


def test_numbered_names_are_no_twins() -> None:
    assert len({skeleton(f"analyst {i}") for i in range(1200)}) == 1200


# ---- units ---------------------------------------------------------------------------------------------------------


def test_another_unit_is_a_decision(tmp_path: Path) -> None:
    def opened(unit: str | None) -> Curator:
        columns = {"x": "integer", "y": "integer"}
        table = Table(csv(tmp_path / "t.csv"), Unit.row() if unit is None else unit, columns)
        return Curator({"t": table}, budget=PureDP(1), ledger=tmp_path / "ledger.db")

    curator = opened("x")
    curator.close()
    for other in ("y", None):
        with pytest.raises(InvalidParameter) as refused:
            opened(other)
        assert refused.value.code == "unit-changed"
    ledger = open_ledger(tmp_path / "ledger.db")
    ledger.redeclare("t", "row", because="rows are people here")
    assert [(d.kind, d.because) for d in ledger.decisions()][-1] == ("redeclared", "rows are people here")
    ledger.close()
    assert opened(None).scopes.registered["t"].unit == "row"
    with pytest.raises(InvalidParameter, match="'row'"):
        opened("x")


def test_the_same_rows_are_not_protected_as_two_units() -> None:
    tables = {"a": Table("t.csv", columns={"x": "integer"}), "b": Table("t.csv", columns={"x": "integer"}, unit="x")}
    with pytest.raises(InvalidParameter) as refused:
        Curator(tables, budget=PureDP(1))
    assert refused.value.code == "unit-differs"


@pytest.mark.parametrize("was_public", [True, False])
def test_private_and_public_are_not_exchanged_without_a_decision(tmp_path: Path, was_public: bool) -> None:
    def opened(public: bool) -> Curator:
        tables = {"t": Table("t.csv", columns=X, public=public), "u": Table("u.csv", columns=X)}
        return Curator(tables, budget=PureDP(1), ledger=tmp_path / "ledger.db")

    opened(was_public).close()
    with pytest.raises(InvalidParameter) as refused:
        opened(not was_public)
    assert refused.value.code == "unit-changed"
    ledger = open_ledger(tmp_path / "ledger.db")
    ledger.redeclare("t", "row" if was_public else "public", because="the law changed")
    ledger.close()
    assert ("t" in opened(not was_public).scopes.registered) == was_public
    with pytest.raises(InvalidParameter):
        opened(was_public)


# ---- the same data ---------------------------------------------------------------------------------------------------


def linked(file: Path) -> Path:
    os.link(file, file.with_name("b.csv"))
    return file.with_name("b.csv")


def moved(file: Path) -> Path:
    return file.rename(file.with_name("b.csv"))


def globbed(file: Path) -> Path:
    return file.with_name("*.csv")


@pytest.mark.parametrize("again", [linked, moved, globbed])
def test_a_file_under_another_name_keeps_its_budget(again: Callable[[Path], Path], tmp_path: Path) -> None:
    apart(tmp_path, a=csv(tmp_path / "a.csv")).sql(COUNT.format("a"), epsilon=0.75)
    curator = apart(tmp_path, b=again(tmp_path / "a.csv"))
    assert curator.budget("b").remaining == PureDP(0.25)
    assert curator.budget("b").scope == "a"


@pytest.mark.parametrize("again", [linked, globbed])
def test_a_file_is_not_given_two_budgets(again: Callable[[Path], Path], tmp_path: Path) -> None:
    file = csv(tmp_path / "a.csv")
    with pytest.raises(InvalidParameter) as refused:
        apart(tmp_path, a=file, b=again(file))
    assert refused.value.code == "table-read-twice"


def test_a_frame_is_not_given_two_budgets(tmp_path: Path) -> None:
    frame = pa.table({"x": [1]})
    with pytest.raises(InvalidParameter) as refused:
        apart(tmp_path, a=frame, b=frame)
    assert refused.value.code == "table-read-twice"


def test_one_budget_is_not_left_for_two_by_a_link(tmp_path: Path) -> None:
    file = csv(tmp_path / "a.csv")
    Curator({"a": Table(file, columns=X)}, budget=PureDP(1), ledger=tmp_path / "ledger.db").close()
    with pytest.raises(InvalidParameter, match="elsewhere in the ledger's tree"):
        apart(tmp_path, b=linked(file))


def test_a_file_read_into_a_frame_and_back_is_asked_about(tmp_path: Path) -> None:
    apart(tmp_path, a=csv(tmp_path / "a.csv")).close()
    with pytest.raises(InvalidParameter, match="may be the same people"):
        apart(tmp_path, b=pa.table({"x": [1]}))
    apart(tmp_path, a=pa.table({"x": [1]})).close()  # by its name it is known
    os.rename(tmp_path / "a.csv", tmp_path / "gone")
    with pytest.raises(InvalidParameter, match="may be the same people"):
        apart(tmp_path, c=csv(tmp_path / "c.csv"))


def test_files_that_are_rewritten_keep_their_own_budgets(tmp_path: Path) -> None:
    """The disk gives a new file the number of one that is gone: that is not the same data."""
    files = {name: csv(tmp_path / f"{name}.csv") for name in "ab"}
    apart(tmp_path, **files).close()
    one, other = (os.stat(files[name]).st_ino for name in "ab")
    os.rename(files["a"], tmp_path / "t")
    os.rename(files["b"], files["a"])
    os.rename(tmp_path / "t", files["b"])
    assert [os.stat(files[name]).st_ino for name in "ab"] == [other, one]
    curator = apart(tmp_path, **files)
    assert [curator.budget(name).scope for name in "ab"] == ["a", "b"]
    assert curator.ledger.verify()


def test_tables_with_one_budget_may_read_the_same_file(tmp_path: Path) -> None:
    file = csv(tmp_path / "a.csv")
    tables = {"a": Table(file, columns=X), "b": Table(linked(file), columns=X)}
    for _ in range(2):
        curator = Curator(tables, budget=PureDP(1), ledger=tmp_path / "ledger.db")
        assert [curator.budget(name).scope for name in "ab"] == ["a", "b"]
        curator.sql(COUNT.format("b"), epsilon=0.25)
    assert curator.budget().spent == PureDP(0.25)


def test_a_table_of_a_database_file_is_known_through_a_link(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as database:
        database.execute("CREATE TABLE t (x INTEGER)")
        database.execute("CREATE TABLE u (x INTEGER)")
    os.link(tmp_path / "a.duckdb", tmp_path / "b.duckdb")
    apart(tmp_path, a=f"duckdb:///{tmp_path}/a.duckdb#t").sql(COUNT.format("a"), epsilon=0.75)
    assert apart(tmp_path, b=f"duckdb:///{tmp_path}/b.duckdb#main.t").budget("b").remaining == PureDP(0.25)
    both = {"a": f"duckdb:///{tmp_path}/a.duckdb#t", "u": f"duckdb:///{tmp_path}/b.duckdb#u"}
    assert apart(tmp_path, **both).budget("u").remaining == PureDP(1)


SPELT = [
    ("postgresql://db/health#t", "postgres://db:5432/health#t"),
    ("postgresql://ana:secret@db/health#c.t", "postgresql://bob@DB/health?sslmode=require#c.t"),
    ("postgresql://db/health#t", "postgresql:///health?host=db&port=5432#t"),
    ("postgresql://localhost/health#t", "postgresql://127.0.0.1/health#t"),
]


@pytest.mark.parametrize(("one", "other"), SPELT)
def test_a_server_has_one_address_however_it_is_written(one: str, other: str) -> None:
    assert address("a", Table(one, columns=X)) == address("b", Table(other, columns=X))
    assert address("a", Table(one, columns=X)) != address("a", Table(one.replace("health", "wealth"), columns=X))


def test_a_servers_table_is_known_by_any_address_and_through_a_view(tmp_path: Path, postgres_url: str) -> None:
    source = to_postgres(postgres_url, pa.table({"x": [1] * 10}))
    view = f"v{source.table}"
    with psycopg.connect(postgres_url) as connection:
        connection.execute(f"CREATE VIEW {view} AS SELECT * FROM (SELECT x FROM {source.table}) AS y".encode())
    first = apart(tmp_path, a=source)
    first.sql(COUNT.format("a"), epsilon=0.75)
    first.close()
    for name, other in {"b": f"{postgres_url}#public.{source.table}", "c": f"{postgres_url}#{view}"}.items():
        curator = apart(tmp_path, **{name: other})
        with pytest.raises(CuradorError) as refused:
            curator.sql(COUNT.format(name), epsilon=0.75)
        assert refused.value.code == "table-read-twice"
        assert curator.history(name) == ()
        curator.close()
    again = apart(tmp_path, a=source)
    again.sql(COUNT.format("a"), epsilon=0.25)
    again.close()


# ---- from the command line -------------------------------------------------------------------------------------------

STUDY = """[budget]
epsilon = 1

[tables.t]
source = "t.csv"
unit = "{}"
columns = {{ x = "integer" }}
"""


def test_the_command_line_decides_another_unit_and_shows_look_alikes(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    csv(tmp_path / "t.csv")
    study.write_text(STUDY.format("row"))
    run = CliRunner().invoke
    assert run(app, ["grant", "ana", "--epsilon", "0.5", "--study", str(study)]).exit_code == 0
    twin = run(app, ["grant", "Ana", "--epsilon", "0.5", "--study", str(study)])
    assert "looks like 'ana'" in twin.stdout
    assert "has epsilon 1 left" not in twin.stdout
    more = run(app, ["grant", "bob", "--epsilon", "10", "--study", str(study)])
    assert "population, above bob, has epsilon 1 left" in " ".join(more.stdout.split())
    study.write_text(STUDY.format("x"))
    refused = run(app, ["budget", "--study", str(study)])
    assert isinstance(refused.exception, InvalidParameter)
    assert "ledger redeclare" in with_hint(refused.exception).fix
    decide = ["ledger", "redeclare", "t", "--because", "ids since 2027", "--study", str(study)]
    assert "id: x" in run(app, decide).stdout
    assert run(app, ["budget", "--study", str(study)]).exit_code == 0
    history = run(app, ["history", "--study", str(study), "--json"])
    assert "ids since 2027" in history.stdout
    wrong = run(app, ["ledger", "redeclare", "u", "--because", "x", "--study", str(study)])
    assert isinstance(wrong.exception, InvalidParameter)
