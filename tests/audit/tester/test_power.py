"""What is called detectable is detected."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from curador.audit.tester.distinguish import compare
from curador.audit.tester.power import HARDLY, NOTHING, POWER, detectable
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP, RenyiDP
from tests.mutants.fault import gaussian, laplace


def size(words: str) -> float:
    found = re.fullmatch(r"a scale error ≥ (\d+) % \((?:Laplace|Gaussian) noise\)", words)
    assert found
    return int(found[1]) / 100


@pytest.mark.parametrize(
    ("claim", "n"), [(PureDP(1), 10_000), (PureDP(0.2), 30_000), (ZCDP(0.5), 10_000), (ApproxDP(1, 0.126936), 10_000)]
)
def test_an_error_of_the_size_that_is_named_is_found(claim: Guarantee, n: int) -> None:
    share = 1 - size(detectable(claim, n, 0.999))
    runs, found = 30, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        if isinstance(claim, PureDP):
            one, two = (at + laplace(rng, share / claim.epsilon, n) for at in (0, 1))
        else:
            one, two = (at + gaussian(rng, share, n) for at in (0, 1))
        found += compare(one, two, claim).violated
    assert found >= POWER * runs


def test_what_the_outputs_did_not_show_must_be_made_up_for() -> None:
    """Of a quarter of the stated rho half of the noise may be missing, and of an epsilon three quarters."""
    assert size(detectable(PureDP(1), 1_000_000, 0.999, 0.25)) == 0.75
    assert size(detectable(ZCDP(0.5), 1_000_000, 0.999, 0.25)) == 0.5
    assert detectable(PureDP(1), 1_000_000, 0.999, 1.2) == detectable(PureDP(1), 1_000_000, 0.999)
    assert detectable(PureDP(1), 1000, 0.999, 0.0) == HARDLY


def test_more_runs_find_smaller_errors() -> None:
    sizes = [size(detectable(PureDP(1), n, 0.999)) for n in (1000, 10_000, 100_000, 1_000_000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] <= 0.05


def test_where_nothing_can_be_found_that_is_said() -> None:
    assert detectable(PureDP(20), 1000, 0.999) == NOTHING
    assert detectable(ApproxDP(1, 1e-5), 300, 0.999) != ""
    assert detectable(PureDP(0), 1000, 0.999).startswith("chances that differ by ")
    assert detectable(ApproxDP(0, 0.1), 1000, 0.999).startswith("chances that differ by ")
    assert detectable(PureDP(math.inf), 1000, 0.999) == NOTHING
    assert detectable(RenyiDP({2: 0.5}), 100_000, 0.999).startswith("a scale error")
