"""The same rows charge one root: whatever they are called, by whatever path, and whoever renews them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from curador.curator.budgets import Budget
from curador.curator.curator import Curator
from curador.engines.duckdb.engine import DuckDB
from curador.errors import InvalidParameter
from curador.ledger.registry import Registry
from curador.privacy import PureDP
from curador.query.tables.sources import EngineTable, read_source
from curador.query.tables.table import Table

COLUMNS: dict[str, Any] = {"x": {"type": "integer", "bounds": [0, 9]}}


def opened(folder: Path, budget: Budget | None = None, **tables: Any) -> Curator:
    declared = {name: Table(source, columns=COLUMNS) for name, source in tables.items()}
    return Curator(declared, budget=budget or PureDP(1), ledger=folder / "x.db")


def file_of(folder: Path, name: str = "v.csv") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("x\n1\n1\n")
    return path


def roots(curator: Curator, *tables: str) -> tuple[str, ...]:
    return curator.scopes.roots(tables or None)


def refusal(folder: Path, budget: Budget | None = None, **tables: Any) -> str:
    with pytest.raises(InvalidParameter) as refused:
        opened(folder, budget, **tables)
    return refused.value.code or refused.value.what


# ---- after a renewal, in one budget for all --------------------------------------------------------------------------


@pytest.mark.parametrize("linked", [False, True])
def test_a_new_table_of_renewed_rows_charges_their_root(tmp_path: Path, linked: bool) -> None:
    first = second = file_of(tmp_path)
    if linked:
        os.link(first, second := tmp_path / "w.csv")
    opened(tmp_path, a=first).renew("a", because="others", epsilon=1)
    sets: list[dict[str, Any]] = [{"a": first, "b": second}, {"b": second, "a": first}, {"b": second}, {"a": first}]
    for tables in sets:
        assert roots(opened(tmp_path, **tables)) == ("a, renewed 1",)
    both = opened(tmp_path, a=first, b=second)
    both.sql("SELECT COUNT(*) AS n FROM a", epsilon=1)
    with pytest.raises(Exception, match="a, renewed 1"):
        both.sql("SELECT COUNT(*) AS n FROM b", epsilon=1)


@pytest.mark.parametrize("linked", [False, True])
def test_a_renewal_takes_along_the_tables_of_other_studies(tmp_path: Path, linked: bool) -> None:
    first = second = file_of(tmp_path)
    if linked:
        os.link(first, second := tmp_path / "w.csv")
    whole = opened(tmp_path, a=first, b=second, other=file_of(tmp_path, "other.csv"))
    for renewing, of in (("a", first), ("b", second)):
        alone: dict[str, Any] = {renewing: of}
        opened(tmp_path, **alone).renew(renewing, because="others", epsilon=1)
        assert roots(whole, "a", "b") == (f"{renewing}, renewed 1",)  # also where it stays open
        assert roots(opened(tmp_path, a=first, b=second), "a", "b") == (f"{renewing}, renewed 1",)
    assert roots(whole, "other") == ("population",)
    decided = [d for d in whole.decisions() if d.kind == "renewed"]
    assert [d.name for d in decided] == ["b", "a", "a", "b"]


def test_a_renewal_that_fails_midway_renews_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, done = file_of(tmp_path), list[str]()
    curator, plain = opened(tmp_path, a=file, b=file), Registry.renew

    def renew(self: Registry, table: str, *given: Any, **named: Any) -> Any:
        if done:
            raise RuntimeError("midway")
        made = plain(self, table, *given, **named)  # which only looks at first
        done.append(table)
        return made

    monkeypatch.setattr(Registry, "renew", renew)
    with pytest.raises(RuntimeError):
        curator.renew("a", because="others", epsilon=1)
    assert done == ["a"]
    assert roots(curator) == roots(opened(tmp_path, a=file, b=file)) == ("population",)
    assert "a, renewed 1" not in curator.ledger
    assert curator.ledger.verify()


def test_one_frame_under_two_names_is_renewed_under_both() -> None:
    frame = pa.table({"x": [1] * 500})
    tables = {name: Table(frame, columns=COLUMNS) for name in "ab"}
    curator = Curator({**tables, "c": Table(pa.table({"x": [1]}), columns=COLUMNS)}, budget=PureDP(1))
    curator.renew("a", because="others", epsilon=1)
    assert roots(curator, "a", "b") == ("a, renewed 1",)
    assert roots(curator, "c") == ("population",)


def test_a_renewed_frame_is_not_renamed_silently(tmp_path: Path) -> None:
    frame, other = pa.table({"x": [1] * 500}), pa.table({"x": [1] * 7})
    opened(tmp_path, a=frame, kept=other)
    assert roots(opened(tmp_path, c=frame, kept=other)) == ("population",)  # the same root: nothing to ask
    opened(tmp_path, a=frame, kept=other).renew("a", because="others", epsilon=1)
    assert "'a' is gone" in refusal(tmp_path, d=frame, kept=other)
    assert roots(opened(tmp_path, a=frame, d=other)) == ("a, renewed 1", "population")


def test_rows_that_charge_two_roots_are_not_opened_together(tmp_path: Path) -> None:
    first, second = file_of(tmp_path), file_of(tmp_path, "w.csv")
    opened(tmp_path, a=first, b=second).renew("a", because="others", epsilon=1)
    second.unlink()
    os.link(first, second)  # both are known, and are one from now on
    assert refusal(tmp_path, a=first, b=second) == "table-read-twice"
    opened(tmp_path, b=second).renew("b", because="others again", epsilon=1)
    assert roots(opened(tmp_path, a=first, b=second)) == ("b, renewed 1",)


def test_a_number_that_the_disk_gave_again_renews_nobody_else(tmp_path: Path) -> None:
    first, second = file_of(tmp_path), file_of(tmp_path, "w.csv")
    whole = opened(tmp_path, a=first, b=second)
    os.replace(second, first)  # a's file has the number that b's had
    file_of(tmp_path, "w.csv")
    opened(tmp_path, a=first).renew("a", because="others", epsilon=1)
    assert roots(whole, "b") == ("population",)


def test_the_refusal_of_an_ambiguous_table_offers_no_new_budget(tmp_path: Path) -> None:
    first, second = file_of(tmp_path), file_of(tmp_path, "w.csv")
    opened(tmp_path, a=first, b=second)
    with pytest.raises(InvalidParameter) as refused:
        opened(tmp_path, a=second, b=first)
    assert refused.value.code == "table-ambiguous"
    assert "other people alone" in str(refused.value)


# ---- of other studies, known by whatever address ---------------------------------------------------------------------


def long_path(folder: Path, first: Path) -> object:
    (folder / ("f" * 100) / ("g" * 200)).mkdir(parents=True)
    return linked(first, folder / ("f" * 100) / ("g" * 200) / "w.csv")


def unprintable(folder: Path, first: Path) -> object:
    return linked(first, folder / "w\N{NO-BREAK SPACE}#1\\ \\as b.csv")


def not_unicode(folder: Path, first: Path) -> object:
    return linked(first, folder / os.fsdecode(b"w\xff.csv"))


def linked(first: Path, second: Path) -> Path:
    os.link(first, second)
    return second


@pytest.mark.parametrize("at", [long_path, unprintable, not_unicode])
def test_a_renewal_finds_the_tables_of_other_studies_at_any_path(
    tmp_path: Path, at: Callable[[Path, Path], object]
) -> None:
    first = file_of(tmp_path)
    second = at(tmp_path, first)
    both: dict[str, Any] = {"a": first, "b": second}
    alone: dict[str, Any] = {"b": second}
    for tables in (alone, both):  # known by its files, and only by its address
        opened(tmp_path, **tables).close()
    open_still = opened(tmp_path, b=second)
    opened(tmp_path, a=first).renew("a", because="others", epsilon=1)
    assert roots(open_still) == roots(opened(tmp_path, b=second)) == ("a, renewed 1",)
    assert roots(opened(tmp_path, **both)) == ("a, renewed 1",)


def test_a_renewal_finds_the_tables_of_linked_database_files(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a#1.duckdb")) as made:
        made.execute('CREATE TABLE t AS SELECT 1 AS x FROM range(9); CREATE TABLE "u#" AS SELECT 1 AS x')
    os.link(tmp_path / "a#1.duckdb", tmp_path / "b.duckdb")
    source = EngineTable(f"duckdb:///{tmp_path}/a%231.duckdb", "t")
    apart_from_it = EngineTable(f"duckdb:///{tmp_path}/b.duckdb", "u#")
    whole = opened(tmp_path, b=f"duckdb:///{tmp_path}/b.duckdb#T", c=apart_from_it)
    opened(tmp_path, a=source).renew("a", because="others", epsilon=1)
    assert roots(whole, "b") == ("a, renewed 1",)
    assert roots(whole, "c") == ("population",)


def test_a_renewal_takes_along_what_shares_rows_through_a_third_table(tmp_path: Path) -> None:
    first, second = file_of(tmp_path, "f/1.csv"), file_of(tmp_path, "f/2.csv")
    opened(tmp_path, c=second).close()
    opened(tmp_path, both=tmp_path / "f" / "*.csv", c=second).close()
    opened(tmp_path, a=first, c=second).renew("a", because="others", epsilon=1)
    assert roots(opened(tmp_path, both=tmp_path / "f" / "*.csv")) == ("a, renewed 1",)
    assert roots(opened(tmp_path, c=second)) == ("a, renewed 1",)


def test_an_address_longer_than_a_ledger_holds_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, a="/".join(["f" * 200] * 9) + ".csv") == "address-too-long"
    opened(tmp_path, a="/".join(["f" * 200] * 6) + ".csv").close()


# ---- globs that grow -------------------------------------------------------------------------------------------------

APART = {name: {name: PureDP(1)} for name in "ab"}
COUNT = "SELECT COUNT(*) AS n FROM "


def asked(curator: Curator, table: str) -> str:
    """The code of the refusal to answer, which costs nothing; empty if it answers."""
    before = curator.ledger.count()
    try:
        curator.sql(COUNT + table, epsilon=0.125, because="once more", fresh=True)
    except InvalidParameter as refused:
        assert curator.ledger.count() == before
        return refused.code or refused.what
    return ""


def test_a_file_that_a_glob_reads_by_now_charges_its_root(tmp_path: Path) -> None:
    first, pattern = file_of(tmp_path, "f/1.csv"), tmp_path / "f" / "*.csv"
    opened(tmp_path, APART["a"], a=pattern).close()
    assert first.exists()
    assert roots(opened(tmp_path, APART["b"], b=file_of(tmp_path, "f/2.csv"))) == ("a",)


@pytest.mark.parametrize("reopened", [False, True])
def test_a_glob_that_grows_over_another_tables_file_is_refused_until_it_is_decided(
    tmp_path: Path, reopened: bool
) -> None:
    file_of(tmp_path, "f/1.csv")
    second, pattern = file_of(tmp_path, "2.csv"), tmp_path / "f" / "*.csv"
    b = opened(tmp_path, APART["b"], b=second)
    a, reading = (opened(tmp_path, APART["a"], a=pattern) for _ in range(2))
    assert asked(reading, "a") == ""
    os.link(second, tmp_path / "f" / "2.csv")
    assert asked(reading, "a") == ""  # the files that it found when it was first asked
    if reopened:
        a, b = opened(tmp_path, APART["a"], a=pattern), opened(tmp_path, APART["b"], b=second)
    assert asked(a, "a") == asked(b, "b") == "table-read-twice"
    a.renew("a", because="all are others", epsilon=1)
    assert roots(a) == roots(b) == ("a, renewed 1",)
    assert asked(a, "a") == asked(b, "b") == ""


def test_a_table_that_reads_other_rows_by_now_is_in_nobodys_way(tmp_path: Path) -> None:
    first, second = file_of(tmp_path, "f/1.csv"), file_of(tmp_path, "2.csv")
    opened(tmp_path, APART["a"], a=tmp_path / "f" / "*.csv").close()
    b = opened(tmp_path, APART["b"], b=second)
    os.link(second, tmp_path / "f" / "2.csv")
    b = opened(tmp_path, APART["b"], b=second)
    assert asked(b, "b") == "table-read-twice"
    opened(tmp_path, APART["a"], a=first).close()
    assert asked(b, "b") == ""


# ---- very many files -------------------------------------------------------------------------------------------------


def test_a_file_of_a_glob_is_recognised(tmp_path: Path) -> None:
    files = [file_of(tmp_path, f"f/{i}.csv") for i in range(5)]
    whole, one = tmp_path / "f" / "*.csv", files[0]
    apart = {"whole": PureDP(1), "one": PureDP(1)}
    assert refusal(tmp_path, apart, whole=whole, one=one) == "table-read-twice"
    opened(tmp_path, {"whole": PureDP(1)}, whole=whole)
    assert roots(opened(tmp_path, {"one": PureDP(1)}, one=one)) == ("whole",)  # as a renamed table


def test_a_glob_over_known_files_is_recognised(tmp_path: Path) -> None:
    files = [file_of(tmp_path, f"f/{i}.csv") for i in range(5)]
    opened(tmp_path, {"one": PureDP(1)}, one=files[3])
    assert roots(opened(tmp_path, {"whole": PureDP(1)}, whole=tmp_path / "f" / "*.csv")) == ("one",)


def test_each_of_very_many_files_is_recognised_where_it_was_moved(tmp_path: Path) -> None:
    files = [file_of(tmp_path, f"f/{i}.csv") for i in range(1100)]
    for _ in range(2):
        opened(tmp_path, {"whole": PureDP(1)}, whole=tmp_path / "f" / "*.csv").close()
    for i in (0, 999, 1099):
        assert roots(opened(tmp_path, {"one": PureDP(1)}, one=files[i].rename(tmp_path / f"{i}.csv"))) == ("whole",)


def test_beside_a_glob_another_file_of_its_folder_keeps_its_own_budget(tmp_path: Path) -> None:
    for i in range(5):
        file_of(tmp_path, f"f/p{i}.csv")
    tables = {"whole": tmp_path / "f" / "p*.csv", "other": file_of(tmp_path, "f/other.csv")}
    apart = dict.fromkeys(tables, PureDP(1))
    for _ in range(2):
        assert roots(opened(tmp_path, apart, **tables)) == ("whole", "other")
    assert roots(opened(tmp_path, {"other": PureDP(1)}, other=tables["other"])) == ("other",)
    assert roots(opened(tmp_path, apart, **tables)) == ("whole", "other")


# ---- the files that are charged for are those that are read ----------------------------------------------------------


def counted(curator: Curator, table: str) -> int:
    value = curator.sql(COUNT + table, epsilon=1000, because="exact", override=True).value
    assert isinstance(value, int)
    return value


@pytest.mark.parametrize("second", ["v*.csv", "linked.csv", "[uvw].csv"])
def test_in_a_folder_with_brackets_the_same_rows_are_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: str
) -> None:
    first = file_of(tmp_path, "of [2024]/v.csv")
    os.link(first, first.with_name("linked.csv"))
    monkeypatch.chdir(first.parent)
    assert refusal(tmp_path, {"a": PureDP(1), "b": PureDP(1)}, a="v.csv", b=second) == "table-read-twice"
    opened(tmp_path, a="v.csv").renew("a", because="others", epsilon=1)
    assert roots(opened(tmp_path, b=second)) == roots(opened(tmp_path, a="v.csv", b=second)) == ("a, renewed 1",)


def test_a_study_file_in_a_folder_with_brackets_finds_its_files(tmp_path: Path) -> None:
    study = file_of(tmp_path, "of [2024]/v.csv").with_name("study.toml")
    table = '\nsource = "{}"\nunit = "row"\ncolumns = {{ x = "integer" }}\n'
    study.write_text("[tables.a]" + table.format("v.csv") + "[tables.b]" + table.format("*.csv"))
    with pytest.raises(InvalidParameter) as refused:
        Curator(study, budget={"a": PureDP(1), "b": PureDP(1)}, ledger=tmp_path / "x.db")
    assert refused.value.code == "table-read-twice"
    assert counted(Curator(study, budget=PureDP(1000), ledger=tmp_path / "y.db"), "b") == 2


def test_a_path_through_a_link_and_back_is_where_the_link_leads(tmp_path: Path) -> None:
    first, second = file_of(tmp_path, "dir/x.csv"), file_of(tmp_path, "other/x.csv")
    second.write_text("x\n" + "1\n" * 7)
    (tmp_path / "other" / "sub").mkdir()
    (tmp_path / "dir" / "s").symlink_to(tmp_path / "other" / "sub")
    for folder, rows in (("dir", 2), ("other", 7)):
        with duckdb.connect(str(tmp_path / folder / "x.duckdb")) as made:
            made.execute(f"CREATE TABLE t AS SELECT 1 AS x FROM range({rows})")
    for name in ("{}/dir/s/../x.csv", "{}/dir/*/../x.csv", "duckdb:///{}/dir/s/../x.duckdb#t"):
        budget = {"a": PureDP(1000), "b": PureDP(1000)}
        a = f"duckdb:///{tmp_path}/dir/x.duckdb#t" if "duckdb" in name else first
        both = Curator(
            {"a": Table(a, columns=COLUMNS), "b": Table(name.format(tmp_path), columns=COLUMNS)}, budget=budget
        )
        assert (counted(both, "a"), counted(both, "b")) == (2, 7)
        c = f"duckdb:///{tmp_path}/other/x.duckdb#t" if "duckdb" in name else second
        assert refusal(tmp_path, {"b": PureDP(1), "c": PureDP(1)}, b=name.format(tmp_path), c=c) == "table-read-twice"


def test_a_relative_path_is_resolved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = file_of(tmp_path, "p/a.csv"), file_of(tmp_path, "q/a.csv")
    second.write_text("x\n" + "1\n" * 7)
    for folder, rows in (("p", 2), ("q", 7)):
        with duckdb.connect(str(tmp_path / folder / "a.duckdb")) as made:
            made.execute(f"CREATE TABLE t AS SELECT 1 AS x FROM range({rows})")
    monkeypatch.chdir(first.parent)
    curator = opened(tmp_path, PureDP(10_000), a="a.csv", g="*.csv", d="duckdb:///a.duckdb#t")
    monkeypatch.chdir(second.parent)
    assert [counted(curator, name) for name in "agd"] == [2, 2, 2]


# ---- the numbers that a ledger remembers -----------------------------------------------------------------------------


def test_a_number_stays_with_the_table_that_reads_its_file(tmp_path: Path) -> None:
    first, second = file_of(tmp_path, "a/1.csv"), file_of(tmp_path, "b/2.csv")
    opened(tmp_path, APART["a"], a=first).close()
    opened(tmp_path, APART["b"], b=second.with_name("*.csv")).close()
    os.link(first, between := second.with_name("1.csv"))
    assert asked(opened(tmp_path, APART["b"], b=second.with_name("*.csv")), "b") == "table-read-twice"
    between.unlink()
    assert roots(opened(tmp_path, {"c": PureDP(1)}, c=first.rename(tmp_path / "c.csv"))) == ("a",)


def test_a_renewal_takes_the_other_files_of_another_study_along(tmp_path: Path) -> None:
    first, second = file_of(tmp_path, "a/1.csv"), file_of(tmp_path, "b/2.csv")
    os.link(first, second.with_name("1.csv"))
    one = opened(tmp_path, APART["a"], a=first)
    opened(tmp_path, APART["b"], b=second.with_name("*.csv")).close()
    one.renew("a", because="others", epsilon=1)
    assert roots(opened(tmp_path, {"c": PureDP(1)}, c=second.rename(tmp_path / "c.csv"))) == ("a, renewed 1",)


def test_a_file_that_a_glob_came_to_read_is_remembered_before_the_charge(tmp_path: Path) -> None:
    file_of(tmp_path, "f/1.csv")
    whole = opened(tmp_path, APART["a"], a=tmp_path / "f" / "*.csv")
    second = file_of(tmp_path, "f/2.csv")
    assert asked(whole, "a") == ""
    assert roots(opened(tmp_path, APART["b"], b=second.rename(tmp_path / "2.csv"))) == ("a",)


def test_the_former_file_of_a_table_is_recognised_beside_its_new_one(tmp_path: Path) -> None:
    first, second = file_of(tmp_path), file_of(tmp_path, "w.csv")
    opened(tmp_path, APART["a"], a=first).close()
    os.link(first, again := tmp_path / "again.csv")
    assert roots(opened(tmp_path, {"a": PureDP(1), "b": PureDP(1)}, a=second, b=again)) == ("a",)


# ---- one unit --------------------------------------------------------------------------------------------------------


def unit_refusal(tables: dict[str, Table], **how: Any) -> str:
    with pytest.raises(InvalidParameter) as refused:
        Curator(tables, budget=PureDP(1), **how)
    return refused.value.code or refused.value.what


def both_ways(source: object, other: object) -> list[dict[str, Table]]:
    private = Table(source, columns=COLUMNS)
    return [
        {"a": private, "p": Table(other, columns=COLUMNS, public=True)},
        {"a": private, "p": Table(other, columns=COLUMNS, unit="x", contribution=1)},
    ]


@pytest.mark.parametrize("other", ["v.csv", "linked.csv", "*.csv", "soft.csv"])
def test_the_same_rows_are_one_unit_or_public_through_any_path(tmp_path: Path, other: str) -> None:
    first = file_of(tmp_path)
    os.link(first, tmp_path / "linked.csv")
    (tmp_path / "soft.csv").symlink_to(first)
    for tables in both_ways(first, tmp_path / other):
        assert unit_refusal(tables) == "unit-differs"


def test_a_frame_and_a_table_are_one_unit_or_public(tmp_path: Path) -> None:
    frame, server = pa.table({"x": [1]}), "postgresql://db/health#visits"
    with duckdb.connect(str(tmp_path / "x.duckdb")) as made:
        made.execute("CREATE TABLE t AS SELECT 1 AS x")
    held = f"duckdb:///{tmp_path}/x.duckdb#t"
    for source, other in ((frame, frame), (server, server.replace("db", "db:5432")), (held, held.replace("#t", "#T"))):
        for tables in both_ways(source, other):
            assert unit_refusal(tables) == "unit-differs"


@pytest.mark.parametrize("reopened", [False, True])
def test_a_public_glob_that_grows_over_private_rows_is_not_read(tmp_path: Path, reopened: bool) -> None:
    first, second = file_of(tmp_path), file_of(tmp_path, "p/1.csv")
    opened(tmp_path, a=first).close()
    public = Table(second.with_name("*.csv"), columns=COLUMNS, public=True)
    tables = {"p": public, "q": Table(file_of(tmp_path, "q.csv"), columns=COLUMNS)}
    curator = Curator(tables, budget=PureDP(1), ledger=tmp_path / "x.db")
    os.link(first, tmp_path / "p" / "2.csv")
    if reopened:
        assert unit_refusal(tables, ledger=tmp_path / "x.db") == "unit-differs"
    with pytest.raises(InvalidParameter) as refused:
        curator._public_rows("p", ["x"])
    assert refused.value.code == "unit-differs"


def test_what_another_study_has_public_is_not_made_private_silently(tmp_path: Path) -> None:
    first = file_of(tmp_path)
    os.link(first, tmp_path / "linked.csv")
    tables = {
        "p": Table(first, columns=COLUMNS, public=True),
        "q": Table(file_of(tmp_path, "q.csv"), columns=COLUMNS),
    }
    Curator(tables, budget=PureDP(1), ledger=tmp_path / "x.db").close()
    assert refusal(tmp_path, a=tmp_path / "linked.csv") == "unit-differs"


# ---- an engine that is given -----------------------------------------------------------------------------------------


def test_a_given_engine_is_asked_whose_rows_it_reads(tmp_path: Path) -> None:
    first, second = file_of(tmp_path), file_of(tmp_path, "w.csv")
    tables = {"a": Table(first, columns=COLUMNS), "b": Table(second, columns=COLUMNS)}
    budget = {"a": PureDP(1), "b": PureDP(1)}
    engine = DuckDB({"a": read_source(first), "b": read_source(first)})
    assert asked(Curator(tables, budget=budget, engine=engine), "b") == "table-read-twice"
    engine = DuckDB({"a": read_source(first), "b": read_source(second)})
    assert asked(Curator(tables, budget=budget, engine=engine), "b") == ""
    other = {"a": Table(first, columns={"y": "integer"}), "b": tables["b"]}
    assert asked(Curator(other, budget=budget, engine=engine), "a") == "no-column-in-source"
    holds_one = DuckDB({"a": read_source(first)})
    curator = Curator(tables, budget=budget, engine=holds_one)
    assert (asked(curator, "a"), "no table 'b'" in asked(curator, "b")) == ("", True)


def test_a_given_engine_is_asked_again_for_tables_that_come_later(tmp_path: Path) -> None:
    first, second, third = (file_of(tmp_path, f"{i}.csv") for i in range(3))
    tables = {"a": Table(first, columns=COLUMNS), "b": Table(second, columns=COLUMNS)}
    engine = DuckDB({"a": read_source(third), "b": read_source(third)})  # neither is what was declared
    curator = Curator(tables, budget={"a": PureDP(1), "b": PureDP(1)}, engine=engine)
    assert (asked(curator, "a"), asked(curator, "b")) == ("", "table-read-twice")
