"""Linear forms and ratios of noised measures: read from expressions, with the law that their noise has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.mechanisms.base import AdditiveNoise
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.intervals import ratio_interval, repeated_error
from curador.mechanisms.laplace import IntegerLaplace
from curador.mechanisms.sensitivity import Contribution
from curador.privacy import Neighbors
from curador.query.aggregates.linear import LinearForm, form_error, linear, ratio, ratio_ends
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.language import expressions as ex
from curador.query.language.answers import OverGroups
from curador.query.plan.steps import Noised

ROWS, UNITS = Measure(MeasureKind.ROWS), Measure(MeasureKind.UNITS)
FORMS = {
    "n": LinearForm(own={ROWS: 1.0}),
    "u": LinearForm(own={UNITS: 2.0}),
    "s": LinearForm(own={UNITS: 1.0, ROWS: 3.0}),
}
N, U, S = ex.Name("n"), ex.Name("u"), ex.Name("s")
TOTAL = OverGroups("sum", (N,))


def noised(top: AdditiveNoise, bottom: AdditiveNoise) -> dict[Measure, Noised]:
    size = ROWS.sensitivity(Contribution(1, 1), Neighbors.ADD_REMOVE, 1)
    return {UNITS: Noised(UNITS, size, top), ROWS: Noised(ROWS, size, bottom)}


def do(op: str, left: ex.Expr, right: ex.Expr) -> ex.Expr:
    return ex.Arithmetic(op, left, right)


def test_what_is_linear() -> None:
    two = ex.Literal(2)
    assert linear(do("+", do("*", two, N), ex.Literal(5)), FORMS) == LinearForm(5.0, {ROWS: 2.0})
    assert linear(do("-", S, do("/", U, two)), FORMS) == LinearForm(0.0, {UNITS: 0.0, ROWS: 3.0})
    assert linear(ex.Negate(N), FORMS) == LinearForm(-0.0, {ROWS: -1.0})
    share = linear(do("-", N, TOTAL), FORMS)
    assert share == LinearForm(0.0, {ROWS: 1.0}, {ROWS: -1.0}, window=TOTAL)
    for e in (do("*", N, U), do("/", N, U), do("/", N, ex.Literal(0)), ex.Abs(N), ex.Name("other"), do("//", N, two)):
        assert linear(e, FORMS) is None
    of_others = OverGroups("sum", (U,), (ex.Name("g"),))
    assert linear(do("+", TOTAL, of_others), FORMS) is None  # two windows have no common law here


@pytest.mark.parametrize(
    ("e", "value"),
    [
        (do("/", U, N), 4.0),
        (do("*", ex.Literal(3), do("/", U, N)), 12.0),
        (do("/", do("/", U, N), ex.Literal(2)), 2.0),
        (do("-", ex.Literal(1), do("/", U, N)), -3.0),
        (do("-", do("/", U, N), ex.Literal(1)), 3.0),
        (do("+", ex.Literal(1), do("/", U, N)), 5.0),
        (ex.Negate(do("/", U, N)), -4.0),
    ],
)
def test_constants_are_worked_into_a_ratio(e: ex.Expr, value: float) -> None:
    """With 20 in one measure and 10 in the other, U / N is 4."""
    found = ratio(e, FORMS)
    assert found is not None
    top, bottom = (f.constant + f.own.get(UNITS, 0) * 20 + f.own.get(ROWS, 0) * 10 for f in found)
    assert top / bottom == value


def test_what_is_no_ratio() -> None:
    for e in (
        N,
        do("/", N, ex.Literal(2)),
        do("*", do("/", U, N), N),
        do("/", ex.Literal(1), do("/", U, N)),
        ex.Abs(N),
    ):
        assert ratio(e, FORMS) is None


@pytest.mark.parametrize(
    ("top", "bottom"),
    [
        (IntegerLaplace(5, 1), IntegerLaplace(1, 1)),
        (Gaussian(1, sigma=7), Gaussian(1, sigma=2)),
    ],
)
def test_ends_are_those_of_two_independent_noises(top: AdditiveNoise, bottom: AdditiveNoise) -> None:
    """The same interval as the plain function has, which searches for each end by itself."""
    both = LinearForm(own={UNITS: 1.0}), LinearForm(own={ROWS: 1.0})
    x, y = np.array([500.0, -40.0, 0.0, 3.0]), np.array([100.0, 60.0, 30.0, 0.5])
    low, high = ratio_ends(x, y, both, noised(top, bottom), 1, 0.95)
    for i in range(4):
        assert (low[i], high[i]) == pytest.approx(ratio_interval(x[i], top, y[i], bottom, 0.95), rel=1e-6)
    assert (low[3], high[3]) == (-np.inf, np.inf)


NOISES = [IntegerLaplace(4, 1), Gaussian(1, sigma=5), IntegerGaussian(1, sigma=5)]


@given(
    st.sampled_from(NOISES),
    st.integers(1, 30),
    st.floats(50, 4000),
    st.floats(0.01, 0.9),
    st.sampled_from([0.6, 0.95, 0.999, 1 - 1e-6]),
)
def test_no_end_excludes_what_the_noise_may_have_been(
    noise: AdditiveNoise, groups: int, total: float, part: float, confidence: float
) -> None:
    """At an end, what noise would have to be is too large, up to the digits that laws are worked out to."""
    both = LinearForm(own={ROWS: 1.0}), LinearForm(over={ROWS: 1.0}, window=TOTAL)
    x, y = np.array([part * total]), np.array([total])
    low, high = (ends[0] for ends in ratio_ends(x, y, both, noised(noise, noise), groups, confidence))
    assert low <= part <= high

    def excess(r: float) -> float:
        terms = [(1 - r, noise, 1), (-r, noise, groups - 1)]
        known = [(w, m, n) for w, m, n in terms if w and n]
        return float(abs(x[0] - r * y[0])) - (repeated_error(known, confidence) * 0.998 if known else 0.0)

    for end in (low, high):
        if np.isfinite(end):
            assert excess(float(end)) >= -1e-6 * total


def test_a_form_over_a_window_has_the_noise_of_all_its_groups() -> None:
    noise = Gaussian(1, sigma=2)
    form = linear(do("-", N, OverGroups("avg", (N,))), FORMS)
    assert form is not None
    # 1 - 1/4 of its own noise, and 1/4 of each of three others: 2 times the root of 9/16 + 3/16.
    wanted = Gaussian(1, sigma=2).error(0.95) * 0.75**0.5
    assert form_error(form, noised(noise, noise), 4, 0.95) == pytest.approx(wanted, rel=1e-6)
