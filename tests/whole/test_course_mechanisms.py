"""Every mechanism, example and exercise on mechanisms in the course documents, by the numbers of the course map."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import laplace

import curador as cu
from curador.accounting.course import hamming_distance, laplace_density
from curador.accounting.finite import FiniteMechanism
from curador.curator.study.samples import PUMPS, outbreak, salaries
from curador.local import LocalLaplace
from curador.mechanisms import sensitivity
from curador.privacy import Neighbors
from curador.show.curves import plot_densities

RUNS = 10_000


def close(mean: float, expected: float, deviation: float, runs: int = RUNS) -> bool:
    """Within six standard errors: a false alarm once in 10**8."""
    return abs(mean - expected) < 6 * deviation / math.sqrt(runs)


def test_0_2_a_fact_about_everybody_is_learned_with_and_without_alice() -> None:
    # 9,000 of 10,000 smoke: whether Alice is counted or not, the release tells it, and so what is likely of her.
    count = cu.IntegerLaplace(1, 1)
    for smokers in (9000, 8999):
        assert count.release(smokers) > 8_900  # P(noise ≤ -99) < e**-98
    # What it does not tell is whether she was there.
    assert float(count.event.epsilon) == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("answers", [(0, 1), (1, 0)])
def test_0_4_an_answer_without_noise_has_no_epsilon(answers: tuple[int, int]) -> None:
    fixed = FiniteMechanism([[int(answer == out) for out in (0, 1)] for answer in answers])
    assert fixed.epsilon == math.inf
    assert fixed.delta(100) == 1
    # Unless it says the same of everybody.
    assert FiniteMechanism([[1, 0], [1, 0]]).epsilon == 0


def test_0_12_noisy_mean_is_sensitivity_over_b() -> None:
    n, b = 100, Fraction(1, 10)
    moved = sensitivity.mean(0, 1, n, neighbors=Neighbors.REPLACE).l1
    assert moved == Fraction(1, n)
    # The notes say 1/b-DP; it is Δ/b, here a tenth instead of ten.
    event = cu.Laplace(moved, scale=b, coordinates=1, neighbors=Neighbors.REPLACE).event
    assert float(event.epsilon) == pytest.approx(float(1 / (n * b)), rel=1e-6)


@pytest.mark.parametrize("people", [100, 10_000])
def test_0_16_the_crowds_variance_is_n_times_the_curators(people: int) -> None:
    """Of a mean in [-1, 1]: 8/(n² ε²) from the curator, 8/(n ε²) from people who trust nobody."""
    moved = sensitivity.mean(-1, 1, people, neighbors=Neighbors.REPLACE).l1
    central = cu.Laplace(moved, 1, neighbors=Neighbors.REPLACE).variance
    assert central == pytest.approx(8 / people**2, rel=1e-6)
    crowd = LocalLaplace(-1, 1, 1).variance(people)
    assert crowd == pytest.approx(8 / people, rel=1e-2)  # a report is on a grid, which adds a little
    assert crowd >= 8 / people


def test_0_20_vector_laplace_has_independent_noise_of_the_joint_scale() -> None:
    # k queries that each move by 1: the l1 sensitivity is k, and each coordinate gets Lap(k / epsilon).
    moved = sensitivity.vector(sensitivity.count(), sensitivity.count(), sensitivity.count()).l1
    mechanism = cu.Laplace(moved, 1)
    drawn = np.array([mechanism.release([0, 0, 0]) for _ in range(RUNS // 3)])
    assert close(float((drawn**2).mean()), 2 * 3**2, math.sqrt(20) * 9, drawn.size)
    correlation = np.corrcoef(drawn.T)
    assert np.abs(correlation[np.triu_indices(3, 1)]).max() < 6 / math.sqrt(len(drawn))


def test_0_21_1_17_local_laplace_in_minus_one_to_one() -> None:
    # λ = 2/ε, variance 8/ε² per person, and the aggregated mean is unbiased with variance 8/(nε²).
    epsilon, people = 2.0, 4000
    reports = np.array([cu.local_laplace_mechanism(0.3, -1, 1, epsilon) for _ in range(people)])
    variance = 8 / epsilon**2
    assert close(float(reports.mean()), 0.3, math.sqrt(variance), people)
    assert close(float(((reports - 0.3) ** 2).mean()), variance, math.sqrt(5) * variance, people)
    # A value outside is clamped, so it is protected too.
    outside = np.array([cu.local_laplace_mechanism(1e9, -1, 1, epsilon) for _ in range(people)])
    assert close(float(outside.mean()), 1.0, math.sqrt(variance), people)


def test_0_22_0_23_two_coins_are_gamma_three_quarters() -> None:
    coin = cu.RandomizedResponse(truth=0.75)
    told = np.array([coin.release(1) for _ in range(RUNS)])
    assert close(float(told.mean()), 0.75, math.sqrt(0.75 * 0.25))
    assert coin.epsilon == pytest.approx(math.log(3))


def test_0_25_gaussian_uses_l2() -> None:
    bins = sensitivity.histogram(Neighbors.REPLACE)
    assert bins.l1 == 2
    assert bins.l2_squared == 2
    event = cu.Gaussian(bins.l2, 0.5, 1e-6, neighbors=Neighbors.REPLACE).event
    assert float(event.sensitivity) == pytest.approx(math.sqrt(2), rel=1e-6)


def test_1_2_the_map_of_deaths_stays_the_map_of_deaths() -> None:
    """Every block is within its noise, and the pump that is to blame is named from the published map alone."""
    deaths = outbreak()
    mechanism = cu.IntegerLaplace(sensitivity.histogram().l1, Fraction(1, 2))
    released = mechanism.release(deaths)
    assert float(mechanism.event.epsilon) == 0.5
    assert np.abs(released - deaths).max() <= 80  # P(|noise| > 80) < 1e-17 for each of 144 blocks
    rows, columns = np.indices(deaths.shape)
    nearest = np.argmin([np.hypot(rows - r, columns - c) for r, c in PUMPS.values()], axis=0)
    for shown in (deaths, released):
        by_pump = np.bincount(nearest.ravel(), weights=shown.ravel())
        assert list(PUMPS)[int(by_pump.argmax())] == "Broad"


def test_1_8_the_ratio_passes_one_plus_epsilon() -> None:
    epsilon = 0.1
    coin = cu.RandomizedResponse(epsilon=epsilon)
    ratio = math.exp(coin.epsilon)
    assert 1 + epsilon < ratio <= math.exp(epsilon) * (1 + 1e-12)


def test_1_10_sum_of_bits_needs_scale_one_over_epsilon() -> None:
    assert sensitivity.bounded_sum(0, 1, neighbors=Neighbors.REPLACE).l1 == 1
    assert float(cu.Laplace(1, Fraction(1, 2)).scale) == pytest.approx(2, rel=1e-6)


def test_2_2_sensitivities_of_the_class() -> None:
    assert sensitivity.count().l1 == 1
    assert sensitivity.bounded_sum(0, 200_000).l1 == 200_000
    assert sensitivity.mean(0, 200_000, 10_000, neighbors=Neighbors.REPLACE).l1 == 20


def test_2_14_exercise_1_variance_of_laplace() -> None:
    for size, epsilon in ((1, 0.5), (3, 2)):
        scale = size / epsilon
        drawn = np.array([cu.laplace_mechanism(0, size, epsilon) for _ in range(RUNS)])
        # The square of a Laplace variable has standard deviation √20 b².
        assert close(float((drawn**2).mean()), 2 * scale**2, math.sqrt(20) * scale**2)


def test_2_15_exercise_2_counts_at_three_epsilons() -> None:
    true = int((salaries() > 100_000).sum())
    assert true == 1173
    for epsilon in (0.1, 1, 10):
        off = np.array([abs(cu.laplace_mechanism(true, 1, epsilon) - true) for _ in range(RUNS)])
        assert close(float(off.mean()), 1 / epsilon, 1 / epsilon)  # E|Lap(b)| = b, and so is its deviation


def test_2_16_exercise_3_clipped_mean_trades_bias_for_variance() -> None:
    pay = salaries()
    n, epsilon = len(pay), 1
    bias, noise = [], []
    for bound in (25_000, 50_000, 100_000, 200_000):
        moved = sensitivity.mean(0, bound, n, neighbors=Neighbors.REPLACE).l1
        bias.append(pay.mean() - np.clip(pay, 0, bound).mean())
        noise.append(cu.Laplace(moved, epsilon).variance)
    assert bias == sorted(bias, reverse=True)
    assert bias[-1] == 0
    assert noise == sorted(noise)
    # As the class writes it, the sum gets noise for B/n and the real loss is n times the promise.
    event = cu.Laplace(Fraction(200_000, n), epsilon).event
    assert sensitivity.bounded_sum(0, 200_000).l1 / event.scale == pytest.approx(n * epsilon, rel=1e-6)


def test_2_17_exercise_4_histogram_of_ten_bins() -> None:
    counts, _ = np.histogram(salaries(), bins=10, range=(0, 200_000))
    assert sensitivity.histogram().l1 == 1
    released = cu.IntegerLaplace(1, 1).release(counts)
    assert released.shape == counts.shape
    # P(|noise| > 30) = e**-30.5 per bin.
    assert np.abs(released - counts).max() <= 30


def test_2_18_exercise_5_ten_counts_spend_one() -> None:
    event = sum((cu.IntegerLaplace(1, 0.1).event for _ in range(9)), start=1 * cu.IntegerLaplace(1, 0.1).event)
    assert event == 10 * cu.IntegerLaplace(1, 0.1).event
    assert 10 * cu.PureDP(0.1) == cu.PureDP(1)
    # The noise of ten counts adds up in variance.
    one = cu.IntegerLaplace(1, 0.1).variance
    totals = np.array([cu.IntegerLaplace(1, 0.1).release(np.zeros(10, int)).sum() for _ in range(2000)], np.float64)
    assert close(float((totals**2).mean()), 10 * one, math.sqrt(3) * 10 * one, 2000)


def test_4_1_laplace_has_mean_zero_and_variance_two_b_squared() -> None:
    mechanism = cu.Laplace(1, scale=2)
    assert mechanism.variance == 8
    drawn = mechanism.release(np.zeros(1000))
    assert close(float(drawn.mean()), 0, math.sqrt(8), 1000)
    assert close(float((drawn > 0).mean()), 0.5, 0.5, 1000)  # mean = median


@pytest.mark.parametrize(
    ("title", "laws"),
    [
        ("Figura 1", {"Lap(0, 1)": (0, 1)}),
        ("Figura 2", {f"µ = {mu}": (mu, 1) for mu in (-3, 0, 3, 6)}),
        ("Figura 3", {f"b = {b}": (0, b) for b in (1, 2, 3, 4)}),
    ],
)
def test_4_2_figures_1_to_3(title: str, laws: dict[str, tuple[int, int]]) -> None:
    """Each line is scipy's density, highest at its µ with 1/(2b)."""
    x = np.linspace(-10, 10, 201)
    points = {name: (x, [laplace_density(float(v), *law) for v in x]) for name, law in laws.items()}
    (axes,) = plot_densities(points, lang="es", title=title).axes
    assert [line.get_gid() for line in axes.lines] == list(laws)
    for line, (mu, b) in zip(axes.lines, laws.values(), strict=True):
        across, up = np.asarray(line.get_xydata()).T
        assert up == pytest.approx(laplace(mu, b).pdf(across), rel=1e-12)
        assert across[up.argmax()] == pytest.approx(mu, abs=1e-12)
        assert up.max() == pytest.approx(1 / (2 * b), rel=1e-12)


def test_4_4_4_5_examples_of_sensitivity() -> None:
    assert sum(map(abs, (2, 3, -4, 6))) == 15
    domain = [(age, read) for age in (17, 18) for read in (False, True)]

    def adults(rows: tuple[tuple[int, bool], ...]) -> int:
        return sum(age >= 18 for age, _ in rows)

    def readers(rows: tuple[tuple[int, bool], ...]) -> int:
        return sum(read for _, read in rows)

    assert sensitivity.search(adults, domain, 3).l1 == 1
    assert sensitivity.search(lambda rows: (adults(rows), readers(rows)), domain, 3).l1 == 2
    assert sensitivity.vector(sensitivity.count(), sensitivity.count()).l1 == 2


def test_4_7_example_4_two_counts_with_lap_0_2() -> None:
    mechanism = cu.IntegerLaplace(sensitivity=2, epsilon=1)
    assert mechanism.scale == 2
    released = mechanism.release([120, 10])
    assert released.dtype == np.int64


def test_4_8_a_larger_epsilon_is_less_noise() -> None:
    errors = [cu.Laplace(1, epsilon).error(0.95) for epsilon in (Fraction(1, 10), 1, 10)]
    assert errors == sorted(errors, reverse=True)
    # P(|Lap(b)| > t) = e^(-t/b): 95 % lie within b ln 20.
    assert errors == pytest.approx([10 * math.log(20), math.log(20), math.log(20) / 10], rel=1e-6)


def test_3_1_noise_protects_from_whoever_reads_after_it() -> None:
    """Alice's bit, as the curator sees it and as a reader does, when the noise is at her side or at the curator's."""
    as_it_is = FiniteMechanism([[1, 0], [0, 1]])
    coin = FiniteMechanism([[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    assert as_it_is.epsilon == math.inf  # input: a curator who is trusted sees it
    assert as_it_is.then(coin.matrix).epsilon == coin.epsilon  # output: a reader of the noised answer does not
    # Noise on the input protects from everybody who comes later: curator, reader, and who steals the model.
    for later in ([[1, 0], [0, 1]], [[Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 5), Fraction(4, 5)]]):
        assert coin.then(later).epsilon <= coin.epsilon


def test_4_9_theorem_1_likelihood_ratio() -> None:
    """At every output the densities of two neighbours differ by at most e^ε, and reach it."""
    epsilon, b = 0.7, 1 / 0.7
    s = np.linspace(-50, 50, 10_001)
    ratio = np.exp((np.abs(s - 1) - np.abs(s)) / b)
    assert ratio.max() == pytest.approx(math.exp(epsilon))
    assert (ratio <= math.exp(epsilon) * (1 + 1e-12)).all()


def test_1_6_hamming_distance() -> None:
    assert hamming_distance("0110", "0101") == 2
