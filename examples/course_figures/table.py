"""The thesis's table 5.1, computed: what differential privacy and Rényi privacy say of the same mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction

from curador import accounting
from curador.accounting.course import probability_bound
from curador.accounting.events import GaussianNoise, LaplaceNoise
from curador.accounting.finite import FiniteMechanism
from curador.accounting.rules.groups import group, stable
from curador.accounting.rules.profiles import pure_epsilon
from curador.accounting.rules.renyi import renyi
from curador.privacy import PureDP, RenyiDP
from examples.course_figures.picture import words

ALPHA, TRUTH, SCALE, SIGMA, DELTA = Fraction(4), Fraction(3, 4), Fraction(2), Fraction(2), Fraction(1, 10**5)
BLUR = [[Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 5), Fraction(4, 5)]]


def few(x: float) -> str:
    """Three decimals, rounded up: a bound that is rounded down is none.

    >>> few(1.0986122), few(0.25)
    ('1.099', '0.25')
    """
    return f"{math.ceil(x * 1000 - 1e-9) / 1000:.3f}".rstrip("0").rstrip(".")


def table_5_1(language: str) -> str:
    """The table as Markdown; numbers for a coin that tells the truth with probability 3/4, and α = 4."""
    told = words(language)
    coin = FiniteMechanism([[TRUTH, 1 - TRUTH], [1 - TRUTH, TRUTH]])
    e, z, q = coin.epsilon, coin.renyi(ALPHA), 1 - TRUTH
    promise, blurred, twice = RenyiDP({ALPHA: z}), coin.then(BLUR), coin.beside(coin)
    ((low, cost),) = stable(promise, 1).curve
    whole = group(PureDP(e), 2)
    assert isinstance(whole, PureDP)
    laplace, gaussian = LaplaceNoise(SCALE, Fraction(1)), GaussianNoise(SIGMA, Fraction(1))
    a = f"α = {ALPHA}"
    rows = [
        (
            told("probability of a set S, of 1/4 without you", "probabilidad de un conjunto S, de 1/4 sin usted"),
            f"≤ e^ε/4 = {few(math.exp(e) * float(q))}",
            f"≤ (e^ζ/4)^((α−1)/α) = {few(probability_bound(q, z, ALPHA))}",
        ),
        (
            told("post-processing: a second, noisy coin", "posprocesamiento: una segunda moneda con ruido"),
            f"ε = {few(e)} → {few(blurred.epsilon)}",
            f"ζ = {few(z)} → {few(blurred.renyi(ALPHA))}",
        ),
        (
            told("sequential composition: twice", "composición secuencial: dos veces"),
            f"2ε = {few(twice.epsilon)}",
            f"2ζ = {few(twice.renyi(ALPHA))}",
        ),
        (
            told("groups of 2", "grupos de 2"),
            f"2ε = {few(whole.epsilon)}",
            f"α/2 = {low:g}, 3ζ = {few(cost)}",
        ),
        (
            told("randomized response, p = 3/4", "respuesta aleatorizada, p = 3/4"),
            f"ε = {few(e)}",
            f"{a}, ζ = {few(z)}",
        ),
        (
            told("Laplace, λ = 2, Δ = 1", "Laplace, λ = 2, Δ = 1"),
            f"ε = {few(float(pure_epsilon(laplace)))}",
            f"{a}, ζ = {few(renyi(laplace, ALPHA))}",
        ),
        (
            told("Gaussian, σ = 2, Δ = 1", "gaussiano, σ = 2, Δ = 1"),
            f"ε = {few(accounting.epsilon(gaussian, DELTA).upper)}, δ = 10⁻⁵",
            f"{a}, ζ = α/(2σ²) = {few(renyi(gaussian, ALPHA))}",
        ),
    ]
    head = told(
        "| property | differential privacy | Rényi differential privacy |",
        "| propiedad | privacidad diferencial | privacidad diferencial de Rényi |",
    )
    return "\n".join([head, "|---|---|---|", *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"
