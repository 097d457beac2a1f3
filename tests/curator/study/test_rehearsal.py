"""Rehearsals: made-up tables from the declarations alone, that share nothing with the real ones and say so."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from curador.curator.curator import Curator
from curador.curator.releases.release import Release
from curador.curator.study.rehearsal import MISSING, MOST_MADE_UP_ROWS, ROWS, made_up
from curador.errors import BudgetExceeded, InvalidParameter
from curador.privacy import ApproxDP, PureDP
from curador.query.aggregates.counts import count
from curador.query.aggregates.moments import mean
from curador.query.aggregates.quantiles.ranks import bounds, median
from curador.query.tables.columns import WIDEST, Column, days
from curador.query.tables.table import Table, Tree

# Sources that do not exist: whatever works here was made from the declarations.
LOUD: dict[str, Any] = {"because": "a test", "override": True}

TABLES = {
    "visits": Table(
        "no-such/visits.parquet",
        unit="pid",
        contribution=(3, 2),
        columns={
            "pid": "integer",
            "age": {"type": "integer", "bounds": [17, 90], "nullable": False},
            "cost": {"type": "real", "bounds": [-0.5, 0.25], "step": 0.01},
            "day": {"type": "date", "bounds": [date(2021, 1, 1), date(2021, 12, 31)]},
            "sex": {"type": "text", "keys": ["F", 'M, "x"']},
            "insured": "boolean",
            "note": "text",
            "tall": "integer",
            "region": "text",
            "town": "text",
        },
        trees={"place": Tree(("region", "town"), {"Galicia": ["Lugo", "Vigo"], "Murcia": ["Lorca"]})},
    ),
    "stays": Table(
        "postgresql://nowhere.invalid/db#stays",
        unit="person",
        columns={"person": "integer", "nights": {"type": "integer", "bounds": [0, 60]}},
    ),
    "notes": Table("no-such/notes.csv", public=True, columns={"note": "text", "loud": "boolean", "weight": "integer"}),
}


@pytest.fixture
def real() -> Curator:
    return Curator(TABLES, budget=ApproxDP(1000, 1e-3))


@pytest.fixture
def stage(real: Curator) -> Iterator[Curator]:
    made = real.rehearse(seed=3)
    yield made
    made.close()


# ---- what is made up ----------------------------------------------------------------------------------------------


def test_values_are_as_declared() -> None:
    visits = made_up(TABLES)["visits"]
    assert {len(cells) for cells in visits.values()} == {ROWS}
    for name, low, high in [("age", 17, 90), ("cost", -0.5, 0.25), ("day", date(2021, 1, 1), date(2021, 12, 31))]:
        present: list[Any] = [x for x in visits[name] if x is not None]
        assert low <= min(present) < max(present) <= high
    assert set(visits["sex"]) == {"F", 'M, "x"', None}
    assert set(visits["insured"]) == {False, True, None}
    assert None not in visits["age"]
    assert None not in visits["pid"]
    # 1,000 cells at 5 %: below 15 or above 95 with a chance of 1e-8; the seed is fixed, so it passes or it does not.
    assert 15 <= list(visits["cost"]).count(None) <= 95
    places = set(zip(visits["region"], visits["town"], strict=True))
    assert places == {("Galicia", "Lugo"), ("Galicia", "Vigo"), ("Murcia", "Lorca")}
    assert MISSING == 0.05


def test_the_same_seed_makes_the_same_table_and_columns_do_not_depend_on_each_other() -> None:
    assert made_up(TABLES, seed=5) == made_up(TABLES, seed=5)
    assert made_up(TABLES, seed=5)["visits"]["cost"] != made_up(TABLES, seed=6)["visits"]["cost"]
    alone = {"visits": Table("x.csv", columns={"age": TABLES["visits"].columns["age"]})}
    assert made_up(alone)["visits"]["age"] == made_up(TABLES)["visits"]["age"]


def test_rows_are_those_asked_for_or_the_public_size() -> None:
    small = Table("x.csv", columns={"a": "integer"}, size=70)
    large = Table("x.csv", columns={"a": "boolean"}, size=10**9)
    made = made_up({"small": small, "large": large})
    assert [len(made[name]["a"]) for name in ("small", "large")] == [70, MOST_MADE_UP_ROWS]
    assert len(made_up({"small": small}, rows=12)["small"]["a"]) == 12
    for bad in (0, -1, 2.5, True):
        with pytest.raises(InvalidParameter):
            made_up({"small": small}, rows=bad)  # type: ignore[arg-type]


def test_some_units_have_more_rows_than_count_and_some_fewer() -> None:
    owners = list(made_up(TABLES)["visits"]["pid"])
    each = [owners.count(x) for x in set(owners)]
    assert min(each) < 6 < max(each)


def test_tables_share_ids() -> None:
    made = made_up(TABLES)
    assert len(set(made["visits"]["pid"]) & set(made["stays"]["person"])) > 50


def test_a_public_table_lists_every_text_once() -> None:
    notes = made_up(TABLES)["notes"]
    assert len(set(notes["note"])) == len(notes["note"])
    assert set(made_up(TABLES)["visits"]["note"]) - {None} <= set(notes["note"])


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
kinds = st.one_of(
    st.tuples(st.integers(-WIDEST, WIDEST), st.integers(-WIDEST, WIDEST)).map(
        lambda ends: Column("integer", bounds=sorted(ends))
    ),
    st.tuples(st.integers(-(10**6), 10**6), st.integers(1, 10**6)).map(
        lambda x: Column("real", bounds=(x[0], x[0] + x[1]))
    ),
    st.tuples(st.dates(), st.dates()).map(lambda ends: Column("date", bounds=sorted(ends))),
    st.lists(texts, min_size=1, unique=True).map(lambda keys: Column("text", keys=keys)),
    st.sampled_from([Column(kind) for kind in ("integer", "real", "text", "boolean", "date")]),
)


@settings(max_examples=60)
@given(kinds, st.booleans())
def test_any_declaration_can_be_rehearsed(column: Column, public: bool) -> None:
    cells = made_up({"t": Table("t.csv", columns={"c": column}, public=public)}, rows=20)["t"]["c"]
    for cell in cells:
        if cell is not None and column.keys is not None:
            assert cell in column.keys
        elif cell is not None and column.bounds is not None:
            assert not isinstance(cell, str)
            value = days(cell) if isinstance(cell, date) else cell
            assert column.bounds[0] <= value <= column.bounds[1]


# ---- asking -------------------------------------------------------------------------------------------------------


def test_questions_find_what_was_made_up() -> None:
    # At epsilon 1000 noise is below 1 but for a chance of 1e-300: the counts are those of the made-up rows, exactly.
    table = Table("no-such.csv", columns={**TABLES["visits"].columns, "one": {"type": "text", "keys": ["x"]}})
    stage = Curator({"t": table}, budget=PureDP(10**6)).rehearse(seed=3)
    made = made_up({"t": table}, seed=3)["t"]
    for text, true in [
        ("SELECT COUNT(*) AS n FROM t", ROWS),
        ("SELECT COUNT(one) AS n FROM t", ROWS - list(made["one"]).count(None)),
        ("SELECT COUNT(*) AS n FROM t WHERE sex = 'M, \"x\"'", list(made["sex"]).count('M, "x"')),
        ("SELECT COUNT(*) AS n FROM t WHERE insured", list(made["insured"]).count(True)),
        ("SELECT COUNT(*) AS n FROM t WHERE day >= DATE '2021-07-01'", _from(made["day"], date(2021, 7, 1))),
        ("SELECT COUNT(*) AS n FROM t WHERE cost >= 0", _from(made["cost"], 0)),
        ("SELECT COUNT(*) AS n FROM t WHERE age >= 50", _from(made["age"], 50)),
    ]:
        assert stage.sql(text, **LOUD, epsilon=1000).value == true, text
    stage.close()


def _from(cells: Any, least: Any) -> int:
    return sum(x is not None and x >= least for x in cells)


def test_every_kind_of_question_can_be_tried(stage: Curator) -> None:
    visits = stage.table("visits")
    assert len(visits.tree("place").aggregate(n=count()).ask(**LOUD, epsilon=10)) == 6
    assert len(visits.join("notes", "note").group_by("loud").aggregate(n=count()).ask(**LOUD, epsilon=10)) == 2
    joined = visits.join("stays", {"pid": "person"}).group_by("insured").aggregate(nights=mean("nights"))
    assert len(joined.ask(**LOUD, epsilon=10)) == 2
    assert len(visits.aggregate(tall=bounds("tall"), day=median("age")).ask(**LOUD, epsilon=10)) == 1
    late = visits.where("day >= DATE '2021-07-01'").group_by("note").aggregate(n=count())
    assert len(late.ask(**LOUD, epsilon=50, delta=1e-6)) > 1


def test_plans_are_those_of_the_real_tables(real: Curator, stage: Curator) -> None:
    text = "SELECT sex, COUNT(*) AS n, AVG(cost) AS cost FROM visits WHERE age > 30 GROUP BY sex"
    assert stage.plan(text, epsilon=0.5).to_dict() == real.plan(text, epsilon=0.5).to_dict()
    assert stage.plan(text, epsilon=0.5).explain() == real.plan(text, epsilon=0.5).explain()


def test_nothing_is_shared(real: Curator, stage: Curator) -> None:
    stage.sql("SELECT COUNT(*) AS n FROM visits", **LOUD, epsilon=999)
    assert real.history() == ()
    assert stage.ledger is not real.ledger
    with pytest.raises(BudgetExceeded):  # the declared budget, as it would be
        stage.sql("SELECT COUNT(*) AS n FROM visits", **LOUD, epsilon=2)
    again = real.rehearse()
    assert again.history() == ()
    assert real.budget().spent == ApproxDP(0, 0)
    again.close()


def test_a_real_table_is_not_touched_by_its_rehearsal(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "5000\n" * 50)
    curator = Curator({"t": Table(str(path), columns={"a": {"type": "integer", "bounds": [0, 9]}})}, PureDP(1000))
    stage = curator.rehearse(rows=2000)
    assert abs(stage.sql("SELECT COUNT(*) AS n FROM t", **LOUD, epsilon=100).value - 2000) < 5  # type: ignore[operator]
    real = curator.sql("SELECT COUNT(*) AS n FROM t", **LOUD, epsilon=100)
    assert abs(real.value - 50) < 5  # type: ignore[operator]
    assert not real.rehearsal
    assert path.read_text().count("5000") == 50
    stage.close()
    curator.close()


def test_made_up_files_go_when_the_rehearsal_is_closed_or_forgotten(real: Curator) -> None:
    stage = real.rehearse(rows=5)
    folder = Path(stage.tables["visits"].source.pattern).parent  # type: ignore[union-attr]
    assert folder.is_dir()
    stage.close()
    assert not folder.exists()
    stage = real.rehearse(rows=5)
    folder = Path(stage.tables["visits"].source.pattern).parent  # type: ignore[union-attr]
    del stage
    assert not folder.exists()


def test_a_budget_for_each_table_is_rehearsed_too() -> None:
    budgets = {"visits": PureDP(1), "stays": PureDP(2)}
    stage = Curator(TABLES, budget=budgets).rehearse(rows=10)
    assert stage.budget("stays").remaining == PureDP(2)
    stage.close()


def test_a_study_file_can_be_rehearsed_without_its_data(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        '[budget]\nepsilon = 1\n[tables.adult]\nsource = "adult.csv"\nunit = "row"\nsize = 300\n'
        '[tables.adult.columns]\nage = { type = "integer", bounds = [17, 90] }\n'
    )
    stage = Curator(study).rehearse()
    assert stage.sql("SELECT AVG(age) AS age FROM adult", epsilon=1).rehearsal
    stage.close()


# ---- it says so ---------------------------------------------------------------------------------------------------


def test_a_rehearsal_says_so_wherever_it_is_shown(stage: Curator) -> None:
    release = stage.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(release)
    for shown in (str(release), release._repr_html_(), release.statement(), console.export_text()):
        assert "REHEARSAL on made-up rows, about no one" in shown
        assert "charge" not in shown  # none was made
    stored = json.loads(release.to_json())
    assert stored["rehearsal"] is True
    assert Release.from_dict(stored) == release
    assert Release.from_dict({**stored, "rehearsal": False}) != release


def test_a_real_release_does_not_say_so() -> None:
    release = Release({"n": (1,)}, (), {}, {}, 0.95, PureDP(1), "1")
    assert not release.rehearsal
    assert "REHEARSAL" not in str(release)
    assert json.loads(release.to_json())["rehearsal"] is False
