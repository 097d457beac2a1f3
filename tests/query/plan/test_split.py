"""The division of a budget: exact, positive, and least in the objective it states."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.errors import InvalidParameter
from curador.query.plan.split import INVERSE, INVERSE_SQUARE, PARTS, shares

IMPORTANCE = st.lists(st.floats(1e-200, 1e200), min_size=1, max_size=100)


@given(IMPORTANCE, st.sampled_from([INVERSE, INVERSE_SQUARE]))
def test_shares_are_positive_and_add_up_to_one_exactly(importance: list[float], power: float) -> None:
    found = shares(importance, power)
    assert sum(found) == 1
    assert min(found) >= Fraction(1, PARTS)
    assert len(found) == len(importance)


@given(
    st.lists(st.floats(0.01, 100), min_size=2, max_size=6),
    st.sampled_from([(INVERSE, 1), (INVERSE_SQUARE, 2)]),
    st.data(),
)
def test_no_transfer_between_two_answers_lowers_the_objective(
    importance: list[float], rule: tuple[float, int], data: st.DataObject
) -> None:
    """The objective is convex, so a point where no small transfer helps is the least one."""
    power, falls = rule
    found = [float(x) for x in shares(importance, power)]

    def objective(parts: list[float]) -> float:
        return sum(a / x**falls for a, x in zip(importance, parts, strict=True))

    i, j = data.draw(st.permutations(range(len(found))))[:2]
    moved = list(found)
    step = found[j] / 4
    moved[i], moved[j] = moved[i] + step, moved[j] - step
    assert objective(moved) >= objective(found) * (1 - 4 / PARTS / min(found))


def test_the_wrong_power_would_be_seen() -> None:
    importance = [1.0, 1000.0]
    right, wrong = shares(importance, INVERSE_SQUARE), shares(importance, INVERSE)

    def objective(parts: tuple[Fraction, ...]) -> float:
        return sum(a / float(x) ** 2 for a, x in zip(importance, parts, strict=True))

    assert objective(right) < 0.7 * objective(wrong)


@pytest.mark.parametrize("importance", [[0.0], [1.0, float("inf")], [float("nan")], [1.0] * (PARTS // 10 + 1)])
def test_what_cannot_be_divided_is_refused(importance: list[float]) -> None:
    with pytest.raises(InvalidParameter):
        shares(importance, INVERSE)
