"""The course's statements on privacy loss that no other test covers; docs/course/map.md names the test of each.

Also runs the guide, docs/accounting.md.
"""

from __future__ import annotations

import doctest
import math
import pkgutil
import re
from fractions import Fraction as F
from functools import reduce
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from curador.accounting import account, convert, course, filters, meaning, pld
from curador.accounting import composition as compose
from curador.accounting import events as ev
from curador.accounting.finite import FiniteMechanism
from curador.accounting.rules import divergences as d
from curador.accounting.rules import gaussian
from curador.accounting.rules import groups as group
from curador.accounting.rules.divergences import worst_pure_renyi
from curador.accounting.rules.profiles import delta, pure_epsilon
from curador.accounting.rules.renyi import renyi, renyi_curve
from curador.errors import BudgetExceeded, InvalidParameter
from curador.privacy import ApproxDP, Neighbors, PureDP, RenyiDP
from curador.show.curves import plot_renyi
from tests.accounting.oracles import exact_renyi

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs" / "accounting.md").read_text()


# ---- the guide ----------------------------------------------------------------------------------------------------


def test_the_guide_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/accounting.md", "docs/accounting.md", 0)
    report: list[str] = []
    failed, tried = doctest.DocTestRunner().run(test, out=report.append)
    assert tried > 30
    assert not failed, "".join(report)


def test_the_guide_names_what_there_is() -> None:
    table = GUIDE[GUIDE.index("## In one table") : GUIDE.index("## The same queries")]
    names = [name for line in table.splitlines() if line.startswith("| ") for name in re.findall(r"`([^`]+)`", line)]
    assert len(names) > 15
    for name in names:
        assert callable(pkgutil.resolve_name(f"curador.accounting.{name}")), name


# ---- Knoppia -----------------------------------------------------------------------------------------------------


def laws(size: int) -> st.SearchStrategy[list[F]]:
    """Laws without zeros on ``size`` points."""
    weights = st.lists(st.integers(1, 40), min_size=size, max_size=size)
    return weights.map(lambda ws: [F(w, sum(ws)) for w in ws])


def mechanisms(outputs: int = 3, inputs: int = 2) -> st.SearchStrategy[FiniteMechanism]:
    return st.lists(laws(outputs), min_size=inputs, max_size=inputs).map(FiniteMechanism)


ORDERS = st.sampled_from([F(11, 10), F(2), F(7, 2), F(30)])
EPSILONS = st.fractions(0, 3, max_denominator=50)


@given(mechanisms())
def test_0_7_perfect_privacy_is_useless(m: FiniteMechanism) -> None:
    assert (m.epsilon == 0) == (m.matrix[0] == m.matrix[1])
    silent = FiniteMechanism([m.matrix[0], m.matrix[0]])
    assert silent.epsilon == silent.additive_p == 0
    assert silent.adversary_error(F(1, 3)) == F(1, 3)  # no better than the prior
    assert silent.posterior(0, 1, output=0, prior=F(1, 3)) == F(1, 3)


@given(mechanisms())
def test_0_8_the_definition_with_logarithms_is_the_same(m: FiniteMechanism) -> None:
    p, q = m.matrix
    logs = max(abs(math.log(a) - math.log(b)) for a, b in zip(p, q, strict=True))
    assert m.epsilon == pytest.approx(logs, rel=1e-12, abs=1e-12)
    assert m.epsilon == max(d.renyi_divergence(p, q, math.inf), d.renyi_divergence(q, p, math.inf))


def test_0_26_a_map_that_looks_at_the_data_is_no_post_processing() -> None:
    coin = FiniteMechanism([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    keep, flip = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
    assert coin.then(keep).epsilon == coin.then(flip).epsilon == coin.epsilon
    # A map that knows the database can do anything with it: hide it, or give it away.
    assert FiniteMechanism([coin.matrix[0], coin.then(flip).matrix[1]]).epsilon == 0
    assert FiniteMechanism([[1, 0], [0, 1]]).epsilon == math.inf
    assert compose.post_process(PureDP(1)).guarantee == PureDP(1)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_0_27_a_chain_of_neighbours_reaches_k_epsilon(k: int) -> None:
    """Counts 0 … k with geometric noise of ratio 2, clipped: neighbours differ by log 2, the ends by k log 2."""
    r = F(1, 2)

    def clipped(x: int) -> list[F]:
        inside = [(1 - r) / (1 + r) * r ** abs(y - x) for y in range(1, k)]
        return [r**x / (1 + r), *inside, r ** (k - x) / (1 + r)]

    steps = FiniteMechanism([clipped(x) for x in range(k + 1)], [(x, x + 1) for x in range(k)])
    ends = FiniteMechanism([clipped(0), clipped(k)])
    assert steps.worst_ratio == 2
    assert ends.worst_ratio == 2**k
    promised = group.group(PureDP(steps.epsilon), k)
    assert isinstance(promised, PureDP)
    assert ends.epsilon <= promised.epsilon <= ends.epsilon * (1 + 1e-12)


# ---- Clase 225 ---------------------------------------------------------------------------------------------------


def test_2_4_ten_counts_spend_the_budget() -> None:
    budget = filters.open_filter(PureDP(1))
    count = ev.LaplaceNoise(F(10), F(1))
    for _ in range(10):
        budget = filters.charge(budget, count)
    assert filters.spent(budget) == compose.basic([PureDP(0.1)] * 10) == PureDP(1)
    with pytest.raises(BudgetExceeded):
        filters.charge(budget, PureDP(1e-12))


def test_2_8_the_moments_accountant_by_its_own_tail_bound() -> None:
    """The moments log E exp(λ loss) of λ = 1, 2, … add up, and δ ≤ min over λ of exp(moments - λ ε) [ACGMMTZ16]."""
    step, steps, target = ev.PoissonSampled(ev.GaussianNoise(F(2), F(1)), F(1, 100)), 2000, 1e-5
    moments = {power: power * renyi(step, power + 1) for power in range(1, 65)}
    for power in (1, 7):
        exact = float(power * exact_renyi(step, F(power + 1)))
        assert exact <= moments[power] <= exact * (1 + 1e-9)
    tail = min((steps * m - math.log(target)) / power for power, m in moments.items())
    found = account.epsilon(steps * step, target, method="moments").upper
    assert pld.epsilon(steps * step, target).lower <= found <= tail  # the conversion is a better one than the tail


@pytest.mark.parametrize(
    ("epsilon", "believed", "found", "words"),
    [("0.1", 0.52498, 0.011052, "52.5%"), (1, 0.73106, 0.027183, "73.2%"), (10, 0.99995, 0.99996, "100%")],
)
def test_2_10_what_three_epsilons_mean(epsilon: Any, believed: float, found: float, words: str) -> None:
    """Strong, usual, weak: from even odds, and among 1% of false accusations."""
    told = meaning.posterior(epsilon, prior=F(1, 2))
    assert told.upper == pytest.approx(believed, abs=5e-6)
    assert words in told.sentence()
    assert meaning.detection(epsilon, F(1, 100)).tpr == pytest.approx(found, abs=5e-6)


@pytest.mark.parametrize("sure", [0, 1])
@pytest.mark.parametrize("epsilon", ["0.1", 1, 10])
def test_2_27c_who_has_the_data_is_not_made_to_forget(epsilon: Any, sure: int) -> None:
    """It is no encryption: a promise bounds what a release adds to a belief, and nothing is added to certainty."""
    told = meaning.posterior(epsilon, prior=sure)
    assert told.lower == told.upper == sure
    assert meaning.decision(epsilon, prior=sure).error == 0


@pytest.mark.parametrize("n", [10, 1000])
def test_2_11_one_over_n_lets_a_row_be_published(n: int) -> None:
    """Publishing one random row is (0, 1/n)-DP, and always publishes somebody's row."""
    others = 1 - F(1, n)
    publish = FiniteMechanism([[others, F(1, n), 0], [others, 0, F(1, n)]])
    assert publish.epsilon == math.inf
    assert publish.delta(0) == publish.delta(5) == pytest.approx(1 / n, rel=1e-12)
    assert publish.posterior(0, 1, output=1) == 1


# ---- the thesis, chapters 3 and 4 ----------------------------------------------------------------------------------


@given(mechanisms(), mechanisms(2), EPSILONS, EPSILONS)
def test_lemma_3_3_1_by_multiplying_mechanisms(a: FiniteMechanism, b: FiniteMechanism, e1: F, e2: F) -> None:
    one, two = ApproxDP(float(e1), a.delta(e1)), ApproxDP(float(e2), b.delta(e2))
    both = compose.basic([one, two])
    assert isinstance(both, ApproxDP)
    assert a.beside(b).delta(e1 + e2) <= both.delta
    assert a.beside(b).epsilon <= (a.epsilon + b.epsilon) * (1 + 1e-12)


@given(st.lists(mechanisms(2), min_size=3, max_size=4), EPSILONS)
def test_theorem_3_3_1_by_multiplying_many(several: list[FiniteMechanism], each: F) -> None:
    together = compose.basic([ApproxDP(float(each), one.delta(each)) for one in several])
    assert isinstance(together, ApproxDP)
    joint = reduce(FiniteMechanism.beside, several)
    assert joint.delta(len(several) * each) <= together.delta
    assert joint.epsilon <= sum(one.epsilon for one in several) * (1 + 1e-12)


@given(mechanisms(), ORDERS)
def test_4_2_order_infinity_is_pure(m: FiniteMechanism, order: F) -> None:
    assert m.renyi(math.inf) == m.epsilon
    assert m.renyi(order) <= m.epsilon
    for event in (ev.LaplaceNoise(F(3), F(2)), ev.RandomizedAnswer(3, F(2, 3)), ev.ExponentialChoice(F(1, 2))):
        assert renyi(event, math.inf) >= pure_epsilon(event)
        assert renyi(event, order) <= renyi(event, math.inf)


@given(mechanisms(2), st.lists(mechanisms(3), min_size=2, max_size=2), ORDERS)
def test_4_1_2_the_second_mechanism_may_depend_on_the_first_answer(
    first: FiniteMechanism, seconds: list[FiniteMechanism], order: F
) -> None:
    both = FiniteMechanism(
        [[p * q for p, second in zip(first.matrix[i], seconds, strict=True) for q in second.matrix[i]] for i in (0, 1)]
    )
    promised = compose.basic(
        [RenyiDP({order: first.renyi(order)}), RenyiDP({order: max(second.renyi(order) for second in seconds)})]
    )
    assert isinstance(promised, RenyiDP)
    assert both.renyi(order) <= promised.curve[0][1] * (1 + 1e-12)


def test_4_1_3_a_stable_map_before_the_mechanism() -> None:
    """Every record twice: neighbours move apart by 2, and by 10 if every record is taken ten times."""
    for one, two in (
        (ev.DiscreteLaplaceNoise(F(4), 1), ev.DiscreteLaplaceNoise(F(4), 2)),
        (ev.GaussianNoise(F(3), F(1)), ev.GaussianNoise(F(3), F(2))),
    ):
        promised = group.stable(renyi_curve(one, [4, 8, 32]), 1)
        assert [order for order, _ in promised.curve] == [2, 4, 16]
        assert all(renyi(two, order) <= bound for order, bound in promised.curve)
    # Read as printed, the map "ten times" would be 1-stable and cost nothing.
    assert renyi(ev.GaussianNoise(F(3), F(10)), 4) > renyi(ev.GaussianNoise(F(3), F(1)), 4)


# ---- the thesis, chapter 5: three mechanisms, three figures, one table -----------------------------------------------

GRID = [F(11 + i, 10) for i in range(90)]
TRUTHS, SCALES, SIGMAS = (F(11, 20), F(3, 4), F(9, 10)), (F(1, 2), F(1), F(2)), (F(1), F(2), F(3))


def printed_response(p: float, a: float) -> float:
    return math.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1)


def printed_laplace(scale: float, a: float) -> float:
    grown = a / (2 * a - 1) * math.exp((a - 1) / scale) + (a - 1) / (2 * a - 1) * math.exp(-a / scale)
    return math.log(grown) / (a - 1)


def test_chapter_5_propositions() -> None:
    near = 1 + F(1, 10**9)
    response = ev.RandomizedAnswer(2, F(3, 4))  # e**epsilon = 3
    assert float(pure_epsilon(response)) == pytest.approx(math.log(3), rel=1e-15)
    assert renyi(response, near) == pytest.approx(0.5 * math.log(3), rel=1e-8)
    for scale in SCALES:
        noise = ev.LaplaceNoise(scale, F(1))
        assert pure_epsilon(noise) == renyi(noise, math.inf) == 1 / scale
        limit = float(1 / scale) + math.exp(-1 / float(scale)) - 1
        assert renyi(noise, near) == pytest.approx(limit, rel=1e-8)
    assert renyi(ev.GaussianNoise(F(3), F(2)), 5) >= 5 * F(4, 9) / 2  # alpha Delta**2 / (2 sigma**2)
    sigma = gaussian.classic_gaussian_sigma("0.9", "1e-5", 1)
    assert delta(ev.GaussianNoise(sigma, F(1)), "0.9") <= 1e-5


def test_figures_5_1_to_5_3() -> None:
    """ζ against α for each mechanism, as drawn: the printed formulas, rising, straight for Gaussian noise only."""
    families: list[tuple[str, dict[str, ev.Event], list[Any]]] = [
        ("Figura 5.1", {f"p = {p}": ev.RandomizedAnswer(2, p) for p in TRUTHS}, [printed_response, TRUTHS]),
        ("Figura 5.2", {f"λ = {s}": ev.LaplaceNoise(s, F(1)) for s in SCALES}, [printed_laplace, SCALES]),
        ("Figura 5.3", {f"σ = {s}": ev.GaussianNoise(s, F(1)) for s in SIGMAS}, [lambda s, a: a / (2 * s * s), SIGMAS]),
    ]
    for title, events, (formula, parameters) in families:
        figure = plot_renyi({label: renyi_curve(e, GRID) for label, e in events.items()}, lang="es", title=title)
        (axes,) = figure.axes
        assert [line.get_gid() for line in axes.lines] == list(events)
        for line, parameter in zip(axes.lines, parameters, strict=True):
            points = np.asarray(line.get_xydata()).tolist()
            assert [x for x, _ in points] == [float(a) for a in GRID]
            for a, y in points:
                assert y == pytest.approx(formula(float(parameter), a), rel=1e-9)
            rises = [y - x for (_, x), (_, y) in pairwise(points)]
            assert min(rises) > 0
            assert (max(rises) - min(rises) < 1e-12) == (title == "Figura 5.3")


@pytest.mark.parametrize("order", [F(4), F(16)])
def test_table_5_1(order: F) -> None:
    """Each row of the table for randomised response with p = 3/4, by pure and by Rényi privacy."""
    coin = FiniteMechanism([[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]])
    epsilon, zeta = coin.epsilon, coin.renyi(order)
    promise = RenyiDP({order: zeta})
    # The probability of a set.
    for p, q in ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))):
        assert float(p) <= math.exp(epsilon) * float(q)
        assert float(p) <= course.probability_bound(q, zeta, order)
    # Afterwards.
    blur = [[F(9, 10), F(1, 10)], [F(1, 5), F(4, 5)]]
    assert coin.then(blur).epsilon <= epsilon
    assert coin.then(blur).renyi(order) <= zeta
    # Twice.
    twice = coin.beside(coin)
    assert twice.epsilon == pytest.approx(2 * epsilon, rel=1e-15)
    assert twice.renyi(order) == pytest.approx((2 * promise).curve[0][1], rel=1e-15)
    # Before: a map that moves neighbours 2**c apart.
    for c in (1, 2):
        assert group.group(PureDP(1), 2**c) == PureDP(2**c)
        if order >= 2 ** (c + 1):
            ((low, cost),) = group.stable(promise, c).curve
            assert low == order / 2**c
            assert cost == pytest.approx(3**c * zeta, rel=1e-12)
    # The three mechanisms.
    assert epsilon == pytest.approx(math.log(3), rel=1e-15)
    assert zeta == pytest.approx(printed_response(0.75, float(order)), rel=1e-12)
    assert renyi(ev.LaplaceNoise(F(2), F(1)), order) == pytest.approx(printed_laplace(2, float(order)), rel=1e-12)
    assert renyi(ev.GaussianNoise(F(2), F(1)), order) == float(order) / 8


# ---- the thesis, chapter 6 and the appendix ------------------------------------------------------------------------


@given(st.fractions(F(1, 50), 4, max_denominator=50), ORDERS)
def test_open_question_lemma_2_3_3_has_an_exact_answer(zeta: F, order: F) -> None:
    """The best bound on D of two laws with ratios within e**±ζ is randomised response's own, which attains it."""
    best = worst_pure_renyi(zeta, order)
    attained = renyi(ev.PureLoss(zeta), order)
    assert best == attained <= course.pure_renyi_bound(zeta, order) <= 2 * order * zeta**2
    assert convert.pure_to_zcdp_tight(zeta) < zeta**2 / 2  # and so, for every order at once, does ζ tanh(ζ/2)
    assert best <= order * F(convert.pure_to_zcdp_tight(zeta)) * (1 + F(1, 10**12))


def best_probability(q: F, divergence: float, order: F) -> float:
    """The largest p such that coins of p and q are within the divergence: no event can be likelier, and one is."""
    low, high = float(q), 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if d.bernoulli_renyi(middle, q, order) <= divergence else (low, middle)
    return low


@given(laws(4), laws(4), ORDERS, st.sets(st.integers(0, 3)))
def test_open_question_proposition_2_3_4_has_an_exact_answer(p: list[F], q: list[F], order: F, event: set[int]) -> None:
    """Joining outputs loses divergence, so two coins bound P(A) given Q(A), and no better bound can hold."""
    here, there = sum((p[i] for i in event), start=F(0)), sum((q[i] for i in event), start=F(0))
    if not 0 < there < 1:
        return
    zeta = d.renyi_divergence(p, q, order)
    best = best_probability(there, zeta, order)
    assert float(here) <= best * (1 + 1e-9)
    assert best <= course.probability_bound(there, zeta, order) * (1 + 1e-9)


@given(laws(5), laws(5))
def test_jensen(p: list[F], q: list[F]) -> None:
    """φ(E X) ≤ E φ(X) for X = P/Q under Q, of mean 1: what makes every f-divergence non-negative."""
    for phi in (lambda t: (t - 1) ** 2, lambda t: abs(t - 1), lambda t: t**3 - 1, lambda t: 1 / t - 1):
        assert d.f_divergence(p, q, phi) >= 0
        assert d.f_divergence(p, p, phi) == 0
    assert sum(b * (1 - (a / b) ** 2) for a, b in zip(p, q, strict=True)) <= 0  # concave: the other way round


# ---- the course's databases ----------------------------------------------------------------------------------

BLOOD = [(group, rh) for group in ("A", "B", "AB", "O") for rh in "+-"]
PATIENTS = [("A", "+"), ("A", "+"), ("AB", "-"), ("B", "+"), ("A", "-"), ("AB", "+"), ("O", "+"), ("O", "+")]


def test_blood_groups_of_the_course() -> None:
    assert course.histogram(PATIENTS, BLOOD) == (2, 1, 1, 0, 1, 1, 2, 0)
    assert course.norm(course.histogram(PATIENTS, BLOOD)) == len(PATIENTS) == 8


def test_norm_of_the_course() -> None:
    assert course.norm((2, 3, -4, 6)) == 15


def test_a_record_outside_the_universe_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="universe"):
        course.histogram([("C", "+")], BLOOD)


small = st.lists(st.integers(0, 3), max_size=6)


@given(small, small, small)
def test_distance_is_a_metric(x: list[int], y: list[int], z: list[int]) -> None:
    a, b, c = (course.histogram(d, range(4)) for d in (x, y, z))
    assert (course.distance(a, b) == 0) == (sorted(x) == sorted(y))
    assert course.distance(a, b) == course.distance(b, a)
    assert course.distance(a, c) <= course.distance(a, b) + course.distance(b, c)
    assert course.norm(a) == len(x) == course.distance(a, (0, 0, 0, 0))


@given(small)
def test_a_replaced_record_counts_two_in_distance_and_one_in_hamming(x: list[int]) -> None:
    assume(x)
    y = [(x[0] + 1) % 4, *x[1:]]
    assert course.distance(course.histogram(x, range(4)), course.histogram(y, range(4))) == 2
    assert course.hamming_distance(x, y) == 1


def test_hamming_needs_one_length() -> None:
    with pytest.raises(InvalidParameter, match="row"):
        course.hamming_distance("ab", "abc")


def test_adjacent_is_what_one_record_makes_it() -> None:
    """Against brute force: neighbours really built by adding, removing or replacing one record."""
    every = list(product(range(4), repeat=3))
    for x in every:
        plus = {tuple(n + (i == j) for j, n in enumerate(x)) for i in range(3)}
        minus = {tuple(n - (i == j) for j, n in enumerate(x)) for i in range(3) if x[i]}
        swapped = {tuple(n + (i == k) for k, n in enumerate(m)) for m in minus for i in range(3)} - {x}
        assert {e for e in every if course.adjacent(x, e)} == (plus | minus) & set(every)
        for name in (Neighbors.REPLACE, "replace"):
            assert {e for e in every if course.adjacent(x, e, name)} == swapped & set(every)  # type: ignore[arg-type]
