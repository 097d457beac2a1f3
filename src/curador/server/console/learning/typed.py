"""A row that somebody typed, and what a model says of it: no data is read, and nothing is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from curador.errors import CuradorError, InvalidParameter
from curador.server.console.forms import Filled
from curador.server.console.learning.fitted import EPOCH, class_text, day_of
from curador.show.pages.bars import MOST_BARS, Bar, bar_chart
from curador.show.pages.charts import Axis
from curador.show.report.picture import Picture

if TYPE_CHECKING:
    from curador.learn.recipe import BoughtModel

Say = Callable[..., str]

START = datetime.combine(EPOCH, time())

DATES = {"date": "date", "timestamp": "datetime-local"}
"""The fields of a form for the types that are no numbers to people."""


@dataclass(frozen=True)
class TypedField:
    """A field of the form: a number or a date between its bounds, or one of several keys."""

    name: str
    field: str
    kind: str
    low: str = ""
    high: str = ""
    middle: str = ""
    keys: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Predicted:
    """What a model says: a word or a number, and more about it; a chart where there are chances."""

    answer: str
    details: tuple[tuple[str, str], ...] = ()
    about: str = ""
    chart: Picture | None = None


def fields_of(found: BoughtModel) -> list[TypedField]:
    """A field for each feature, from what was declared when the model was bought."""
    from curador.learn.rows.encoding import KeyFeature

    made = []
    for i, feature in enumerate(found.model.encoding_.features):
        if isinstance(feature, KeyFeature):
            keys = tuple((str(k), class_text(key)) for k, key in enumerate(feature.keys))
            made.append(TypedField(feature.name, f"x-{i}", "keys", middle="0", keys=keys))
            continue
        kind = _kind(found, feature.name)
        low, high, middle = (_written(x, kind) for x in (feature.low, feature.high, (feature.low + feature.high) / 2))
        made.append(TypedField(feature.name, f"x-{i}", DATES.get(kind, "number"), low, high, middle))
    return made


def _kind(found: BoughtModel, name: str) -> str:
    """The type of the column that a feature is; empty where it is an expression."""
    plain = not isinstance(found.recipe.features, Mapping)
    return found.kinds.get(name, "") if plain else ""


def _written(x: float, kind: str) -> str:
    if kind == "date":
        return day_of(x).isoformat()
    if kind == "timestamp":
        return (START + timedelta(seconds=round(x))).isoformat()
    return f"{round(x)}" if kind == "integer" else f"{x:.6g}"


def row_of(form: Filled, fields: list[TypedField], found: BoughtModel) -> list[Any]:
    """The row of a form; refused with its field.  What is empty is missing, as in a table."""
    return [
        _value(form[one.field].strip(), one, feature)
        for one, feature in zip(fields, found.model.encoding_.features, strict=True)
    ]


def _value(text: str, one: TypedField, feature: Any) -> Any:
    if not text:
        return None
    try:
        if one.kind == "keys":
            return feature.keys[int(text)] if text.isdecimal() else feature.keys[len(feature.keys)]
        if one.kind == "date":
            return float((date.fromisoformat(text) - EPOCH).days)
        if one.kind == "datetime-local":
            return (datetime.fromisoformat(text).replace(tzinfo=None) - START).total_seconds()
        number = float(text)
    except (ValueError, IndexError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidParameter(
            "This is not a value of the column.",
            fix="Write a number, or leave it empty.",
            code="model-value",
            facts={"field": one.field},
        )
    return number


def predicted(found: BoughtModel, row: list[Any], say: Say) -> Predicted:
    """What the model says of one row."""
    model: Any = found.model
    if hasattr(model, "classes_"):
        return _classified(model, row, say)
    if hasattr(model, "cluster_centers_"):
        away = [float(x) for x in model.transform([row])[0]]
        parts = tuple((say("models.cluster", n=i + 1), f"{x:.3g}") for i, x in enumerate(away))
        return Predicted(say("models.cluster", n=int(model.predict([row])[0]) + 1), parts, say("models.away"))
    if hasattr(model, "components_"):
        turned = [float(x) for x in model.transform([row])[0]]
        return Predicted("", tuple((say("models.component", n=i + 1), f"{x:.3g}") for i, x in enumerate(turned)))
    return Predicted(f"{float(model.predict([row])[0]):,.4g}")


def _classified(model: Any, row: list[Any], say: Say) -> Predicted:
    answer = class_text(model.predict([row])[0])
    if not hasattr(model, "predict_proba"):
        return Predicted(answer, ((say("models.margin"), f"{float(model.decision_function([row])[0]):.3g}"),))
    bars = [Bar(class_text(c), float(p)) for c, p in zip(model.classes_, model.predict_proba([row])[0], strict=True)]
    bars = sorted(bars, key=lambda one: -one.value)[:MOST_BARS]
    caption = say("models.chances")
    whole = Axis(percent=True, ends=(0.0, 1.0))
    return Predicted(answer, chart=Picture(caption, lambda w: bar_chart(bars, title=caption, x=whole, width=w)))


def asked_of(found: BoughtModel, form: Filled, fields: list[TypedField], say: Say) -> tuple[Filled, Predicted | None]:
    """The form with its refusals, and what the model says of it."""
    try:
        return form, predicted(found, row_of(form, fields, found), say)
    except CuradorError as error:
        return form.refused(str(error.facts.get("field", "")), error), None
