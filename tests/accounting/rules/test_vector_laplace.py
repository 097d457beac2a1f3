"""docs/proofs/vector-laplace.md, checked by exact enumeration on the integers."""

from fractions import Fraction
from itertools import product

import pytest


def law(q: Fraction, shift: int) -> dict[int, Fraction]:
    """The clipped noise clip(X, 0, shift), X two-sided geometric with ratio q: exact atoms."""
    c = 1 / (1 + q)
    if shift == 0:
        return {0: Fraction(1)}
    atoms = {0: c, shift: c * q**shift}
    for a in range(1, shift):
        atoms[a] = c * q**a * (1 - q)
    return atoms


def profile(shifts: tuple[int, ...], q: Fraction) -> dict[int, Fraction]:
    """delta at the thresholds exp(epsilon) = q**-k, k = 0, 1, …: loss in units of 1/scale is sum(shifts) - 2y."""
    total = sum(shifts)
    mass: dict[int, Fraction] = {}
    for atoms in product(*(law(q, s).items() for s in shifts)):
        y = sum(a for a, _ in atoms)
        p = Fraction(1)
        for _, weight in atoms:
            p *= weight
        mass[y] = mass.get(y, Fraction(0)) + p
    assert sum(mass.values()) == 1
    # P - e^eps Q, with Q/P = exp(-loss) = q**(total - 2y)
    return {
        k: sum((p * (1 - q ** (total - 2 * y - k)) for y, p in mass.items() if total - 2 * y > k), Fraction(0))
        for k in range(total + 1)
    }


@pytest.mark.parametrize("q", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
@pytest.mark.parametrize("shifts", [(1, 1), (1, 2), (3, 4), (1, 7), (2, 2, 2), (1, 1, 1, 1, 1)])
def test_one_coordinate_is_the_worst(q: Fraction, shifts: tuple[int, ...]) -> None:
    spread, single = profile(shifts, q), profile((sum(shifts),), q)
    assert all(spread[k] <= single[k] for k in spread)
    assert spread[0] < single[0]


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(9, 10)])
def test_a_smaller_shift_would_not_do(q: Fraction) -> None:
    spread, wrong = profile((3, 4), q), profile((6,), q)
    assert any(spread[k] > wrong.get(k, 0) for k in spread)
