"""What a curator charges: repeats, keys, analysts, grants, batches, running counts; in memory and in a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from curador.accounting.events import event_from_json
from curador.curator.curator import Curator
from curador.curator.policy import Policy
from curador.curator.releases.publication import Publication
from curador.curator.study.file import Analyst
from curador.errors import BudgetExceeded, EngineFailed, InvalidParameter, NotPromised, QuestionRefused
from curador.ledger.opening import open_ledger
from curador.privacy import ZCDP, ApproxDP, PureDP
from curador.query.aggregates.counts import count
from curador.query.aggregates.moments import mean
from curador.query.plan.expected import within
from curador.query.tables.table import Table

SQL = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
STUDY = """[budget]
epsilon = 1

[tables.people]
source = "people.csv"
unit = "row"
columns = { sex = { type = "text", keys = ["F", "M"] }, age = { type = "integer", bounds = [0, 100] }, day = "date" }

[groups.team]
epsilon = 0.5

[analysts.ana]
epsilon = 0.3
group = "team"

[analysts.bob]
epsilon = 0.3
group = "team"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    days = [date(2026, 1, 1) + timedelta(days=i % 10) for i in range(500)]
    rows = [f"{'FM'[i % 2]},{i % 100},{days[i]}" for i in range(500)]
    (tmp_path / "people.csv").write_text("\n".join(["sex,age,day", *rows]) + "\n")
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


Opened = Callable[..., Curator]


@pytest.fixture
def opened(study: Path) -> Iterator[Opened]:
    """Opens the study again and again, as processes do one after another."""
    curators: list[Curator] = []

    def opener(**how: Any) -> Curator:
        for curator in curators:
            curator.close()
        curators[:] = [Curator(study, **how)]
        return curators[0]

    yield opener
    for curator in curators:
        curator.close()


# ---- answered once -------------------------------------------------------------------------------------------------


def test_the_same_question_is_answered_again_byte_for_byte_and_free(opened: Opened) -> None:
    first = opened().sql(SQL, epsilon=0.25)
    assert not first.repeated
    curator = opened()  # another process
    again = curator.table("people").group_by("sex").aggregate(n=count()).ask(epsilon=0.25)
    assert again.repeated
    assert again.to_json() == first.to_json()
    assert list(again.columns) == ["sex", "n"]
    assert curator.budget().spent == PureDP(0.25)
    assert len(curator.history()) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"epsilon": 0.2},
        {"epsilon": 0.25, "fresh": True},
    ],
)
def test_another_budget_or_a_wish_for_a_new_one_is_another_answer(opened: Opened, other: dict[str, Any]) -> None:
    curator = opened()
    curator.sql(SQL, epsilon=0.25)
    assert not curator.sql(SQL, **other).repeated
    assert len(curator.history()) == 2


def test_another_confidence_is_another_page_of_the_same_answer(opened: Opened) -> None:
    curator = opened()
    first = curator.sql(SQL, epsilon=0.25)
    again = curator.sql(SQL, epsilon=0.25, confidence=0.9)
    assert again.repeated
    assert again["n"] == first["n"]
    assert again.confidence == 0.9
    assert all(low > a for (low, _), (a, _) in zip(again.intervals["n"], first.intervals["n"], strict=True))
    assert len(curator.history()) == 1


def test_what_is_declared_belongs_to_the_question(opened: Opened, study: Path) -> None:
    opened().sql(SQL, epsilon=0.25)
    study.write_text(STUDY.replace('["F", "M"]', '["M", "F"]'))
    assert not opened().sql(SQL, epsilon=0.25).repeated


def test_reloaded_data_keeps_the_budget_and_gets_new_answers(opened: Opened, study: Path) -> None:
    curator = opened()
    first = curator.sql(SQL, epsilon=0.25)
    assert curator.sql(SQL, epsilon=0.25).repeated
    curator.reload("people")
    second = curator.sql(SQL, epsilon=0.25)
    assert not second.repeated
    assert second.charge != first.charge
    assert opened().sql(SQL, epsilon=0.25).to_json() == second.to_json()
    assert opened().budget().spent == PureDP(0.5)
    with pytest.raises(InvalidParameter, match="not a private table"):
        curator.reload("nobody")


def test_a_renamed_table_keeps_its_budget(opened: Opened, study: Path) -> None:
    opened().sql(SQL, epsilon=0.25)
    study.write_text(STUDY.replace("[tables.people]", "[tables.persons]"))
    curator = opened()
    curator.sql(SQL.replace("people", "persons"), epsilon=0.25)
    assert curator.budget().spent == PureDP(0.5)
    assert curator.budget("people").spent == PureDP(0.5)


def test_budgets_of_a_ledger_are_not_changed_by_the_study(opened: Opened, study: Path) -> None:
    opened().sql(SQL, epsilon=0.25)
    for other in ("epsilon = 2", "epsilon = 0.5", "rho = 1"):
        study.write_text(STUDY.replace("epsilon = 1", other, 1))
        with pytest.raises(InvalidParameter, match="ledger holds"):
            opened()
    study.write_text(STUDY)
    assert opened().budget().spent == PureDP(0.25)


def test_a_failure_keeps_its_charge_and_asking_again_is_a_new_one(opened: Opened, study: Path) -> None:
    curator = opened()
    curator.explain(SQL, epsilon=0.25, sql=True)  # opens the engine
    data = study.with_name("people.csv")
    whole = data.read_bytes()
    data.write_bytes(whole + b"\xff\n")  # no table any more
    with pytest.raises(EngineFailed, match="charge 1 is kept"):
        curator.sql(SQL, epsilon=0.25, key="mine")
    data.write_bytes(whole)
    answer = opened().sql(SQL, epsilon=0.25, key="mine")
    assert answer.charge == "2"
    assert not answer.repeated
    assert opened().budget().spent == PureDP(0.5)
    assert opened().sql(SQL, epsilon=0.25, key="mine").repeated


def test_a_key_stands_for_one_question(opened: Opened) -> None:
    curator = opened()
    curator.sql(SQL, epsilon=0.25, key="mine")
    with pytest.raises(InvalidParameter, match="The key 'mine' belongs to another question"):
        curator.sql(SQL, epsilon=0.2, key="mine")
    with pytest.raises(InvalidParameter, match="fresh"):
        curator.sql(SQL, epsilon=0.2, key="other", fresh=True)
    assert curator.budget().spent == PureDP(0.25)


# ---- analysts ------------------------------------------------------------------------------------------------------


def test_analysts_pay_for_what_they_receive_and_the_population_once(opened: Opened) -> None:
    curator = opened()
    first = curator.sql(SQL, epsilon=0.25, analyst="ana")
    second = curator.sql(SQL, epsilon=0.25, analyst="bob")
    assert (second.columns, second.intervals) == (first.columns, first.intervals)
    assert [curator.budget(who).spent for who in ("ana", "bob", "team")] == [PureDP(0.25)] * 3
    assert curator.budget().spent == PureDP(0.25)
    curator.sql(SQL, epsilon=0.25, analyst="bob")  # paid already
    assert curator.budget("bob").spent == PureDP(0.25)
    with pytest.raises(BudgetExceeded, match="'bob'"):
        curator.sql(SQL, epsilon=0.2, analyst="bob")
    assert curator.budget().spent == PureDP(0.25)


def test_together_analysts_cannot_pass_the_group_nor_the_population(opened: Opened) -> None:
    curator = opened()
    curator.sql(SQL, epsilon=0.3, analyst="ana")
    with pytest.raises(BudgetExceeded, match="'team'"):
        curator.sql(SQL, epsilon=0.29, analyst="bob")
    curator.grant("eva", epsilon=5, because="visiting")
    with pytest.raises(BudgetExceeded, match="'population'"):
        curator.sql(SQL, epsilon=0.8, analyst="eva")
    assert curator.budget("eva").remaining == PureDP(0.7)
    with pytest.raises(InvalidParameter, match="'nobody'"):
        curator.sql(SQL, epsilon=0.1, analyst="nobody")


def test_grants_and_revocations_last(opened: Opened, study: Path) -> None:
    opened().grant("population", epsilon=1, because="second wave")
    study.write_text(STUDY.replace("epsilon = 1", "epsilon = 3", 1))
    with pytest.raises(InvalidParameter, match="ledger holds"):
        opened()
    study.write_text(STUDY)
    curator = opened()
    assert curator.budget("people").remaining == PureDP(2)
    with pytest.raises(InvalidParameter, match="'population'"):
        curator.grant("people", epsilon=1)
    curator.revoke("ana", because="left")
    with pytest.raises(BudgetExceeded):
        opened().sql(SQL, epsilon=0.1, analyst="ana")


def test_budgets_that_end(opened: Opened, study: Path) -> None:
    ends = {"old": "2020-12-31", "new": "9000-01-01"}
    study.write_text(STUDY + "".join(f"[analysts.{n}]\nepsilon = 0.1\nexpires = {e}\n" for n, e in ends.items()))
    curator = opened()
    assert curator.budget("old").expires == datetime(2021, 1, 1, tzinfo=UTC)
    with pytest.raises(BudgetExceeded):
        curator.sql(SQL, epsilon=0.1, analyst="old")
    assert curator.history() == ()
    assert curator.sql(SQL, epsilon=0.1, analyst="new").charge == "1"
    study.write_text(study.read_text().replace("9000-01-01", "9000-01-02"))
    with pytest.raises(InvalidParameter, match="another end"):
        opened()


def test_a_budget_that_ends_with_the_calendar_never_does(opened: Opened, study: Path) -> None:
    ends = {"ever": "9999-12-31", "west": "9999-12-31T23:59:59-05:00"}
    study.write_text(STUDY + "".join(f"[analysts.{n}]\nepsilon = 0.1\nexpires = {e}\n" for n, e in ends.items()))
    curator = opened()
    for number, name in enumerate(ends, 1):
        assert curator.budget(name).expires == datetime.max.replace(tzinfo=UTC)
        assert curator.sql(SQL, epsilon=0.1, analyst=name).charge == str(number)
    opened()


def test_ends_are_given_and_told_by_the_ledgers_clock(tmp_path: Path) -> None:
    """Where a clock was ahead once, a budget could be given that had ended, and was then said to have been closed."""
    at = [datetime(2030, 1, 20, tzinfo=UTC)]
    with closing(open_ledger(tmp_path / "ledger.db", clock=lambda: at[0])) as ledger:
        table = Table(pa.table({"age": [1]}), columns={"age": {"type": "integer", "bounds": [0, 9]}})
        curator = Curator({"t": table}, budget=PureDP(1), ledger=ledger)
        curator.grant("bob", epsilon=0.1, expires=at[0] + timedelta(days=1))
        at[0] += timedelta(days=10)
        curator.grant("ana", epsilon=0.1, because="x")
        at[0] -= timedelta(days=10)
        with pytest.raises(InvalidParameter) as refusal:
            curator.grant("eve", epsilon=0.1, expires=at[0] + timedelta(days=5))
        assert refusal.value.code == "already-ended"
        with pytest.raises(BudgetExceeded) as exceeded:
            curator.sql("SELECT COUNT(*) AS n FROM t", epsilon=0.1, analyst="bob")
        assert exceeded.value.code == "budget-expired"


def test_analysts_in_python() -> None:
    table = Table("no-such.csv", columns={"age": "integer"})
    curator = Curator({"t": table}, PureDP(1), analysts={"ana": Analyst(PureDP(0.5))})
    assert curator.budget("ana").parent is not None
    apart = Curator({"t": table}, {"t": PureDP(1)}, analysts={"ana": Analyst(PureDP(0.5))})
    assert apart.budget("ana").parent is None
    with pytest.raises(InvalidParameter, match="is a table"):
        Curator({"t": table}, PureDP(1), analysts={"t": Analyst(PureDP(0.5))})


# ---- rules ---------------------------------------------------------------------------------------------------------


def test_reasons_and_overrides_are_recorded_and_shown(opened: Opened, study: Path) -> None:
    study.write_text(STUDY.replace("epsilon = 1", "epsilon = 20", 1))
    curator = opened()
    with pytest.raises(QuestionRefused, match="needs a reason"):
        curator.sql(SQL, epsilon=2)
    assert curator.history() == ()
    assert any("the board agreed" in note for note in curator.sql(SQL, epsilon=2, because="the board agreed").notes)
    assert curator.history()[0].note["because"] == "the board agreed"
    loud = curator.sql(SQL, epsilon=11, because="the board agreed", override=True)
    assert any("OVERRIDE" in note for note in loud.notes)


def test_the_policy_of_a_study(opened: Opened, study: Path) -> None:
    study.write_text(STUDY + "\n[policy]\nlargest_epsilon = 0.1\n")
    with pytest.raises(QuestionRefused, match="policy allows"):
        opened().sql(SQL, epsilon=0.2)
    assert opened(policy=Policy()).sql(SQL, epsilon=0.2).charge == "1"
    study.write_text(STUDY + "\n[policy]\nlargest = 0.1\n")
    with pytest.raises(InvalidParameter, match="largest"):
        opened()


def test_how_many_fit(opened: Opened) -> None:
    curator = opened()
    assert curator.how_many(SQL, epsilon=0.3) == 3
    curator.sql(SQL, epsilon=0.3)
    assert curator.how_many(SQL, epsilon=0.3) == 2
    assert curator.how_many(SQL, epsilon=0.7) == 1
    assert curator.how_many(SQL, epsilon=0.8) == 0


# ---- batches -------------------------------------------------------------------------------------------------------

BOARD = {"sexes": SQL, "age": "SELECT AVG(age) AS age FROM people", "n": "SELECT COUNT(*) AS n FROM people"}


def test_a_batch_is_one_charge_all_or_nothing(opened: Opened) -> None:
    curator = opened()
    batch = curator.batch(BOARD, epsilon=0.9, weights={"age": 2})
    assert [p.guarantee for p in batch.plans.values()] == [PureDP(0.225), PureDP(0.45), PureDP(0.225)]
    done = curator.publish(batch)
    assert list(done) == list(BOARD)
    (charge,) = curator.history()
    assert charge.event == batch.event
    assert curator.budget().spent == PureDP(0.9)
    assert {r.charge for r in done.releases.values()} == {charge.id}
    assert Publication.from_dict(json.loads(done.to_json())) == done
    with pytest.raises(BudgetExceeded):
        curator.publish(curator.batch(BOARD, epsilon=0.2))
    assert curator.budget().spent == PureDP(0.9)
    later = opened()
    again = later.publish(later.batch(BOARD, epsilon=0.9, weights={"age": 2}))
    assert again.repeated
    assert again.to_json() == done.to_json()


def test_a_batch_by_accuracies(opened: Opened) -> None:
    batch = opened().batch(BOARD, epsilon=0.9, accuracies={"n": within(10)})
    found = batch.plans["n"].expected[0].value
    assert found is not None
    assert found <= 10
    assert batch.guarantee <= PureDP(0.9)


def test_a_batch_in_a_scope_that_counts_deltas_may_be_charged_tightly() -> None:
    import pyarrow as pa

    table = Table(pa.table({"age": [1, 2, 3]}), columns={"age": {"type": "integer", "bounds": [0, 9]}})
    many = {f"q{i}": f"SELECT COUNT(*) AS n FROM t WHERE age < {i}" for i in range(30)}
    loose = Curator({"t": table}, ApproxDP(2, 1e-5))
    loose.publish(loose.batch(many, epsilon=0.9))
    tight = Curator({"t": table}, ApproxDP(2, 1e-5))
    batch = tight.batch(many, epsilon=0.9, tight=1e-6)
    tight.publish(batch)
    spent = tight.budget().spent
    assert isinstance(spent, ApproxDP)
    assert spent.delta == 1e-6
    assert batch.tight is not None
    assert batch.tight.epsilon <= spent.epsilon < batch.tight.epsilon + 1e-9
    assert spent.epsilon < 0.8 * 0.9
    assert tight.history()[0].event == batch.event
    assert event_from_json(tight.history()[0].note["ran"]) == batch.ran  # type: ignore[arg-type]
    assert "ran" not in loose.history()[0].note
    assert loose.budget().spent == ApproxDP(0.9, 0)
    pure = Curator({"t": table}, PureDP(2))
    with pytest.raises(NotPromised):
        pure.publish(pure.batch(many, epsilon=0.9, tight=1e-6))
    assert pure.history() == ()


def test_a_batch_in_rho() -> None:
    import pyarrow as pa

    table = Table(pa.table({"age": [1, 2, 3]}), columns={"age": {"type": "integer", "bounds": [0, 9]}})
    curator = Curator({"t": table}, ZCDP(0.5))
    ages = curator.table("t").aggregate(age=mean("age"))
    curator.publish(curator.batch({"age": ages, "n": "SELECT COUNT(*) AS n FROM t"}, rho=0.01))
    spent = curator.budget().spent
    assert isinstance(spent, ZCDP)
    assert 0.0099 < spent.rho <= 0.01 + 1e-9


# ---- running counts ------------------------------------------------------------------------------------------------


def test_a_running_count_is_paid_at_opening(opened: Opened, study: Path) -> None:
    curator = opened()
    stream = curator.running_count(curator.table("people"), "day", date(2026, 1, 1), 10, epsilon=0.5)
    assert curator.budget().spent == PureDP(0.5)
    totals = [stream.next() for _ in range(10)]
    assert [r["day"][0] for r in totals] == [date(2026, 1, 1) + timedelta(days=i) for i in range(10)]
    for i, release in enumerate(totals):
        reach = stream.counted.mechanism.error(1 - 1e-12, i + 1)
        assert abs(release["total"][0] - 50 * (i + 1)) <= reach  # type: ignore[operator]
    with pytest.raises(NotPromised, match="has ended"):
        stream.next()
    assert curator.budget().spent == PureDP(0.5)


def test_a_running_count_is_one_release_also_beside_a_delta(opened: Opened, study: Path) -> None:
    """It takes no message, so what is bought between its days follows from a prefix of what was paid for before."""
    study.write_text(STUDY.partition("[groups")[0].replace("epsilon = 1", "rho = 0.5\ndelta = 1e-6"))
    curator = opened()
    stream = curator.running_count(curator.table("people"), "day", date(2026, 1, 1), 4, rho=0.01)
    seen = []
    for i in range(4):
        assert curator.budget().spent == ZCDP(round(0.01 * (i + 1), 2))
        seen.append(stream.next()["day"][0])
        curator.sql(f"SELECT COUNT(*) AS n FROM people WHERE age < {i + 10}", rho=0.01)
    assert seen == [date(2026, 1, 1) + timedelta(days=i) for i in range(4)]
    assert curator.budget().spent == ZCDP(0.05)


def test_what_replace_makes_of_a_running_count_draws_from_the_same_tree(opened: Opened) -> None:
    curator = opened()
    stream = curator.running_count(curator.table("people"), "day", date(2026, 1, 1), 3, epsilon=0.5)
    days = [replace(stream).next()["day"][0] for _ in range(3)]
    assert days == [date(2026, 1, 1) + timedelta(days=i) for i in range(3)]  # never a day twice
    for one in (stream, replace(stream)):
        with pytest.raises(NotPromised):
            one.next()


def test_a_running_count_is_settled_before_anything_leaves(opened: Opened) -> None:
    """An older copy of the ledger, without its charge, would be noticed: the anchor has seen it."""
    curator = opened()
    curator.running_count(curator.table("people"), "day", date(2026, 1, 1), 10, epsilon=0.5)
    assert curator.history()[0].settled


def test_running_counts_say_what_they_are(opened: Opened, study: Path) -> None:
    study.write_text(STUDY.replace("epsilon = 1", "epsilon = 3", 1))
    stage = opened().rehearse(rows=50)
    stream = stage.running_count(
        stage.table("people"), "day", date(2026, 1, 1), 2, epsilon=2, because="the board agreed"
    )
    release = stream.next()
    stage.close()
    assert release.rehearsal
    assert any("the board agreed" in note for note in release.notes)


def test_a_running_count_ends_where_the_engine_fails(opened: Opened, study: Path) -> None:
    curator = opened()
    stream = curator.running_count(curator.table("people"), "day", date(2026, 1, 1), 10, epsilon=0.5)
    stream.next()
    study.with_name("people.csv").unlink()
    with pytest.raises(EngineFailed):
        stream.next()
    with pytest.raises(NotPromised, match="has ended"):
        stream.next()
    assert curator.budget().spent == PureDP(0.5)


def test_what_cannot_run_on(opened: Opened) -> None:
    curator = opened()
    people = curator.table("people")
    wrongs: list[Callable[[], object]] = [
        lambda: curator.running_count(people, "sex", date(2026, 1, 1), 10, epsilon=0.5),
        lambda: curator.running_count(people, "day", date(2026, 1, 1), 0, epsilon=0.5),
        lambda: curator.running_count(people.group_by("sex"), "day", date(2026, 1, 1), 9, epsilon=0.5),
        lambda: curator.running_count(people, "day", date(2026, 1, 1), 9, epsilon=0.5, rho=0.1),
        lambda: curator.running_count(people, "day", date(2026, 1, 1), 9, epsilon=2),
    ]
    for wrong in wrongs:
        with pytest.raises((QuestionRefused, InvalidParameter)):
            wrong()
    with pytest.raises(BudgetExceeded):
        curator.running_count(people, "day", date(2026, 1, 1), 9, epsilon=1.5, because="x")
    strict = opened(policy=Policy(largest_epsilon=0.1))
    with pytest.raises(QuestionRefused, match="policy allows"):
        strict.running_count(strict.table("people"), "day", date(2026, 1, 1), 9, epsilon=0.2)
    curator = opened()
    assert curator.history() == ()


def test_what_a_group_is_promised(opened: Opened) -> None:
    assert opened().sql(SQL, epsilon=0.25).for_group(3) == PureDP(0.75)
