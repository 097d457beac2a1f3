"""Every kind of question, batch and running count keeps what it declares, on made-up neighbours."""

from __future__ import annotations

from contextlib import closing
from datetime import date
from typing import Any

import pytest

from curador import Curator, Neighbors
from curador.audit.finding import Finding
from curador.audit.replay.questions import (
    replay_act,
    replay_batch,
    replay_question,
    replay_running,
    replay_training,
)
from curador.errors import InvalidParameter
from curador.learn import GaussianNB, LogisticRegression
from tests.audit.replay.declared import BY_UNIT, QUESTIONS, both, people, visits

QUICK = ("median and maximum", "undeclared groups")


def passes(found: Finding, reach: float = 1.0) -> None:
    """Nothing was found, and the neighbours were a test: some used all that is declared."""
    assert not found.violated, found.sentence()
    assert found.details["releases"] != 0
    assert found.details["reach"] == pytest.approx(reach, rel=0.05)


@pytest.mark.parametrize("name", QUICK)
def test_questions_of_rows(name: str) -> None:
    text, budget = QUESTIONS[name]
    with closing(people()) as curator:
        passes(replay_question(curator, text, made_up=40, **budget))


@pytest.mark.parametrize("name", ["sums by place", "undeclared groups"])
def test_questions_of_units(name: str) -> None:
    text, budget = BY_UNIT[name]
    with closing(visits()) as curator:
        passes(replay_question(curator, text, **budget))


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize(("make", "asked"), [(people, QUESTIONS), (visits, BY_UNIT)], ids=["rows", "units"])
def test_every_question(make: Any, asked: Any, neighbors: Neighbors) -> None:
    with closing(make(neighbors)) as curator:
        for name, (text, budget) in asked.items():
            thorough = neighbors is Neighbors.ADD_REMOVE  # under replace, the usual victims
            found = replay_question(curator, text, thorough=thorough, made_up=40, seed=1, **budget)
            assert not found.violated, f"{name}: {found.sentence()}"
            assert found.details["releases"] != 0


JOINED = "SELECT place, COUNT(*) AS n FROM people JOIN visits ON people.pid = visits.pid GROUP BY place"


def test_a_victim_of_a_join_is_in_both_tables() -> None:
    with closing(both()) as curator:
        found = replay_question(curator, JOINED, table="visits", made_up=20, epsilon=1)
    assert not found.violated, found.sentence()
    assert found.details["reach"] != 0


def test_neighbours_that_move_nothing_are_said_to_be_no_test() -> None:
    with closing(people()) as curator:
        found = replay_question(curator, "SELECT COUNT(*) AS n FROM people WHERE town = 'x'", made_up=5, epsilon=1)
    assert found.details["reach"] == 0
    assert "no neighbour moved" in found.sentence()


def test_a_batch() -> None:
    asked = {"n": "SELECT COUNT(*) AS n FROM people", "age": "SELECT sex, AVG(age) AS a FROM people GROUP BY sex"}
    with closing(people()) as curator:
        passes(replay_batch(curator, asked, epsilon=1))


@pytest.mark.slow
def test_a_batch_charged_as_a_whole() -> None:
    """What is charged is less than the sum; what was run is noted with the charge."""
    asked = {f"n{i}": f"SELECT COUNT(*) AS n FROM people WHERE age > {i}" for i in range(3)}
    with closing(people()) as curator:
        passes(replay_batch(curator, asked, epsilon=1, tight="1e-6", made_up=30))


@pytest.mark.parametrize("budget", [{"epsilon": 1}, pytest.param({"rho": 1}, marks=pytest.mark.slow)])
def test_a_running_count(budget: Any) -> None:
    with closing(people()) as curator:
        passes(replay_running(curator, "people", "born", date(1950, 1, 1), 4, made_up=30, **budget))


@pytest.mark.slow
def test_a_model_of_a_table() -> None:
    features = ["age", "income", "sex"]
    with closing(people()) as curator:
        found = replay_training(
            curator, lambda: LogisticRegression(1, 1e-5), "people", features=features, label="insured", made_up=40
        )
    assert not found.violated, found.sentence()
    assert found.details["reach"] != 0


def test_a_model_that_is_scored() -> None:
    """The fit and the score, each paid for: a row more counts once, and the model it is scored by is frozen."""

    def act(stage: Curator) -> object:
        why: dict[str, Any] = {"because": "an audit", "override": True, "label": "insured"}
        model = stage.fit(GaussianNB(1), "people", features=["age", "sex"], **why)
        return stage.score(model, "people", epsilon=1, **why)

    with closing(people()) as curator:
        passes(replay_act("a score", curator, act, made_up=30))


def test_the_curator_itself_is_asked_nothing() -> None:
    with closing(people()) as curator:
        replay_question(curator, "SELECT COUNT(*) AS n FROM people", epsilon=1, made_up=20)
        assert curator.history() == ()


def test_what_fails_on_everything_is_no_audit() -> None:
    def refused(stage: Curator) -> object:
        return stage.ask("SELECT nothing FROM people", epsilon=1)

    with closing(people()) as curator, pytest.raises(InvalidParameter, match="to be recorded failed"):
        replay_act("nothing", curator, refused)


def test_a_table_must_be_named_where_there_are_two() -> None:
    with closing(people()) as curator, pytest.raises(InvalidParameter, match="Which table"):
        replay_act("nothing", curator, lambda stage: None, table="towns")
