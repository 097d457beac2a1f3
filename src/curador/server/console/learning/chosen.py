"""From a form to a recipe; and which columns of a table can be learned from, by their declarations alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from curador import Table
from curador.curator.table import described
from curador.errors import InvalidParameter
from curador.server.bodies import RecipeBody
from curador.server.console.forms import Filled, amount, number_text

CLASSIFIERS = ("LogisticRegression", "LinearSVC", "AdditiveClassifier", "GaussianNB")
REGRESSIONS = ("LinearRegression", "Ridge")
SHAPES = ("PCA", "KMeans")
FAMILIES = {"classes": CLASSIFIERS, "number": REGRESSIONS, "shape": SHAPES}
MODELS = (*CLASSIFIERS, *REGRESSIONS, *SHAPES)
"""The models that a form makes, by what they are for."""

GAUSSIAN = ("LogisticRegression", "LinearSVC", "AdditiveClassifier")
"""Those that need a delta."""

SETTINGS = {
    "n_clusters": ("KMeans",),
    "n_components": ("PCA",),
    "alpha": ("Ridge",),
    "bins": ("AdditiveClassifier", "GaussianNB"),
    "steps": ("LogisticRegression", "LinearSVC", "AdditiveClassifier", "LinearRegression", "Ridge"),
}
"""The settings that a form has, and the models that they are for; a recipe file has all."""

WHOLE = ("n_clusters", "bins", "steps")

B = TypeVar("B", bound=RecipeBody)


@dataclass(frozen=True)
class ColumnChoice:
    """A column as a form offers it: as a feature, and as what is predicted."""

    name: str
    field: str
    numeric: bool
    keyed: bool
    about: str

    @property
    def usable(self) -> bool:
        return self.numeric or self.keyed


def columns_of(table: Table, language: str = "en") -> list[ColumnChoice]:
    """The columns of a table; the one that says whose a row is teaches nothing, and is not offered.

    >>> people = Table("p.csv", columns={"age": {"type": "integer", "bounds": [0, 99]}, "note": "text"})
    >>> [(one.name, one.field, one.usable) for one in columns_of(people)]
    [('age', 'feature-0', True), ('note', 'feature-1', False)]
    """
    said = {one["name"]: one["values"] for one in described(table, language)["columns"]}
    found = [
        ColumnChoice(
            name,
            f"feature-{i}",
            numeric=column.kind.counted and column.bounds is not None,
            keyed=column.kind.value == "boolean" or len(column.keys or ()) > 1,
            about=said[name],
        )
        for i, (name, column) in enumerate(table.columns.items())
    ]
    return [one for one in found if one.name != table.unit.id]


def recipe_of(form: Filled, table: str, columns: Sequence[ColumnChoice], body: type[B], **more: Any) -> B:
    """A body of the API.

    Fails: InvalidParameter that names the field in its facts, under "field".
    """
    model = form["model"]
    if model not in MODELS:
        raise wrong("model", "No model is chosen.", "Choose one.")
    features = [one.name for one in columns if form[one.field] == one.name]
    if not features:
        raise wrong("features", "No column is chosen to learn from.", "Tick at least one.")
    label = None if model in SHAPES else _label(form, model, columns)
    if label in features:
        raise wrong("label", "This is predicted and learned from.", "Choose another one, or take its tick away.")
    return form.read(
        body,
        model=model,
        table=table,
        features=features,
        label=label,
        where=form["where"].strip(),
        rows_per_unit=_count(form, "rows_per_unit"),
        settings=_settings(form, model),
        **more,
    )


FREE = {"LinearRegression": "alpha", "Ridge": "alpha", "PCA": "n_components"}
"""Settings that are no part of what is bought: shown with others, a model is the same measurement."""


def shown_with(model: str, text: str) -> dict[str, Any]:
    """The free setting of a model as somebody wrote it; nothing where nothing was written, or the model has none.

    >>> shown_with("Ridge", "2.5"), shown_with("PCA", "3"), shown_with("KMeans", "3")
    ({'alpha': 2.5}, {'n_components': 3}, {})
    """
    name = FREE.get(model)
    return {} if name is None or not text.strip() else {name: _number(Filled({name: text}), name)}


def _label(form: Filled, model: str, columns: Sequence[ColumnChoice]) -> str:
    fits = {one.name for one in columns if (one.keyed if model in CLASSIFIERS else one.numeric)}
    if form["label"] in fits:
        return form["label"]
    if model in CLASSIFIERS:
        raise wrong("label", "A classifier predicts a column with keys.", "Choose such a column.", "label-keys")
    raise wrong("label", "A regression predicts a number with bounds.", "Choose such a column.", "label-number")


def _settings(form: Filled, model: str) -> dict[str, Any]:
    """The guarantee and the settings of the chosen model; what a form says for other models is left out."""
    amount(form["epsilon"], "epsilon")
    found: dict[str, Any] = {"epsilon": number_text(form["epsilon"])}
    if form["delta"].strip():
        amount(form["delta"], "delta", 1)
        found["delta"] = number_text(form["delta"])
    elif model in GAUSSIAN:
        raise wrong("delta", "This model needs a delta.", "Write one, such as 1e-6.")
    for name, models in SETTINGS.items():
        if model in models and form[name].strip():
            found[name] = _count(form, name) if name in WHOLE else _number(form, name)
    return found


def _number(form: Filled, name: str) -> int | float:
    found = amount(form[name], name)
    return int(found) if found.denominator == 1 else float(found)


def _count(form: Filled, name: str) -> int | None:
    text = form[name].strip()
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= 10**6:
        raise wrong(name, "This is not a whole number.", "Write one from 1 on, or leave it empty.", "whole")
    return int(text)


def wrong(field: str, what: str, fix: str, code: str = "") -> InvalidParameter:
    """A refusal next to a field; its code has the text in both languages."""
    return InvalidParameter(what, fix=fix, code=f"model-{code or field}", facts={"field": field})
