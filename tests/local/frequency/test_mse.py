"""Mean squared errors against the closed forms of the literature, at the data that were reported on.

Given the people, an estimate is a mean of many independent reports, so its error is all but normal, and R runs of d
uncorrelated ones give a chi-square law of R d degrees: relative deviation sqrt(2/(R d)), of which five are allowed.

Keys have different variances where epsilon is large, and a few common ones would outweigh the rest.  So each squared
error is divided by its own variance first; then the d terms weigh alike and d counts in full.  The plain mean is looked
at as well, with as many degrees as it has: (sum of variances)**2 / sum of their squares, which is d if they are alike.

Whether the d errors are uncorrelated, given the people:
  unary encoding: every bit has coins of its own;
  local hashing: the hashes of two keys and of a third are pairwise independent, so supports are uncorrelated;
  k-RR, subset selection: supports add up to a constant, so d - 1 degrees: 3 % of the tolerance at k = 16;
  Hadamard: keys u and v are correlated, by f (2p - 1), only through the one key whose row is the product of theirs; the
    variance grows by the sum of the squares of that, at most 15 % for these data: a tolerance of 4.7 deviations;
  vectors: a corner's turning leaves products of bits alone, so only -t_i t_j is left of the covariance, beside B**2.
None of this is worth a wider tolerance.  Seeds are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from curador.local import (
    KRR,
    OLH,
    OUE,
    SUE,
    DBitFlip,
    Duchi,
    DuchiVector,
    Hadamard,
    Hybrid,
    LocalLaplace,
    Piecewise,
    Range,
    Record,
    SubsetSelection,
)
from curador.local.frequency.local_hashing import best_hash_bits
from curador.local.frequency.subset import best_size
from curador.numbers import set_fields
from tests.exact import Stream
from tests.mutants import local as mutants

Floats = NDArray[np.float64]

EPSILONS = [0.5, 1, 2, 4]
SHAPES: dict[str, Callable[[np.random.Generator, Any], Floats]] = {
    "gaussian": lambda rng, size: rng.normal(0.2, 0.4, size).clip(-1, 1),
    "uniform": lambda rng, size: rng.uniform(-1, 1, size),
    "power law": lambda rng, size: 2 * rng.power(0.3, size) - 1,
}


def off(errors: Floats, variances: Floats) -> float:
    """How many times the tolerance the errors, a row per run, are away from their variances: at most 1 if all is well.

    ``variances`` are those of each run, or of all alike.
    """
    runs, d = errors.shape
    variances = np.broadcast_to(variances, errors.shape)
    each = abs(np.mean(errors**2 / variances) - 1) / (5 * math.sqrt(2 / (runs * d)))
    degrees = variances.sum() ** 2 / (variances**2).sum()
    plain = abs(np.mean(errors**2) / variances.mean() - 1) / (5 * math.sqrt(2 / degrees))
    return float(max(each, plain))


# ---- one number ------------------------------------------------------------------------------------------------------

RUNS, USERS = 4000, 100


def one_report(made: type[Any], epsilon: float, t: Floats) -> Floats:
    """The variance of one report of t in [-1, 1]: Laplace's, [DJW18]'s and [WXYZ19]'s formulas."""
    e, z = math.exp(epsilon), math.exp(epsilon / 2)
    coin = ((e + 1) / (e - 1)) ** 2 - t**2
    cell = t**2 / (z - 1) + (z + 3) / (3 * (z - 1) ** 2)
    mix = 1 - 1 / z if epsilon > 0.609352 else 0
    forms = {LocalLaplace: 8 / epsilon**2 + 0 * t, Duchi: coin, Piecewise: cell, Hybrid: mix * cell + (1 - mix) * coin}
    return next(form for kind, form in forms.items() if issubclass(made, kind))


def mean_is_off(made: type[Any], epsilon: float, shape: str, runs: int = RUNS) -> float:
    values = SHAPES[shape](np.random.default_rng(7), USERS)
    task = made(-1, 1, epsilon)
    reports = task.randomize(np.tile(values, runs), entropy=Stream(1)).reshape(runs, USERS)
    errors = np.array([task.estimate(some).value for some in reports]) - values.mean()
    return off(errors[:, np.newaxis], one_report(made, epsilon, values).mean() / USERS)


@pytest.mark.thin(10)
@pytest.mark.parametrize("made", [LocalLaplace, Duchi, Piecewise, Hybrid])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_means_of_one_number(made: type[Any], epsilon: float, shape: str) -> None:
    assert mean_is_off(made, epsilon, shape) < 1


class Quieter(LocalLaplace):
    """Noise of nine tenths of the scale."""

    @property
    def scale(self) -> Any:
        return super().scale * 9 / 10


@pytest.mark.parametrize("wrong", [Quieter, mutants.AnyCellElse])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_wrong_law_of_one_number_is_noticed(wrong: type[Any], shape: str) -> None:
    assert mean_is_off(wrong, 1, shape) > 1


# ---- sixteen numbers -------------------------------------------------------------------------------------------------

D = 16


def vector_is_off(made: type[Any], epsilon: float, shape: str, runs: int = 200, users: int = 200) -> float:
    values = SHAPES[shape](np.random.default_rng(8), (users, D))
    task = made(-1, 1, epsilon, D)
    reports = task.randomize(np.tile(values, (runs, 1)), entropy=Stream(2)).reshape(runs, users, -1)
    errors = np.array([task.estimate(some).values for some in reports]) - values.mean(axis=0)
    # B = (e + 1)/(e - 1) d / E|W|, W the sum of d fair signs, which is d - 2 Bin(d, 1/2).
    agreed = sum(math.comb(D, j) * abs(D - 2 * j) for j in range(D + 1)) / (D * 2**D)
    reach = 1 / (agreed * math.tanh(epsilon / 2))
    return off(errors, (reach**2 - (values**2).mean(axis=0)) / users)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_means_of_sixteen_numbers_as_a_vector(epsilon: float, shape: str) -> None:
    assert vector_is_off(DuchiVector, epsilon, shape) < 1


class NeverAway(DuchiVector):
    """Who should report a corner away from their own reports their own."""

    def _orient(self, corner: NDArray[np.bool_], entropy: Any) -> NDArray[np.bool_]:
        turned = super()._orient(corner, entropy)
        away = 2 * np.count_nonzero(turned == corner, axis=1) < self.dimension
        turned[away] = corner[away]
        return turned


def test_a_wrong_law_of_a_vector_is_noticed() -> None:
    """By its bias alone: whatever a bit's law is, its square is the same."""
    assert vector_is_off(NeverAway, 1, "power law") > 1


def record_is_off(epsilon: float, shape: str, runs: int = 80, users: int = 2000, told: float = 1.0) -> float:
    """As :func:`mean_is_off` of the sixteen attributes of records; ``told`` times epsilon is what the formula sees."""
    values = SHAPES[shape](np.random.default_rng(9), (D, users))
    names = [f"x{j}" for j in range(D)]
    task = Record(dict.fromkeys(names, Range(-1, 1)), epsilon)
    columns, entropy = dict(zip(names, values, strict=True)), Stream(3)
    noise = np.array([one_report(Hybrid, told * epsilon / task.sampled, column).mean() for column in values])
    errors, drawn = np.empty((runs, D)), np.empty((runs, D))
    for i in range(runs):
        found: Any = task.estimate(task.randomize(columns, entropy=entropy))
        errors[i] = [found[name].value for name in names] - values.mean(axis=1)
        drawn[i] = [found[name].users for name in names]
    # Given how many drew an attribute, they are a sample without replacement.
    return off(errors, noise / drawn + values.var(axis=1, ddof=1) * (1 / drawn - 1 / users))


@pytest.mark.thin(4)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_means_of_sixteen_numbers_as_a_record(epsilon: float, shape: str) -> None:
    assert record_is_off(epsilon, shape) < 1


def test_a_record_of_more_epsilon_than_told_is_noticed() -> None:
    assert record_is_off(1, "uniform", told=1.2) > 1


# ---- frequencies -----------------------------------------------------------------------------------------------------

ORACLES: list[type[Any]] = [KRR, SUE, OUE, OLH, Hadamard, SubsetSelection]
SIZES = {16: (200, 2000), 1024: (4, 20_000)}
"""Runs and users for so many keys."""


def supports(made: type[Any], keys: int, epsilon: float) -> tuple[float, float]:
    """p and q of the literature [WBLJ17, YB18, ASZ19]."""
    e, root = math.exp(epsilon), math.exp(epsilon / 2)
    w, answers = best_size(keys, task_epsilon(epsilon)), 1 << best_hash_bits(task_epsilon(epsilon))
    inside = w * e / (w * e + keys - w)
    forms = {
        KRR: (e / (e + keys - 1), 1 / (e + keys - 1)),
        SUE: (root / (root + 1), 1 / (root + 1)),
        OUE: (1 / 2, 1 / (e + 1)),
        OLH: (e / (e + answers - 1), 1 / answers),
        Hadamard: (e / (e + 1), 1 / 2),
        SubsetSelection: (inside, (inside * (w - 1) + (1 - inside) * w) / (keys - 1)),
    }
    return next(form for kind, form in forms.items() if issubclass(made, kind))


def task_epsilon(epsilon: float) -> Any:
    return KRR(2, epsilon).epsilon


def people(keys: int, users: int) -> tuple[NDArray[np.int64], Floats]:
    """Keys by a power law, and how frequent each came out."""
    weights = 1 / np.arange(1, keys + 1) ** 1.1
    values = np.random.default_rng(keys).choice(keys, users, p=weights / weights.sum())
    return values, np.bincount(values, minlength=keys) / users


def oracle_is_off(made: type[Any], keys: int, epsilon: float) -> float:
    runs, users = SIZES[keys]
    values, true = people(keys, users)
    task, entropy = made(keys, epsilon), Stream(4)
    errors = np.array([task.estimate(task.randomize(values, entropy=entropy)).values - true for _ in range(runs)])
    p, q = supports(made, keys, epsilon)
    return off(errors, (true * p * (1 - p) + (1 - true) * q * (1 - q)) / (users * (p - q) ** 2))


@pytest.mark.thin(14)
@pytest.mark.parametrize("made", ORACLES)
@pytest.mark.parametrize("keys", SIZES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_frequencies(made: type[Any], keys: int, epsilon: float) -> None:
    assert oracle_is_off(made, keys, epsilon) < 1


class FewerOthers(OUE):
    """Other keys' bits are set a tenth less often than the collector is told."""

    def _randomize(self, own: NDArray[np.int64], entropy: Any) -> NDArray[np.uint8]:
        told = self.other
        set_fields(self, other=told * 9 // 10)
        reports = super()._randomize(own, entropy)
        set_fields(self, other=told)
        return reports


@pytest.mark.parametrize(
    ("wrong", "keys"), [(mutants.SameForAll, 16), (mutants.FirstRowIsOnes, 16), (FewerOthers, 16), (FewerOthers, 1024)]
)
def test_a_wrong_law_of_frequencies_is_noticed(wrong: type[Any], keys: int) -> None:
    assert oracle_is_off(wrong, keys, 1) > 1


def dbitflip_is_off(keys: int, sampled: int, epsilon: float, told: float = 1.0) -> float:
    runs, users = SIZES[keys]
    values, true = people(keys, users)
    task, entropy = DBitFlip(keys, epsilon, sampled), Stream(5)
    p = 1 / (1 + math.exp(-told * epsilon / 2))
    errors, variances = np.empty((runs, keys)), np.empty((runs, keys))
    for i in range(runs):
        found = task.estimate(task.randomize(values, entropy=entropy))
        errors[i] = found.values - true
        # One coin whichever answer is true; and who was asked is a sample without replacement.
        drawn = true * (1 - true) * users / (users - 1) * (1 / found.seen - 1 / users)
        variances[i] = p * (1 - p) / (2 * p - 1) ** 2 / found.seen + drawn
    return off(errors, variances)


@pytest.mark.parametrize(("keys", "sampled"), [(16, 4), (1024, 16)])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_frequencies_by_dbitflip(keys: int, sampled: int, epsilon: float) -> None:
    assert dbitflip_is_off(keys, sampled, epsilon) < 1


def test_a_dbitflip_of_more_epsilon_than_told_is_noticed() -> None:
    assert dbitflip_is_off(16, 4, 1, told=1.2) > 1
