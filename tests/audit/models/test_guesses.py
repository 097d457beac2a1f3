"""The bound of one run, against the exact optimum over all mechanisms, against tight ones, and against false alarms."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import betainc
from scipy.stats import binom

from curador.audit.models import guesses
from curador.audit.models.guesses import SHARES, STEP, chance_of_guesses, least_epsilon, proven
from curador.errors import InvalidParameter


def _apart(s: tuple[int, ...], t: tuple[int, ...]) -> int:
    return sum(a != b for a, b in zip(s, t, strict=True))


def best_chance(people: int, right: int, epsilon: float, delta: float, guessed: int) -> float:
    """The largest chance of so many right guesses over all (epsilon, delta)-DP mechanisms: a linear program.

    The output of a mechanism is the guesses themselves: 1, -1, or 0 for none; as many as are allowed.
    """
    worlds = list(product((-1, 1), repeat=people))
    outs = [t for t in product((-1, 0, 1), repeat=people) if sum(map(abs, t)) == guessed]
    pairs = [(i, j) for i, s in enumerate(worlds) for j, u in enumerate(worlds) if _apart(s, u) == 1]
    n, k = len(worlds), len(outs)
    size = n * k + len(pairs) * k  # chances, and how far each is above what epsilon alone allows
    goal = np.zeros(size)
    for i, s in enumerate(worlds):
        for j, t in enumerate(outs):
            goal[i * k + j] = -(people - _apart(s, t) >= right) / n
    above, most = [], []
    for p, (i, j) in enumerate(pairs):
        for o in range(k):
            row = np.zeros(size)
            row[i * k + o], row[j * k + o], row[n * k + p * k + o] = 1, -math.exp(epsilon), -1
            above.append(row)
            most.append(0.0)
        row = np.zeros(size)
        row[n * k + p * k : n * k + (p + 1) * k] = 1
        above.append(row)
        most.append(delta)
    sums = np.zeros((n, size))
    for i in range(n):
        sums[i, i * k : (i + 1) * k] = 1
    found = linprog(goal, np.array(above), most, sums, np.ones(n), bounds=(0, None), method="highs")
    assert found.status == 0
    return float(-found.fun)


CASES = [
    (people, guessed, right, epsilon, delta)
    for people, guessed in ((1, 1), (2, 2), (2, 1), (3, 3), (3, 2))
    for right in range(1, guessed + 1)
    for epsilon in (0.1, 1.0)
    for delta in (0.0, 0.02, 0.2)
]


@pytest.mark.thin(18)
@pytest.mark.parametrize(("people", "guessed", "right", "epsilon", "delta"), CASES)
def test_no_mechanism_beats_the_bound(people: int, guessed: int, right: int, epsilon: float, delta: float) -> None:
    exact = best_chance(people, right, epsilon, delta, guessed)
    bound = chance_of_guesses(people, guessed, right, epsilon, delta)
    assert exact <= bound + 1e-9
    if delta == 0 or people == 1:  # randomized response reaches it
        assert exact == pytest.approx(bound, rel=1e-6)


def test_a_smaller_bound_would_be_beaten() -> None:
    """The linear program can fail the test above: without the part of delta, or with half an epsilon, it does."""
    assert best_chance(2, 2, 1.0, 0.2, 2) > chance_of_guesses(2, 2, 2, 1.0, 0.0) + 0.01
    assert best_chance(3, 3, 1.0, 0.0, 3) > chance_of_guesses(3, 3, 3, 0.5, 0.0) + 0.01


def printed(people: int, guessed: int, right: int, epsilon: float, delta: float) -> float:
    """The formula of [SNJ23], Theorem 5.2 and appendix D."""
    q = 1 / (1 + math.exp(-epsilon))
    each = [float(binom.pmf(right - i, guessed, q)) for i in range(1, right + 1)]
    return float(binom.sf(right - 1, guessed, q)) + 2 * people * delta * float(
        max(np.cumsum(each) / np.arange(1, right + 1))
    )


def test_the_printed_formula_is_exceeded_by_a_mechanism_of_two_people() -> None:
    """By the distance of the two bits from the opposite of the guesses: chances p0, p1, p1, p2, and every pair checked.

    So the part of delta here is our own, with its proof in docs/proofs/audit.md.
    """
    delta, e = 0.2, math.e
    p0 = (1 - delta * (2 + e)) / (1 + e) ** 2
    p1 = e * p0 + delta
    chances = [p0, p1, e * p1]
    assert p0 + 2 * p1 + e * p1 == pytest.approx(1)
    worlds = list(product((-1, 1), repeat=2))

    def law(s: tuple[int, ...]) -> list[float]:
        return [chances[sum(a == b for a, b in zip(s, t, strict=True))] for t in worlds]

    for s in worlds:
        for u in worlds:
            if sum(a != b for a, b in zip(s, u, strict=True)) == 1:
                assert sum(max(0.0, x - e * y) for x, y in zip(law(s), law(u), strict=True)) <= delta + 1e-12
    wrong = law((1, 1))[worlds.index((-1, -1))]  # the chance that both guesses are wrong
    assert 1 - wrong > printed(2, 2, 1, 1.0, delta) + 0.01
    assert 1 - wrong <= chance_of_guesses(2, 2, 1, 1.0, delta)


def test_published_values() -> None:
    """Without a delta, the paper's own: 75 right of 100 at an epsilon of log 3."""
    assert chance_of_guesses(100, 100, 75, math.log(3)) == pytest.approx(0.5535, abs=1e-3)
    for epsilon in (0.5, 1.0, 2.0):
        assert chance_of_guesses(1000, 100, 75, epsilon) == pytest.approx(printed(1000, 100, 75, epsilon, 0))


def test_the_part_of_delta_is_the_worst_joint_law() -> None:
    """Against a linear program over joint laws of the binomial and of what is added to it."""
    guessed, right, epsilon, people, delta = 12, 9, 0.5, 40, 0.01
    q = 1 / (1 + math.exp(-epsilon))
    pmf = binom.pmf(np.arange(guessed + 1), guessed, q)
    lifted = [(b, n) for b in range(guessed + 1) for n in range(guessed + 1)]
    goal = [-float(b + n >= right) for b, n in lifted]
    rows = [[float(b == k) for b, _ in lifted] for k in range(guessed + 1)]
    budget = people * delta * (1 - q)
    found = linprog(goal, [[float(n) for _, n in lifted]], [budget], rows, pmf, bounds=(0, None), method="highs")
    assert chance_of_guesses(people, guessed, right, epsilon, delta) == pytest.approx(-found.fun, rel=1e-6)


def test_far_steps_are_bounded_and_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = chance_of_guesses(4000, 3000, 2600, 1.9, 1e-6)
    monkeypatch.setattr(guesses, "NEAR", 5)
    assert chance_of_guesses(4000, 3000, 2600, 1.9, 1e-6) >= exact


@pytest.mark.parametrize(("people", "epsilon"), [(50, 0.5), (50, 1.0), (400, 0.5), (400, 1.0), (400, 3.0)])
def test_the_level_is_kept_exactly_by_randomized_response(people: int, epsilon: float) -> None:
    """The chance of a floor above the truth, summed over all outcomes: at most 1 %, and not far below where tight."""
    q = 1 / (1 + math.exp(-epsilon))
    above = [v for v in range(people + 1) if least_epsilon(people, people, v) > epsilon]
    assert above
    alarms = float(betainc(above[0], people - above[0] + 1, q))
    assert alarms <= 0.01
    assert alarms > 0.0005
    assert above == list(range(above[0], people + 1))


def test_revealing_with_chance_delta_is_covered() -> None:
    """Everything is told with chance delta, nothing otherwise: (0, delta)-DP, and its guesses stay below the bound."""
    for delta in (0.001, 0.01):
        told = delta + (1 - delta) * 0.5**10
        assert told <= chance_of_guesses(10, 10, 10, 0.0, delta)


def laplace_scores(epsilon: float, people: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    inside = rng.random(people) < 0.5
    return inside + rng.laplace(0, 1 / epsilon, people), inside


def test_a_histogram_of_the_claimed_epsilon_is_hardly_ever_flagged() -> None:
    """Each canary in its own bin with Laplace noise: at most 8 of 300 at 99 % but for a chance of 1.6e-2 per 1000."""
    rng = np.random.default_rng(20)
    flagged = sum(proven(*laplace_scores(1.0, 300, rng)).floor > 1 for _ in range(300))
    assert flagged <= 8
    assert binom.sf(8, 300, 0.01) < 0.004


def test_twice_the_epsilon_is_flagged_and_more_people_show_more() -> None:
    rng = np.random.default_rng(21)
    floors = [np.median([proven(*laplace_scores(2.0, n, rng)).floor for _ in range(9)]) for n in (300, 1000, 3000)]
    assert floors == sorted(floors)
    assert floors[1] > 1.4
    assert floors[2] > 1.6


def test_the_tries_pay_for_each_other() -> None:
    scores, inside = np.arange(1000.0), np.arange(1000) >= 500
    best = proven(scores, inside)
    each = least_epsilon(1000, best.guesses, best.right, confidence=1 - 0.01 / len(SHARES))
    assert best.floor == each < least_epsilon(1000, best.guesses, best.right)
    assert (best.floor / STEP).is_integer()


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(InvalidParameter):
        chance_of_guesses(10, 11, 5, 1.0)
