"""The list of engines: who reads which source, what a draft makes of stored types, and what a new engine touches."""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from curador.curator.curator import Curator
from curador.curator.prepared import prepare_stored
from curador.curator.study.draft import draft
from curador.engines import registry
from curador.engines.column_sql import check_column
from curador.engines.dialect import Dialect, Stored
from curador.engines.registry import ENGINES, engine_class, engine_entry, open_engine, shared_engine
from curador.errors import InvalidParameter
from curador.privacy import PureDP
from curador.query.tables.columns import Kind
from curador.query.tables.sources import read_source
from curador.query.tables.table import Table
from tests.engines.toy_engine import LINE


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_is_called_as_its_line_says(name: str) -> None:
    pytest.importorskip(ENGINES[name].driver)
    assert engine_class(ENGINES[name]).name == name


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("a.csv", "duckdb"),
        (pa.table({"a": [1]}), "duckdb"),
        ("duckdb:///a.duckdb#a", "duckdb"),
        ("postgresql://db/health#a", "postgresql"),
        ("POSTGRES://db/health#a", "postgresql"),
        ("spark://local#a", "spark"),
    ],
)
def test_every_source_has_its_engine(source: object, name: str) -> None:
    assert engine_entry(read_source(source)).name == name


def test_a_frame_lives_in_the_engine_whose_driver_made_it() -> None:
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.classic.dataframe"})()
    assert engine_entry(read_source(frame)).name == "spark"


def test_an_unknown_engine_is_refused_when_a_curator_opens_its_table() -> None:
    tables = {"t": Table("mysql://db/health#t", columns={"a": "integer"})}
    with pytest.raises(InvalidParameter, match="No engine is called 'mysql'") as refused:
        Curator(tables, PureDP(1))
    assert refused.value.code == "unknown-engine"
    assert "'duckdb', 'postgresql', 'spark'" in refused.value.fix
    with pytest.raises(InvalidParameter, match="Did you mean 'duckdb'"):
        open_engine({"t": read_source("duckbd:///t.duckdb#t")})


def test_tables_of_two_engines_are_not_joined() -> None:
    with pytest.raises(InvalidParameter, match="live in duckdb and spark"):
        shared_engine([read_source("spark://local#t"), read_source("a.csv")])


def test_a_missing_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, ENGINES["spark"].module, None)
    with pytest.raises(InvalidParameter, match=r"pip install '\.\[spark\]'") as refused:
        engine_class(ENGINES["spark"])
    assert refused.value.code == "driver-missing"
    assert refused.value.facts["requirement"] == ".[spark]"


# ---- stored types ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("engine", "type_name", "kind"),
    [
        ("duckdb", "INTEGER", Kind.INTEGER),
        ("duckdb", "UBIGINT", Kind.INTEGER),
        ("duckdb", "DECIMAL(18,3)", Kind.REAL),
        ("duckdb", "ENUM('a', 'b')", Kind.TEXT),
        ("duckdb", "TIMESTAMP WITH TIME ZONE", Kind.TIMESTAMP),
        ("duckdb", "INTERVAL", None),
        ("duckdb", "INTEGER[]", None),
        ("duckdb", "STRUCT(a INTEGER)", None),
        ("duckdb", "BLOB", None),
        ("postgresql", "smallint", Kind.INTEGER),
        ("postgresql", "numeric", Kind.REAL),
        ("postgresql", "double precision", Kind.REAL),
        ("postgresql", "character varying", Kind.TEXT),
        ("postgresql", "timestamp without time zone", Kind.TIMESTAMP),
        ("postgresql", "boolean", Kind.BOOLEAN),
        ("postgresql", "point", None),
        ("spark", "bigint", Kind.INTEGER),
        ("spark", "decimal(10,2)", Kind.REAL),
        ("spark", "varchar(20)", Kind.TEXT),
        ("spark", "timestamp_ntz", Kind.TIMESTAMP),
        ("spark", "array<int>", None),
    ],
)
def test_the_type_that_a_draft_declares(engine: str, type_name: str, kind: Kind | None) -> None:
    pytest.importorskip(ENGINES[engine].driver)
    dialect: Dialect = engine_class(ENGINES[engine]).dialect
    stored = dialect.stored(type_name)
    assert (None if stored is None else stored.kind) is kind
    if kind is not None:
        assert check_column("c", kind, dialect, {"c": type_name}) is stored  # and it can be read so


def test_every_class_of_stored_types_has_a_type_to_declare() -> None:
    assert {stored.kind for stored in Stored} == set(Kind)


# ---- a new engine ----------------------------------------------------------------------------------------------------


def test_an_engine_is_one_file_and_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ENGINES", {**ENGINES, LINE.name: LINE})
    with duckdb.connect(str(tmp_path / "health.db")) as database:
        database.execute("CREATE TABLE visits AS SELECT i::DECIMAL(38,0) AS pid, 'Lugo' AS town FROM range(300) r(i)")
    text = draft(f"toys:///{tmp_path}/health.db#visits", folder=tmp_path).toml()
    assert 'source = "toys:///health.db#visits"' in text
    assert text.count('type = "integer"') == 1
    text = text.replace('unit = ""', 'unit = "pid"')
    for setting in ("[budget]", "epsilon", "contribution"):
        text = text.replace(f"# {setting}", setting)
    (tmp_path / "study.toml").write_text(text)
    by_town = "SELECT town, COUNT(*) AS n FROM visits WHERE town IN ('Lugo') GROUP BY town"
    first = Curator(tmp_path / "study.toml")
    assert prepare_stored(first, "visits", ["town"]).in_file
    first.close()
    curator = Curator(tmp_path / "study.toml")
    plan = curator.plan(by_town, epsilon=0.5, delta=1e-6)
    assert plan.prepared is not None
    assert curator.explain(by_town, epsilon=0.5, delta=1e-6, sql=True).engine == "toy"
    curator.close()
