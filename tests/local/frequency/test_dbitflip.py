"""dBitFlip: its exact law, its error, and intervals from a part that cover the whole."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.local import SUE, DBitFlip, Tally, task_from_json
from curador.numbers import set_fields
from tests.local.all_ways import law_of
from tests.local.exact_law import keeps_its_word, within, worst_ratio
from tests.mutants import local_further as mutants

MODULES = ("curador.local.frequency.dbitflip", "curador.local.frequency.subset", "tests.mutants.local_further")


def laws_of(task: Any) -> list[Any]:
    def report(own: int) -> Any:
        return tuple(task.randomize([own])[0].tolist())

    return [law_of(partial(report, own), *MODULES) for own in range(task.size)]


@pytest.mark.parametrize(("keys", "sampled"), [(2, 1), (2, 2), (3, 1), (4, 2), (4, 3), (3, 3)])
@pytest.mark.parametrize("epsilon", ["1/2", 1, 3])
def test_every_report_has_its_probability(keys: int, sampled: int, epsilon: Any) -> None:
    task = DBitFlip(keys, epsilon, sampled)
    laws = laws_of(task)
    assert keeps_its_word(task, laws)
    assert worst_ratio(laws) == task.ratio
    sets = list(combinations(range(keys), sampled))
    for own, one in enumerate(laws):
        assert len(one) == len(sets) * 2**sampled
        for report, chance in one.items():
            answers = [task.p if (r // 2 == own) == bool(r % 2) else task.q for r in report]
            assert tuple(r // 2 for r in report) in sets
            assert chance == math.prod(answers, start=Fraction(1, len(sets)))


@pytest.mark.parametrize("sampled", [1, 2, 20])
@pytest.mark.parametrize("epsilon", ["1/1000", "0.1", 1, 3, 10])
def test_the_threshold_is_the_largest_that_keeps_epsilon(sampled: int, epsilon: Any) -> None:
    task = DBitFlip(20, epsilon, sampled)
    assert within(task.ratio, task.epsilon)
    set_fields(task, true=task.true + 1)
    assert not within(task.ratio, task.epsilon)


@pytest.mark.parametrize(
    "mutant",
    [mutants.AsksAboutOneself(4, 1, 2), mutants.WholeEpsilonPerAnswer(3, 1, 2)],
    ids=lambda mutant: type(mutant).__name__,
)
def test_a_broken_randomizer_is_caught(mutant: Any) -> None:
    assert not keeps_its_word(mutant, laws_of(mutant))


def test_one_answer_may_be_as_sure_as_two_together() -> None:
    one, two = DBitFlip(9, 1, 1), DBitFlip(9, 1, 2)
    assert float(one.p) == pytest.approx(math.e / (math.e + 1))
    assert float(two.p) == pytest.approx(math.exp(0.5) / (math.exp(0.5) + 1))


def test_asking_about_all_is_symmetric_unary_encoding() -> None:
    task, unary = DBitFlip(9, 1, 9), SUE(9, 1, bits=32)
    assert (task.p, task.q) == (unary.p, unary.q)
    assert task.variance(100, 0.25) == pytest.approx(unary.variance(100, 0.25))


@pytest.mark.parametrize(("keys", "sampled", "runs"), [(16, 1, 40), (16, 4, 40), (256, 16, 3)])
@pytest.mark.parametrize("epsilon", [1, 3])
def test_mean_squared_error_is_the_formulas(keys: int, sampled: int, runs: int, epsilon: int) -> None:
    """Within 5 sqrt(2/(R d)), the formula taken at how many were asked; and what is foretold is near it."""
    users = 4000
    weights = 1 / np.arange(1, keys + 1) ** 1.1
    values = np.random.default_rng(keys).choice(keys, users, p=weights / weights.sum())
    true = np.bincount(values, minlength=keys) / users
    task = DBitFlip(keys, epsilon, sampled)
    p, q = float(task.p), float(task.q)

    def formula(f: Any, seen: Any) -> Any:
        coins = (f * p * (1 - p) + (1 - f) * q * (1 - q)) / (p - q) ** 2
        return coins / seen + f * (1 - f) * (users / seen - 1) / (users - 1)

    ratios = []
    for _ in range(runs):
        found = task.estimate(task.randomize(values))
        ratios.append((found.values - true) ** 2 / formula(true, found.seen))
    assert abs(np.mean(ratios) - 1) < 5 * math.sqrt(2 / (runs * keys))
    assert np.allclose(found.variance, formula(np.clip(found.values, 0, 1), found.seen))
    assert found.variance.mean() == pytest.approx(np.mean([task.variance(users, f) for f in true]), rel=0.1)


def test_intervals_cover() -> None:
    """Promised at 90 % for each key alone; of 100 tries 72 or fewer then succeed once in a million times."""
    task = DBitFlip(4, 2, 2)
    values = np.repeat(np.arange(4), [2, 8, 15, 15])
    true = np.bincount(values) / values.size
    inside = np.zeros(4, int)
    for _ in range(100):
        low, high = task.estimate(task.randomize(values)).interval(0.9, simultaneous=False)
        inside += (low <= true) & (true <= high)
    assert inside.min() > 72
    found = task.estimate(task.randomize(values))
    low, high = found.interval(0.9)
    alone = found.interval(0.975, simultaneous=False)
    assert np.allclose(low, alone[0])
    assert np.allclose(high, alone[1])
    assert found.projected().values.sum() == pytest.approx(1)


def test_parts_add_up_and_a_task_is_a_small_document(monkeypatch: pytest.MonkeyPatch) -> None:
    task = DBitFlip(["a", "b", "rest"], "1.5", 2, rest="rest")
    again: Any = task_from_json(json.loads(json.dumps(task.to_json())))
    assert again == task
    monkeypatch.setattr("curador.local.frequency.dbitflip.CELLS", 30)
    reports = task.randomize(["a", "b", "?", None, 7] * 20)
    assert reports.shape == (100, 2)
    both = again.tally(reports[:30]) + again.tally(reports[30:])
    assert both.users == 100
    assert both.support.tolist() == task.tally(reports).support.tolist()
    assert both.support[0].sum() == 200


def test_refusals() -> None:
    task = DBitFlip(8, 1, 2)
    with pytest.raises(NotPromised):
        task_from_json({**task.to_json(), "epsilon": "0.9"})
    with pytest.raises(NotPromised):  # what one answer may say, two may not
        task_from_json({**DBitFlip(8, 1, 1).to_json(), "sampled": 2})
    for name in ("sampled", "true"):
        for bad in (0, 1 << 32, -1, 0.5, True, "1", None):
            with pytest.raises(InvalidParameter):
                task_from_json({**task.to_json(), name: bad})
    with pytest.raises(InvalidParameter):
        DBitFlip(8, 1, 9)
    with pytest.raises(InvalidParameter):
        DBitFlip(8, 1, 2, true=5)
    with pytest.raises(InvalidValue):
        task.randomize([8])
    reports: list[Any] = [[[0]], [[0, 16]], [[-1, 3]], [[2, 3]], [[4, 0]], [0, 2], [[0.5, 1]]]
    for some in reports:
        with pytest.raises(InvalidValue):
            task.estimate(some)
    for few in (task.randomize(np.zeros(0, int)), [[0, 2]], Tally(3, np.array([1, 2]))):
        with pytest.raises(InvalidParameter):
            task.estimate(few)
    with pytest.raises(InvalidParameter):
        task.variance(10, 2)


def test_a_forged_report_moves_an_estimate_by_what_is_said() -> None:
    """Also after three thousand others that chose to be asked about other keys, which leave few for this one."""
    task = DBitFlip(keys=4, epsilon=2, sampled=1)
    honest = task.randomize(np.random.default_rng(1).integers(0, 4, 1000))
    others = np.array([[3], [4], [6]] * 1000, honest.dtype)
    for reports in (honest, np.concatenate([honest, others])):
        yes, no = (task.estimate(np.concatenate([reports, [[answer]]])) for answer in (1, 0))
        assert (yes.values[0] - no.values[0]) * yes.users == pytest.approx(yes.moved[0])
    assert yes.moved[0] > 3 * 4 / float(task.p - task.q)
