"""Continual counting: nodes by brute force, the law of the noise, errors against convolutions, refusals."""

from __future__ import annotations

import itertools
import math
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from curador.accounting.events import DiscreteGaussianNoise, DiscreteLaplaceNoise
from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.mechanisms import tree
from curador.mechanisms.tree import ContinualCount, _gaussian_reach, _laplace_reach
from curador.noise import SYSTEM
from curador.privacy import Neighbors
from tests.stat import check

Node = tuple[int, int]


class Recorded:
    """Noise whose i-th value is 1000**i: a total then tells which noises it is made of."""

    def __init__(self) -> None:
        self.drawn = 0

    def draw(self, entropy: Any = None) -> int:
        self.drawn += 1
        return int(1000**self.drawn)


class Silent:
    """No noise at all."""

    def draw(self, entropy: Any = None) -> int:
        return 0

    def sample(self, n: int, entropy: Any = None) -> NDArray[np.int64]:
        return np.zeros(n, np.int64)


def nodes_of(step: int) -> list[Node]:
    """By the definition: for each bit set in the step, the interval of that length that ends where the bit does."""
    return [(level, step >> level) for level in range(step.bit_length()) if step >> level & 1]


def covers(node: Node, step: int) -> bool:
    level, j = node
    return (j - 1) << level < step <= j << level


# ---- nodes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("horizon", range(1, 41))
def test_a_step_is_in_at_most_levels_nodes(horizon: int) -> None:
    mechanism = ContinualCount(horizon, 1)
    used = {node for step in range(1, horizon + 1) for node in nodes_of(step)}
    held = [sum(covers(node, step) for node in used) for step in range(1, horizon + 1)]
    assert max(held) == mechanism.levels == math.floor(math.log2(horizon)) + 1
    assert mechanism.event.sensitivity == max(held)  # type: ignore[union-attr]
    # Under replace a unit leaves one step and joins another.
    moved = [
        sum(abs(covers(node, a) - covers(node, b)) for node in used)
        for a, b in itertools.combinations(range(1, horizon + 1), 2)
    ]
    replace = ContinualCount(horizon, 1, neighbors=Neighbors.REPLACE).event
    assert max(moved, default=0) <= replace.sensitivity == 2 * mechanism.levels  # type: ignore[union-attr]


@pytest.mark.parametrize("horizon", [1, 2, 7, 8, 13, 40])
def test_totals_are_made_of_the_right_nodes(monkeypatch: pytest.MonkeyPatch, horizon: int) -> None:
    """Each noise is drawn for one node, the totals that use the node share it, and no other does."""
    mechanism = ContinualCount(horizon, 1)
    noise = Recorded()
    monkeypatch.setattr(tree, "discrete_laplace", lambda scale: noise)
    running = mechanism.open()
    increments = [(3 * i) % 5 - 1 for i in range(horizon)]
    place: dict[Node, int] = {}
    for step, x in enumerate(increments, start=1):
        before = noise.drawn
        total = running.add(x)
        assert noise.drawn == before + 1 == step
        place[nodes_of(step)[0]] = step  # the node that ends here, of the lowest bit
        assert total - sum(increments[:step]) == sum(1000 ** place[node] for node in nodes_of(step))


@pytest.mark.parametrize("n", [0, 1, 2, 5, 8, 100])
def test_totals_without_noise_are_exact(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    monkeypatch.setattr(tree, "discrete_laplace", lambda scale: Silent())
    mechanism = ContinualCount(100, 1)
    increments = [(7 * i) % 11 - 3 for i in range(n)]
    assert mechanism.release(increments).tolist() == list(itertools.accumulate(increments))
    running = mechanism.open()
    assert [running.add(x) for x in increments] == list(itertools.accumulate(increments))


@pytest.mark.parametrize("n", [1, 6, 8, 21])
def test_one_shot_shares_noise_as_streaming_does(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    drawn: list[int] = []

    class Powers:
        def sample(self, size: int, entropy: Any = None) -> NDArray[np.int64]:
            start = sum(drawn)
            drawn.append(size)
            return np.array([1 << (start + i) for i in range(size)], np.int64)

    monkeypatch.setattr(tree, "discrete_laplace", lambda scale: Powers())
    noise = ContinualCount(n, 1).release([0] * n)
    order = [(level, j) for level in range(n.bit_length()) for j in range(1, (n >> level) + 1, 2)]
    assert sum(drawn) == len(order) == n  # one noise for each step, as in streaming
    for step in range(1, n + 1):
        assert int(noise[step - 1]) == sum(1 << order.index(node) for node in nodes_of(step))


def worst_loss(scale: Fraction, horizon: int, pairs: list[tuple[list[int], list[int]]]) -> Fraction:
    """The largest log ratio of a list of totals, over small lists and pairs of streams.

    A total less the total of its step without the lowest bit is the node that ends there, so totals and nodes tell
    the same, and the likelihood is that of independent noise on the nodes.
    """

    def log_chance(totals: tuple[int, ...], stream: list[int]) -> int:
        exact, seen = [0, *itertools.accumulate(stream)], (0, *totals)
        lasts = [(t, t & (t - 1)) for t in range(1, horizon + 1)]
        return -sum(abs(seen[t] - seen[u] - (exact[t] - exact[u])) for t, u in lasts)

    outputs = list(itertools.product(range(-1, 3), repeat=horizon))
    return max(Fraction(log_chance(o, a) - log_chance(o, b)) / scale for o in outputs for a, b in pairs)


@pytest.mark.parametrize("horizon", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("kind", list(Neighbors))
def test_the_loss_of_all_totals_together(horizon: int, kind: Neighbors) -> None:
    epsilon = Fraction(3, 2)
    scale = ContinualCount(horizon, epsilon, neighbors=kind).scale
    assert scale is not None
    unit = [[int(i == j) for j in range(horizon)] for i in range(horizon)]
    others = unit if kind is Neighbors.REPLACE else [[0] * horizon]
    pairs = [(a, b) for a in unit for b in others] + [(b, a) for a in unit for b in others]
    found = worst_loss(scale, horizon, pairs)
    if kind is Neighbors.ADD_REMOVE:
        assert found == epsilon  # attained by step 1, which is in a node of every length
        if horizon > 1:  # noise for one level less is too little
            levels = horizon.bit_length()
            assert worst_loss(scale * (levels - 1) / levels, horizon, pairs) > epsilon
    else:
        assert found <= epsilon


# ---- events ----------------------------------------------------------------------------------------------------------


def test_events() -> None:
    laplace = ContinualCount(1000, Fraction(1, 2), sensitivity=3)
    assert laplace.event == DiscreteLaplaceNoise(Fraction(60), 30)
    assert laplace.event.epsilon == Fraction(1, 2)
    rho = ContinualCount(1000, rho=Fraction(1, 8), sensitivity=3).event
    assert rho == DiscreteGaussianNoise(Fraction(360), 90, 10)
    assert Fraction(rho.sensitivity_squared) / (2 * rho.variance) == Fraction(1, 8)
    sigma = ContinualCount(1000, sigma=7, neighbors=Neighbors.REPLACE).event
    assert sigma == DiscreteGaussianNoise(Fraction(49), 40, 20, Neighbors.REPLACE)
    rows = ContinualCount(1000, sigma=7, signed=False, neighbors=Neighbors.REPLACE).event
    assert rows == DiscreteGaussianNoise(Fraction(49), 20, 20, Neighbors.REPLACE)


@pytest.mark.parametrize("horizon", [1, 2, 3, 4, 7, 8, 9])
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("kind", list(Neighbors))
def test_no_unit_moves_all_nodes_together_further_than_gaussian_noise_is_made_for(
    horizon: int, signed: bool, kind: Neighbors
) -> None:
    """Someone who took one away at step 1, replaced by someone who adds one at step 2, moves most nodes by two."""
    size = 3
    made = ContinualCount(horizon, rho=1, sensitivity=size, signed=signed, neighbors=kind)
    added = range(-size if signed else 0, size + 1)
    units = [[x * (i == at) for i in range(horizon)] for at in range(horizon) for x in added]
    others = units if kind is Neighbors.REPLACE else [[0] * horizon]

    def moved(one: list[int], other: list[int]) -> int:
        sums = [0, *itertools.accumulate(a - b for a, b in zip(one, other, strict=True))]
        return sum((sums[t] - sums[t & (t - 1)]) ** 2 for t in range(1, horizon + 1))  # each step ends one node

    most = max(moved(one, other) for one in units for other in others)
    assert isinstance(made.event, DiscreteGaussianNoise)
    assert most <= made.event.sensitivity_squared
    if kind is Neighbors.ADD_REMOVE or signed:  # attained: by step 1, or where -1 becomes +1 there
        assert most == made.event.sensitivity_squared


# ---- errors ----------------------------------------------------------------------------------------------------------


def quantile(weights: NDArray[np.float64], count: int, miss: float) -> int:
    """The least x with P(|S| > x) <= miss, by convolving the law with itself."""
    one = weights / weights.sum()
    law = one
    for _ in range(count - 1):
        law = np.convolve(law, one)
    middle = law.size // 2
    both = law[middle + 1 :] + law[:middle][::-1]  # P(|S| = 1), P(|S| = 2), …
    beyond = np.cumsum(both[::-1])[::-1]
    return int(np.argmax(np.append(beyond, 0) <= miss))


@pytest.mark.parametrize("scale", [Fraction(1, 5), Fraction(1), Fraction(10, 3), Fraction(20)])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize("miss", [0.9, 0.05, 1e-5])
def test_laplace_error_is_exact(scale: Fraction, count: int, miss: float) -> None:
    x = np.arange(-int(60 * scale) - 40, int(60 * scale) + 41)
    assert _laplace_reach(scale, count, miss) == quantile(np.exp(-np.abs(x) / float(scale)), count, miss)


def test_laplace_error_of_huge_scales_is_that_of_smaller_ones() -> None:
    for count in (1, 5, 20):
        small, huge = _laplace_reach(Fraction(2) ** 20, count, 0.01), _laplace_reach(Fraction(2) ** 40, count, 0.01)
        assert huge / 2**40 == pytest.approx(small / 2**20, rel=1e-5)


@pytest.mark.thin(20)
@pytest.mark.parametrize("variance", [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(9, 2), Fraction(100)])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
@pytest.mark.parametrize("miss", [0.9, 0.05, 1e-5])
def test_gaussian_error_covers(variance: Fraction, count: int, miss: float) -> None:
    width = int(40 * math.sqrt(variance)) + 10
    x = np.arange(-width, width + 1)
    exact = quantile(np.exp(-(x**2) / float(2 * variance)), count, miss)
    found = _gaussian_reach(variance, count, miss)
    assert exact <= found <= (exact + 1 if variance >= 1 else 1.5 * exact + 2)


def test_error_by_step() -> None:
    mechanism = ContinualCount(100, 1)
    assert mechanism.scale is not None
    for step in (1, 3, 64, 63, 100):
        assert mechanism.nodes(step) == step.bit_count()
        assert mechanism.error(0.9, step) == _laplace_reach(mechanism.scale, step.bit_count(), 1 - 0.9)
    assert mechanism.error(0.9) == max(mechanism.error(0.9, step) for step in range(1, 101)) == mechanism.error(0.9, 63)
    assert ContinualCount(127, 1).error() == ContinualCount(127, 1).error(step=127)
    assert ContinualCount(1, 1).error() > 0
    assert ContinualCount(100, rho=1).error(0.9) > ContinualCount(100, rho=1).error(0.9, step=64) > 0
    for bad in (0, 101, -1, 1.5):
        with pytest.raises(InvalidParameter):
            mechanism.error(0.9, bad)  # type: ignore[arg-type]


# ---- use ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kwargs",
    [
        {"epsilon": 2},
        pytest.param({"rho": Fraction(1, 2)}, marks=pytest.mark.slow),
        pytest.param({"sigma": 3}, marks=pytest.mark.slow),
    ],
)
def test_frequencies_end_to_end(kwargs: dict[str, Any]) -> None:
    """Totals of both ways to release, after a step of two nodes; false alarms and power as tests/stat.py states."""
    mechanism = ContinualCount(3, **kwargs)
    streamed = [(r := mechanism.open(), r.add(5), r.add(5), r.add(5))[-1] for _ in range(10_000)]
    at_once = [int(mechanism.release([5, 5, 5])[-1]) for _ in range(10_000)]
    x = np.arange(-200, 201)

    def chances(factor: float) -> NDArray[np.float64]:
        if mechanism.scale is not None:
            one = np.exp(-np.abs(x) / (factor * float(mechanism.scale)))
        else:
            assert mechanism.variance is not None
            one = np.exp(-(x**2) / (2 * factor**2 * float(mechanism.variance)))
        law = np.convolve(one, one) / one.sum() ** 2
        spread = round(math.sqrt(float((law * np.arange(-400, 401) ** 2).sum()))) if factor == 1 else cut[0]
        cut.append(spread)
        parts = [law[: 400 - spread], law[400 - spread : 400 + spread + 1], law[400 + spread + 1 :]]
        return np.array([p.sum() for p in parts])

    cut: list[int] = []
    claimed = chances(1)
    noise = np.array(streamed + at_once) - 15
    counts = np.bincount(np.where(noise < -cut[0], 0, np.where(noise > cut[0], 2, 1)), minlength=3)
    check(counts, claimed, {f"scale times {f}": chances(f) for f in (0.8, 1.25)})


def test_the_horizon_ends_it() -> None:
    running = ContinualCount(3, 1).open()
    for _ in range(3):
        running.add(1)
    for _ in range(2):
        with pytest.raises(NotPromised, match="nothing more was spent"):
            running.add(1)
    assert running.step == 3


class Nothing:
    def words(self, n: int, dtype: Any) -> Any:
        raise AssertionError("something was drawn")

    def bits(self, k: int) -> int:
        raise AssertionError("something was drawn")


@pytest.mark.parametrize("bad", [[1.5], [math.nan], [[1, 2]], [[1], [2, 3]], [1] * 6, ["a"], 3, [None], [True]])
def test_bad_increments_draw_nothing(bad: Any) -> None:
    with pytest.raises(InvalidValue):
        ContinualCount(5, 1).release(bad, entropy=Nothing())


@pytest.mark.parametrize("bad", [1.5, math.nan, "a", None, True, [1]])
def test_a_bad_increment_changes_nothing(bad: Any) -> None:
    running = ContinualCount(5, 1).open(entropy=Nothing())
    with pytest.raises(InvalidValue):
        running.add(bad)
    assert running.step == 0


@pytest.mark.parametrize(
    ("horizon", "kwargs"),
    [
        (0, {"epsilon": 1}),
        (1.5, {"epsilon": 1}),
        (1 << 40, {"epsilon": 1}),
        (5, {}),
        (5, {"epsilon": 1, "rho": 1}),
        (5, {"epsilon": 0}),
        (5, {"epsilon": math.nan}),
        (5, {"rho": -1}),
        (5, {"sigma": 0}),
        (5, {"epsilon": 1, "sensitivity": 0}),
        (5, {"epsilon": 1, "sensitivity": 0.5}),
        (5, {"epsilon": "1e-30"}),
        (5, {"sigma": 10**20}),
        (5, {"epsilon": 1, "neighbors": "friends"}),
    ],
)
def test_bad_parameters(horizon: Any, kwargs: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        ContinualCount(horizon, **kwargs)


def test_huge_increments_do_not_wrap() -> None:
    mechanism = ContinualCount(4, 100)
    totals = mechanism.release([2**62, 2**62, -(2**62), 2**62])
    assert totals[0] > 2**52
    assert (np.abs(totals) < 2**62).all()
    running = mechanism.open()
    assert running.add(10**30) > 10**29


@pytest.mark.parametrize("noise", [1 << 62, -(1 << 62)])
def test_noise_at_its_limit_ends_at_the_clamp_of_each_node(monkeypatch: pytest.MonkeyPatch, noise: int) -> None:
    """Refusing it would truncate the law, which would then have no pure epsilon; holding a node is post-processing."""

    class Far:
        def sample(self, n: int, entropy: Any = None) -> NDArray[np.int64]:
            return np.full(n, noise)

    monkeypatch.setattr(tree, "discrete_laplace", lambda scale: Far())
    held = tree.NODE if noise > 0 else -tree.NODE
    for increments in ([1, 1, 1], [10**18] * 3, [-(10**18)] * 3):
        assert ContinualCount(4, 1).release(increments).tolist() == [held, held, 2 * held]


def test_threads_do_not_pass_the_horizon() -> None:
    running = ContinualCount(50, 10**6).open()
    done: list[int] = []

    def work() -> None:
        try:
            for _ in range(100):
                done.append(running.add(1))
        except NotPromised:
            pass

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(done) == list(range(1, 51))  # at this epsilon the totals are exact


class Interrupted:
    """The system's entropy, but for one word at which the process is interrupted."""

    def __init__(self) -> None:
        self.now = False

    def words(self, count: int, dtype: Any) -> Any:
        return SYSTEM.words(count, dtype)

    def bits(self, count: int) -> int:
        if self.now:
            self.now = False
            raise KeyboardInterrupt
        return SYSTEM.bits(count)


def test_an_interrupted_step_was_not_taken() -> None:
    entropy: Any = Interrupted()
    running = ContinualCount(horizon=15, epsilon=10**6).open(entropy=entropy)  # hardly any noise: exact sums show
    assert [running.add(x) for x in (1, 0, 2)] == [1, 1, 3]
    entropy.now = True
    with pytest.raises(KeyboardInterrupt):
        running.add(5)
    assert running.step == 3
    assert [running.add(x) for x in (5, 0, 0, 0, 1)] == [8, 8, 8, 8, 9]  # before, the steps before it counted twice


@pytest.mark.parametrize(
    ("horizon", "increment"),
    [(1000, 10**14), (10**6, 10**11), (31_536_000, 2 * 10**9), (2**39, 10**5), (2**39, -(10**15)), (9, 2**54 + 1)],
)
def test_large_increments_are_counted_as_one_by_one(horizon: int, increment: int) -> None:
    """They were held at 2**55 / horizon, and the totals were wrong by any amount."""
    mechanism = ContinualCount(horizon, epsilon=1000)
    given = [increment, 1, -increment, increment + 7, 3]
    running = mechanism.open()
    assert mechanism.release(given).tolist() == [running.add(one) for one in given]


def test_sums_beyond_the_limit_are_held_there_and_part_no_neighbours() -> None:
    mechanism = ContinualCount(4, epsilon=1000)
    for sign in (1, -1):
        assert mechanism.release([sign * 2**61] * 3).tolist() == [sign * 2**56, sign * 2**56, 2 * sign * 2**56]
        one, other = ([sign * (2**56 - 1), sign * move] for move in (0, 1))
        moved = np.abs(mechanism.release(one) - mechanism.release(other))
        assert moved.max() <= 1
