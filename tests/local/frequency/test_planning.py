"""How many people, and which oracle: checked against what the tasks themselves say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter
from curador.local import KRR, Duchi, Hadamard, Hybrid, best_oracle, users_needed
from curador.local.frequency.planning import AS_GOOD, ORACLES


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
