"""What an outside attacker found in purchases and identities, each refused or right now."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from curador.curator.curator import Curator
from curador.curator.releases.release import Release
from curador.curator.study.file import Analyst
from curador.errors import BudgetExceeded, CuradorError, InvalidParameter, QuestionRefused
from curador.privacy import ZCDP, ApproxDP, PureDP
from curador.query.aggregates.counts import count
from curador.query.aggregates.sums import sum_
from curador.query.plan.steps import Noised
from curador.query.tables.table import Table, Tree

MUCH: dict[str, Any] = {"epsilon": 9, "because": "an exact enough answer"}  # noise far below the differences tested
COUNT = "SELECT COUNT(*) AS n FROM t"
BY_G = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"
G = {"type": "text", "keys": ["a", "b"]}


def near(release: Release, name: str, *truth: int) -> bool:
    return all(abs(x - y) <= 10 for x, y in zip(release.numbers(name), truth, strict=True))


# ---- rows and the people they are about ----------------------------------------------------------------------------


def frames(folder: Path) -> Callable[[int], Curator]:
    def opened(rows: int) -> Curator:
        table = Table(pa.table({"x": [1] * rows}), columns={"x": {"type": "integer", "bounds": [0, 3]}})
        return Curator({"t": table}, budget=PureDP(1000), ledger=folder / "ledger.db")

    return opened


def test_a_frame_charges_the_people_it_is_about_after_another_curator_renewed(tmp_path: Path) -> None:
    opened = frames(tmp_path)
    old = opened(100)
    old.sql(COUNT, epsilon=1000, because="all of it", override=True)
    new = opened(10)
    new.renew("t", epsilon=1000, because="a new cohort")
    with pytest.raises(BudgetExceeded) as refused:
        old.sql(COUNT, epsilon=9, because="again")
    assert "renewed" not in str(refused.value.facts["scope"])
    assert near(new.sql(COUNT, **MUCH), "n", 10)


def test_an_answer_about_one_frame_is_not_given_for_another_of_its_name(tmp_path: Path) -> None:
    opened = frames(tmp_path)
    old, new = opened(100), opened(10)
    assert near(old.sql(COUNT, **MUCH), "n", 100)
    answer = new.sql(COUNT, **MUCH)
    assert not answer.repeated
    assert near(answer, "n", 10)


def files(folder: Path) -> tuple[Callable[[int], None], Callable[[], Curator]]:
    def write(rows: int) -> None:
        text = "".join(f"{i},a,2026-01-0{1 + i % 3}\n" for i in range(rows))
        (folder / "t.csv").write_text("id,g,day\n" + text)

    def opened() -> Curator:
        columns = {"id": "integer", "g": G, "day": "date"}
        table = Table(folder / "t.csv", unit="id", columns=columns, contribution=(1, 1))
        return Curator({"t": table}, budget=PureDP(1000), ledger=folder / "ledger.db")

    return write, opened


@pytest.mark.parametrize("decide", ["renew", "reload"])
@pytest.mark.parametrize("held", [True, False])
def test_a_prepared_copy_of_older_rows_is_refused(tmp_path: Path, decide: str, held: bool) -> None:
    write, opened = files(tmp_path)
    write(100)
    one, other = opened(), opened()
    one.prepare("t", ["g"])
    assert near(one.sql(BY_G, **MUCH), "n", 100, 0)
    plan = one.plan(BY_G, epsilon=8)
    write(10)
    curator = one if held else other
    if decide == "renew":
        curator.renew("t", epsilon=1000, because="new people")
    else:
        curator.reload("t")
    spent = [str(b) for b in one.budgets()]
    with pytest.raises(InvalidParameter, match="older rows") as refused:
        one.release(plan)
    assert refused.value.code == "data-changed"
    assert [str(b) for b in one.budgets()] == spent
    assert near(one.sql(BY_G, **MUCH), "n", 10, 0)  # planned anew, without the copy
    assert near(opened().sql(BY_G, **MUCH), "n", 10, 0)


def test_a_running_count_ends_when_the_table_is_about_new_people(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("day\n" + "2026-01-01\n" * 50)
    table = Table(tmp_path / "t.csv", columns={"day": "date"})
    curator = Curator({"t": table}, budget=PureDP(1000), ledger=tmp_path / "ledger.db")
    stream = curator.running_count(curator.table("t"), "day", date(2026, 1, 1), 5, epsilon=1)
    curator.renew("t", epsilon=1, because="new people")
    with pytest.raises(InvalidParameter, match="new people") as refused:
        stream.next()
    assert refused.value.code == "data-changed"
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not copied"):
            copied(stream)


# ---- two measurements never share an identity ------------------------------------------------------------------------


def test_limits_belong_to_a_question_of_a_prepared_copy() -> None:
    rows = [(u, g) for u in range(50) for g in "abcdef" for _ in range(6)]
    frame = pa.table({"id": [u for u, _ in rows], "g": [g for _, g in rows]})
    table = Table(frame, unit="id", columns={"id": "integer", "g": "text"}, contribution=(2, 3))
    curator = Curator({"t": table}, budget=PureDP(1000))
    curator.prepare("t", ["g"])
    asked = [curator.table("t").where("g = 'a'").bounded(*limits).aggregate(n=count()) for limits in ((2, 3), (6, 1))]
    plans = [query.plan(epsilon=9, prepared=True) for query in asked]
    assert plans[0].contribution == plans[1].contribution
    assert plans[0].identity != plans[1].identity


def test_rows_joined_per_unit_belong_to_a_question(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id\n" + "1\n" * 400)
    (tmp_path / "b.csv").write_text("id\n1\n")

    def identity(rows: int) -> str | None:
        tables = {
            "a": Table(tmp_path / "a.csv", unit="id", columns={"id": "integer"}, contribution=(1, rows)),
            "b": Table(tmp_path / "b.csv", unit="id", columns={"id": "integer"}, contribution=(1, 1)),
        }
        joined = Curator(tables, budget=PureDP(1)).table("a").join("b", "id")
        return joined.bounded(groups=1, rows=500).aggregate(n=count()).plan(epsilon=1).identity

    assert identity(100) != identity(300)


TREES = {
    "one": Tree(("r", "c"), {"G": ["L", "V"], "M": ["X"]}),
    "two": Tree(("r", "c"), {"M": ["X"], "G": ["L", "V"]}),
}


@pytest.fixture
def towns() -> Curator:
    rows = [("G", "L")] * 100 + [("G", "V")] * 20 + [("M", "X")] * 3
    frame = pa.table({"r": [r for r, _ in rows], "c": [c for _, c in rows]})
    return Curator({"t": Table(frame, columns={"r": "text", "c": "text"}, trees=TREES)}, budget=PureDP(1000))


def test_a_tree_in_another_order_has_its_own_numbers(towns: Curator) -> None:
    for name in TREES:
        release = towns.table("t").tree(name).aggregate(n=count()).ask(**MUCH)
        found = {(row["r"], row["c"]): row["n"] for row in release}
        truth = {(None, None): 123, ("G", None): 120, ("G", "L"): 100, ("G", "V"): 20, ("M", None): 3, ("M", "X"): 3}
        assert all(abs(float(found[node]) - n) < 10 for node, n in truth.items())  # type: ignore[arg-type]


def test_a_tree_of_public_totals_and_its_leaves_as_groups_are_two_purchases(towns: Curator) -> None:
    totals: dict[tuple[str, ...], int] = {(): 123, ("G",): 120, ("M",): 3}
    leaves = towns.table("t").group_by("r", "c", keys=[("G", "L"), ("G", "V"), ("M", "X")]).aggregate(n=count())
    tree = towns.table("t").tree("one", totals=totals).aggregate(n=count())
    assert near(leaves.ask(**MUCH), "n", 100, 20, 3)
    assert len(tree.ask(**MUCH)) == 6


def public_frame(folder: Path, a: int, b: int) -> object:
    return pa.table({"town": ["a", "b"], "w": [a, b]})


def public_database(folder: Path, a: int, b: int) -> object:
    path = folder / "public.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE p (town VARCHAR, w INTEGER)")
        database.execute(f"INSERT INTO p VALUES ('a', {a}), ('b', {b})")
    return f"duckdb:///{path}#p"


@pytest.mark.parametrize("public", [public_frame, public_database])
def test_the_content_of_a_public_table_belongs_to_a_question(tmp_path: Path, public: Callable[..., object]) -> None:
    (tmp_path / "t.csv").write_text("town\n" + "a\n" * 100 + "b\n" * 30)
    w = {"type": "integer", "bounds": [0, 10]}
    for (a, b), truth in (((1, 0), 100), ((0, 1), 30)):
        tables = {
            "t": Table(tmp_path / "t.csv", columns={"town": "text"}),
            "p": Table(public(tmp_path, a, b), public=True, columns={"town": "text", "w": w}),
        }
        curator = Curator(tables, budget=PureDP(1000), ledger=tmp_path / "ledger.db")
        release = curator.table("t").join("p", "town").where("w = 1").aggregate(n=count()).ask(**MUCH)
        assert near(release, "n", truth)
        curator.close()


def test_the_order_of_outputs_does_not_change_which_rows_a_unit_keeps() -> None:
    frame = pa.table(
        {"id": [i // 9 for i in range(900)], "a": [i % 7 for i in range(900)], "b": [i % 5 for i in range(900)]}
    )
    bounds = {"type": "integer", "bounds": [0, 9]}
    table = Table(frame, unit="id", columns={"id": "integer", "a": bounds, "b": bounds}, contribution=(1, 2))
    curator = Curator({"t": table}, budget=PureDP(1000))
    one = curator.table("t").aggregate(a=sum_("a"), b=sum_("b")).plan(epsilon=1)
    other = curator.table("t").aggregate(b=sum_("b"), a=sum_("a")).plan(epsilon=1)
    assert one.identity == other.identity
    found = [curator._engines.of(p.reads).run(p.exact) for p in (one, other)]
    assert [found[0].column(m) for m in one.measures] == [found[1].column(m) for m in one.measures]


# ---- what another asked stays theirs ---------------------------------------------------------------------------------


def test_a_repeated_answer_shows_the_reason_of_whoever_asks_now() -> None:
    table = Table(pa.table({"x": [1] * 100}), columns={"x": {"type": "integer", "bounds": [0, 3]}})
    people = {name: Analyst(PureDP(100)) for name in ("alice", "bob")}
    curator = Curator({"t": table}, budget=PureDP(1000), analysts=people)
    both = "SELECT COUNT(*) AS n, AVG(x) AS m FROM t"
    curator.sql(COUNT, epsilon=2, because="alice's suspicion", analyst="alice")
    first = curator.sql(both, epsilon=5, because="alice's fraud hunt", analyst="alice")
    assert any("in charge 1" in note for note in first.notes)
    second = curator.sql(both, epsilon=5, because="bob's survey", analyst="bob")
    assert (second.charge, second["n"]) == ("3", first["n"])
    shown = " ".join(second.notes)
    assert "bob's survey" in shown
    assert "alice" not in shown
    assert "in charge 1" not in shown
    assert curator.explain(both, epsilon=5).shared == ()
    assert curator.explain(both, epsilon=5, analyst="alice").shared[0]["code"] == "bought-before"


# ---- nothing is charged for what is refused --------------------------------------------------------------------------


def test_a_batch_of_concentrated_losses_is_published_once_with_its_tight_number() -> None:
    frame = pa.table({"x": [1] * 10, "g": ["a"] * 10})
    columns = {"x": {"type": "integer", "bounds": [0, 3]}, "g": G}
    curator = Curator({"t": Table(frame, columns=columns)}, budget=ZCDP(10))
    batch = curator.batch({"a": "SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g", "b": COUNT}, rho=0.02)
    found = curator.publish(batch, because="x")
    assert isinstance(found.tight, ApproxDP)
    assert found.tight.epsilon < 1
    assert curator.publish(batch, because="x").repeated


@pytest.mark.parametrize(
    "wrong",
    [
        lambda c: c.sql(COUNT, epsilon=0.5, language="fr"),
        lambda c: c.publish(c.batch({"n": COUNT}, epsilon=0.5), language="fr"),
        lambda c: c.publish(c.plan(COUNT, epsilon=0.5)),
        lambda c: c.release(c.batch({"n": COUNT}, epsilon=0.5)),
        lambda c: c.buy(None),
        lambda c: c.sql(COUNT, epsilon=20, because="x", override="no"),
        lambda c: c.sql(COUNT, epsilon=0.5, key=object()),
        lambda c: c.sql(COUNT, epsilon=0.5, analyst=[1]),
        lambda c: c.table(["t"]),
    ],
)
def test_what_is_refused_costs_nothing(wrong: Callable[[Any], object]) -> None:
    curator = Curator({"t": Table(pa.table({"x": [1]}), columns={"x": "integer"})}, budget=PureDP(100))
    with pytest.raises(CuradorError):
        wrong(curator)
    assert curator.history() == ()


def test_a_plan_without_its_noise_cannot_be_made() -> None:
    curator = Curator({"t": Table(pa.table({"g": ["ana", "zoe"]}), columns={"g": "text"})}, budget=PureDP(100))
    plan = curator.plan(COUNT, epsilon=1)
    with pytest.raises(InvalidParameter, match="leaves out a step"):
        replace(plan, steps=())
    (step,) = plan.steps
    assert isinstance(step, Noised)
    with pytest.raises(InvalidParameter, match="needs noise"):
        replace(step, mechanism=None)
    half = curator._planner(COUNT).exact_half()
    with pytest.raises(InvalidParameter, match="not planned by this curator"):
        curator.buy(half)  # type: ignore[arg-type]


def test_a_batch_over_two_tables_is_the_same_in_either_order() -> None:
    tables = {name: Table(pa.table({"x": [1] * 9}), columns={"x": "integer"}) for name in ("s", "t")}
    curator = Curator(tables, budget=PureDP(100))
    asked = {"a": "SELECT COUNT(*) AS n FROM s", "b": COUNT}
    curator.publish(curator.batch(asked, epsilon=1))
    assert curator.publish(curator.batch(dict(reversed(asked.items())), epsilon=1)).repeated


BY_AGE = "SELECT age, {} FROM t GROUP BY age"
SUMS = ", ".join(f"SUM(age + {i}) AS s{i}" for i in range(90))
LATER = ", ".join(f"COUNT(*) + {i} AS s{i}" for i in range(90))


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT age, age % 100 AS b, {SUMS} FROM t GROUP BY age, b",
        f"SELECT age, age % 120 AS b, {LATER} FROM t GROUP BY age, b",
        f"SELECT age, age % 100 AS b, {SUMS[:900].rpartition(',')[0]} FROM t GROUP BY GROUPING SETS ((age, b), (age))",
        f"SELECT age, age % 30 AS b, QUANTILE(age, [{', '.join(str(i / 100) for i in range(1, 50))}]) AS q FROM t "
        "GROUP BY age, b",
    ],
    ids=["sums", "derived", "sets", "quantiles"],
)
def test_answers_that_no_memory_holds_are_refused_for_nothing(text: str) -> None:
    """However little they would cost: one of hundreds of gigabytes ended everybody's curator."""
    columns = {"age": {"type": "integer", "bounds": [0, 999]}}
    curator = Curator({"t": Table(pa.table({"age": [1]}), columns=columns)}, budget=PureDP(100))
    with pytest.raises(QuestionRefused, match="the most is 10,000,000"):
        curator.sql(text, epsilon="1e-9")
    large = BY_AGE.format(SUMS.replace("age +", "age -"))
    curator.batch({"one": large}, epsilon=1)
    with pytest.raises(QuestionRefused, match="the most is 10,000,000"):
        curator.batch({str(i): large for i in range(60)}, epsilon=1)
    assert curator.history() == ()
