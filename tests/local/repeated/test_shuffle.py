"""Shuffling: the bound against enumerated batches, against many digits, and against wrong variants."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, permutations
from typing import Any

import mpmath
import numpy as np
import pytest

from curador import accounting
from curador.errors import InvalidParameter, NotPromised
from curador.local import KRR, OUE, SUE, Duchi, Hadamard, Longitudinal, Rappor, Shuffled, SubsetSelection, shuffled
from curador.local.repeated import shuffle
from curador.local.repeated.shuffle import Randomizer, randomizer, shuffled_delta
from curador.privacy import ApproxDP, Neighbors
from tests.local.exact_law import law, level_law
from tests.steps import at_most

MP = mpmath.mp.clone()
MP.dps = 60
Law = dict[Any, Fraction]


def mp(x: Fraction | float) -> Any:
    return MP.mpf(Fraction(x).numerator) / Fraction(x).denominator


# ---- oracles ---------------------------------------------------------------------------------------------------------


def batch_law(laws: list[Law]) -> Law:
    """The exact law of a shuffled batch: of how often each report occurs."""
    found: Law = {(): Fraction(1)}
    for one in laws:
        more: Law = {}
        for seen, chance in found.items():
            for report, p in one.items():
                key = tuple(sorted((*seen, report)))
                more[key] = more.get(key, Fraction(0)) + chance * p
        found = more
    return found


def divergence(p: Law, q: Law, epsilon: Fraction) -> Any:
    """The smallest delta at epsilon, to sixty digits."""
    e = MP.exp(mp(epsilon))
    return MP.fsum(max(MP.mpf(0), mp(p.get(x, 0)) - e * mp(q.get(x, 0))) for x in {*p, *q})


def clone_delta(ratio: Any, clones: Any, others: int, x: Any) -> Any:
    """The divergence of the pair of counts itself, summed over every count of clones and heads."""
    total = MP.mpf(0)
    for c in range(others + 1):
        chance = MP.binomial(others, c) * clones**c * (1 - clones) ** (others - c)
        heads = [MP.mpf(0), *(MP.mpf(math.comb(c, j)) / 2**c for j in range(c + 1)), MP.mpf(0)]
        for j in range(c + 2):
            here = (ratio * heads[j] + heads[j + 1]) / (ratio + 1)
            there = (heads[j] + ratio * heads[j + 1]) / (ratio + 1)
            total += chance * max(MP.mpf(0), here - x * there)
    return total


def general(epsilon: Fraction, users: int, at: Fraction) -> Any:
    return clone_delta(MP.exp(mp(epsilon)), MP.exp(-mp(epsilon)), users - 1, MP.exp(mp(at)))


# ---- the theorem, on batches that are really shuffled ----------------------------------------------------------------

TASKS: list[Any] = [KRR(2, 1), KRR(3, 2), KRR(4, "1/2"), SUE(2, 2), OUE(2, 1), OUE(3, 3), Hadamard(3, 1)]
TASKS += [SubsetSelection(4, 1), KRR(3, 4), SUE(3, 4)]


def laws_of(task: Any) -> list[Law]:
    return [law(task, v) for v in range(task.size)]


@pytest.mark.parametrize("task", TASKS, ids=lambda t: f"{t.mechanism}{t.size}")
def test_no_batch_loses_more_than_the_bound(task: Any) -> None:
    """Every pair of values of one person, every data of the others, both ways round."""
    laws, users = laws_of(task), 4 if len(laws_of(task)[0]) <= 4 else 3
    for share in ("0", "1/4", "1/2", "3/4", "9/10"):
        at = task.epsilon * Fraction(share)
        bound = shuffled_delta(task, users, at)
        for others in combinations_with_replacement(range(task.size), users - 1):
            rest = [laws[v] for v in others]
            batches = {v: batch_law([laws[v], *rest]) for v in range(task.size)}
            assert all(divergence(batches[a], batches[b], at) <= bound for a, b in permutations(batches, 2))


@pytest.mark.parametrize("task", [KRR(3, 1), OUE(3, 2), SUE(2, "1/4")], ids=lambda t: str(t.mechanism))
@pytest.mark.parametrize("users", [1, 2, 5, 9])
def test_the_bound_is_that_of_clones_and_no_looser(task: Any, users: int) -> None:
    """Batches of clones and of others who answer something else, in fractions: the worst that the theorem allows."""
    known = randomizer(task)
    e, half = Fraction(known.ratio), Fraction(known.clones) / 2
    own = {0: e / (e + 1), 1: 1 / (e + 1)}, {0: 1 / (e + 1), 1: e / (e + 1)}
    other = {0: half, 1: half, 2: 1 - 2 * half}
    one, two = (batch_law([mine] + [other] * (users - 1)) for mine in own)
    for at in (Fraction(0), task.epsilon / 7, task.epsilon / 2):
        bound = mp(shuffled_delta(task, users, at))
        for true in (divergence(one, two, at), divergence(two, one, at)):
            assert true <= bound <= true * (1 + MP.mpf("1e-9"))


def test_the_chance_of_clones_is_that_of_the_law() -> None:
    """R(x) >= clones (Q0 + Q1)/2 for every x, where Q0 + Q1 = R(a) + R(b), for all three values, exactly."""
    levels = Duchi(low=0, high=1, epsilon=1)
    duchi = [level_law(levels, u) for u in (0, 1 << 14, 1 << 15, 1 << 16)]
    for task, laws in [*((t, laws_of(t)) for t in TASKS), (levels, duchi)]:
        half = Fraction(randomizer(task).clones) / 2
        for a, b in permutations(laws, 2):
            assert all(one[y] >= half * (a[y] + b[y]) for one in laws for y in a)


def test_other_randomizers_are_not_given_the_clones_of_randomized_response() -> None:
    """Two bits set are likely under both of their keys: under a third, fewer than 2/(e + 1) of them are clones."""
    task = SUE(3, 4)
    laws, high = laws_of(task), 2 / (task.ratio + 1)
    assert any(one[y] < high / 2 * (a[y] + b[y]) for a, b in permutations(laws, 2) for one in laws for y in a)


# ---- the numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("users", [1, 2, 3, 10, 41])
@pytest.mark.parametrize("epsilon", ["1/100", "1/2", "2", "5"])
def test_delta_is_the_sum_over_clones_rounded_up(users: int, epsilon: str) -> None:
    e = Fraction(epsilon)
    for share in ("0", "1/10", "1/2", "99/100"):
        true = general(e, users, e * Fraction(share))
        assert true <= mp(shuffled_delta(epsilon, users, e * Fraction(share))) <= true * (1 + MP.mpf("1e-8"))


@pytest.mark.parametrize(
    ("users", "epsilon", "delta"), [(300, "1", "1/1000"), (200, "1/10", "1/1000"), (150, "3", ".01")]
)
def test_epsilon_is_the_least(users: int, epsilon: str, delta: str) -> None:
    found = Fraction(str(shuffled(epsilon, users, delta).guarantee.epsilon))
    assert general(Fraction(epsilon), users, found) <= mp(Fraction(delta))
    assert general(Fraction(epsilon), users, found * (1 - Fraction(1, 10**6))) > mp(Fraction(delta))


def test_grouping_and_truncation_are_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    fine = shuffled(1, 400, "0.001").guarantee.epsilon
    clones = shuffle._clones(randomizer(1), 400, 0.001)
    assert clones.least[0] > 0  # something is cut off
    assert clones.fewer > 1e-300
    monkeypatch.setattr(shuffle, "ROWS_MOST", 16)
    coarse = shuffled(1, 400, "0.001").guarantee.epsilon
    assert fine < coarse < 1.2 * fine
    assert len(shuffle._clones(randomizer(1), 400, 0.001).least) == 16


@pytest.mark.parametrize(
    ("users", "epsilon", "at"), [(20_000, 1, "0.03"), (20_000, 4, "0.4"), (200_000, "1/2", "0.003")]
)
def test_large_batches_agree_with_another_library(users: int, epsilon: Any, at: str) -> None:
    """Every number of clones for itself, by SciPy's binomial laws; grouping may cost a hundredth of delta."""
    from scipy.stats import binom

    e, x = math.exp(Fraction(epsilon)), math.exp(Fraction(at))
    c = np.arange(users)
    place = np.floor((x * e - 1) / ((e - 1) * (x + 1)) * (c + 1))
    each = (e - x) / (e + 1) * binom.pmf(place, c, 0.5) - (x - 1) * binom.sf(place, c, 0.5)
    true = float(np.dot(binom.pmf(c, users - 1, 1 / e), each))
    assert true * (1 - 1e-7) <= shuffled_delta(epsilon, users, at) <= true * 1.01
    assert 1e-9 < true < 1e-2


@pytest.mark.parametrize("count", [5, 60, 3000])
@pytest.mark.parametrize("chance", [0.01, 0.4, 0.9])
def test_chances_of_groups_are_upper_bounds(count: int, chance: float) -> None:
    mean = count * chance
    low, high = max(0, math.floor(mean - 4 * math.sqrt(mean))), min(count, math.ceil(mean + 4 * math.sqrt(mean)))
    starts = np.unique(np.linspace(0, high - low + 1, 5, endpoint=False).astype(np.int64))
    fewer, groups = shuffle._group_chances(count, chance, low, high, starts)
    p = mp(chance)
    mass = [MP.binomial(count, c) * p**c * (1 - p) ** (count - c) for c in range(count + 1)]
    edges = [*(low + starts).tolist(), count + 1]
    true = [MP.fsum(mass[a:b]) for a, b in pairwise(edges)]
    assert MP.fsum(mass[:low]) <= fewer
    assert all(a <= b <= a * MP.mpf("1.01") for a, b in zip(true, map(mp, groups.tolist()), strict=True))


@pytest.mark.parametrize("counts", [[0, 1, 2, 3], [10, 11], [1000, 1001]])
def test_fair_coins_are_enclosed(counts: list[int]) -> None:
    wide = 40
    weights, rest, low, high = shuffle._fair_coins(np.array(counts), wide)
    for r, c in enumerate(counts):
        full = Fraction(2**c, math.comb(c, c // 2))
        near = Fraction(1, 10**12)
        assert Fraction(low[r]) <= full * (1 + near)
        assert Fraction(high[r]) >= full * (1 - near)
        assert high[r] - low[r] <= 0.2 * low[r]
        for k in range(wide + 1):
            true = Fraction(math.comb(c, c // 2 + k), math.comb(c, c // 2))
            assert abs(Fraction(weights[r, k]) - true) <= near * true
            tail = sum(math.comb(c, j) for j in range(c // 2 + k, min(c, c // 2 + wide) + 1))
            assert abs(Fraction(rest[r, k]) - Fraction(tail, math.comb(c, c // 2))) <= near * (1 + tail)


def wrong_by_one(known: Randomizer, users: int, at: Fraction) -> float:
    """As if the person were one of their own clones."""
    return shuffle._delta(known, shuffle._clones(known, users + 1, 1e-30), shuffle._ratio_less_one(at))


def all_are_clones(known: Randomizer, users: int, at: Fraction) -> float:
    known = Randomizer(known.epsilon, known.ratio, 2 / (known.ratio + 1))
    return shuffle._delta(known, shuffle._clones(known, users, 1e-30), shuffle._ratio_less_one(at))


@pytest.mark.parametrize("wrong", [wrong_by_one, all_are_clones])
def test_the_oracle_rejects_wrong_variants(wrong: Any) -> None:
    e, at = Fraction(2), Fraction(1, 2)
    true = general(e, 30, at)
    assert mp(wrong(randomizer(e), 30, at)) < true <= mp(shuffled_delta(e, 30, at))


def test_anchors_of_the_literature() -> None:
    """The interval that the authors' own program prints, and their closed form [FMT21] as a ceiling."""
    assert 0.16754 <= shuffled(4, 10**5, 1e-6).guarantee.epsilon <= 0.17279
    for n, local in [(10**4, 0.5), (10**5, 2), (10**6, 4)]:
        e, d = math.exp(local), 1e-6
        closed = math.log1p((e - 1) / (e + 1) * (8 * math.sqrt(e * math.log(4 / d) / n) + 8 * e / n))
        assert shuffled(local, n, d).guarantee.epsilon < closed


def test_more_people_hide_more_and_never_less_than_none() -> None:
    found = [shuffled(1, n, 1e-6).guarantee.epsilon for n in (1, 10, 100, 1000, 10**5, 10**7, 10**9, 10**12)]
    assert found[0] <= 1
    assert found == sorted(found, reverse=True)
    assert found[-1] == found[-2]
    assert shuffled(1, 1000, "0.9").guarantee.epsilon == 0
    assert shuffled_delta(1, 5, 1) == 0


def test_ten_million_people_take_no_longer_than_few() -> None:
    with at_most(100_000):  # people one by one are 10**7 at least
        shuffled("1/10", 10**7, 1e-8)


# ---- what is said ----------------------------------------------------------------------------------------------------


def test_the_sentence_names_the_trust() -> None:
    found = shuffled(KRR(4, 1), 1000, 1e-5)
    for lang, words in {
        "en": ["does not collude", "sends one report", "published once", "1000", "epsilon of 1."],
        "es": ["no se alía", "un solo informe", "se publique una vez", "1000", "épsilon de 1."],
    }.items():
        assert all(word in found.sentence(lang) for word in words)
    with pytest.raises(InvalidParameter):
        found.sentence("fr")


def test_the_sentence_rounds_up() -> None:
    said = Shuffled(Fraction(1, 3), 9, ApproxDP(0.12341, 1e-5)).sentence()
    assert "(0.1235, 1e-05)" in said
    assert said.endswith("0.3334.")


def test_the_event_is_accounted() -> None:
    found = shuffled(1, 10**5, 1e-6)
    assert found.event.neighbors is Neighbors.REPLACE
    assert accounting.epsilon(found.event, 2e-6).upper <= found.guarantee.epsilon * (1 + 1e-9) < 0.016


@pytest.mark.parametrize(
    ("local", "users", "delta"),
    [(0, 10, 0.1), (51, 10, 0.1), (1, 0, 0.1), (1, 2.5, 0.1), (1, 10, 1), (1, 10, "1e-200")],
)
def test_refuses_what_it_cannot_bound(local: Any, users: Any, delta: Any) -> None:
    with pytest.raises(InvalidParameter):
        shuffled(local, users, delta)


def test_refuses_what_no_theorem_covers() -> None:
    with pytest.raises(NotPromised):
        shuffled(1, 10, 0)
    with pytest.raises(NotPromised):
        shuffled(Longitudinal(3, epsilon=2, values=1, first=1), 10, 1e-6)
    with pytest.raises(NotPromised):
        shuffled(Rappor(2), 10, 1e-6)
    with pytest.raises(InvalidParameter):
        shuffled_delta(1, 10, -1)
