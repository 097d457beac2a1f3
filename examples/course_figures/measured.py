"""Made-up people, and what noise does to their statistics: salaries, reconstruction, the map of an outbreak."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from curador import IntegerLaplace, Laplace
from curador.audit.reconstruction import reconstruct
from curador.curator.study.samples import PUMPS, STREETS, outbreak, salaries
from curador.privacy import Neighbors
from curador.show.pages.charts import Axis, Track, xy_chart
from curador.show.pages.svg import box, framed, label, number
from curador.show.words.say import say
from examples.course_figures.picture import WIDTH, stacked, words

RUNS = 1000
HIGHEST = 200_000
"""The declared bound of a salary."""


def salary_epsilon_error(language: str) -> str:
    """The mean absolute error of the mean and of a count, in percent of the truth, measured and by the formula Δ/ε."""
    told, pay = words(language), salaries()
    n, rich = len(pay), int((pay > 100_000).sum())
    epsilons = [Fraction(e) for e in ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10")]
    x = tuple(map(float, epsilons))
    mean = float(np.mean(pay))
    ways = (
        (told("mean salary, B = 200,000", "salario medio, B = 200,000"), mean, Fraction(HIGHEST, n)),
        (told("salaries above 100,000", "salarios por encima de 100,000"), float(rich), Fraction(1)),
    )
    tracks = []
    for name, true, sensitivity in ways:
        formula = tuple(float(sensitivity / e) / true for e in epsilons)
        found = []
        for e in epsilons:
            answers = np.asarray(Laplace(sensitivity, e, neighbors=Neighbors.REPLACE).release([true] * RUNS))
            found.append(float(np.abs(answers - true).mean()) / true)
        tracks += [
            Track(f"{name}: Δ/ε", x, formula),
            Track(told(f"measured, {RUNS:,} runs", f"medido, {RUNS:,} veces"), x, tuple(found), "points"),
        ]
    title = told("ε against error on 10,000 salaries", "ε frente al error con 10,000 salarios")
    error = told("mean absolute error, % of the true value", "error absoluto medio, % del valor verdadero")
    return xy_chart(
        tracks, title=title, x=Axis("ε", log=True), y=Axis(error, log=True, percent=True), width=WIDTH
    )  # fmt: skip


def clipped_mean_bias_variance(language: str) -> str:
    """The error of a clipped mean of 1,000 salaries at ε = 0.1 by the bound B: what clipping takes, what noise adds."""
    told, pay = words(language), salaries()[:1000]
    n, epsilon, true = len(pay), Fraction(1, 10), float(salaries()[:1000].mean())
    bounds = tuple(range(60_000, 200_001, 10_000))
    clipped = [float(np.minimum(pay, b).mean()) for b in bounds]
    bias = [true - c for c in clipped]
    noise = [math.sqrt(2) * float(Fraction(b, n) / epsilon) for b in bounds]
    both = [math.hypot(a, b) for a, b in zip(bias, noise, strict=True)]
    measured = []
    for b, centre in zip(bounds, clipped, strict=True):
        answers = np.asarray(Laplace(Fraction(b, n), epsilon, neighbors=Neighbors.REPLACE).release([centre] * RUNS))
        measured.append(float(np.sqrt(np.square(answers - true).mean())))
    x = tuple(map(float, bounds))
    tracks = [
        Track(told("bias: what clipping takes away", "sesgo: lo que quita el recorte"), x, tuple(bias)),
        Track(told("deviation of the noise", "desviación del ruido"), x, tuple(noise)),
        Track(told("both: root mean squared error", "ambos: raíz del error cuadrático medio"), x, tuple(both)),
        Track(told(f"measured, {RUNS:,} runs", f"medido, {RUNS:,} veces"), x, tuple(measured), "points"),
    ]
    title = told("Bias against variance of a clipped mean", "Sesgo frente a varianza de una media recortada")
    bound, error = told("bound B", "cota B"), told("error of the mean", "error de la media")
    return xy_chart(tracks, title=title, x=Axis(bound, ends=(50_000, 200_000)), y=Axis(error), width=WIDTH)


def reconstruction(language: str) -> str:
    """Two hundred secret bits from a thousand counts, and how many of them by the total ε."""
    exhibit = reconstruct().exhibit()
    charts = [(say(d.code, language), d.svg(language, WIDTH)) for part in exhibit.parts for d in part.drawings]
    return stacked(charts, exhibit.title(language))


# ---- a map of an outbreak


EPSILON = Fraction(1, 2)


def cholera_map(language: str) -> str:
    """Deaths by block, as counted and as published: one death is one person in one block, so all cells share ε."""
    told, counted = words(language), outbreak()
    published = np.maximum(np.asarray(IntegerLaplace(1, EPSILON).release(counted.ravel())), 0).reshape(counted.shape)
    heads = (
        told("as counted (secret)", "como se contó (secreto)"),
        told(f"published with ε = {float(EPSILON)}", f"publicado con ε = {float(EPSILON)}"),
    )
    side, gap, top = 270.0, WIDTH - 2 * 270.0, 24.0
    parts = []
    for k, (head, cells) in enumerate(zip(heads, (counted, published), strict=True)):
        parts += [label(head, k * (side + gap), 12, "key"), *_quarter(cells, k * (side + gap), top, side)]
    parts += [_pump(6, top + side + 18), label(told("a pump", "una fuente"), 18, top + side + 22, "name")]
    deaths = int(counted.sum())
    worst = tuple(int(v) for v in np.unravel_index(int(published.argmax()), published.shape))
    desc = told(
        f"{deaths} made-up deaths in {STREETS} by {STREETS} blocks. The darkest published block is {worst}; "
        f"the bad pump stands in {PUMPS['Broad']}.",
        f"{deaths} muertes inventadas en {STREETS} por {STREETS} manzanas. La manzana publicada más oscura es {worst}; "
        f"la fuente mala está en {PUMPS['Broad']}.",
    )
    title = told("A made-up outbreak: deaths by block", "Un brote inventado: muertes por manzana")
    return framed(parts, WIDTH, top + side + 30, title, desc)


def _quarter(cells: np.ndarray[Any, np.dtype[np.int64]], left: float, top: float, side: float) -> list[str]:
    step, most = side / STREETS, float(outbreak().max())
    parts = []
    for (i, j), value in np.ndenumerate(cells):
        shade = 0.05 + 0.85 * min(1.0, float(value) / most)
        parts.append(box(left + j * step + 1, top + i * step + 1, step - 2, step - 2, "cell", shade))
    for i, j in PUMPS.values():
        parts.append(_pump(left + (j + 0.5) * step, top + (i + 0.5) * step))
    return parts


def _pump(x: float, y: float) -> str:
    return f'<circle class="s2 dot" cx="{number(x)}" cy="{number(y)}" r="5" fill="currentColor"/>'
