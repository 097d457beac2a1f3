"""Who reports when, and for how much: by exact fractions, for every number of people and rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from curador.accounting.rules.profiles import pure_epsilon
from curador.errors import InvalidParameter, InvalidValue
from curador.local.learn.randomizers import MECHANISMS, Corners, GradientRandomizer, Split, gradient_randomizer
from curador.local.learn.schedule import (
    LEAST_ROUNDS,
    MOST_ROUNDS,
    TOLERANCE,
    Every,
    Once,
    Schedule,
    group_size,
    make_schedule,
)
from curador.noise import SYSTEM, Entropy
from tests.exact import Stream

NAMES = sorted(MECHANISMS)


def corners(epsilon: Fraction) -> GradientRandomizer:
    return Corners(epsilon, 3)


def spent(plan: Schedule, seed: int) -> Counter[int]:
    """What each person's reports cost together, by going through the groups."""
    total: Counter[int] = Counter()
    for group in plan.groups(Stream(seed)):
        for person in group.tolist():
            total[person] += plan.randomizer.epsilon  # type: ignore[assignment]
    return total


def keeps_its_word(plan: Schedule, seed: int = 1) -> bool:
    return all(cost <= plan.epsilon for cost in spent(plan, seed).values())


fractions = st.fractions(min_value=Fraction(1, 100), max_value=20, max_denominator=100)


@given(st.integers(1, 300), st.integers(1, 40), fractions, st.integers(0, 10**6))
def test_reporting_once_everybody_spends_epsilon_and_no_more(n: int, rounds: int, epsilon: Fraction, seed: int) -> None:
    if n < rounds:
        with pytest.raises(InvalidValue, match=f"need at least {rounds} people"):
            Once.of(n, rounds, epsilon, corners)
        return
    plan = Once.of(n, rounds, epsilon, corners)
    assert spent(plan, seed) == dict.fromkeys(range(n), epsilon)
    sizes = [len(group) for group in plan.groups(Stream(seed))]
    assert len(sizes) == rounds
    assert max(sizes) - min(sizes) <= 1
    assert plan.epsilon == epsilon == pure_epsilon(plan.event)


@given(st.integers(1, 50), st.integers(1, 40), fractions)
def test_reporting_in_every_round_everybody_spends_epsilon_too(n: int, rounds: int, epsilon: Fraction) -> None:
    plan = Every.of(n, rounds, epsilon, corners)
    assert plan.randomizer.epsilon * rounds == epsilon
    assert spent(plan, 1) == dict.fromkeys(range(n), epsilon)
    assert plan.epsilon == epsilon == pure_epsilon(plan.event)


def test_events_add_up_over_rounds_and_coordinates() -> None:
    plan = Every.of(10, 7, Fraction(1), lambda epsilon: Split(epsilon, 3))
    assert plan.randomizer.epsilon == Fraction(1, 7)
    assert plan.randomizer.event == 3 * Split(Fraction(1, 7), 3).task.event
    assert pure_epsilon(plan.event) == 1


class AsksSomeTwice(Once):
    """Fills the last group with people from the first."""

    def groups(self, entropy: Entropy = SYSTEM) -> Iterator[NDArray[np.intp]]:
        *others, last = super().groups(entropy)
        yield from others
        yield np.concatenate([last, others[0][:1]])


class DrawsWithReplacement(Once):
    """Draws each group from all people, as mini-batches often are."""

    def groups(self, entropy: Entropy = SYSTEM) -> Iterator[NDArray[np.intp]]:
        for group in super().groups(entropy):
            yield (entropy.words(len(group), np.uint32) % self.users).astype(np.intp)


class WholeEpsilonEveryRound(Every):
    """Everybody in every round, and the whole epsilon in each."""

    @classmethod
    def of(cls, users: int, rounds: int, epsilon: Fraction, ways: object = None) -> WholeEpsilonEveryRound:
        return cls(users, rounds, corners(epsilon))

    @property
    def epsilon(self) -> Fraction:
        return self.randomizer.epsilon


@pytest.mark.parametrize("form", [Once, Every])
def test_sound_schedules_keep_their_word(form: type[Schedule]) -> None:
    assert keeps_its_word(form.of(100, 10, Fraction(1), corners))


@pytest.mark.parametrize("form", [AsksSomeTwice, DrawsWithReplacement, WholeEpsilonEveryRound])
def test_schedules_that_ask_too_much_are_caught(form: type[Schedule]) -> None:
    assert not keeps_its_word(form.of(100, 10, Fraction(1), corners))


def test_groups_are_drawn_and_not_in_the_order_of_the_rows() -> None:
    plan = Once.of(1000, 4, Fraction(1), corners)
    first, again = (next(iter(plan.groups(Stream(seed)))) for seed in (1, 2))
    assert set(first.tolist()) != set(again.tolist())
    assert set(first.tolist()) != set(range(250))
    assert next(iter(plan.groups())).tolist() != next(iter(plan.groups())).tolist()  # the system's own coins


# ---- how many people make a group


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", [1, 4])
def test_a_group_is_large_enough_and_not_far_too_large(name: str, epsilon: int) -> None:
    """The mean over groups of the worst coordinate's error is below the tolerance, and above a quarter of it."""
    d, runs = 8, 30
    way = gradient_randomizer(name, epsilon, d)
    vectors = np.random.default_rng(1).uniform(-1, 1, (group_size(way), d))
    entropy = Stream(3)
    worst = [np.abs(way.mean(way.randomize(vectors, entropy=entropy)) - vectors.mean(axis=0)) for _ in range(runs)]
    assert TOLERANCE / 4 < np.mean([w.max() for w in worst]) < TOLERANCE


@pytest.mark.parametrize("name", NAMES)
def test_a_group_grows_like_d_log_d_over_epsilon_squared(name: str) -> None:
    def size(epsilon: Fraction, d: int) -> int:
        return group_size(gradient_randomizer(name, epsilon, d))

    small = Fraction(1, 10)
    assert 3.8 < size(small / 2, 8) / size(small, 8) < 4.2
    # Laplace's variance has the square of the dimension, since epsilon is split.
    power = 2 if name == "laplace" else 1
    growth = size(small, 64) / size(small, 8)
    logs = np.log(128) / np.log(16)
    assert 0.9 * 8**power * logs < growth < 1.1 * 8**power * logs


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["once", "every"])
def test_the_number_of_people_asked_for_is_enough_and_one_fewer_is_not(name: str, form: str) -> None:
    def way(epsilon: Fraction) -> GradientRandomizer:
        return gradient_randomizer(name, epsilon, 5)

    with pytest.raises(InvalidValue, match="too few to learn 5 coefficients") as refusal:
        make_schedule(form, 2, None, Fraction(2), way)
    needed = int(refusal.value.what.split("it takes ")[1].split(" ")[0].replace(",", ""))
    assert make_schedule(form, needed, None, Fraction(2), way).rounds >= LEAST_ROUNDS
    with pytest.raises(InvalidValue, match="too few"):
        make_schedule(form, needed - 1, None, Fraction(2), way)


@pytest.mark.parametrize("form", ["once", "every"])
def test_rounds_chosen_are_the_most_that_groups_allow(form: str) -> None:
    plan = make_schedule(form, 40_000, None, Fraction(1), corners)
    assert LEAST_ROUNDS <= plan.rounds < MOST_ROUNDS
    if form == "once":
        size = group_size(plan.randomizer)
        assert plan.rounds == 40_000 // size
    else:
        assert group_size(corners(Fraction(1, plan.rounds))) <= 40_000
        assert group_size(corners(Fraction(1, plan.rounds + 1))) > 40_000
    assert make_schedule(form, 10**9, None, Fraction(4), corners).rounds == MOST_ROUNDS


def test_rounds_given_are_taken() -> None:
    assert make_schedule("once", 50, 7, Fraction(1), corners).rounds == 7
    assert make_schedule("every", 2, 7, Fraction(1), corners).randomizer.epsilon == Fraction(1, 7)


def test_bad_schedules_are_refused() -> None:
    for rounds in (0, -1, 2.5):
        with pytest.raises(InvalidParameter):
            make_schedule("once", 50, rounds, Fraction(1), corners)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="'once' or 'every'"):
        make_schedule("twice", 50, 7, Fraction(1), corners)
