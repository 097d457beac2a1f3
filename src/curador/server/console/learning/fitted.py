"""A fitted model as charts and tables, with the names of its columns.

Weights are shown of columns scaled by their bounds, so that they can be compared: the step from the middle of a
number's bounds to their upper end, or from the mean of a feature's keys to one of them.  Tables have the coefficients
beside them, as the model's file has them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from curador.show.pages.bars import MOST_BARS, Bar, BarGroup, bar_chart, grouped_chart
from curador.show.pages.charts import MOST_SERIES, Axis, Track, xy_chart
from curador.show.pages.heat import MOST_COLUMNS, heat_chart
from curador.show.report.picture import Picture
from curador.show.tables import Cell

if TYPE_CHECKING:
    from curador.learn.recipe import BoughtModel

Say = Callable[..., str]
Rows = list[tuple[Cell, ...]]

MOST_STEPS = 8
"""Numbers of an additive classifier that are drawn."""


EPOCH = date(1970, 1, 1)
"""Models read dates as days since then, and timestamps as seconds."""


@dataclass(frozen=True)
class FittedView:
    """What a page shows of a model: charts, a table with its headings, and what its numbers are."""

    charts: tuple[Picture, ...]
    headings: tuple[str, ...]
    rows: Rows
    hint: str = ""


def fitted(found: BoughtModel, dates: Collection[str], say: Say) -> FittedView:
    """The charts and the table of any model that a form makes; a table of nothing for others.

    ``dates`` are the features that are days since 1970.
    """
    shown = {
        "LogisticRegression": _linear,
        "LinearSVC": _linear,
        "AdditiveClassifier": _additive,
        "LinearRegression": _regression,
        "Ridge": _regression,
        "GaussianNB": _bayes,
        "PCA": _components,
        "KMeans": _clusters,
    }.get(type(found.model).__name__)
    return FittedView((), (), []) if shown is None else shown(found.model, found.recipe.label or "", dates, say)


def class_text(key: object) -> str:
    """A class or a key as pages show it."""
    return str(key).lower() if isinstance(key, bool | np.bool_) else str(key)


def day_of(count: float) -> date:
    """The date that is so many days after 1970-01-01.

    >>> day_of(1).isoformat()
    '1970-01-02'
    """
    return EPOCH + timedelta(days=round(count))


def _valued(x: float, name: str, dates: Collection[str]) -> Cell:
    return day_of(x).isoformat() if name in dates else float(x)


def centred(weights: Any, encoding: Any) -> Any:
    """The weights of all columns but the intercept, those of keys from their mean: what all keys of a feature have in
    common says nothing about one of them.

    >>> from curador.learn.rows.encoding import Encoding, KeyFeature, NumberFeature
    >>> features = Encoding((NumberFeature("age", 0, 9), KeyFeature("sex", ("F", "M"))))
    >>> centred(np.array([[5.0, 1.0, 3.0, 7.0]]), features).tolist()
    [[5.0, -1.0, 1.0]]
    """
    shown = np.array(weights, float)[..., :-1]
    for start, feature in zip(encoding.starts, encoding.keyed, strict=True):
        keys = shown[..., start : start + feature.width]
        keys -= keys.mean(axis=-1, keepdims=True)
    return shown


def _bars(names: Sequence[str], values: Sequence[float], caption: str, say: Say, axis: Axis | None = None) -> Picture:
    """Bars of the heaviest, in the order of their columns."""
    kept = sorted(sorted(range(len(names)), key=lambda i: -abs(values[i]))[:MOST_BARS])
    if len(kept) < len(names):
        caption += " " + say("models.chart-cut", n=MOST_BARS)
    bars = [Bar(names[i], float(values[i])) for i in kept]
    return Picture(caption, lambda width: bar_chart(bars, title=caption, x=axis or Axis(), width=width))


def _groups(names: Sequence[str], series: Sequence[str], values: Any, caption: str) -> tuple[Picture, ...]:
    """Several bars for each name; a grid where there are more of them than a chart shows."""
    if not 1 <= len(names) <= MOST_BARS or len(series) > MOST_SERIES:
        return _heat(names, series, values, caption)
    groups = [
        BarGroup(name, tuple(Bar(one, float(values[k][j])) for k, one in enumerate(series)))
        for j, name in enumerate(names)
    ]
    return (Picture(caption, lambda width: grouped_chart(groups, title=caption, width=width)),)


def _heat(names: Sequence[str], columns: Sequence[str], values: Any, caption: str) -> tuple[Picture, ...]:
    """A grid of the columns of a model; nothing where there are more than a grid shows."""
    if not 1 <= len(names) <= MOST_BARS or len(columns) > MOST_COLUMNS:
        return ()
    cells = {(i, j): round(float(values[j][i]), 3) for i in range(len(names)) for j in range(len(columns))}
    return (Picture(caption, lambda width: heat_chart(names, columns, cells, title=caption, width=width)),)


# ---- linear ----------------------------------------------------------------------------------------------------------


def _linear(model: Any, label: str, dates: Collection[str], say: Say) -> FittedView:
    wide, classes = model._wide_encoding(), [class_text(c) for c in model.classes_]
    names, weights = list(wide.columns[:-1]), centred(model.weights_, wide)
    unit = say("models.unit-margin" if type(model).__name__ == "LinearSVC" else "models.unit-odds")
    if len(classes) == 2:
        first, second = classes
        caption = say("models.chart-two", label=label, first=first, second=second, unit=unit)
        chart = _bars(names, weights[0], caption, say)
        headings = (say("models.column"), say("models.weight"), say("models.coefficient"))
        rows: Rows = [(n, float(w), float(c)) for n, w, c in zip(names, weights[0], model.coef_[0], strict=True)]
        return FittedView(
            (chart,),
            headings,
            [*rows, (say("models.intercept"), None, float(model.intercept_[0]))],
            say("models.hint-weights"),
        )
    caption = say("models.chart-many", label=label, unit=unit)
    charts = _heat(names, classes, weights, caption)
    rows = [(n, *(float(w) for w in weights[:, i])) for i, n in enumerate(names)]
    return FittedView(charts, (say("models.column"), *classes), rows, say("models.hint-scaled"))


def _additive(model: Any, label: str, dates: Collection[str], say: Say) -> FittedView:
    plain = _linear(model, label, dates, say)
    if len(model.classes_) != 2:
        return plain
    first, second = (class_text(c) for c in model.classes_)
    charts = []
    for feature in model.encoding_.numbers[:MOST_STEPS]:
        ends, heights = model.steps_of(feature.name)
        caption = say("models.chart-steps", feature=feature.name, first=first, second=second)
        charts.append(_steps(feature.name, ends.tolist(), heights.tolist(), caption, feature.name in dates, say))
    wide = model._wide_encoding()
    names, own = list(wide.columns[:-1]), centred(model.weights_, wide)[0]
    keys = {c for f in model.encoding_.keyed for c in f.columns}
    kept = [i for i, name in enumerate(names) if name in keys]
    if kept:
        caption = say("models.chart-two", label=label, first=first, second=second, unit=say("models.unit-odds"))
        weights = [float(own[i]) for i in kept]
        charts.append(_bars([names[i] for i in kept], weights, caption, say))
    return FittedView(tuple(charts), plain.headings, plain.rows, plain.hint)


def _steps(name: str, ends: list[float], heights: list[float], caption: str, dates: bool, say: Say) -> Picture:
    track = Track(name, tuple(ends), (*heights, heights[-1]), "steps")
    across, up = Axis(name, dates=dates), Axis(say("models.unit-odds"))
    return Picture(caption, lambda width: xy_chart([track], title=caption, x=across, y=up, width=width))


def _regression(model: Any, label: str, dates: Collection[str], say: Say) -> FittedView:
    names = list(model.encoding_.columns[:-1])
    weights = centred(model.weights_, model.encoding_)
    chart = _bars(names, weights, say("models.chart-line", label=label), say)
    headings = (say("models.column"), say("models.weight"), say("models.coefficient"))
    rows: Rows = [(n, float(w), float(c)) for n, w, c in zip(names, weights, model.coef_, strict=True)]
    return FittedView(
        (chart,),
        headings,
        [*rows, (say("models.intercept"), None, float(model.intercept_))],
        say("models.hint-weights"),
    )


# ---- sums ------------------------------------------------------------------------------------------------------------


def _bayes(model: Any, label: str, dates: Collection[str], say: Say) -> FittedView:
    classes = [class_text(c) for c in model.classes_]
    charts = [_bars(classes, model.class_prior_, say("models.chart-prior", label=label), say, Axis(percent=True))]
    numbers = [] if model.bins_ else [f.name for f in model.encoding_.numbers]
    charts += _groups(numbers, classes, model.scaled_means_, say("models.chart-means"))
    spread = np.sqrt(model.var_)
    rows: Rows = [
        (name, *(_spread(model.theta_[k][j], spread[k][j], name in dates) for k in range(len(classes))))
        for j, name in enumerate(numbers)
    ]
    keyed = model.key_log_prob_[len(model.key_log_prob_) - len(model.encoding_.keyed) :]
    for feature, likely in zip(model.encoding_.keyed, keyed, strict=True):
        shares = np.exp(likely)
        rows += [
            (c, *(f"{100 * shares[k][i]:.1f} %" for k in range(len(classes)))) for i, c in enumerate(feature.columns)
        ]
    return FittedView(tuple(charts), (say("models.column"), *classes), rows, say("models.hint-bayes"))


def _spread(mean: float, away: float, dates: bool) -> str:
    return f"{day_of(mean).isoformat()} ± {away:,.0f} d" if dates else f"{mean:.4g} ± {away:.3g}"


def _components(model: Any, label: str, dates: Collection[str], say: Say) -> FittedView:
    names = list(model.encoding_.columns[:-1])
    parts = [say("models.component", n=i + 1) for i in range(model.n_components_)]
    ratio = _bars(parts, model.explained_variance_ratio_, say("models.chart-variance"), say, Axis(percent=True))
    charts = (
        ratio,
        *_heat(names, [str(i + 1) for i in range(len(parts))], model.components_, say("models.chart-turn")),
    )
    rows: Rows = [(n, *(float(x) for x in model.components_[:, i])) for i, n in enumerate(names)]
    return FittedView(charts, (say("models.column"), *parts), rows, say("models.hint-turn"))


def _clusters(model: Any, label: str, dates: Collection[str], say: Say) -> FittedView:
    names = list(model.encoding_.columns[:-1])
    parts = [say("models.cluster", n=i + 1) for i in range(len(model.cluster_centers_))]
    charts = _groups(names, parts, model.scaled_centers_, say("models.chart-centres"))
    rows: Rows = [(n, *(_valued(x, n, dates) for x in model.cluster_centers_[:, i])) for i, n in enumerate(names)]
    return FittedView(charts, (say("models.column"), *parts), rows, say("models.hint-centres"))
