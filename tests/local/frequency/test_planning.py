"""How many people, and which oracle: checked against what the tasks themselves say."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from curador.errors import InvalidParameter
from curador.local import KRR, OLH, OUE, SUE, Duchi, Hadamard, Hybrid, best_oracle, users_needed
from curador.local.frequency.planning import AS_GOOD, ORACLES
from curador.local.task.limits import farthest_coins, mean_chance


@pytest.mark.parametrize("task", [KRR(4, 1), Hadamard(100, "1/2"), Duchi(0, 10, 1), Hybrid(0, 10, 3)], ids=repr)
@pytest.mark.parametrize("within", [0.02, "0.1"])
def test_so_many_are_enough_and_fewer_are_not(task: Any, within: Any) -> None:
    n = users_needed(task, within, confidence=0.9)
    assert task.error(n, 0.9) <= float(within) < task.error(n - 1, 0.9) * 1.001


def test_the_error_foretold_is_the_error_found() -> None:
    task = KRR(8, 1)
    n = users_needed(task, "0.05")
    values = np.random.default_rng(3).integers(0, 8, n)
    true = np.bincount(values, minlength=8) / n
    missed = sum(bool(np.abs(task.estimate(task.randomize(values)).values - true).max() > 0.05) for _ in range(200))
    # Promised at most one in twenty; 30 of 200 would have a chance below 1e-6 even then.
    assert missed < 30


@pytest.mark.parametrize("made", ORACLES)
def test_few_people_are_within_the_error_too(made: Any) -> None:
    """By the law of the support, for any number of people who have the key: not only where the support is expected."""
    for keys, epsilon in itertools.product((2, 3, 10), ("1/2", 2, 6)):
        task = made(keys, epsilon)
        p, q = float(task.p), float(task.q)
        for n, confidence in itertools.product((1, 2, 3, 5, 8, 20, 61), (0.5, 0.8, 0.95)):
            reach, counts = task.error(n, confidence), np.arange(n + 1)
            estimates = (counts / n - q) / (p - q)
            for have in {0, 1, n // 10, n // 3, n // 2, n - 1, n}:
                law = np.convolve(
                    binom.pmf(counts[: have + 1], have, p), binom.pmf(counts[: n - have + 1], n - have, q)
                )
                assert law[np.abs(estimates - have / n) > reach].sum() <= (1 - confidence) / keys


@pytest.mark.parametrize(
    "task",
    [KRR(2, 2), OUE(2, 6), SUE(10, 3), KRR(2, "0.1"), Hadamard(2000, 3), OLH(50, 1), Duchi(0, 1, 2), KRR(5000, 1)],
    ids=lambda task: f"{task.mechanism}-{task.epsilon}",
)
def test_more_people_are_never_farther_off(task: Any) -> None:
    many = [*range(1, 60), *(int(1.2**i) for i in range(23, 150, 3))]
    for confidence in (0.5, 0.95, 0.999):
        errors = [task.error(n, confidence) for n in many]
        assert errors == sorted(errors, reverse=True)


def test_the_farthest_is_that_of_all_counts() -> None:
    draw = np.random.default_rng(5)
    for _ in range(40):
        least = 10 ** draw.uniform(-5, -0.01)
        most, users = least + (1 - least) * draw.uniform() ** 3, int(10 ** draw.uniform(0, 3))
        miss = 10 ** draw.uniform(-6, -0.31)
        counts = np.arange(users + 1)
        low, high = mean_chance(counts, users, miss)
        above = np.where(low <= most, counts / users - np.maximum(low, least), 0).max()
        below = np.where(high >= least, np.minimum(high, most) - counts / users, 0).max()
        found = farthest_coins(least, most, users, miss)
        assert max(above, below) <= found <= max(above, below) + 1 / users


@pytest.mark.parametrize("epsilon", ["1/2", 1, 2, 4])
@pytest.mark.parametrize("keys", [2, 5, 16, 300])
def test_the_best_is_best(keys: int, epsilon: Any) -> None:
    best = best_oracle(keys, epsilon, users=10_000)
    others = [made(keys, epsilon) for made in ORACLES]
    least = min(task.variance(10_000) for task in others)
    assert best.variance(10_000) <= least * AS_GOOD**2 * 1.01
    assert all(
        task.report_bits >= best.report_bits for task in others if task.rare_error(10_000) <= best.rare_error(10_000)
    )


def test_refusals() -> None:
    with pytest.raises(InvalidParameter):
        users_needed(KRR(3, 1), 0)
    with pytest.raises(InvalidParameter):
        users_needed(KRR(3, "1/1000"), "1e-9")
    with pytest.raises(InvalidParameter):
        best_oracle(1000, 1, users=100, most_bits=3)
    with pytest.raises(InvalidParameter):
        best_oracle(1000, 1, users=0)
