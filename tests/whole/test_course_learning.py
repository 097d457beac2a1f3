"""What the course says of deployments and of federated learning, checked."""

from __future__ import annotations

import numpy as np
import pytest

from curador.accounting.composition import basic
from curador.accounting.convert import zcdp_epsilon
from curador.local.learn.losses import Hinge, Logistic, Loss, Squared
from curador.local.learn.randomizers import gradient_randomizer
from curador.privacy import PureDP


def test_2_26b_what_the_census_and_apple_used() -> None:
    """The Census published rho of 2.56 and 0.07 as an epsilon of 17.14 and 2.47 at delta 1e-10; so do we, nearly."""
    persons, housing = (zcdp_epsilon(rho, 1e-10).value for rho in ("2.56", "0.07"))
    assert persons == pytest.approx(17.14, abs=0.05)
    assert housing == pytest.approx(2.47, abs=0.1)
    assert basic([PureDP(4)] * 365) == PureDP(1460)  # an epsilon of a day is not that of a year


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Hinge()])
def test_2_30_a_gradient_of_one_row_is_the_row(loss: Loss) -> None:
    """With an intercept the last coordinate is the slope: dividing by it gives everything else."""
    x, beta = np.array([0.3, -0.7, 0.25, 1.0]), np.array([0.1, 0.2, -0.3, 0.05])
    (sent,) = loss.gradients(beta, x[np.newaxis], np.array([-1.0]))
    assert sent[-1] != 0
    assert sent[:-1] / sent[-1] == pytest.approx(x[:-1])


def test_2_30_a_randomised_gradient_is_not() -> None:
    """Two people's reports come from the same few corners, and a promise covers what each tells."""
    randomizer = gradient_randomizer("duchi", 1, 4)
    reports = [{tuple(row) for row in randomizer.randomize(np.tile(g, (400, 1)))} for g in (np.ones(4), -np.ones(4))]
    assert reports[0] & reports[1]
    assert max(len(found) for found in reports) <= 2**4
