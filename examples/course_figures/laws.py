"""What follows from formulas and theorems: densities, Rényi budgets, composition, the decision game."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from curador.accounting.course import laplace_density
from curador.accounting.events import Event, GaussianNoise, LaplaceNoise, RandomizedAnswer
from curador.accounting.rules.renyi import renyi_curve
from curador.audit.game import game_exhibits
from curador.server.console.playground.composing import THEOREMS, together
from curador.show.pages.charts import Axis, Track, line_chart
from curador.show.pages.density import density_chart
from curador.show.pages.exhibits import Exhibit
from curador.show.words.say import say
from examples.course_figures.picture import WIDTH, Words, stacked, words

ORDERS = [1 + Fraction(k, 10) for k in range(1, 91)]


def _densities(laws: Mapping[str, tuple[int, int]], low: int, high: int, title: str, told: Words) -> str:
    x = tuple(low + k / 8 for k in range(8 * (high - low) + 1))
    tracks = [Track(name, x, tuple(laplace_density(Fraction(v), m, b) for v in x)) for name, (m, b) in laws.items()]
    value, density = told("value", "valor"), told("density", "densidad")
    return line_chart(tracks, title=title, x=Axis(value, ends=(low, high)), y=Axis(density), width=WIDTH)


def laplace_mu(language: str) -> str:
    told = words(language)
    title = told("Laplace densities with b = 1 by their centre µ", "Densidades de Laplace con b = 1 según su centro µ")
    return _densities({f"µ = {m}".replace("-", "−"): (m, 1) for m in (-3, 0, 3, 6)}, -8, 11, title, told)


def laplace_b(language: str) -> str:
    told = words(language)
    title = told("Laplace densities with µ = 0 by their scale b", "Densidades de Laplace con µ = 0 según su escala b")
    return _densities({f"b = {b}": (0, b) for b in (1, 2, 3, 4)}, -10, 10, title, told)


def laplace_standard(language: str) -> str:
    told = words(language)
    x = tuple(k / 8 for k in range(-48, 49))
    law = Track("Lap(0, 1)", x, tuple(laplace_density(Fraction(v)) for v in x))
    title = told("The standard Laplace density", "La densidad de Laplace estándar")
    return density_chart([law], title=title, x=Axis(told("value", "valor")), width=WIDTH)


def _budgets(events: Mapping[str, Event], title: str, told: Words) -> str:
    tracks = []
    for name, event in events.items():
        curve = renyi_curve(event, ORDERS).curve
        tracks.append(Track(name, tuple(float(a) for a, _ in curve), tuple(float(z) for _, z in curve)))
    order, budget = told("order α", "orden α"), told("budget ζ", "presupuesto ζ")
    return line_chart(tracks, title=title, x=Axis(order, ends=(1, 10)), y=Axis(budget), width=WIDTH)


def renyi_randomized_response(language: str) -> str:
    told = words(language)
    events = {f"p = {float(p):g}": RandomizedAnswer(2, p) for p in map(Fraction, ("0.55", "0.65", "0.75", "0.9"))}
    title = told("Rényi budget of randomized response", "Presupuesto de Rényi de la respuesta aleatorizada")
    return _budgets(events, title, told)


def renyi_laplace(language: str) -> str:
    told = words(language)
    events = {f"λ = {float(s):g}": LaplaceNoise(s, Fraction(1)) for s in map(Fraction, ("0.5", "1", "2", "4"))}
    return _budgets(events, told("Rényi budget of Laplace noise", "Presupuesto de Rényi del ruido de Laplace"), told)


def renyi_gaussian(language: str) -> str:
    told = words(language)
    events = {f"σ = {float(s):g}": GaussianNoise(s, Fraction(1)) for s in map(Fraction, ("1", "1.5", "2", "3"))}
    return _budgets(events, told("Rényi budget of Gaussian noise", "Presupuesto de Rényi del ruido gaussiano"), told)


COUNTS = (1, 2, 4, 7, 12, 20, 35, 60, 100, 150, 200)


def composition(language: str) -> str:
    """What the theorems say of k answers of ε = 0.1 each with Laplace noise, at δ = 10^-6."""
    told = words(language)
    found = together(Fraction(1, 10), Fraction(1, 10**6), COUNTS)
    tracks = [Track(say(f"playground.composing-{t}", language), tuple(map(float, COUNTS)), found[t]) for t in THEOREMS]
    title = told(
        "k answers of ε = 0.1 each, δ = 10⁻⁶, by each theorem", "k respuestas de ε = 0.1, δ = 10⁻⁶, según cada teorema"
    )
    x, y = Axis(told("answers k", "respuestas k"), ends=(0, 200)), Axis(told("total ε", "ε total"))
    return line_chart(tracks, title=title, x=x, y=y, width=WIDTH)


def decision_game(language: str) -> str:
    """The most that anyone can believe against ε, and the two errors of a test at ε = 1, beside a real attacker."""
    game, _ = game_exhibits(1)
    return _exhibited(game, language)


CUT = 2
"""Where the noise of the figure is cut off, in scales: at 5 the step at the edge would be too low to be seen."""


def truncated_laplace(language: str) -> str:
    """The densities of a count of 0 and of 1 with Laplace noise that is cut off: each has answers of its own."""
    told = words(language)
    mass = 1 - math.exp(-CUT)
    tracks = []
    for true in (0, 1):
        x = tuple(true + k / 16 for k in range(-16 * CUT, 16 * CUT + 1))
        y = tuple(laplace_density(Fraction(v), true) / mass for v in x)
        tracks.append(Track(told(f"count of {true}", f"conteo de {true}"), (x[0], *x, x[-1]), (0.0, *y, 0.0)))
    title = told("Two counts with noise cut off at ±2", "Dos conteos con ruido truncado en ±2")
    marks = [
        (told(f"below −{CUT - 1}: only from 0", f"bajo −{CUT - 1}: solo de 0"), 1.0 - CUT),
        (told(f"above {CUT}: only from 1", f"sobre {CUT}: solo de 1"), float(CUT)),
    ]
    return density_chart(tracks, title=title, x=Axis(told("answer", "respuesta")), marks=marks, width=WIDTH)


def _exhibited(exhibit: Exhibit, language: str) -> str:
    drawings = [drawing for part in exhibit.parts for drawing in part.drawings]
    charts = [(say(d.code, language), d.svg(language, WIDTH)) for d in drawings]
    return charts[0][1] if len(charts) == 1 else stacked(charts, exhibit.title(language))
