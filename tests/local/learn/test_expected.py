"""What noise is expected to cost is what it costs, and too much of it is warned of before anybody reports."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from curador.local.learn import LocalLinearRegression, LocalLogisticRegression, NoisyModelWarning, noise_loss
from curador.local.learn.losses import Squared


def fitted(users: int, epsilon: int, features: int, run: int) -> Any:
    values = np.random.default_rng(run).uniform(-1, 1, (users, features))
    model = LocalLinearRegression(epsilon=epsilon, bounds=(-1, 1), target=(-1, 1), alpha=0)
    return model.fit(values, np.zeros(users))


@pytest.mark.parametrize(("users", "epsilon", "features"), [(20_000, 1, 5), (40_000, 1, 12)])
def test_noise_costs_what_is_expected(users: int, epsilon: int, features: int) -> None:
    """Where the best model is 0 everything that is learned is noise.  Reports vary less than at worst."""
    lost = []
    for run in range(4):
        model = fitted(users, epsilon, features, run)
        lost.append((model.coef_**2).sum() / 3 + model.intercept_**2)
    expected = noise_loss(Squared(), model.schedule_, 1.0, True)
    assert expected / 4 < np.mean(lost) < 1.5 * expected


def test_a_model_that_may_be_worse_than_a_constant_warns_before_launch() -> None:
    class Nothing:
        def words(self, *_: object) -> None:
            raise AssertionError("a report was drawn")

    values, answers = np.zeros((30_000, 20)), np.zeros(30_000)
    options: dict[str, Any] = {"epsilon": 1, "bounds": (-1, 1), "rounds": 12}
    with pytest.warns(NoisyModelWarning, match="a constant does better"), pytest.raises(AssertionError):
        LocalLinearRegression(target=(-1, 1), **options).fit(values, answers, entropy=Nothing())  # type: ignore[arg-type]
    with pytest.warns(NoisyModelWarning):
        LocalLogisticRegression(classes=[0, 1], **{**options, "epsilon": "1/4"}).fit(values, answers % 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(20_000, 2, 3, 1)
