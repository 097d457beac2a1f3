"""Rounds as documents, and the device that reads them: what it refuses, and that it never spends more than agreed."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from curador.errors import BudgetExceeded, InvalidParameter, InvalidValue
from curador.local.learn import Participant, Round, Scale, gradient_randomizer
from curador.local.learn.losses import LOSSES, Logistic, Loss, Squared
from curador.local.learn.randomizers import MECHANISMS, Corners
from tests.exact import Stream
from tests.local.learn.test_shapes import entropy, round_of

NAMES = sorted(MECHANISMS)


def sent(asked: Round) -> Round:
    """The same round as a device reads it."""
    return Round.from_json(json.loads(json.dumps(asked.to_json(), allow_nan=False)))


# ---- a round is a document


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_a_round_crosses_the_wire_to_the_last_bit(name: str, loss: str) -> None:
    way = gradient_randomizer(name, "1/3", 3, "7/5")
    beta = np.array([0.1, -1 / 3, 5e-324])
    asked = Round(
        LOSSES[loss](), Scale.between([("1/3", "0.7"), (-1, 10**20)]), Scale.between([(0.1, 1)]), way, beta, "tea"
    )
    read = sent(asked)
    assert (read.loss, read.features, read.target) == (asked.loss, asked.features, asked.target)
    assert read.randomizer == way
    assert read.beta is not None
    assert read.beta.tobytes() == beta.tobytes()
    assert read.study == "tea"
    assert read.features.bounds[0] == (Fraction(1, 3), Fraction(7, 10))
    rows, told = np.random.default_rng(1).uniform(0, 1, (20, 2)), np.linspace(0, 1, 20)
    one, other = (part.report(rows, told, entropy=Stream(3)) for part in (asked, read))
    assert np.array_equal(np.asarray(one), np.asarray(other))


def test_a_round_without_beta_stays_so() -> None:
    assert sent(round_of("duchi")).beta is None


GOOD = round_of("duchi", beta=np.zeros(3), study="tea").to_json()
WAY: Any = GOOD["randomizer"]


@pytest.mark.parametrize(
    "bad",
    [
        {"study": None}, {"study": 3}, {"loss": "absolute"}, {"loss": ["hinge"]}, {"features": [["-1", "1"]]},
        {"features": [["-1", "1"], "x"]}, {"features": {"low": 1}}, {"features": [["-1", "1"], ["1", "-1"]]},
        {"features": [["-1", "1"], ["0", "1e400"]]}, {"target": [["-1", "1"], ["-1", "1"]]}, {"target": ["1", "1"]},
        {"target": []}, {"target": None}, {"beta": [[0.0, 0.0, 0.0]]}, {"beta": [0.0, 0.0]}, {"beta": ["0", "0", "0"]},
        {"beta": [float("nan"), 0.0, 0.0]}, {"beta": "000"}, {"beta": [True, 0.5, 1]},
        {"features": [["-1", "1"], "01"]}, {"features": [["-1", "1"], [0.1, 0.2]]}, {"target": "01"},
        {"beta": [True, False, True]}, {"more": 1},
        {"randomizer": None}, {"randomizer": {**WAY, "dimension": 2}}, {"randomizer": {**WAY, "dimension": 3.0}},
        {"randomizer": {**WAY, "dimension": True}}, {"randomizer": {**WAY, "epsilon": "0"}},
        {"randomizer": {**WAY, "epsilon": 2}}, {"randomizer": {**WAY, "epsilon": "1e400"}},
        {"randomizer": {**WAY, "clip": "-1"}}, {"randomizer": {**WAY, "mechanism": "raw"}},
        {"randomizer": {**WAY, "true": 1}}, {"randomizer": {"mechanism": "duchi"}},
    ],
)  # fmt: skip
def test_documents_that_are_no_round_are_refused(bad: dict[str, Any]) -> None:
    assert Round.from_json(GOOD).study == "tea"
    with pytest.raises(InvalidParameter):
        Round.from_json({**GOOD, **bad})


def test_a_part_left_out_is_not_filled_in() -> None:
    for name in GOOD:
        with pytest.raises(InvalidParameter, match="not a round"):
            Round.from_json({key: value for key, value in GOOD.items() if key != name})
    for name in WAY:
        with pytest.raises(InvalidParameter, match="not a randomizer"):
            Round.from_json({**GOOD, "randomizer": {key: value for key, value in WAY.items() if key != name}})
    others: list[Any] = [None, [], "round", 3]
    for other in others:
        with pytest.raises(InvalidParameter, match="not a round"):
            Round.from_json(other)


class Own(Corners):
    pass


class OwnLoss(Squared):
    pass


@pytest.mark.parametrize("bad", [{"randomizer": Own(Fraction(1), 3)}, {"loss": OwnLoss()}])
def test_what_devices_do_not_know_is_not_written(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match="Devices do not know"):
        round_of("duchi", **bad).to_json()


# ---- a device answers as often as agreed


def asked_at(epsilon: Any, study: str = "tea", name: str = "duchi", loss: Loss | None = None) -> Round:
    unit = Scale.between([(-1, 1)])
    way = gradient_randomizer(name, epsilon, 3)
    return Round(loss or Logistic(), Scale.between([(-1, 1)] * 2), unit, way, study=study)


def exhaust(person: Participant, rounds: list[Round]) -> Fraction:
    """What a device spends that is asked all these rounds, whether it answers or not, and restarts in between."""
    spent = Fraction(0)
    for asked in rounds:
        try:
            person, _ = Participant.from_json(json.loads(json.dumps(person.to_json()))).answer(asked, [0.1, 0.2], 1)
        except BudgetExceeded:
            continue
        spent += asked.randomizer.epsilon
    return spent


@pytest.mark.parametrize("name", NAMES)
def test_a_second_round_of_the_same_study_is_refused(name: str) -> None:
    asked = asked_at(1, name=name)
    person, report = Participant("tea", Fraction(1)).answer(asked, [0.5, -0.5], 1, entropy=Stream(1))
    assert person == Participant("tea", Fraction(1), 1, 1)
    assert person.spent == 1
    assert len(report[0] if isinstance(report, tuple) else report) == 1
    for again in (asked, asked_at("1/100", name=name)):
        with pytest.raises(BudgetExceeded, match="all the reports its owner agreed to: 1"):
            person.answer(again, [0.5, -0.5], 1, entropy=entropy())


class Forgetful(Participant):
    """Never counts."""

    def answer(self, *args: Any, **options: Any) -> tuple[Participant, Any]:
        return self, super().answer(*args, **options)[1]


@pytest.mark.parametrize("reports", [1, 3, 7])
def test_no_sequence_of_rounds_spends_more_than_agreed(reports: int) -> None:
    epsilons = [Fraction(k, 10) for k in (2, 20, 1, 3, 6, 2, 1, 1, 2, 1)] * 3
    rounds = [asked_at(e) for e in epsilons]
    person = Participant("tea", Fraction(2), reports)
    assert 0 < exhaust(person, rounds) <= 2
    assert exhaust(person, [asked_at(Fraction(2, reports))] * 20) == 2
    assert exhaust(person, [asked_at(Fraction(2, reports) + Fraction(1, 10**9))] * 20) == 0
    state: Participant = Forgetful("tea", Fraction(2), reports)
    total = Fraction(0)
    for _ in range(reports + 1):
        asked = asked_at(Fraction(2, reports))
        state, _ = state.answer(asked, [0.1, 0.2], 1)
        total += asked.randomizer.epsilon
    assert total > 2  # what the rule is there for


def test_refusals_come_before_any_coin() -> None:
    person = Participant("tea", Fraction(1))
    with pytest.raises(InvalidParameter, match="another study"):
        person.answer(asked_at(1, "coffee"), [0.0, 0.0], 1, entropy=entropy())
    with pytest.raises(BudgetExceeded, match="epsilon = 2 is above what the owner agreed to: 1"):
        person.answer(asked_at(2), [0.0, 0.0], 1, entropy=entropy())
    bad: list[tuple[Any, Any]] = [
        ([[0.0, 0.0]], 1), ([0.0], 1), ([0.0] * 3, 1), ([[0.0, 0.0]] * 2, [1, 1]), ([0.0, 0.0], [1]), (["a"], 1),
        (None, 1), (0.0, 1),
    ]  # fmt: skip
    for values, told in bad:
        with pytest.raises(InvalidValue):
            person.answer(asked_at(1), values, told, entropy=entropy())


@pytest.mark.parametrize(
    "bad",
    [{"study": 1}, {"epsilon": 1}, {"epsilon": "0"}, {"epsilon": "x"}, {"reports": 0}, {"reports": True},
     {"reports": "1"}, {"answered": -1}, {"answered": 2}, {"answered": None}, {"more": 1}],
)  # fmt: skip
def test_states_that_are_none_are_refused(bad: dict[str, Any]) -> None:
    good = Participant("tea", Fraction(1)).to_json()
    assert Participant.from_json(good).answered == 0
    with pytest.raises(InvalidParameter):
        Participant.from_json({**good, **bad})


def test_a_state_without_its_count_is_no_fresh_state() -> None:
    good = Participant("tea", Fraction(1), 1, 1).to_json()
    for name in good:
        with pytest.raises(InvalidParameter, match="not a device's state"):
            Participant.from_json({key: value for key, value in good.items() if key != name})
