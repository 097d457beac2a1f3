"""The curator end to end, on the real DuckDB: charge before touch, one constant error, nothing exact gets out."""

from __future__ import annotations

import doctest
import json
import pickle
import re
import shutil
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from curador.accounting.rules.profiles import pure_epsilon
from curador.curator.budgets import POPULATION
from curador.curator.curator import Curator
from curador.curator.purchase import Bought
from curador.curator.purchases.kept import opened
from curador.curator.releases.release import Release, present
from curador.curator.table import CuratorTable
from curador.engines.duckdb.engine import DuckDB
from curador.errors import BudgetExceeded, EngineFailed, InvalidParameter, NotPromised, QuestionRefused
from curador.ledger.stores.memory import MemoryLedger
from curador.privacy import ZCDP, ApproxDP, PureDP
from curador.query.aggregates.counts import count, count_distinct, histogram
from curador.query.aggregates.moments import mean, std
from curador.query.aggregates.quantiles.ranks import median, quantiles
from curador.query.aggregates.sums import sum_
from curador.query.plan.expected import within
from curador.query.plan.identity import FORMAT
from curador.query.plan.steps import Noised
from curador.query.tables.sources import Files
from curador.query.tables.table import Table

LOUD: dict[str, Any] = {"because": "a test", "override": True}

ROOT = Path(__file__).parents[2]
EDUCATION = ["HS-grad", "Some-college", "Bachelors", "Masters", "Doctorate"]
COLUMNS: dict[str, object] = {
    "age": {"type": "integer", "bounds": [17, 90], "nullable": False},
    "hours": {"type": "integer", "bounds": [1, 99], "nullable": False},
    "sex": {"type": "text", "keys": ["Female", "Male"]},
    "education": {"type": "text", "keys": EDUCATION},
    "person": "integer",
    "town": "text",
}
ROWS = 2000


def people(n: int = ROWS) -> pyarrow.Table:
    """A made-up table in the shape of Adult."""
    rng = np.random.default_rng(11)
    return pyarrow.table(
        {
            "age": rng.integers(17, 91, n),
            "hours": np.clip(rng.normal(40, 12, n).astype(int), 1, 99),
            "sex": rng.choice(["Female", "Male"], n, p=[0.33, 0.67]),
            "education": rng.choice(EDUCATION, n),
            "person": rng.integers(0, n // 4, n),
            "town": rng.choice(["Lugo", "Vigo", "Lorca"], n),
        }
    )


def numbers(release: Release, name: str) -> list[float]:
    """A column of a release whose every cell is a number."""
    found = [x for x in release[name] if isinstance(x, int | float)]
    assert len(found) == len(release)
    return found


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "adult.parquet"
    for copy in (path, path.with_name("per_person.parquet")):  # the same rows are not protected as two units
        parquet.write_table(people(), copy)
    return path


@pytest.fixture
def open_curator(file: Path) -> Iterator[Callable[..., Curator]]:
    opened: list[Curator] = []

    def make(budget: Any, **options: Any) -> Curator:
        tables = {
            "adult": Table(str(file), columns=COLUMNS, size=ROWS),
            "per_person": Table(
                str(file.with_name("per_person.parquet")), unit="person", columns=COLUMNS, contribution=(2, 3)
            ),
        }
        opened.append(Curator(tables, budget=budget, **options))
        return opened[-1]

    yield make
    for curator in opened:
        curator.close()


# ---- the homework's five statistics, from both doors --------------------------------------------------------------

FIVE: list[tuple[str, Callable[[CuratorTable], CuratorTable]]] = [
    ("SELECT COUNT(*) AS n FROM adult", lambda t: t.aggregate(n=count())),
    ("SELECT AVG(age) AS age FROM adult", lambda t: t.aggregate(age=mean("age"))),
    ("SELECT AVG(hours) AS hours FROM adult", lambda t: t.aggregate(hours=mean("hours"))),
    ("SELECT sex, COUNT(*) AS n FROM adult GROUP BY sex", lambda t: t.group_by("sex").aggregate(n=count())),
    (
        "SELECT education, COUNT(*) AS n FROM adult GROUP BY education",
        lambda t: t.group_by("education").aggregate(n=count()),
    ),
]


def test_the_five_statistics_of_the_homework_from_sql_and_builder(open_curator: Callable[..., Curator]) -> None:
    curator = open_curator(PureDP(2))
    data = people().to_pandas()
    truth: list[Any] = [
        [len(data)],
        [data.age.mean()],
        [data.hours.mean()],
        [int((data.sex == s).sum()) for s in ("Female", "Male")],
        [int((data.education == e).sum()) for e in EDUCATION],
    ]
    for (sql, built), true in zip(FIVE, truth, strict=True):
        query = built(curator.table("adult"))
        assert curator.plan(sql, epsilon=0.2) == query.plan(epsilon=0.2)
        for release in (curator.sql(sql, epsilon=0.2), query.ask(epsilon=0.2, fresh=True)):
            assert len(release) == len(true)
            reach = {e.output: e.value for e in query.plan(epsilon=0.2).expected}
            for name in release.outputs:
                most = reach[name]
                assert most is not None
                # Ten times the 95 % error: a false alarm here has a chance below 1e-9.
                assert np.abs(np.array(release[name]) - true).max() <= 10 * most
    assert curator.budget("adult").spent == PureDP(2)
    assert curator.budget("adult").remaining == PureDP(0)
    with pytest.raises(BudgetExceeded):
        curator.sql("SELECT COUNT(*) FROM adult", epsilon=0.000001)


def test_intervals_cover_what_was_asked(open_curator: Callable[..., Curator]) -> None:
    curator = open_curator(PureDP(100_000))
    data = people().to_pandas()
    true = data.groupby("education").agg(n=("age", "size"), age=("age", "mean"), sd=("hours", "std")).loc[EDUCATION]
    query = curator.table("adult").group_by("education").aggregate(n=count(), age=mean("age"), sd=std("hours"))
    hits = dict.fromkeys(("n", "age", "sd"), 0)
    for _ in range(60):
        release = query.ask(epsilon=0.5, fresh=True)
        assert release["education"] == tuple(EDUCATION)
        for name in hits:
            ends = zip(release.intervals[name], true[name], strict=True)
            hits[name] += sum(low - 1e-9 <= x <= high + 1e-9 for (low, high), x in ends)
    # 300 intervals of at least 95 %: below 265 hits with a chance of 2e-7.
    assert min(hits.values()) >= 265, hits


# ---- budgets ------------------------------------------------------------------------------------------------------


def test_one_budget_is_for_everybody_in_any_table(open_curator: Callable[..., Curator]) -> None:
    curator = open_curator(PureDP(1))
    curator.table("adult").aggregate(n=count()).ask(epsilon=0.75)
    assert curator.budget("per_person").remaining == PureDP(0.25)
    assert curator.budget("per_person").spent == PureDP(0)
    assert curator.budget().spent == PureDP(0.75)
    with pytest.raises(BudgetExceeded, match=r"remaining epsilon 0\.25"):
        curator.table("per_person").aggregate(n=count()).ask(epsilon=0.5)


def test_a_budget_for_each_table_is_each_tables_own(file: Path, tmp_path: Path) -> None:
    other = shutil.copy(file, tmp_path / "other.parquet")
    tables = {
        "adult": Table(str(file), columns=COLUMNS, size=ROWS),
        "per_person": Table(str(other), unit="person", columns=COLUMNS, contribution=(2, 3)),
    }
    curator = Curator(tables, {"adult": PureDP(1), "per_person": ApproxDP(2, 1e-6)})
    curator.table("adult").aggregate(n=count()).ask(epsilon=1)
    assert curator.budget("per_person").remaining == ApproxDP(2, 1e-6)
    with pytest.raises(InvalidParameter, match="Name the table"):
        curator.budget()


@pytest.mark.parametrize(
    ("budget", "options"),
    [
        (ApproxDP(10, 1e-5), {"epsilon": 1}),
        (ApproxDP(10, 1e-5), {"epsilon": 1, "delta": 1e-6}),
        (ApproxDP(10, 1e-5), {"epsilon": 1, "delta": 1e-6, "noise": "gaussian"}),
        (ZCDP(3, 1e-5), {"rho": 0.02}),
        (ZCDP(3, 1e-5), {"epsilon": 1}),
        (ZCDP(3, 1e-5), {"epsilon": 1, "delta": 1e-6, "noise": "gaussian"}),
    ],
)
def test_budgets_in_several_currencies(open_curator: Callable[..., Curator], budget: Any, options: Any) -> None:
    curator = open_curator(budget)
    query = curator.table("per_person").group_by("sex").aggregate(n=count(), age=mean("age"))
    release = query.ask(**options)
    assert len(release) == 2
    (charge,) = curator.history()
    assert charge.settled
    assert charge.event == query.plan(**options).event
    assert curator.budget().spent <= budget


def test_a_budget_that_cannot_express_a_release_refuses_it_unspent(open_curator: Callable[..., Curator]) -> None:
    curator = open_curator(PureDP(1))
    with pytest.raises(NotPromised, match="counts epsilon"):
        curator.table("adult").aggregate(n=count()).ask(rho=0.01)
    assert curator.history() == ()


def test_what_a_curator_needs(file: Path) -> None:
    tables = {"adult": Table(str(file), columns=COLUMNS)}
    with pytest.raises(InvalidParameter, match="budget"):
        Curator(tables)
    with pytest.raises(InvalidParameter, match="'visits'"):
        Curator(tables, {"adult": PureDP(1), "visits": PureDP(1)})
    with pytest.raises(InvalidParameter, match="not a Table"):
        Curator({"adult": str(file)}, PureDP(1))  # type: ignore[dict-item]
    mixed = {**tables, "other": Table(str(file), columns=COLUMNS, neighbors="replace")}
    with pytest.raises(InvalidParameter, match="neighbours"):
        Curator(mixed, PureDP(1))
    with pytest.raises(InvalidParameter, match=POPULATION):
        Curator({POPULATION: tables["adult"]}, PureDP(1))


def test_a_study_file_is_enough(file: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    table = f"""[tables.adult]
source = "{file}"
unit = "row"
size = {ROWS}
[tables.adult.columns]
age = {{type = "integer", bounds = [17, 90]}}
sex = {{type = "text", keys = ["Female", "Male"]}}
"""
    study.write_text("[budget]\nepsilon = 1.5\ndelta = 1e-6\n" + table)
    assert Curator(study).budget().budget == ApproxDP(1.5, 1e-6)
    assert Curator(study, budget=PureDP(2), ledger="memory:").budget().budget == PureDP(2)
    with pytest.raises(InvalidParameter, match="The ledger holds ApproxDP"):
        Curator(study, budget=PureDP(2))
    (tmp_path / "study.ledger").unlink()
    shutil.rmtree(tmp_path / "study.ledger.keep")
    study.write_text("[budget.adult]\nrho = 0.5\n" + table)
    assert Curator(study).budget("adult").budget == ZCDP(0.5)
    for wrong in ("budget = 3\n", "[budget]\neps = 1\n", "[budget.adlt]\nepsilon = 1\n", ""):
        study.write_text(wrong + table)
        with pytest.raises(InvalidParameter, match="budget"):
            Curator(study)
    curator = Curator(str(study), budget=PureDP(1), ledger="memory:")
    assert curator.sql("SELECT sex, AVG(age) AS age FROM adult GROUP BY sex", epsilon=1)["sex"] == ("Female", "Male")
    curator.close()


# ---- charge before touch ------------------------------------------------------------------------------------------


class Broken:
    """An engine that fails as told, and remembers whether it was asked."""

    name = "broken"

    def __init__(self, error: Exception) -> None:
        self.error, self.asked = error, 0

    def describe(self, table: str) -> list[tuple[str, str]]:
        return []

    def check(self, tables: Any) -> None:
        pass

    def identities(self, table: str) -> tuple[str, ...]:
        return ()

    def reopen(self) -> None:
        pass

    def sql(self, exact: Any) -> tuple[str, ...]:
        return ()

    def run(self, exact: Any, progress: Any = None) -> Any:
        self.asked += 1
        raise self.error

    def close(self) -> None:
        pass


SECRET = "row 4711: salary 123456"
ERRORS = [
    ValueError(SECRET),
    MemoryError(SECRET),
    EngineFailed(SECRET, fix=SECRET),
    ZeroDivisionError(),
    KeyError(SECRET),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_whatever_fails_is_one_error_and_the_charge_is_kept(
    open_curator: Callable[..., Curator], error: Exception
) -> None:
    seen: list[Exception] = []
    engine = Broken(error)
    curator = open_curator(PureDP(1), engine=engine, on_error=seen.append)
    with pytest.raises(EngineFailed) as raised:
        curator.table("adult").aggregate(n=count()).ask(epsilon=0.25)
    assert raised.value.what == "The engine could not run the plan."
    assert "charge 1 is kept" in raised.value.cost
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None
    assert SECRET not in "".join(traceback.format_exception(raised.value))
    assert curator.budget("adult").spent == PureDP(0.25)
    (charge,) = curator.history()
    assert not charge.settled
    assert seen == [error]  # the curator's own log may see it


def test_what_cannot_be_lowered_is_refused_before_the_charge() -> None:
    visits = Table(pyarrow.table({"id": [1, 1, 2]}), unit="id", columns={"id": "integer"}, contribution=(1, 2**21))
    curator = Curator({"visits": visits}, budget=PureDP(1))
    with pytest.raises(QuestionRefused, match="rows per group"):
        curator.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
    assert curator.history() == ()


def test_an_unaffordable_question_reads_nothing(open_curator: Callable[..., Curator]) -> None:
    engine = Broken(ValueError())
    curator = open_curator(PureDP(1), engine=engine)
    with pytest.raises(BudgetExceeded):
        curator.table("adult").aggregate(n=count()).ask(**LOUD, epsilon=2)
    assert engine.asked == 0
    assert curator.history() == ()


@pytest.mark.parametrize("bad", [{}, {"epsilon": 0}, {"epsilon": -1}, {"epsilon": float("nan")}, {"epsilon": "1e9x"}])
def test_a_bad_budget_is_refused_before_anything(open_curator: Callable[..., Curator], bad: Any) -> None:
    engine = Broken(ValueError())
    curator = open_curator(PureDP(1), engine=engine)
    with pytest.raises(InvalidParameter):
        curator.table("adult").aggregate(n=count()).ask(**bad)
    assert (engine.asked, curator.history()) == (0, ())


def test_planning_and_explaining_are_free_and_read_no_rows(open_curator: Callable[..., Curator]) -> None:
    curator = open_curator(PureDP(1))
    query = curator.table("adult").group_by("sex").aggregate(n=count(), m=median("age"))
    made = query.explain(epsilon=0.5, sql=True)
    assert "duckdb runs:" in str(made)
    assert "SELECT" in str(made)
    assert json.loads(json.dumps(made.to_dict()))["sql"] == list(made.statements)
    plain = query.explain(epsilon=0.5)  # statements are for those who ask for them
    assert "SELECT" not in str(plain)
    assert "sql" not in plain.to_dict()
    assert plain.statements == ()
    assert curator.history() == ()


def test_a_missing_file_costs_nothing(tmp_path: Path) -> None:
    curator = Curator({"t": Table(str(tmp_path / "gone.parquet"), columns=COLUMNS)}, PureDP(1))
    with pytest.raises(InvalidParameter, match=r"gone\.parquet"):
        curator.table("t").aggregate(n=count()).ask(epsilon=1)
    assert curator.history() == ()


def test_a_column_that_is_not_there_is_refused_when_the_engine_opens(file: Path) -> None:
    curator = Curator({"t": Table(str(file), columns={"salary": "integer"})}, PureDP(1))
    with pytest.raises(InvalidParameter, match="salary"):
        curator.table("t").aggregate(n=count()).ask(epsilon=1)
    assert curator.history() == ()


# ---- nothing exact gets out ---------------------------------------------------------------------------------------


def test_exact_answers_are_not_in_a_release_nor_anywhere_on_the_way(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every object a caller can reach, as text and pickled, against an exact number that is easy to spot."""
    engine = DuckDB({"adult": Files(str(file), "parquet")})
    found = []

    def run(exact: Any, progress: Any = None) -> Any:
        found.append(DuckDB.run(engine, exact, progress))
        return found[-1]

    class Spied:
        name, describe, sql, reopen, close = engine.name, engine.describe, engine.sql, engine.reopen, engine.close
        check, identities = engine.check, engine.identities

        def run(self, exact: Any, progress: Any = None) -> Any:
            return run(exact, progress)

    ledger = MemoryLedger()
    curator = Curator({"adult": Table(str(file), columns=COLUMNS)}, PureDP(1), engine=cast(Any, Spied()), ledger=ledger)
    release = curator.table("adult").aggregate(total=sum_("age")).ask(epsilon=0.001)
    exact = str(found[0].column(curator.plan("SELECT SUM(age) FROM adult", epsilon=1).measures[0])[0])
    assert len(exact) == 6
    said = [
        repr(release),
        release.to_json(),
        release._repr_html_(),
        release.explain(),
        json.dumps(release.facts),
        pickle.dumps(release).decode("latin-1"),
        repr(found[0]),
        repr(curator.history()),
        (ledger.answer("1") or b"").decode(),
    ]
    assert not [text for text in said if exact in text or f"{int(exact):,}" in text]
    with pytest.raises(TypeError):
        pickle.dumps(found[0])
    engine.close()


def test_a_release_does_not_lead_back_to_the_rows() -> None:
    """A frame is held by its table; nothing that a release holds, however deep, may be that table."""
    frame = people(50)
    curator = Curator({"t": Table(frame, columns=COLUMNS)}, PureDP(1))
    release = curator.table("t").group_by("sex").aggregate(n=count(), age=mean("age")).ask(epsilon=1)
    seen: set[int] = set()
    todo: list[Any] = [release]
    while todo:
        x = todo.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        assert x is not frame
        assert not isinstance(x, Table | Curator)
        todo += [*vars(x).values()] if hasattr(x, "__dict__") and not isinstance(x, type) else []
        todo += [*x.values()] if hasattr(x, "values") and callable(x.values) and not isinstance(x, type) else []
        todo += [*x] if isinstance(x, list | tuple | set) else []
    assert len(seen) > 50
    again = pickle.loads(pickle.dumps(release))
    assert again == release
    assert again.explain() == release.explain()
    curator.close()


def test_the_stored_bytes_are_the_noised_measurement(open_curator: Callable[..., Curator]) -> None:
    """What is kept holds the released numbers, codes and keys, and makes the release again."""
    curator = open_curator(PureDP(1))
    query = curator.table("adult").group_by("sex").aggregate(n=count())
    release = query.ask(epsilon=1)
    under, stored = opened(curator.ledger.answer(release.charge) or b"")
    kept = json.loads(under)["made_under"]["tables"]["adult"]["columns"]
    assert list(kept) == list(curator.tables["adult"].columns)
    plan = query.plan(epsilon=1)
    assert json.loads(stored) == {
        "format": FORMAT,
        "keys": [["Female"], ["Male"]],
        "measured": [[plan.measures[0].code, list(release["n"])]],
        "ranked": [],
        "around": [],
    }
    (charge,) = curator.history("adult")
    assert present(plan, Bought(stored, charge, repeated=True)) == release
    assert Release.from_dict(json.loads(release.to_json())) == release
    assert charge.note["asked"] == {"": dict(release.question)}


# ---- kinds of questions -------------------------------------------------------------------------------------------


def test_an_accuracy_instead_of_a_budget(open_curator: Callable[..., Curator]) -> None:
    curator = open_curator(PureDP(10))
    query = curator.table("adult").aggregate(age=mean("age"))
    release = query.ask(accuracy=within(0.5, confidence=0.99))
    low, high = release.interval("age")
    assert high - low < 1.2
    assert release.confidence == 0.99
    with pytest.raises(QuestionRefused, match="depends on how many rows"):
        query.where("age > 50").ask(accuracy=within(0.5))
    assert query.where("age > 50").plan(accuracy=within(0.5), rows=900).rows == 900
    with pytest.raises(InvalidParameter, match="own budget"):
        query.ask(accuracy=within(0.5), epsilon=1)


def test_having_order_and_limit_act_on_noised_answers(open_curator: Callable[..., Curator]) -> None:
    curator = open_curator(PureDP(1000))
    counts = curator.table("adult").group_by("education").aggregate(n=count())
    release = counts.order_by("n", descending=True).limit(3).ask(**LOUD, epsilon=100)
    assert len(release) == 3
    assert numbers(release, "n") == sorted(numbers(release, "n"), reverse=True)
    assert len(release.intervals["n"]) == 3
    assert len(counts.having("n > 100000").ask(epsilon=1)) == 0
    assert any("cost nothing" in note for note in release.notes)


def test_histograms_are_labelled(open_curator: Callable[..., Curator]) -> None:
    release = (
        open_curator(PureDP(100)).table("adult").aggregate(h=histogram("age", [17, 40, 91])).ask(**LOUD, epsilon=50)
    )
    ages = people().to_pandas().age
    assert release["h_bin"] == ("[17, 40)", "[40, 91]")
    assert np.abs(np.subtract(numbers(release, "h"), [(ages < 40).sum(), (ages >= 40).sum()])).max() <= 5


def test_quantiles_and_private_groups(open_curator: Callable[..., Curator]) -> None:
    curator = open_curator(ApproxDP(100, 1e-4))
    query = curator.table("adult").group_by("town").aggregate(n=count(), q=quantiles("age", [0.25, 0.75]))
    release = query.ask(**LOUD, epsilon=20, delta=1e-5)
    assert release["town"] == ("Lorca", "Lugo", "Vigo")
    assert set(release.intervals) == {"n", "q_p25", "q_p75"}
    assert not release.ranks
    assert all(17 <= x <= 90 for x in (*numbers(release, "q_p25"), *numbers(release, "q_p75")))


def test_units_of_many_rows_are_cut_to_their_limits(open_curator: Callable[..., Curator]) -> None:
    curator = open_curator(PureDP(10_000))
    release = curator.table("per_person").aggregate(n=count(), u=count_distinct()).ask(**LOUD, epsilon=5000)
    sizes = people().to_pandas().groupby("person").size()
    assert abs(numbers(release, "n")[0] - np.minimum(sizes, 3).sum()) <= 3
    assert abs(numbers(release, "u")[0] - len(sizes)) <= 1
    assert any("left out" in note for note in release.notes)


def test_a_prepared_table_answers_alike_and_says_when_it_cut(open_curator: Callable[..., Curator]) -> None:
    curator = open_curator(PureDP(100_000))
    visits = curator.table("per_person").group_by("sex").aggregate(n=count(), u=count_distinct())
    before = visits.plan(epsilon=5000)
    with pytest.raises(QuestionRefused, match="prepared whole"):
        visits.prepare(group_by=["sex"])
    assert before.prepared is None
    with pytest.raises(QuestionRefused, match="No prepared copy"):
        visits.plan(epsilon=1, prepared=True)
    curator.prepare("per_person", ["sex"])
    assert curator.history() == ()  # nothing was released
    after = visits.plan(epsilon=5000)
    assert after.prepared is not None
    assert after.event == before.event
    fresh, stored = visits.ask(**LOUD, epsilon=5000, prepared=False), visits.ask(**LOUD, epsilon=5000)
    assert np.abs(np.subtract(numbers(fresh, "u"), numbers(stored, "u"))).max() <= 2
    assert np.abs(np.subtract(numbers(fresh, "n"), numbers(stored, "n"))).max() <= 6
    filtered = visits.where("age > 40")
    assert "before the filter" in filtered.plan(epsilon=1).explain()
    assert "after the filter" in filtered.plan(epsilon=1, prepared=False).explain()


def test_coarser_groups_of_a_prepared_table_cost_more(open_curator: Callable[..., Curator]) -> None:
    curator = open_curator(PureDP(10))
    curator.prepare("per_person", ["sex", "town"])  # a town may be anything, so all rows are kept
    whole = curator.table("per_person").aggregate(n=count())
    assert whole.plan(epsilon=1).prepared is None  # not by itself
    made = whole.plan(epsilon=1, prepared=True)
    assert (made.contribution.rows, made.contribution.groups) == (2 * 3, 1)
    assert isinstance(made.steps[0], Noised)
    assert made.steps[0].sensitivity.l1 == 6
    assert len(whole.ask(epsilon=1, prepared=True)) == 1
    by_sex = curator.table("per_person").group_by("sex").aggregate(n=count()).plan(epsilon=1, prepared=True)
    assert (by_sex.contribution.rows, by_sex.contribution.groups) == (6, 2)


def test_the_same_question_anew_is_two_draws(open_curator: Callable[..., Curator]) -> None:
    curator = open_curator(PureDP(1))
    query = curator.table("adult").group_by("education").aggregate(n=count())
    assert query.ask(epsilon=0.01)["n"] != query.ask(epsilon=0.01, fresh=True)["n"]
    assert pure_epsilon(curator.history()[0].event + curator.history()[1].event) * 50 == 1


# ---- the first query, as documented ---------------------------------------------------------------------------------


def test_the_how_to_runs() -> None:
    page = (ROOT / "docs" / "how-to" / "first-query.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest("".join(blocks), {}, "first-query.md", "first-query.md", 0)
    assert len(test.examples) > 10
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    failed, _ = runner.run(test, out=said.append)
    assert not failed, "".join(said)
