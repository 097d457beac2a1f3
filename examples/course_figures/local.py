"""Means and models under local privacy by ε, on the two made-up census tables, from what local_figures.py measured."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from curador.show.pages.charts import Axis, Track, line_chart, xy_chart
from examples.course_figures.picture import WIDTH, words

MEASURED = Path(__file__).parents[2] / "docs" / "course" / "figures" / "local_figures.csv"
NAMES = {
    "laplace": ("Laplace", "Laplace"),
    "duchi": ("Duchi", "Duchi"),
    "piecewise": ("piecewise", "por tramos"),
    "hybrid": ("hybrid", "híbrido"),
    "open": ("without privacy", "sin privacidad"),
    "constant": ("a constant answer", "una respuesta constante"),
}
PLACES = tuple((e, f"{e:g}") for e in (0.5, 1.0, 2.0, 4.0, 8.0))


@cache
def measured() -> tuple[dict[str, str], ...]:
    """The rows of the table of measurements."""
    with MEASURED.open(newline="") as lines:
        return tuple(csv.DictReader(lines))


def _drawn(figure: str, table: str, title: str, error: str, language: str, *, log: bool) -> str:
    told = words(language)
    found: dict[str, list[tuple[float, float, float]]] = {}
    for row in measured():
        if (row["figure"], row["table"]) == (figure, table):
            place, mean, reach = (float(row[name] or 0) for name in ("place", "mean", "two_errors"))
            found.setdefault(row["method"], []).append((place, mean, reach))
    tracks = []
    for method, points in found.items():
        if method in ("open", "constant"):
            ((_, mean, _),) = points
            tracks.append(Track(told(*NAMES[method]), (PLACES[0][0], PLACES[-1][0]), (mean, mean), "dashed"))
        else:
            points.sort()
            low = tuple(max(mean - reach, mean / 10) for _, mean, reach in points)
            high = tuple(mean + reach for _, mean, reach in points)
            x, y = tuple(place for place, _, _ in points), tuple(mean for _, mean, _ in points)
            tracks.append(Track(told(*NAMES[method]), x, y, "line", low, high))
    across = Axis(told("ε of each person", "ε de cada persona"), log=True, ends=(0.5, 8.0), ticks=PLACES)
    # The methods before the levels, so that a method has the same colour in each figure.
    tracks.sort(key=lambda track: track.style)
    tracks.sort(key=lambda track: track.style == "dashed")
    return line_chart(tracks, title=title, x=across, y=Axis(error, log=log), width=WIDTH)


def _means(table: str, country: tuple[str, str], language: str) -> str:
    told = words(language)
    title = told(
        f"Means under local privacy, a made-up {country[0]} census",
        f"Medias con privacidad local, un censo inventado de {country[1]}",
    )
    return _drawn("means", table, title, told("mean squared error", "error cuadrático medio"), language, log=True)


def central_local(language: str) -> str:
    """The error of a mean age by the number of people, as a curator answers it and as devices report it."""
    told = words(language)
    names = {"central": told("central: one noise", "central: un solo ruido"), "local": told("local", "local")}
    tracks, points = [], []
    for method, name in names.items():
        rows = [r for r in measured() if (r["figure"], r["method"]) == ("by people", method)]
        found = sorted(tuple(float(r[key]) for key in ("place", "mean", "two_errors", "formula")) for r in rows)
        x, y, reach, formula = zip(*found, strict=True)
        low, high = ([b + side * w for b, w in zip(y, reach, strict=True)] for side in (-1, 1))
        tracks.append(Track(name, x, formula))
        points.append(Track(told(f"{method}, measured", f"{method}, medido"), x, y, "points", tuple(low), tuple(high)))
    title = told("Central and local error of a mean age, ε = 1", "Error central y local de una edad media, ε = 1")
    people = Axis(told("people", "personas"), log=True, ends=(100, 1_000_000))
    error = Axis(told("mean absolute error (years)", "error absoluto medio (años)"), log=True)
    return xy_chart([*tracks, *points], title=title, x=people, y=error, width=WIDTH)


def local_means_brazil(language: str) -> str:
    return _means("BR", ("Brazilian", "Brasil"), language)


def local_means_mexico(language: str) -> str:
    return _means("MX", ("Mexican", "México"), language)


def local_linear_brazil(language: str) -> str:
    told = words(language)
    title = told(
        "Linear regression from private gradients, a made-up Brazilian census",
        "Regresión lineal con gradientes privados, un censo inventado de Brasil",
    )
    return _drawn("linear", "BR", title, told("mean squared error", "error cuadrático medio"), language, log=True)


def local_logistic_brazil(language: str) -> str:
    told = words(language)
    title = told(
        "Logistic regression from private gradients, a made-up Brazilian census",
        "Regresión logística con gradientes privados, un censo inventado de Brasil",
    )
    wrong = told("share of wrong predictions", "proporción de predicciones erróneas")
    return _drawn("logistic", "BR", title, wrong, language, log=False)
