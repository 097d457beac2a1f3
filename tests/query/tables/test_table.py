"""Declared tables: exact, strict, readable from TOML; every refusal says where and what to write."""

from __future__ import annotations

import copy
import math
import tomllib
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curador.curator.study.draft import ColumnDraft, TableDraft
from curador.curator.study.tables import read_tables, tables_from
from curador.errors import CuradorError, InvalidParameter
from curador.mechanisms.sensitivity import Contribution
from curador.privacy import Neighbors, Unit
from curador.query.language.types import column_type
from curador.query.tables.columns import FINEST, WIDEST, day_of, days
from curador.query.tables.sources import read_source
from curador.query.tables.table import Column, EngineTable, Files, Frame, Kind, Table, Tree
from tests.study_files import written

# ---- columns -------------------------------------------------------------------------------------------------


@example(Fraction(0), Fraction(1, 2**35 + 1), None)
@example(Fraction(2**19), Fraction(1, 2**26 + 1), None)
@example(Fraction(-(2**60)), Fraction(2**61), None)
@given(
    st.fractions(-(10**6), 10**6),
    st.fractions(0, 10**6),
    st.none() | st.fractions(Fraction(1, 2**20), 10**3).filter(lambda x: x > 0),
)
def test_the_grid_is_the_coarsest_power_of_two_within_the_step(low: Any, width: Any, step: Any) -> None:
    column = Column("real", bounds=(low, low + width), step=step)
    wanted = step if step is not None else width / 2**16 if width else Fraction(1, 2**16)
    bits = column.bits
    widest = max(abs(low), abs(low + width))
    full = step is None and widest * 2**bits > 2 ** (FINEST - 1)  # as fine as a double is there
    assert Fraction(1, 2**bits) <= wanted or bits == FINEST or full
    assert bits == 0 or Fraction(1, 2 ** (bits - 1)) > wanted
    t = column_type(column)
    assert t.bounds is not None
    assert low - Fraction(1, 2**bits) < t.bounds[0] <= low
    assert low + width - Fraction(1, 2**bits) < t.bounds[1] <= low + width


def test_narrow_bounds_far_from_zero_have_a_grid_that_doubles_have() -> None:
    assert Column("real", bounds=(10**6, 10**6 + Fraction(1, 10**9))).bits == FINEST - 20
    assert Column("real", bounds=(0, 1)).bits == 16


def test_a_float_is_the_decimal_it_prints_as() -> None:
    assert Column("real", bounds=(0.1, "1/3")).bounds == (Fraction(1, 10), Fraction(1, 3))


def test_dates_are_days() -> None:
    column = Column("date", bounds=("1969-12-31", date(1970, 1, 2)), keys=["1970-01-01"])
    assert column.bounds == (Fraction(-1), Fraction(1))
    assert column.keys == (date(1970, 1, 1),)
    assert replace(column) == column
    assert column_type(Column("date")).bounds == (Fraction(days(date.min)), Fraction(days(date.max)))
    assert day_of(days(date(2024, 2, 29))) == date(2024, 2, 29)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"kind": "int"}, "No type is called 'int'"),
        ({"kind": "real", "bounds": (2, 1)}, "hold no value"),
        ({"kind": "real", "bounds": (1,)}, "a pair"),
        ({"kind": "real", "bounds": "12"}, "a pair"),
        ({"kind": "real", "bounds": (0, math.inf)}, "finite"),
        ({"kind": "real", "bounds": (math.nan, 1)}, "finite"),
        ({"kind": "real", "bounds": (0, True)}, "number"),
        ({"kind": "real", "bounds": (0, 2**63)}, "62 bits"),
        ({"kind": "real", "bounds": (0, 2**40), "step": 2.0**-30}, "62 bits"),
        ({"kind": "integer", "bounds": (0, 0.5)}, "whole numbers"),
        ({"kind": "integer", "bounds": (0, 2**63)}, "62 bits"),
        ({"kind": "integer", "step": 1}, "no step"),
        ({"kind": "real", "step": 0}, "above 0"),
        ({"kind": "real", "step": 1e-300}, "finer than"),
        ({"kind": "text", "bounds": (0, 1)}, "no bounds"),
        ({"kind": "boolean", "bounds": (0, 1)}, "no bounds"),
        ({"kind": "date", "bounds": ("2020-01-01", "2020-02-30")}, "Not a date"),
        ({"kind": "date", "bounds": ("2020-01-01", 5)}, "Not a date"),
        ({"kind": "real", "keys": [1]}, "no keys"),
        ({"kind": "text", "keys": []}, "at least one"),
        ({"kind": "text", "keys": ["a", "a"]}, "once"),
        ({"kind": "text", "keys": "ab"}, "list of values"),
        ({"kind": "text", "keys": [1]}, "not a key"),
        ({"kind": "text", "keys": ["a\0"]}, "NUL"),
        ({"kind": "text", "keys": ["\ud800"]}, "half of a surrogate pair"),
        ({"kind": "integer", "keys": [True]}, "not a key"),
        ({"kind": "integer", "keys": ["1"]}, "not a key"),
        ({"kind": "integer", "keys": [1.5]}, "not a key"),
        ({"kind": "integer", "keys": [WIDEST + 1]}, "not a key"),
        ({"kind": "boolean", "keys": [0, 1]}, "not a key"),
        ({"kind": "text", "nullable": "no"}, "true or false"),
    ],
)
def test_columns_that_cannot_be(settings: dict[str, Any], what: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Column(**settings)
    assert what in caught.value.what
    assert caught.value.fix


# ---- tables --------------------------------------------------------------------------------------------------


def test_a_table() -> None:
    table = Table(
        "visits/*.parquet",
        unit="pid",
        columns={"pid": "text", "age": {"type": "integer", "bounds": [0, 120]}, "sex": Column("text")},
        neighbors="replace",
        size=1000,
        contribution=(5, 3),
    )
    assert table.source == Files("visits/*.parquet", "parquet")
    assert table.unit == Unit.of("pid")
    assert table.neighbors is Neighbors.REPLACE
    assert table.contribution == Contribution(groups=5, rows=3)
    assert replace(table) == table
    assert hash(replace(table)) == hash(table)
    with pytest.raises(TypeError):
        table.columns["new"] = Column("text")  # type: ignore[index]


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"columns": {}}, "columns declared"),
        ({"unit": "pidd"}, "'pidd' is not a declared column"),
        ({"unit": "x"}, "neither a text nor an integer"),
        ({"unit": 5}, "a row or an id column"),
        ({"columns": {"a": "integer", "A": "text"}}, "fold case"),
        ({"columns": {"": "integer"}}, "needs a name"),
        ({"columns": {"a\x00b": "integer"}}, "control character"),
        ({"columns": {"a\x1b[2J": "integer"}}, "control character"),
        ({"columns": {"a" * 256: "integer"}}, "needs a name"),
        ({"columns": {"a": {"type": "integer", "bound": [0, 1]}}}, "'a' has an unknown setting 'bound'"),
        ({"columns": {"a": {"bounds": [0, 1]}}}, "'a' has no type"),
        ({"columns": {"a": {"type": "integer", "bounds": [1, 0]}}}, "'a': The bounds"),
        ({"columns": {"a": 5}}, "'a' is declared as 5"),
        ({"neighbors": "adjacent"}, "add-remove"),
        ({"size": 0}, "size"),
        ({"size": 1.5}, "size"),
        ({"contribution": (5, 3)}, "A row is in one group"),
        ({"unit": "pid", "contribution": (5,)}, "groups and rows"),
        ({"unit": "pid", "contribution": (0, 1)}, "groups"),
        ({"source": "notes.txt"}, "neither Parquet nor CSV"),
        ({"source": "://host/db#t"}, "engine://"),
        ({"source": "ana:secret@db://host/db#t"}, "engine://"),
        ({"source": "postgresql://host/db"}, "engine://"),
        ({"source": None}, "needs a source"),
        ({"trees": {"t": Tree(("pid", "nowhere"), {"a": ["b"]})}}, "not a text column"),
    ],
)
def test_tables_that_cannot_be(settings: dict[str, Any], what: str) -> None:
    good: dict[str, Any] = {"source": "t.csv", "columns": {"pid": "text", "x": "real"}}
    with pytest.raises(InvalidParameter) as caught:
        Table(**{**good, **settings})
    assert what in caught.value.what
    assert caught.value.fix


def test_suggestions() -> None:
    with pytest.raises(InvalidParameter, match="Did you mean 'bounds'"):
        Table("t.csv", columns={"a": {"type": "integer", "bound": [0, 1]}})
    with pytest.raises(InvalidParameter, match="Did you mean 'integer'"):
        Table("t.csv", columns={"a": "Integr"})


@pytest.mark.parametrize("name", ["hours per week", "año", "a.b", 'quo"te', "'; --", "名前", "select"])
def test_names_in_any_script(name: str) -> None:
    table = Table("t.csv", columns={name: "integer"})
    assert tables_from(tomllib.loads(written({name: table})))[name].columns == table.columns


# ---- sources -------------------------------------------------------------------------------------------------


class Secret:
    def __repr__(self) -> str:
        return "the data itself"


def test_sources_show_no_data_and_no_password() -> None:
    frame = read_source(Secret())
    assert isinstance(frame, Frame)
    assert repr(frame) == "Frame(<Secret>)"
    assert frame != read_source(frame.data)
    assert "hunter2" not in repr(Table("postgresql://ana:hunter2@db/health#visits", columns={"a": "text"}))


@pytest.mark.parametrize(
    ("text", "scheme", "schema", "table"),
    [
        ("postgresql://ana@db:5432/health#clinic.visits", "postgresql", "clinic", "visits"),
        ("postgres://db/health#visits", "postgres", None, "visits"),
        ("SNOWFLAKE://db/health#visits", "snowflake", None, "visits"),
        ("duckdb:///tmp/x.duckdb#visits", "duckdb", None, "visits"),
        ("spark://#default.visits", "spark", "default", "visits"),
    ],
)
def test_tables_of_engines(text: str, scheme: str, schema: str | None, table: str) -> None:
    source = read_source(text)
    assert isinstance(source, EngineTable)
    assert (source.scheme, source.schema, source.table) == (scheme, schema, table)
    assert source.address == text


def test_paths() -> None:
    assert read_source(Path("a") / "b.PARQUET") == Files(str(Path("a") / "b.PARQUET"), "parquet")
    with pytest.raises(InvalidParameter):
        Files("x.json", "json")
    with pytest.raises(InvalidParameter):
        Files("", "csv")


# ---- trees ---------------------------------------------------------------------------------------------------


def test_trees() -> None:
    children = {"ES": {"Galicia": ["Lugo", "Vigo"], "Murcia": ["Lorca"]}, "PT": {"Norte": ["Porto"]}}
    tree = Tree(("country", "region", "town"), children)
    assert list(tree.paths(0)) == [()]
    assert list(tree.paths(2)) == [("ES", "Galicia"), ("ES", "Murcia"), ("PT", "Norte")]
    assert len(list(tree.paths())) == 4
    children["FR"] = {"x": ["y"]}
    assert list(tree.paths(1)) == [("ES",), ("PT",)]


@pytest.mark.parametrize(
    ("levels", "children"),
    [
        (("a",), {"x": ["y"]}),
        (("a", "A"), {"x": ["y"]}),
        (("a", "b"), {"x": []}),
        (("a", "b"), {}),
        (("a", "b"), {"x": "yz"}),
        (("a", "b"), {"x": ["y", "y"]}),
        (("a", "b"), {"x": {"y": ["z"]}}),
        (("a", "b", "c"), {"x": ["y"]}),
        (("a", "b"), {"x": [1]}),
    ],
)
def test_trees_that_cannot_be(levels: tuple[str, ...], children: Any) -> None:
    with pytest.raises(InvalidParameter):
        Tree(levels, children)


# ---- study files ---------------------------------------------------------------------------------------------

STUDY = """
[budget]
epsilon = 1

[tables.visits]
source = "data/visits.parquet"
unit = "pid"
neighbors = "replace"
size = 1000
contribution = { groups = 5, rows = 3 }

[tables.visits.columns]
pid = "text"
region = "text"
town = "text"
age = { type = "integer", bounds = [0, 120], nullable = false }

[tables.visits.columns.day]
type = "date"
bounds = [2020-01-01, 2020-12-31]

[tables.visits.columns.cost]
type = "real"
bounds = [0.1, 1000]
step = 0.01

[tables.visits.columns.sex]
type = "text"
keys = ["F", "M"]

[tables.visits.trees.place]
levels = ["region", "town"]
children = { Galicia = ["Lugo", "Vigo"] }

[tables.towns]
source = "towns.csv"
public = true
columns = { town = "text" }
"""


def test_a_study_file(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY, encoding="utf-8")
    tables = read_tables(file)
    visits = tables["visits"]
    assert visits.source == Files(str(tmp_path / "data/visits.parquet"), "parquet")
    assert visits.columns["day"].bounds == (Fraction(days(date(2020, 1, 1))), Fraction(days(date(2020, 12, 31))))
    assert visits.columns["cost"] == Column("real", bounds=("1/10", 1000), step="1/100")
    assert not visits.columns["age"].nullable
    assert list(visits.trees["place"].paths()) == [("Galicia", "Lugo"), ("Galicia", "Vigo")]
    assert tables["towns"].public
    assert tables_from(tomllib.loads(written(tables))) == tables


def changed(*path: str, to: object) -> dict[str, Any]:
    study = copy.deepcopy(tomllib.loads(STUDY))
    place: dict[str, Any] = study
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = to
    return study


@pytest.mark.parametrize(
    ("study", "what", "fix"),
    [
        ({}, "study.toml declares no tables", "[tables.NAME]"),
        (changed("tables", "visits", to=5), "table 'visits': It is not a section", "[tables.visits]"),
        (changed("tables", "visits", "unti", to="pid"), "unknown setting 'unti'", "Did you mean 'unit'"),
        (changed("tables", "visits", "unit", to=""), "what is protected", 'unit = "row"'),
        (changed("tables", "visits", "unit", to="patient"), "'patient' is not a declared column", "fix the name"),
        (changed("tables", "visits", "source", to=5), "source is 5", "in quotes"),
        (changed("tables", "visits", "source", to="mysql://host/db#t"), "No engine is called 'mysql'", "engine://"),
        (changed("tables", "visits", "source", to=""), "no source", "Add source"),
        (changed("tables", "visits", "columns", to={}), "no columns", "Add columns"),
        (changed("tables", "visits", "public", to="yes"), "public is 'yes'", "true or false"),
        (changed("tables", "visits", "contribution", to=[5, 3]), "A contribution has groups and rows", "groups = 5"),
        (changed("tables", "visits", "trees", to=5), "Trees have names", "levels"),
        (changed("tables", "visits", "trees", "place", "depth", to=5), "Tree 'place'", "nothing else"),
        (
            changed("tables", "visits", "columns", "age", "bounds", to=[1]),
            "Column 'age': Bounds must be a pair",
            "lowest",
        ),
        (changed("tables", "visits", "columns", "age", "bond", to=[1]), "'age' has an unknown setting", "'bounds'"),
        (changed("tables", "visits", "columns", "age", "type", to="float"), "Column 'age': No type", "real"),
        (changed("tables", "visits", "columns", "cost", "bounds", to=[0, math.inf]), "Column 'cost'", "int, float"),
    ],
)
def test_study_files_that_cannot_be(study: dict[str, Any], what: str, fix: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        tables_from(study, "study.toml")
    assert what in caught.value.what
    assert "study.toml" in caught.value.what
    assert fix in caught.value.fix


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"no study file none\.toml"):
        read_tables(tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("[tables\n", encoding="utf-8")
    with pytest.raises(InvalidParameter, match=r"broken\.toml is not TOML.*line 1"):
        read_tables(broken)
    broken.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidParameter, match="cannot be read as text"):
        read_tables(broken)
    with pytest.raises(InvalidParameter, match="cannot be read as text"):
        read_tables(tmp_path)


def test_a_unit_called_row() -> None:
    study = {"tables": {"t": {"source": "t.csv", "unit": {"id": "row"}, "columns": {"row": "integer"}}}}
    table = tables_from(study)["t"]
    assert table.unit == Unit.of("row")
    assert tables_from(tomllib.loads(written({"t": table})))["t"] == table


def test_control_characters_in_keys_are_escaped() -> None:
    table = Table("t.csv", columns={"a": Column("text", keys=["\x7f", "\x1b", "\n", '"', "\\", "\U0001f600"])})
    assert tables_from(tomllib.loads(written({"t": table})))["t"].columns == table.columns


names = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=12)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
columns = st.one_of(
    st.builds(Column, st.just("text"), keys=st.none() | st.lists(texts, min_size=1, max_size=4, unique=True)),
    st.builds(
        lambda a, b, n: Column("integer", (min(a, b), max(a, b)), nullable=n),
        *[st.integers(-99, 99)] * 2,
        st.booleans(),
    ),
    st.builds(lambda a, w: Column("real", (a, a + w), step=Fraction(1, 3)), st.fractions(-9, 9), st.fractions(0, 9)),
    st.builds(lambda a, b: Column("date", (min(a, b), max(a, b))), st.dates(), st.dates()),
    st.just(Column("boolean", keys=[True, False])),
)


@settings(max_examples=100)
@given(names, st.dictionaries(names, columns, min_size=1, max_size=4))
def test_what_is_written_reads_back(name: str, declared: dict[str, Column]) -> None:
    if len({n.casefold() for n in declared}) < len(declared):
        return
    table = Table("t.parquet", columns=declared, name=name)
    assert tables_from(tomllib.loads(written({name: table}))) == {name: table}


# ---- drafts --------------------------------------------------------------------------------------------------

DECLARED = [
    ColumnDraft("age", "BIGINT", Kind.INTEGER),
    ColumnDraft("pay", "DOUBLE", Kind.REAL),
    ColumnDraft("ok", "BOOLEAN", Kind.BOOLEAN),
    ColumnDraft("sex", "VARCHAR(20)", Kind.TEXT),
    ColumnDraft("day", "TIMESTAMP", Kind.DATE),
    ColumnDraft("raw", "BLOB"),
]


def test_a_draft_is_refused_until_it_says_what_is_protected() -> None:
    draft = TableDraft("study", "people.parquet", DECLARED).toml()
    with pytest.raises(InvalidParameter, match="what is protected"):
        tables_from(tomllib.loads(draft))
    filled = draft.replace('unit = ""', 'unit = "row"')
    table = tables_from(tomllib.loads(filled))["study"]
    assert {name: column.kind.value for name, column in table.columns.items()} == {
        "age": "integer",
        "pay": "real",
        "ok": "boolean",
        "sex": "text",
        "day": "date",
    }
    assert "of type BLOB" in draft
    assert draft.count("to fill in") == 6


def test_a_draft_of_a_csv_leaves_the_types_open() -> None:
    draft = TableDraft("study", "people.csv", [ColumnDraft("age"), ColumnDraft("first name")]).toml()
    assert "[tables.study.columns.age]" in draft
    assert '[tables.study.columns."first name"]' in draft
    with pytest.raises(InvalidParameter, match="Column 'age'"):
        tables_from(tomllib.loads(draft.replace('unit = ""', 'unit = "row"')))


drafted = st.builds(ColumnDraft, names) | st.builds(ColumnDraft, names, texts, st.none() | st.sampled_from(Kind))


@given(names, texts, st.lists(drafted, max_size=4, unique_by=lambda column: column.name.casefold()))
def test_drafts_are_toml_whatever_the_names(name: str, source: str, columns: list[ColumnDraft]) -> None:
    draft = TableDraft(name, source, columns)
    ((found, table),) = tomllib.loads(draft.toml())["tables"].items()
    assert (found, table["source"]) == (name, source)
    assert list(table.get("columns", {})) == [c.name for c in columns if c.name not in draft.unusable]


def test_every_refusal_is_of_the_family() -> None:
    with pytest.raises(CuradorError):
        Table("t.csv", columns={"a": {"type": ["integer"]}})
    with pytest.raises(CuradorError):
        tables_from({"tables": {"t": {"source": "t.csv", "unit": 5, "columns": {"a": "text"}}}})
    with pytest.raises(CuradorError):
        tables_from({"tables": {"t": {"source": "t.csv", "unit": "row", "columns": "a"}}})


def test_tables_and_columns_are_shown_in_a_few_words() -> None:
    day = {"type": "date", "bounds": ["2020-01-01", "2020-12-31"], "nullable": False}
    table = Table(
        "v.csv", unit="pid", columns={"pid": "integer", "day": day, "sex": {"type": "text", "keys": list("abcdef")}}
    )
    assert repr(table.columns["day"]) == "Column('date', bounds=[2020-01-01, 2020-12-31], nullable=False)"
    assert repr(table.columns["sex"]) == "Column('text', keys=['a', 'b', 'c', 'd', 'e', …])"
    assert repr(Column("real", bounds=(0, 1), step=0.01)) == "Column('real', bounds=[0, 1], step=0.01)"
    assert repr(table) == "<Table of everything of one 'pid' added or removed: pid integer, day date, sex text>"
    many = Table("m.csv", columns={f"c{i}": "integer" for i in range(42)}, public=True)
    assert repr(many).endswith("c7 integer and 34 more>")


def test_contribution_and_trees_have_one_form() -> None:
    """In Python as in a study file."""
    columns: dict[str, object] = {"pid": "integer", "region": "text", "town": "text"}
    tree = {"levels": ["region", "town"], "children": {"Galicia": ["Lugo"]}}
    limits = {"groups": 5, "rows": 3}
    made = Table("v.csv", unit="pid", columns=columns, contribution=limits, trees={"place": tree})
    stated = tables_from(
        {
            "tables": {
                "v": {
                    "source": "v.csv",
                    "unit": "pid",
                    "columns": columns,
                    "contribution": limits,
                    "trees": {"place": tree},
                }
            }
        }
    )["v"]
    assert made.contribution == stated.contribution == Contribution(rows=3, groups=5)
    assert made.trees == stated.trees == {"place": Tree(("region", "town"), {"Galicia": ["Lugo"]})}
    for wrong in ({"levels": "region", "children": {}}, {"levels": ["region"]}, 3):
        with pytest.raises(InvalidParameter, match="ree 'place'"):
            Table("v.csv", columns=columns, trees={"place": wrong})  # type: ignore[dict-item]
    with pytest.raises(InvalidParameter, match="Trees have names"):
        Table("v.csv", columns=columns, trees=[tree])  # type: ignore[arg-type]
