"""Finite mechanisms: every number against brute force over sets of outputs and over guessing rules."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curador.accounting.finite import FiniteMechanism
from curador.errors import InvalidParameter
from curador.numbers import rational

F = Fraction


@st.composite
def mechanisms(draw: st.DrawFn, rows: int | None = None) -> FiniteMechanism:
    outputs = draw(st.integers(1, 4))
    count = rows or draw(st.integers(2, 3))
    weights = st.lists(st.integers(0, 6), min_size=outputs, max_size=outputs).filter(any)
    return FiniteMechanism(
        [[F(w, sum(row)) for w in row] for row in draw(st.lists(weights, min_size=count, max_size=count))]
    )


def ordered(m: FiniteMechanism) -> list[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
    return [(m.matrix[i], m.matrix[j]) for a, b in m.neighbors for i, j in ((a, b), (b, a))]


@given(mechanisms())
def test_epsilon_is_the_largest_ratio_over_all_sets(m: FiniteMechanism) -> None:
    ratios: list[float | Fraction] = [F(1)]
    for p, q in ordered(m):
        for size in range(1, len(p) + 1):
            for s in combinations(range(len(p)), size):
                a, b = sum(p[k] for k in s), sum(q[k] for k in s)
                if a:
                    ratios.append(a / b if b else math.inf)
    worst = max(ratios)
    assert m.worst_ratio == worst
    if worst == math.inf:
        assert m.epsilon == math.inf
    else:
        assert math.log(worst) * (1 - 1e-15) <= m.epsilon <= math.log(worst) * (1 + 1e-15)


@given(mechanisms(), st.fractions(0, 3))
def test_delta_is_the_largest_excess_over_all_sets(m: FiniteMechanism, epsilon: Fraction) -> None:
    excess = max(
        sum(p[k] for k in s) - math.exp(epsilon) * sum(q[k] for k in s)
        for p, q in ordered(m)
        for size in range(len(p) + 1)
        for s in combinations(range(len(p)), size)
    )
    assert m.delta(epsilon) == pytest.approx(max(0.0, float(excess)), rel=1e-12, abs=1e-15)


@given(mechanisms())
def test_additive_p_is_the_first_tentative_definition(m: FiniteMechanism) -> None:
    p = m.additive_p
    assert all(abs(a - b) <= p for x, y in ordered(m) for a, b in zip(x, y, strict=True))
    assert p == 0 or any(abs(a - b) == p for x, y in ordered(m) for a, b in zip(x, y, strict=True))


def test_why_the_first_tentative_definition_fails() -> None:
    revealing = FiniteMechanism([["0.999", "0.001", 0], ["0.999", 0, "0.001"]])
    assert revealing.additive_p == F(1, 1000)
    assert revealing.worst_ratio == math.inf
    assert revealing.delta(100) == 0.001
    assert revealing.posterior(0, 1, output=1) == 1


@given(mechanisms(rows=2), st.fractions(0, 1))
def test_no_rule_guesses_better_than_the_map_rule(m: FiniteMechanism, prior: Fraction) -> None:
    p, q = m.matrix
    errors = []
    for guesses in product((0, 1), repeat=len(p)):  # what to say for each output
        wrong = (prior * a if guess else (1 - prior) * b for guess, a, b in zip(guesses, p, q, strict=True))
        errors.append(sum(wrong, start=F(0)))
    # The easier of the two orders of the pair, since a prior has a side.
    other = FiniteMechanism([q, p]).adversary_error(prior)
    assert m.adversary_error(prior) == other <= min(errors)
    if prior == F(1, 2):
        assert other == min(errors)


@given(mechanisms(rows=2))
def test_error_and_posterior_obey_the_course_bounds(m: FiniteMechanism) -> None:
    e = m.epsilon
    assert m.adversary_error() >= 1 / (1 + math.exp(e)) * (1 - 1e-12) if e < 700 else m.adversary_error() >= 0
    if e < 700:
        for output in range(len(m.matrix[0])):
            if m.matrix[0][output] + m.matrix[1][output]:
                posterior = m.posterior(0, 1, output)
                assert (1 - 1e-12) / (1 + math.exp(e)) <= posterior <= (1 + 1e-12) / (1 + math.exp(-e))


@settings(max_examples=40)
@given(mechanisms(), st.data())
def test_post_processing_never_costs_more(m: FiniteMechanism, data: st.DataObject) -> None:
    width = len(m.matrix[0])
    weights = st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any)
    kernel = [[F(w, sum(row)) for w in row] for row in data.draw(st.lists(weights, min_size=width, max_size=width))]
    after = m.then(kernel)
    assert after.worst_ratio <= m.worst_ratio
    for epsilon in (0, F(1, 2), 2):
        assert after.delta(epsilon) <= m.delta(epsilon) * (1 + 1e-14)
    for alpha in (F(3, 2), 2, 7):
        assert after.renyi(alpha) <= m.renyi(alpha) * (1 + 1e-14)


@settings(max_examples=50)
@given(mechanisms(rows=2), st.sampled_from([F(5, 4), F(2), F(9)]))
def test_independent_runs_add_their_renyi_curves(m: FiniteMechanism, alpha: Fraction) -> None:
    twice = m.beside(m)
    assert twice.renyi(alpha) == pytest.approx(2 * m.renyi(alpha), rel=1e-14)
    assert twice.worst_ratio == (m.worst_ratio**2 if m.worst_ratio != math.inf else math.inf)


def test_only_neighbours_count() -> None:
    rows = [[F(1, 2), F(1, 2)], [F(1, 3), F(2, 3)], [F(1, 6), F(5, 6)]]
    path = FiniteMechanism(rows, [(0, 1), (2, 1)])
    assert path.worst_ratio == 2
    assert FiniteMechanism(rows).worst_ratio == 3
    assert path.neighbors == ((0, 1), (1, 2))
    assert FiniteMechanism(rows, []).epsilon == 0.0
    assert FiniteMechanism(rows, []).adversary_error(F(1, 3)) == F(1, 3)


def test_floats_are_the_decimals_they_print() -> None:
    assert FiniteMechanism([[0.1, 0.9], [0.3, 0.7]]).worst_ratio == 3
    assert rational(0.1) + rational(0.9) == 1


def test_what_is_no_mechanism_is_refused() -> None:
    bads: list[Any] = [[], [[F(1, 2)]], [[1], [F(1, 2), F(1, 2)]], [[-1, 2]], [["a"]]]
    for bad in bads:
        with pytest.raises(InvalidParameter):
            FiniteMechanism(bad)
    with pytest.raises(InvalidParameter, match="different inputs"):
        FiniteMechanism([[1], [1]], [(0, 2)])
    with pytest.raises(InvalidParameter, match="different inputs"):
        FiniteMechanism([[1], [1]], [(1, 1)])
    coin = FiniteMechanism([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    with pytest.raises(InvalidParameter, match="never happens"):
        FiniteMechanism([[1, 0], [1, 0]]).posterior(0, 1, 1)
    with pytest.raises(InvalidParameter, match="one law per output"):
        coin.then([[1]])
    with pytest.raises(InvalidParameter, match="different inputs"):
        coin.beside(FiniteMechanism([[1], [1], [1]]))
    with pytest.raises(InvalidParameter, match="at least 1"):
        coin.renyi(F(1, 2))
