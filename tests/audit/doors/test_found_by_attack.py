"""What an attacker found once: each is a hole that stays closed."""

from __future__ import annotations

import threading
import time
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curador.curator.curator import Curator
from curador.curator.policy import Policy
from curador.errors import BudgetExceeded, EngineFailed, InvalidParameter, QuestionRefused
from curador.privacy import ApproxDP, PureDP
from curador.query.tables.table import Table

LOUD: dict[str, Any] = {"epsilon": 10_000, "because": "a test", "override": True}
WHOLE = {"type": "integer", "bounds": [0, 9]}


def asked(source: Any, text: str, **how: Any) -> tuple[Any, ...]:
    """One row of an answer with hardly any noise."""
    curator = Curator({"t": Table(source, **how)}, PureDP(100_000))
    release = curator.sql(text, **LOUD)
    curator.close()
    return tuple(release[name][0] for name in release.outputs)


@pytest.mark.parametrize("far", [float("inf"), -float("inf"), 1e300, float("nan"), None])
def test_nan_in_parquet_counts_the_same_whoever_else_is_there(tmp_path: Path, far: float | None) -> None:
    """Statistics of a Parquet file leave NaN out; an optimiser that trusts them would count NaN as a number."""
    answers = []
    for name, more in (("without", []), ("with", [far])):
        path = tmp_path / f"{name}.parquet"
        pq.write_table(pa.table({"i": pa.array([1.0, 2.0] + [float("nan")] * 100 + more, pa.float64())}), path)
        for kind in ("integer", "real"):
            columns = {"i": {**WHOLE, "type": kind}}
            answers.append(asked(str(path), "SELECT COUNT(i) AS n, SUM(i) AS s FROM t", columns=columns))
    rows = [round(n) for n, _ in answers]
    assert rows[:2] == [2, 2]
    assert all(2 <= n <= 3 for n in rows)


def test_csv_files_of_one_table_have_one_header(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("id,note\n1,5\n")
    (tmp_path / "2.csv").write_text("note,id\n7,1\n")
    curator = Curator({"t": Table(str(tmp_path / "*.csv"), columns={"id": "integer"})}, PureDP(1))
    with pytest.raises(InvalidParameter, match="different columns"):
        curator.sql("SELECT COUNT(*) AS n FROM t", epsilon=1)
    assert curator.history() == ()


@pytest.mark.parametrize(
    "other",
    [
        pa.table({"age": pa.array(["x"])}),
        pa.table({"age": pa.array([1], pa.int32())}),
        pa.table({"age": pa.array([1.0])}),
        pa.table({"years": pa.array([1])}),
    ],
    ids=["text", "narrow", "real", "missing"],
)
def test_parquet_files_of_one_table_store_a_column_alike(tmp_path: Path, other: pa.Table) -> None:
    """Read as the first file says, a value of another would make a plan fail, after it was paid for."""
    pq.write_table(pa.table({"age": pa.array([30]), "note": ["a"]}), tmp_path / "1.parquet")
    pq.write_table(other.append_column("note", pa.array(["b"])), tmp_path / "2.parquet")
    pattern = str(tmp_path / "*.parquet")
    curator = Curator({"t": Table(pattern, columns={"age": {**WHOLE, "type": "integer"}})}, PureDP(1))
    with pytest.raises(InvalidParameter, match="'age' is stored as different types in different files"):
        curator.sql("SELECT COUNT(*) AS n FROM t", epsilon=1)
    assert curator.history() == ()
    assert asked(pattern, "SELECT COUNT(note) AS n FROM t", columns={"note": "text"})  # that one is alike


def test_a_broken_file_among_sound_ones_is_found_before_anything_is_paid(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": pa.array([30])}), tmp_path / "1.parquet")
    (tmp_path / "2.parquet").write_bytes(b"PAR1 and then nothing")
    curator = Curator({"t": Table(str(tmp_path / "*.parquet"), columns={"age": "integer"})}, PureDP(1))
    with pytest.raises(InvalidParameter, match="could not open"):
        curator.sql("SELECT COUNT(*) AS n FROM t", epsilon=1)
    assert curator.history() == ()


def test_a_quoted_newline_is_a_row_like_another(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('age,note\n30,x\n40,"a\nb"\n50,y\n')
    columns = {"age": {"type": "integer", "bounds": [0, 100]}, "note": "text"}
    assert [round(x) for x in asked(str(path), "SELECT COUNT(*) AS n, SUM(age) AS s FROM t", columns=columns)] == [
        3,
        120,
    ]


def test_tables_whose_names_engines_confuse_are_refused(tmp_path: Path) -> None:
    table = Table("no-such.csv", columns={"a": "integer"})
    with pytest.raises(InvalidParameter, match="fold case"):
        Curator({"visits": table, "Visits": table}, PureDP(1))
    study = tmp_path / "study.toml"
    part = 'source = "x.csv"\nunit = "row"\ncolumns = {a = "integer"}\n'
    study.write_text(f"[budget]\nepsilon = 1\n[tables.visits]\n{part}[tables.Visits]\n{part}")
    with pytest.raises(InvalidParameter, match="fold case"):
        Curator(study)


@pytest.mark.parametrize("ages", [[30, 40], [30, None], [None, None], [30.5, 40]])
def test_what_explain_prints_does_not_follow_from_a_frames_rows(ages: list[Any]) -> None:
    frame = pd.DataFrame({"age": ages})
    curator = Curator({"t": Table(frame, columns={"age": {"type": "integer", "bounds": [0, 99]}})}, PureDP(1))
    said = str(curator.explain("SELECT SUM(age) AS s FROM t", epsilon=0.5))
    assert said == str(
        Curator(
            {"t": Table(pd.DataFrame({"age": [1]}), columns={"age": {"type": "integer", "bounds": [0, 99]}})}, PureDP(1)
        ).explain("SELECT SUM(age) AS s FROM t", epsilon=0.5)
    )


def test_what_explain_prints_of_a_prepared_copy_does_not_follow_from_its_rows(tmp_path: Path) -> None:
    """The copy is told apart by a digest of its file, which whoever guesses the rows could compare."""
    said = []
    columns = {"id": "integer", "sex": {"type": "text", "keys": ["F", "M"]}}
    for more in ([], [9]):
        rows = pa.table({"id": [1, 1, 2, *more], "sex": ["F", "M", "F", *("M" for _ in more)]})
        curator = Curator({"t": Table(rows, unit="id", contribution=(1, 1), columns=columns)}, PureDP(1))
        made = curator.prepare("t", ["sex"], path=tmp_path / f"{len(more)}.prepared")
        told = curator.explain("SELECT sex, COUNT(*) AS n FROM t GROUP BY sex", epsilon=1, sql=True)
        assert "t prepared" in str(told)
        assert made.snapshot[:8] not in f"{told} {told.to_dict()}"
        said.append((str(told), told.to_dict()))
        curator.close()
    assert said[0] == said[1]


# ---- running counts ------------------------------------------------------------------------------------------------


def days(**how: Any) -> Curator:
    frame = pa.table({"id": [1] * 5, "day": [date(2026, 1, 1)] * 5})
    table = Table(frame, columns={"id": "integer", "day": "date"}, **how)
    return Curator({"v": table}, PureDP(5), policy=Policy(mechanisms=("tree-laplace",)))


def test_a_running_count_is_of_this_curators_tables() -> None:
    strict, loose = days(unit="id", contribution=(1, 100)), days()
    with pytest.raises(InvalidParameter, match="another curator"):
        strict.running_count(loose.table("v"), "day", date(2026, 1, 1), 3, epsilon=1)
    assert strict.history() == ()


@pytest.mark.parametrize(
    "how",
    [
        {"epsilon": 1, "confidence": 2},
        {"epsilon": 1, "first": date(9999, 12, 31)},
        {"epsilon": 1, "days": "5"},
        {"epsilon": 1, "first": "2026-01-01"},
        {"epsilon": 1, "key": "k"},
        {"epsilon": 1, "fresh": True},
        {"rho": 0.01},  # Gaussian noise, which the policy does not allow
    ],
)
def test_a_running_count_is_refused_before_it_is_charged(how: dict[str, Any]) -> None:
    curator = days()
    given = {"first": date(2026, 1, 1), "days": 3, **how}
    wrong = (
        TypeError if {"key", "fresh"} & set(how) else (InvalidParameter, QuestionRefused)
    )  # there are no such options
    with pytest.raises(wrong):
        curator.running_count(curator.table("v"), "day", given.pop("first"), given.pop("days"), **given)
    assert curator.history() == ()


# ---- policy --------------------------------------------------------------------------------------------------------


def small(**how: Any) -> Curator:
    rows = pa.table({"age": [1, 2, 3], "town": ["a", "b", "c"]})
    return Curator({"t": Table(rows, columns={"age": WHOLE, "town": "text"}, size=1000)}, ApproxDP(9, 0.9), **how)


def test_a_tight_charge_is_reviewed_like_any_other() -> None:
    curator = small()
    batch = curator.batch({"a": "SELECT COUNT(*) AS n FROM t"}, epsilon=0.5, tight=0.8)
    with pytest.raises(QuestionRefused, match="public size"):
        curator.publish(batch)
    strict = small(policy=Policy(largest_delta=1e-6))
    with pytest.raises(QuestionRefused, match="policy allows delta"):
        strict.publish(strict.batch({"a": "SELECT COUNT(*) AS n FROM t"}, epsilon=0.5, tight=1e-5))
    assert curator.history() == strict.history() == ()


def test_the_deltas_of_a_batch_count_together() -> None:
    curator = small()
    parts = {f"q{i}": f"SELECT town, COUNT(*) AS n FROM t WHERE age < {i} GROUP BY town" for i in range(9)}
    batch = curator.batch(parts, epsilon=0.9, delta=0.0081)
    assert all(plan.guarantee == ApproxDP(0.1, 0.0009) for plan in batch.plans.values())  # each alone would pass
    with pytest.raises(QuestionRefused, match="public size"):
        curator.publish(batch)
    assert curator.history() == ()


# ---- keys and turns ------------------------------------------------------------------------------------------------


def test_asking_the_same_at_once_buys_once() -> None:
    table = Table(pa.table({"age": [1, 2, 3]}), columns={"age": WHOLE})
    curator = Curator({"t": table}, PureDP(1))
    found: list[str] = []

    def ask() -> None:
        found.append(curator.sql("SELECT COUNT(*) AS n FROM t", epsilon=0.1, key="mine").to_json())

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 12
    assert len(set(found)) == 1
    assert curator.budget().spent == PureDP(0.1)


def test_whoever_asks_the_same_waits_until_the_answer_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settling belongs to the turn: between an answer and its keeping the next would buy another."""
    table = Table(pa.table({"age": [1, 2, 3]}), columns={"age": WHOLE})
    curator = Curator({"t": table}, PureDP(1))
    settle = curator.ledger.settle

    def slowly(charge: str, answer: bytes, **named: Any) -> bytes:
        time.sleep(0.2)
        return settle(charge, answer, **named)

    monkeypatch.setattr(curator.ledger, "settle", slowly)
    threads = [
        threading.Thread(target=lambda: curator.sql("SELECT COUNT(*) AS n FROM t", epsilon=0.1)) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(curator.history()) == 1


def test_a_plan_of_another_curator_is_refused() -> None:
    """It was made for other declarations: here a unit is an id, there a row."""
    rows = pa.table({"id": [1] * 50, "age": [1] * 50})
    columns = {"id": "integer", "age": WHOLE}
    strict = Curator({"t": Table(rows, unit="id", contribution=(1, 5), columns=columns)}, PureDP(1))
    loose = Curator({"t": Table(rows, columns=columns)}, PureDP(1))
    text = "SELECT COUNT(*) AS n FROM t"
    with pytest.raises(InvalidParameter, match="not planned by this curator"):
        strict.release(loose.plan(text, epsilon=0.1))
    with pytest.raises(InvalidParameter, match="not planned by this curator"):
        strict.publish(loose.batch({"n": text}, epsilon=0.1))
    assert strict.history() == ()


def test_analysts_do_not_share_keys() -> None:
    table = Table(pa.table({"age": [1, 2, 3]}), columns={"age": WHOLE})
    curator = Curator({"t": table}, PureDP(1))
    for who in ("ana", "bob"):
        curator.grant(who, epsilon=1)
    curator.sql("SELECT COUNT(*) AS n FROM t", epsilon=0.1, key="k", analyst="ana")
    curator.sql("SELECT COUNT(*) AS n FROM t", epsilon=0.2, key="k", analyst="bob")
    assert len(curator.history()) == 2


def test_a_batch_of_one_is_not_the_question_alone() -> None:
    table = Table(pa.table({"age": [1, 2, 3]}), columns={"age": WHOLE})
    curator = Curator({"t": table}, PureDP(1))
    text = "SELECT COUNT(*) AS n FROM t"
    curator.sql(text, epsilon=0.1)
    assert not curator.publish(curator.batch({"n": text}, epsilon=0.1)).repeated
    for wrong in ({"": text}, {1: text}, {chr(0xD800): text}, {}):
        with pytest.raises(InvalidParameter):
            curator.batch(wrong, epsilon=0.1)  # type: ignore[arg-type]


def test_one_file_under_two_names_has_no_two_budgets(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age\n1\n")
    (tmp_path / "link.csv").symlink_to(path)
    budgets = {"a": PureDP(1), "b": PureDP(1)}
    for other in ("t.csv", "link.csv"):
        tables = {
            "a": Table(str(path), columns={"age": WHOLE}),
            "b": Table(str(tmp_path / other), columns={"age": WHOLE}),
        }
        with pytest.raises(InvalidParameter, match="both budgets"):
            Curator(tables, budgets)


def test_another_curators_reload_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age\n1\n")
    one, two = (
        Curator({"t": Table(str(path), columns={"age": WHOLE})}, PureDP(1), ledger=tmp_path / "l.db") for _ in range(2)
    )
    text = "SELECT COUNT(*) AS n FROM t"
    one.sql(text, epsilon=0.1)
    assert two.sql(text, epsilon=0.1).repeated
    one.reload("t")
    assert not two.sql(text, epsilon=0.1).repeated
    one.close()
    two.close()


# ---- nothing gets out, nothing is lost -----------------------------------------------------------------------------


def test_reasons_that_cannot_be_written_are_refused_before_the_charge() -> None:
    table = Table(pa.table({"age": [1, 2, 3]}), columns={"age": WHOLE})
    curator = Curator({"t": table}, PureDP(5))
    with pytest.raises(InvalidParameter, match="Unicode"):
        curator.sql("SELECT COUNT(*) AS n FROM t", epsilon=2, because=chr(0xD800))
    assert curator.history() == ()


def test_a_witness_that_fails_says_nothing(tmp_path: Path) -> None:
    def loud(error: Exception) -> None:
        raise RuntimeError(f"exact: {error}")

    path = tmp_path / "t.csv"
    path.write_text("age\n1\n")
    curator = Curator({"t": Table(str(path), columns={"age": WHOLE})}, PureDP(5), on_error=loud)
    curator.explain("SELECT COUNT(*) AS n FROM t", epsilon=1, sql=True)  # opens the file
    path.write_bytes(b"age\n\xff\n")  # no table any more
    with pytest.raises(EngineFailed) as seen:
        curator.sql("SELECT COUNT(*) AS n FROM t", epsilon=1)
    assert "exact" not in repr(seen.value) + repr(seen.value.__context__)


def test_a_closed_curator_is_closed() -> None:
    table = Table(pa.table({"age": [1, 2, 3]}), columns={"age": WHOLE})
    curator = Curator({"t": table}, PureDP(5))
    curator.close()
    with pytest.raises(InvalidParameter, match="closed"):
        curator.sql("SELECT COUNT(*) AS n FROM t", epsilon=1)


def test_the_budget_is_still_the_budget() -> None:
    curator = small()
    with pytest.raises(BudgetExceeded):
        curator.sql("SELECT COUNT(*) AS n FROM t", epsilon=9.5, because="x")
