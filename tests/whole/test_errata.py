"""Every number in docs/course-errata.md, computed again."""

from __future__ import annotations

import ast
import itertools
import math
import pkgutil
import re
import warnings
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from curador.accounting import course, events, meaning, optimal
from curador.accounting.rules import groups as group
from curador.accounting.rules import renyi as renyi
from curador.accounting.rules import tradeoffs as tradeoff
from curador.accounting.rules.gaussian import gaussian_delta, gaussian_sigma
from curador.mechanisms import sensitivity
from curador.privacy import ApproxDP, PureDP

PAGE = (Path(__file__).parents[2] / "docs" / "course-errata.md").read_text()
Value = Any  # float, Fraction, Decimal or an mpmath number
WITNESSES: dict[str, Callable[[], Value]] = {}


def on_error(found: Callable[[], Value]) -> Callable[[], Value]:
    WITNESSES[found.__name__] = found
    return found


def given(**values: Callable[[], Value]) -> None:
    WITNESSES.update(values)


# ---- Knoppia ---------------------------------------------------------------------------------------------------

given(
    posterior_eps1=lambda: meaning.posterior(1).upper,
    histogram_add=lambda: course.distance((2, 1), (2, 2)),
    histogram_replace=lambda: course.distance((2, 1), (1, 2)),
    printed_rhs=lambda: Fraction(9, 10) * 2,
    true_rhs=lambda: Fraction(1, 10) * 2,
    noisy_mean_eps=lambda: events.LaplaceNoise(Fraction(1), Fraction(1, 100)).epsilon,
    laplace_tail=lambda: mpmath.exp(-1000) / 2,
)


@on_error
def point_mass() -> float:
    """The chance of one output of a density is its integral over a point."""
    return float(mpmath.quad(lambda _: 1, [0.5, 0.5]))


@on_error
def uniform_advantage() -> float:
    """U(0, 1) against U(1, 2): half the integral of the difference of densities."""
    return float(mpmath.quad(lambda x: abs((x < 1) - (x > 1)), [0, 1, 2]) / 2)


def _response(gamma: Fraction) -> tuple[Fraction, Fraction]:
    """Chances of the answer 1 given the truths 1 and 0."""
    return gamma, 1 - gamma


@on_error
def posterior_true() -> Fraction:
    here, there = _response(Fraction(3, 4))
    return here / (here + there)


@on_error
def posterior_printed() -> Fraction:
    here, there = _response(Fraction(3, 4))
    return 1 / (1 + here / there)


_ONE_SIDED = ((Fraction(1), Fraction(0)), (Fraction(1, 2), Fraction(1, 2)))


def _largest_ratio(p: tuple[Fraction, ...], q: tuple[Fraction, ...]) -> float:
    return max(math.inf if b == 0 else float(a / b) for a, b in zip(p, q, strict=True) if a)


given(
    remove_ratio=lambda: _largest_ratio(_ONE_SIDED[0], _ONE_SIDED[1]),
    add_ratio=lambda: _largest_ratio(_ONE_SIDED[1], _ONE_SIDED[0]),
    rr_true=lambda: max(math.log(3 / 4 / (1 / 4)), math.log(1 / 4 / (3 / 4))),
    rr_printed=lambda: max(math.log(3 / 4) / (1 / 4), math.log(1 / 4 / (3 / 4))),
    exponential_choice=lambda: math.exp(2 / 2) / (math.exp(1 / 2) + math.exp(2 / 2)),
    proportional_choice=lambda: Fraction(2, 3),
)


def _classic_sigma(epsilon: float, delta: float) -> float:
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


given(
    gaussian_eps10=lambda: gaussian_delta(_classic_sigma(10, 1e-5), 1, 10),
    gaussian_eps8=lambda: gaussian_delta(_classic_sigma(8, 0.01), 1, 8),
    short8_eps=lambda: 0.5 * math.sqrt(8 * 1000 * math.log(1e5)),
    short8_delta=lambda: optimal.optimal_delta(PureDP(0.5), 1000, short("8")),
    short2_eps=lambda: 0.3 * math.sqrt(2 * 1000 * math.log(1e5)),
    short2_delta=lambda: optimal.optimal_delta(PureDP(0.3), 1000, short("2")),
)


def short(constant: str) -> float:
    return float(WITNESSES[f"short{constant}_eps"]())


@on_error
def chain_length() -> int:
    """Databases on a shortest chain of neighbours between two that differ in five entries."""
    end: tuple[int, ...] = (1,) * 5
    chain: list[tuple[int, ...]] = [(0,) * 5]
    while chain[-1] != end:
        here = chain[-1]
        i = next(i for i in range(5) if here[i] != end[i])
        chain.append((*here[:i], end[i], *here[i + 1 :]))
    return len(chain)


def _log_ratio(before: tuple[int, ...], after: tuple[int, ...], decays: tuple[Fraction, ...]) -> float:
    """The largest log ratio of noisy counts of the parts, geometric noise with the given decays."""
    outputs = itertools.product(range(-3, 9), repeat=len(decays))
    return max(
        sum((abs(o - b) - abs(o - a)) * math.log(1 / d) for o, a, b, d in zip(out, before, after, decays, strict=True))
        for out in outputs
    )


_DECAYS = (Fraction(1, 2), Fraction(1, 3))
given(
    moved_eps=lambda: _log_ratio((3, 2), (2, 3), _DECAYS),
    max_eps=lambda: max(_log_ratio((3, 2), (2, 2), _DECAYS), _log_ratio((3, 2), (3, 1), _DECAYS)),
)


@on_error
def sorted_halves() -> int:
    """Records that change in the two sorted halves when one record is removed from (0, 0, 1, 1)."""

    def halves(data: tuple[int, ...]) -> list[tuple[int, int]]:
        ranked = sorted(data)
        cut = len(ranked) // 2
        return [(part.count(0), part.count(1)) for part in (ranked[:cut], ranked[cut:])]

    return sum(course.distance(a, b) for a, b in zip(halves((0, 0, 1, 1)), halves((0, 0, 1)), strict=True))


# ---- Riascos, Clase 225 ----------------------------------------------------------------------------------------

given(
    e_tenth=lambda: math.exp(0.1),
    harm_eps1=lambda: meaning.participation(1, 10).most,
    move_l1=lambda: abs(-1) + abs(1),
    move_l2=lambda: math.hypot(-1, 1),
    posterior_eps_tenth=lambda: meaning.posterior(0.1).upper,
    mean_variance=lambda: Fraction(2 * 2**2, 10_000),
    mean_stderr=lambda: math.sqrt(2 * 2**2 / 10_000),
    census=lambda: Fraction("17.14") + Fraction("2.47"),
    loss_beyond=lambda: _loss_beyond(),
    dpsgd_std=lambda: Fraction(1 * 1, 100),
    exercise3_eps=lambda: events.LaplaceNoise(Fraction(200_000, 10_000), Fraction(200_000)).epsilon,
    e_ten=lambda: math.exp(10),
    l1_over_l2=lambda: sum([1] * 100) / math.hypot(*[1] * 100),
)


def _loss_beyond() -> float:
    """The loss of Gaussian noise is normal with mean mu**2 / 2 and variance mu**2."""
    mu = 1 / float(gaussian_sigma(1, 1e-5, 1))
    return float(mpmath.ncdf(-(1 - mu**2 / 2) / mu))


def _salaries() -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.clip(np.random.default_rng(42).lognormal(mean=10.8, sigma=0.6, size=10_000), 0, 200_000)


given(
    above_100k=lambda: int((_salaries() > 100_000).sum()),
    notebook_mean=lambda: float(_salaries().mean()),
)


def test_the_notebook_line_prints_its_braces() -> None:
    line = ast.parse("f'>100k real={{(salaries > 100_000).sum():.}}'", mode="eval").body
    assert isinstance(line, ast.JoinedStr)
    assert not any(isinstance(part, ast.FormattedValue) for part in line.values)  # nothing is computed
    assert f"{(_salaries() > 100_000).sum():,}" == "1,173"


# ---- the thesis --------------------------------------------------------------------------------------------------


def _renyi(p: list[float], q: list[float], order: float) -> float:
    if any(a and not b for a, b in zip(p, q, strict=True)):
        return math.inf
    total = math.fsum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True) if a)
    return math.log(total) / (order - 1)


_FLIP = [math.e / (1 + math.e), 1 / (1 + math.e)]
given(
    dinf_true=lambda: max(math.inf if not b else math.log(a / b) for a, b in zip((0.5, 0.5), (1.0, 0.0), strict=True)),
    dinf_printed=lambda: max(math.log(a / b) for a, b in zip((0.5, 0.5), (1.0, 0.0), strict=True) if b),
    mean_ratio=lambda: 1.0 * (0.5 / 1.0),
    rr_d2=lambda: _renyi(_FLIP, _FLIP[::-1], 2),
    a_true=lambda: Fraction(2, 2) + Fraction(1 - 2, 2 * 4),
    a_printed=lambda: Fraction((1 - 2) * 1 + 2 * 4, 4 * 1 * 4),
    integral_true=lambda: mpmath.quad(lambda x: mpmath.exp(-(x**2) + x + 0.5), [-mpmath.inf, 0, mpmath.inf]),
    integral_printed=lambda: mpmath.sqrt(mpmath.pi) * mpmath.exp(mpmath.mpf(1 - 2) / 4),
    group_true=lambda: _approx(group.group(ApproxDP(2, 1e-6), 3)).delta * 1e6,
    group_printed=lambda: 3 * math.exp(3),
    step_denominator=lambda: Fraction(4, 2**1) - 2,
    corollary_constant=lambda: 4 * math.sqrt(2),
    true_constant=lambda: 0.5 + math.sqrt(2),
    limit_01=lambda: (1 + math.sqrt(2)) * math.log(100),
    limit_001=lambda: (1 + math.sqrt(2)) * math.log(1000),
    corollary_001=lambda: 4 * math.sqrt(2) * math.log(1000),
    zeta_scale1=lambda: renyi.renyi(events.LaplaceNoise(Fraction(1), Fraction(1)), 2),
    zeta_scale2=lambda: renyi.renyi(events.LaplaceNoise(Fraction(2), Fraction(1)), 2),
    eps_scale1=lambda: events.LaplaceNoise(Fraction(1), Fraction(1)).epsilon,
    eps_scale2=lambda: events.LaplaceNoise(Fraction(2), Fraction(1)).epsilon,
    scalar_l1=lambda: sensitivity.count().l1,
    scalar_l2=lambda: math.sqrt(sensitivity.count().l2_squared),
    kl_laplace10=lambda: _laplace_kl(10),
    leak_renyi=lambda: renyi.renyi(events.ApproxLoss(Fraction(0), Fraction(1, 100)), 2),
    corollary_from=lambda: next(n for n in itertools.count(1) if 4 * math.sqrt(2 * n * math.log(1e6)) < n),
)


def _approx(guarantee: object) -> ApproxDP:
    assert isinstance(guarantee, ApproxDP)
    return guarantee


def _laplace_kl(scale: float) -> mpmath.mpf:
    """The divergence itself, integrated, and not the formula the thesis gives for it."""

    def integrand(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.exp(-abs(x) / scale) / (2 * scale) * (abs(x - 1) - abs(x)) / scale

    return mpmath.quad(integrand, [-mpmath.inf, 0, 1, mpmath.inf])


@on_error
def kl_finite() -> mpmath.mpf:
    """P(n) = n**-3 / zeta(3), Q(n) = (e - 1) e**-n: KL = E_P[n - 3 log n] - log zeta(3) - log(e - 1)."""
    zeta3 = mpmath.zeta(3)
    mean, mean_log = mpmath.zeta(2) / zeta3, -mpmath.zeta(3, 1, 1) / zeta3
    total = mean - 3 * mean_log - mpmath.log(zeta3) - mpmath.log(mpmath.e - 1)
    n = np.arange(1, 2_000_001, dtype=float)
    p = n**-3.0 / float(zeta3)
    direct = math.fsum(p * (np.log(p) - (math.log(math.e - 1) - n)))
    assert abs(float(total) - direct) < 1e-5
    return total


@on_error
def renyi_growth() -> mpmath.mpf:
    """Consecutive terms of sum P**1.5 Q**-0.5, far out."""

    def term(n: int) -> mpmath.mpf:
        return (mpmath.mpf(n) ** -3) ** 1.5 * mpmath.exp(-n) ** -0.5

    return term(100_001) / term(100_000)


_TEN = [Fraction(1, 10)] * 10 + [Fraction(0)] * 10
given(
    pointwise_gap=lambda: max(a - b for a, b in zip(_TEN, _TEN[::-1], strict=True)),
    summed_gap=lambda: sum((max(a - b, Fraction(0)) for a, b in zip(_TEN, _TEN[::-1], strict=True)), Fraction(0)),
    tenfold=lambda: course.distance(tuple(10 * x for x in (2, 1)), tuple(10 * x for x in (2, 2))),
    exponent_claimed=lambda: 2 * 0.1 * math.sqrt(10 * 5),
    exponent_proof=lambda: _exponent(lambda a: 2 * a * 10 * 0.1**2, math.sqrt(5 / (10 * 0.1**2)), 5),
    exponent_true=lambda: math.log(course.event_bound(0.1, 10, math.exp(-5))) + 5,
)


def _exponent(divergence: Callable[[float], float], order: float, tail: float) -> float:
    """What probability preservation gives: log P(S) - log Q(S), from the order the proof chooses."""
    return (1 - 1 / order) * (divergence(order) - tail) + tail


def test_the_right_constant_reaches_the_true_exponent() -> None:
    """alpha zeta**2 / 2 per step, at its own best order, is what event_bound returns."""
    best = min(_exponent(lambda a: a * 10 * 0.1**2 / 2, 1 + i / 100, 5) for i in range(1, 5000))
    assert best == pytest.approx(float(WITNESSES["exponent_true"]()), abs=1e-5)


# ---- Navarro-Arribas -----------------------------------------------------------------------------------------------

given(
    ratio_true=lambda: math.exp(-abs(0 - 0)) / math.exp(-abs(0 - 1)),
    ratio_printed=lambda: math.exp(abs(0 - 0) - abs(0 - 1)),
)


@on_error
def bad_escapes() -> int:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        compile('loc = 0\nf"$\\mu = {loc}$"', "snippet", "exec")
    return len(seen)


# ---- the page ------------------------------------------------------------------------------------------------------

PRINTED = re.findall(r"`([a-z][a-z0-9_]*) = (-?[0-9][0-9.e+-]*|inf)`", PAGE)
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE.splitlines()
    if re.match(r"\| [A-Z]\d+ \|", line)
]


def _decimal(value: Value) -> Decimal:
    if isinstance(value, Fraction):
        return Decimal(value.numerator) / Decimal(value.denominator)
    return Decimal(str(value))


@pytest.mark.parametrize(("name", "printed"), sorted(set(PRINTED)))
def test_witness(name: str, printed: str) -> None:
    with mpmath.workdps(30):
        value = _decimal(WITNESSES[name]())
    if printed == "inf":
        assert value == Decimal("inf")
        return
    figures = max(1, len(Decimal(printed).normalize().as_tuple().digits))
    shown = Decimal(printed)
    if "." not in printed and "e" not in printed:  # a whole number is meant to its last digit
        assert value.quantize(Decimal(1)) == shown
    else:
        assert Context(prec=figures).create_decimal(value) == shown


def test_every_witness_is_printed_and_every_printed_one_is_computed() -> None:
    assert {name for name, _ in PRINTED} == WITNESSES.keys()


def test_a_wrong_figure_would_be_seen() -> None:
    value = _decimal(WITNESSES["group_true"]())
    assert Context(prec=4).create_decimal(value) == Decimal("62.99")
    assert Context(prec=4).create_decimal(value * Decimal("1.0002")) != Decimal("62.99")


def test_every_row_is_complete() -> None:
    assert len(ROWS) == 80
    assert len({row[0] for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert len(row) == 7, row
        assert all(row), row
        assert row[6] in "WPL"
        assert "no number: " in row[5] or re.search(r"`\w+ = ", row[5]), row


def test_functions_that_are_named_are_there() -> None:
    named = {name for row in ROWS for name in re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", row[4])}
    assert len(named) > 5
    for name in named:
        assert callable(pkgutil.resolve_name(f"curador.accounting.{name}")), name


def test_what_is_said_to_understate_does() -> None:
    """The wrong statements that would promise too much privacy, and by how much."""

    def number(name: str) -> float:
        return float(WITNESSES[name]())

    assert number("group_true") > number("group_printed")
    assert number("gaussian_eps10") > 1e-5
    assert number("gaussian_eps8") > 0.01
    assert number("short8_delta") > 1e-5
    assert number("short2_delta") > 1e-5
    assert number("moved_eps") > number("max_eps")
    assert number("exponent_proof") > number("exponent_claimed") > number("exponent_true")
    assert number("loss_beyond") > 1e-5
    assert tradeoff.tradeoff(1).error() < 0.5
