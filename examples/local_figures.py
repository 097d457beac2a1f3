"""The figures of the course's slides on local privacy: means, models, and central against local error.

    python examples/local_figures.py FOLDER [--quick] [--lang es]

writes PNG and SVG figures and ``local_figures.csv`` into FOLDER, and prints the same table.  BR and MX are SYNTHETIC
(census_like.py); Adult is read from data/ if ``make data`` has put it there.  The full form takes a few minutes; ``make
figures`` runs it and installs what it needs: ``pip install '.[learn,plots]'``.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from census_like import Table, adult, br, mx
from rich.console import Console
from rich.measure import Measurement
from rich.progress import track
from rich.table import Table as Printed

try:
    import matplotlib  # noqa: F401  else it would be missed only after minutes
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.svm import LinearSVC
except ModuleNotFoundError as missing:
    sys.exit(f"{missing.name} is not installed. To do: make figures, or here: pip install '.[learn,plots]'.")

from curador.errors import InvalidValue
from curador.local import OUE, DuchiVector, Hybrid, LocalLaplace, Piecewise
from curador.local.frequency.subset import choose_cells
from curador.local.learn import LocalLinearRegression, LocalLinearSVC, LocalLogisticRegression
from curador.local.learn.schedule import LEAST_ROUNDS
from curador.local.numeric.record import WORTH
from curador.mechanisms.laplace import Laplace
from curador.noise import SYSTEM
from curador.privacy import Neighbors
from curador.show.curves import save
from curador.show.panels import Panel, RepeatedRuns, plot_panels

Array = np.ndarray[Any, Any]
ROOT = Path(__file__).parent.parent
WIDEST = 500
WORDS = {
    "en": {
        "epsilon": "ε of each person",
        "people": "people",
        "means": "Mean squared error of the means of numbers",
        "frequencies": "Mean squared error of the frequencies of categories",
        "models": "Models learned from locally private gradients",
        "places": "What trusting nobody costs: the error of the mean age in BR",
        "mse": "mean squared error",
        "absolute": "mean absolute error (years)",
        "wrong": "share misclassified",
        "linear": "linear",
        "logistic": "logistic",
        "svm": "SVM",
        "open": "not private",
        "constant": "constant answer",
        "laplace": "Laplace",
        "duchi": "Duchi",
        "piecewise": "Piecewise",
        "hybrid": "Hybrid",
        "split": "OUE, ε split over all attributes",
        "sampled": "OUE, a few attributes drawn",
        "central": "central: Laplace noise on the mean",
        "local": "local: Hybrid on every device",
        "by epsilon": "{n:,} people",
        "by people": "ε = 1",
        "synthetic": "{name} (synthetic)",
        "note": "BR and MX are made-up tables. Bars: two standard errors over {runs} repetitions{rough}.",
        "rough": ", too few to tell well: --quick is for a first look",
    },
    "es": {
        "epsilon": "ε de cada persona",
        "people": "personas",
        "means": "Error cuadrático medio de las medias de los números",
        "frequencies": "Error cuadrático medio de las frecuencias de las categorías",
        "models": "Modelos aprendidos de gradientes con privacidad local",
        "places": "Lo que cuesta no confiar en nadie: el error de la edad media en BR",
        "mse": "error cuadrático medio",
        "absolute": "error absoluto medio (años)",
        "wrong": "proporción mal clasificada",
        "linear": "lineal",
        "logistic": "logístico",
        "svm": "SVM",
        "open": "sin privacidad",
        "constant": "respuesta constante",
        "laplace": "Laplace",
        "duchi": "Duchi",
        "piecewise": "por tramos",
        "hybrid": "híbrido",
        "split": "OUE, ε repartido entre todos los atributos",
        "sampled": "OUE, unos pocos atributos al azar",
        "central": "central: ruido de Laplace sobre la media",
        "local": "local: híbrido en cada dispositivo",
        "by epsilon": "{n:,} personas",
        "by people": "ε = 1",
        "synthetic": "{name} (sintética)",
        "note": "BR y MX son tablas inventadas. Barras: dos errores estándar de {runs} repeticiones{rough}.",
        "rough": ", muy pocas para saberlo bien: --quick es un primer vistazo",
    },
}


@dataclass(frozen=True)
class Size:
    """How much is run."""

    rows: int
    epsilons: tuple[str, ...]
    runs: int
    model_runs: int
    people: tuple[int, ...]
    place_runs: int


FULL = Size(150_000, ("0.5", "1", "2", "4", "8"), 12, 5, (100, 1_000, 10_000, 100_000, 1_000_000), 60)
QUICK = Size(4_000, ("1", "4"), 4, 2, (100, 1_000), 20)


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured where, its mean, two standard errors, and what a formula says."""

    figure: str
    table: str
    method: str
    place: float
    """Epsilon, or the number of people."""
    mean: float
    two_errors: float
    formula: float | None = None


# ---- means and frequencies of mixed records [WXYZ19]


def budget(table: Table, epsilon: Fraction) -> tuple[int, int]:
    """How many attributes a person has, and on how many of them a sampled report tells."""
    d = len(table.numbers) + len(table.categories)
    return d, max(1, min(d, int(epsilon / WORTH)))


def drawn(rows: int, d: int, k: int) -> Array:
    """Which attributes each person reports on: k of d, without looking."""
    cells = np.zeros((rows, d), bool)
    choose_cells(cells, np.arange(rows), k, d, SYSTEM)
    return cells


def laplace_means(table: Table, epsilon: Fraction) -> tuple[Array, float]:
    """Estimated means on the scale from -1 to 1, and the mean squared error that the formula says."""
    units, (d, _) = table.units(), budget(table, epsilon)
    task = LocalLaplace(-1, 1, epsilon / d)
    found = [task.estimate(task.randomize(column)).value for column in units.T]
    return np.array(found), task.variance(table.rows, 0)


def duchi_means(table: Table, epsilon: Fraction) -> tuple[Array, float]:
    units, (d, _) = table.units(), budget(table, epsilon)
    task = DuchiVector(-1, 1, epsilon * units.shape[1] / d, units.shape[1])
    return task.estimate(task.randomize(units)).values, task.variance(table.rows) - np.square(units).mean() / table.rows


def sampled_means(kind: type[Piecewise] | type[Hybrid], table: Table, epsilon: Fraction) -> tuple[Array, float]:
    units, (d, k) = table.units(), budget(table, epsilon)
    task, reported = kind(-1, 1, epsilon / k), drawn(table.rows, d, k)
    found = [task.estimate(task.randomize(column[reported[:, j]])).value for j, column in enumerate(units.T)]
    part = table.rows * k / d
    # The variance is quadratic in the value, so that of a whole column follows from its mean square.
    still, moved = task.unit_variance(0.0), task.unit_variance(1.0)
    noise = (still + (moved - still) * np.square(units).mean(axis=0)) / part
    return np.array(found), float(np.mean(noise + units.var(axis=0) * (1 / part - 1 / table.rows)))


MEANS: dict[str, Callable[[Table, Fraction], tuple[Array, float]]] = {
    "laplace": laplace_means,
    "duchi": duchi_means,
    "piecewise": partial(sampled_means, Piecewise),
    "hybrid": partial(sampled_means, Hybrid),
}


def frequencies(table: Table, epsilon: Fraction, *, sample: bool) -> tuple[float, float]:
    """The mean squared error of the frequencies, measured and by the formula."""
    d, k = budget(table, epsilon)
    reported = drawn(table.rows, d, k) if sample else np.ones((table.rows, d), bool)
    errors, formula = list[float](), list[float]()
    for j, (name, column) in enumerate(table.categories.items(), start=len(table.numbers)):
        keys = table.keys[name]
        numbers = np.searchsorted(np.sort(keys), column)
        true = np.bincount(numbers, minlength=len(keys)) / table.rows
        task = OUE(len(keys), epsilon / (k if sample else d))
        own = numbers[reported[:, j]]
        errors += np.square(task.estimate(task.randomize(own)).values - true).tolist()
        formula += [task.variance(len(own), f) + f * (1 - f) * (1 / len(own) - 1 / table.rows) for f in true.tolist()]
    return float(np.mean(errors)), float(np.mean(formula))


def mean_rows(tables: list[Table], size: Size) -> Iterator[tuple[Row, list[float]]]:
    for table in tables:
        true = table.units().mean(axis=0)
        for place in size.epsilons:
            epsilon = Fraction(place)
            for name, estimate in MEANS.items():
                runs = [estimate(table, epsilon) for _ in range(size.runs)]
                errors = [float(np.square(found - true).mean()) for found, _ in runs]
                yield row("means", table.name, name, float(place), errors, float(np.mean([f for _, f in runs])))
            for name, sample in (("split", False), ("sampled", True)):
                pairs = [frequencies(table, epsilon, sample=sample) for _ in range(size.runs)]
                formula = float(np.mean([f for _, f in pairs]))
                yield row("frequencies", table.name, name, float(place), [e for e, _ in pairs], formula)


def row(
    figure: str, table: str, method: str, place: float, runs: list[float], formula: float | None = None
) -> tuple[Row, list[float]]:
    spread = RepeatedRuns([place], [runs])
    return Row(figure, table, method, place, float(spread.mean[0]), float(spread.reach[0]), formula), runs


# ---- models


def split(table: Table) -> tuple[Array, Array]:
    """A fifth of the people are kept for testing, the same in every run."""
    order = np.random.default_rng(1).permutation(table.rows)
    return order[table.rows // 5 :], order[: table.rows // 5]


def wrong(model: Any, X: Array, y: Array) -> float:
    return float(np.mean(model.predict(X) != y))


def squared(model: Any, X: Array, y: Array) -> float:
    return float(np.square(model.predict(X) - y).mean())


MODELS: dict[str, tuple[Callable[..., Any], Any, Callable[[Any, Array, Array], float]]] = {
    "linear": (partial(LocalLinearRegression, target=(-1, 1)), LinearRegression(), squared),
    "logistic": (partial(LocalLogisticRegression, classes=[0, 1]), LogisticRegression(C=100, max_iter=1000), wrong),
    "svm": (partial(LocalLinearSVC, classes=[0, 1]), LinearSVC(dual=False), wrong),
}


def trained(make: Callable[..., Any], X: Array, y: Array, epsilon: Fraction, mechanism: str) -> Any:
    """Each person reports once; where people are too few for the usual rounds, the fewest rounds."""
    options = {"epsilon": epsilon, "bounds": (-1, 1), "mechanism": mechanism}
    try:
        return make(**options).fit(X, y)
    except InvalidValue:
        return make(**options, rounds=LEAST_ROUNDS).fit(X, y)


def model_rows(tables: list[Table], size: Size) -> Iterator[tuple[Row, list[float]]]:
    for table in tables:
        X, _ = table.features()
        known, fresh = split(table)
        for kind, (make, plain, score) in MODELS.items():
            y = table.answers() if kind == "linear" else table.labels()
            best = y[known].mean() if kind == "linear" else round(y[known].mean())
            constant = np.square(y[fresh] - best).mean()
            open_ = score(plain.fit(X[known], y[known]), X[fresh], y[fresh])
            yield row(kind, table.name, "open", 0.0, [open_])
            yield row(kind, table.name, "constant", 0.0, [float(constant)])
            for place in size.epsilons:
                for mechanism in MEANS:
                    fits = (
                        trained(make, X[known], y[known], Fraction(place), mechanism) for _ in range(size.model_runs)
                    )
                    runs = [score(fit, X[fresh], y[fresh]) for fit in fits]
                    yield row(kind, table.name, mechanism, float(place), runs)


# ---- central against local


def central_errors(ages: Array, epsilon: Fraction, low: int, high: int, runs: int) -> tuple[Array, float]:
    """Of what a curator who sees all the data would answer (neighbours replace a person); in the mean, the scale."""
    noise = Laplace(Fraction(high - low, len(ages)), epsilon, coordinates=1, neighbors=Neighbors.REPLACE)
    true = float(ages.mean())
    return np.array([noise.release(true) - true for _ in range(runs)]), float(noise.scale)


def local_errors(ages: Array, epsilon: Fraction, low: int, high: int, runs: int) -> tuple[Array, float]:
    """Of what anybody can estimate from the reports; in the mean, sqrt(2/pi) deviations, as for a normal law."""
    task, true = Hybrid(low, high, epsilon), float(ages.mean())
    found = np.array([task.estimate(task.randomize(ages)).value - true for _ in range(runs)])
    still, moved = task.unit_variance(0.0), task.unit_variance(1.0)
    square = np.square((ages - low) / (high - low) * 2 - 1).mean()
    deviation = np.sqrt((still + (moved - still) * square) / len(ages)) * (high - low) / 2
    return found, float(np.sqrt(2 / np.pi) * deviation)


def place_rows(table: Table, size: Size) -> Iterator[tuple[Row, list[float]]]:
    ages, (low, high) = np.resize(table.numbers["age"], max(size.people)), map(int, table.bounds["age"])
    ways = {"central": central_errors, "local": local_errors}
    some = size.people[-2]
    by_epsilon = [("by epsilon", float(place), Fraction(place), some) for place in size.epsilons]
    by_people = [("by people", float(n), Fraction(1), n) for n in size.people]
    for figure, place, epsilon, n in by_epsilon + by_people:
        for name, way in ways.items():
            errors, formula = way(ages[:n], epsilon, low, high, size.place_runs)
            yield row(figure, table.name, name, place, np.abs(errors).tolist(), formula)


# ---- pictures and tables

Measured = Mapping[tuple[str, str, str], list[tuple[Row, list[float]]]]


def lines(found: Measured, words: Mapping[str, str], figure: str, table: str) -> dict[str, RepeatedRuns]:
    """The measured series of one panel, by the names that the legend shows."""
    made = {}
    for (kind, where, method), several in found.items():
        if (kind, where) == (figure, table) and several[0][0].place > 0:
            made[words[method]] = RepeatedRuns([one.place for one, _ in several], [runs for _, runs in several])
    return made


def draw(found: Measured, tables: list[Table], size: Size, words: Mapping[str, str], into: Path) -> None:
    notes = partial(words["note"].format, rough=words["rough"] if size is QUICK else "")
    titles = {t.name: words["synthetic"].format(name=t.name) if t.synthetic else t.name for t in tables}
    for figure in ("means", "frequencies"):
        panels = [
            Panel(title, lines(found, words, figure, name), xlabel=words["epsilon"], ylabel=words["mse"])
            for name, title in titles.items()
        ]
        store(plot_panels(panels, columns=len(panels), title=words[figure], note=notes(runs=size.runs)), into, figure)
    panels = []
    for name in titles:
        for kind in MODELS:
            levels = {words[level]: found[kind, name, level][0][0].mean for level in ("open", "constant")}
            measure = words["mse" if kind == "linear" else "wrong"]
            shown = lines(found, words, kind, name)
            title = f"{titles[name]}, {words[kind]}"
            panels.append(Panel(title, shown, levels, words["epsilon"], measure, kind == "linear"))
    note = notes(runs=size.model_runs)
    store(plot_panels(panels, columns=len(MODELS), title=words["models"], note=note), into, "models")
    sides = [("by epsilon", words["epsilon"], {"n": size.people[-2]}), ("by people", words["people"], {})]
    panels = [
        Panel(words[side].format(**n), lines(found, words, side, "BR"), xlabel=label, ylabel=words["absolute"])
        for side, label, n in sides
    ]
    note = notes(runs=size.place_runs)
    store(plot_panels(panels, columns=2, title=words["places"], note=note), into, "central_local")


def store(figure: Any, into: Path, name: str) -> None:
    for suffix in ("png", "svg"):
        save(figure, into / f"{name}.{suffix}")


def write(rows: list[Row], into: Path, console: Console) -> None:
    with (into / "local_figures.csv").open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow([field.name for field in fields(Row)])
        table.writerows([one.figure, one.table, one.method, *map(cell, numbers(one))] for one in rows)
    shown = Printed("figure", "table", "method", "ε or people", "mean", "± 2 s.e.", "formula")
    for one in rows:
        shown.add_row(one.figure, one.table, one.method, *map(cell, numbers(one)))
    # As wide as it is: a pipe counts as 80 columns, and a truncated number would mislead.
    whole = Measurement.get(console, console.options.update(max_width=WIDEST), shown).maximum
    Console(width=max(console.width, whole)).print(shown)


def numbers(one: Row) -> tuple[float | None, ...]:
    return one.place or None, one.mean, one.two_errors or None, one.formula


def cell(x: float | None) -> str:
    return "" if x is None else f"{x:.4g}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the figures of the slides on local privacy.")
    parser.add_argument("folder", type=Path, help="where the figures and the table go")
    parser.add_argument("--quick", action="store_true", help="small tables and few repetitions, for a first look")
    parser.add_argument("--lang", choices=sorted(WORDS), default="en", help="language of the labels")
    asked = parser.parse_args()
    size, words = QUICK if asked.quick else FULL, WORDS[asked.lang]
    asked.folder.mkdir(parents=True, exist_ok=True)
    console = Console()
    real = adult(ROOT / "data")
    if real is None:
        console.print("Adult is not here; run `make data` to have it too.")
    tables = [br(size.rows), mx(size.rows), *([] if real is None else [real.first(size.rows)])]
    found: dict[tuple[str, str, str], list[tuple[Row, list[float]]]] = {}
    steps = (mean_rows(tables, size), model_rows(tables, size), place_rows(tables[0], size))
    for kind, step in zip(("means", "models", "places"), steps, strict=True):
        for one, runs in track(step, description=words[kind], console=console, total=None):
            found.setdefault((one.figure, one.table, one.method), []).append((one, runs))
    write([one for several in found.values() for one, _ in several], asked.folder, console)
    draw(found, tables, size, words, asked.folder)
    console.print(f"Wrote figures and local_figures.csv into {asked.folder}.")


if __name__ == "__main__":
    main()
