"""A model that was bought is made again from the ledger, and from nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone

from curador import ApproxDP, Curator, Table
from curador.errors import InvalidParameter
from curador.learn import GaussianNB, LinearRegression, LogisticRegression
from curador.learn.recipe import bought_model, recipe_from
from curador.learn.saved import to_json

COLUMNS = {
    "age": {"type": "integer", "bounds": [0, 100]},
    "pay": {"type": "real", "bounds": [0, 5000], "step": "0.5"},
    "sex": {"type": "text", "keys": ["F", "M"]},
}


def opened(folder: Path, upper: int = 100) -> Curator:
    columns = {**COLUMNS, "age": {"type": "integer", "bounds": [0, upper]}}
    table = Table(folder / "people.csv", columns=columns)
    return Curator({"people": table}, budget=ApproxDP(100, 1e-3), ledger=folder / "x.ledger")


@pytest.fixture
def curator(tmp_path: Path) -> Iterator[Curator]:
    rows = [f"{20 + i % 50},{i % 5000}.5,{'FM'[i % 2]}" for i in range(500)]
    (tmp_path / "people.csv").write_text("\n".join(["age,pay,sex", *rows]) + "\n")
    with closing(opened(tmp_path)) as made:
        yield made


def test_a_model_is_made_again_from_its_charge(curator: Curator, tmp_path: Path) -> None:
    bayes = curator.fit(GaussianNB(Fraction(1, 3)), "people", features=["age", "pay"], label="sex")
    squared = {"age": "age", "square": "age * age"}
    line = curator.fit(LinearRegression(1, "1e-6", steps=2), "people", features=squared, label="pay")
    with closing(opened(tmp_path)) as later:
        for model in (bayes, line):
            charge = model.privacy_.charge
            assert charge is not None
            found = bought_model(later, charge)
            assert found is not None
            assert to_json(found.model)["fitted"] == to_json(model)["fitted"]
            assert found.model.privacy_ == model.privacy_
        assert bought_model(later, "99") is None
        assert later.charge_count() == 2


def test_rows_that_a_condition_chose_and_the_order_of_named_features_are_recorded(curator: Curator) -> None:
    some = curator.table("people").where("age > 30").where("age < 60")
    model = curator.fit(GaussianNB(1), some, features={"years": "age", "half": "age // 2"}, label="sex")
    found = bought_model(curator, str(model.privacy_.charge))
    assert found is not None
    assert to_json(found.model)["fitted"] == to_json(model)["fitted"]
    assert found.recipe.where == "(age < 60) AND (age > 30)"
    assert list(found.recipe.features) == ["years", "half"]


def test_what_the_record_does_not_tell_is_not_guessed(curator: Curator, tmp_path: Path) -> None:
    computed = curator.table("people").with_columns(age="age // 2")
    models = [
        curator.fit(GaussianNB(1), computed, features=["age"], label="sex"),
        curator.fit(GaussianNB(1), "people", features=["age"], label="sex"),
    ]
    first, second = (str(model.privacy_.charge) for model in models)
    counted = curator.sql("SELECT COUNT(*) AS n FROM people", epsilon=1).charge
    assert bought_model(curator, second) is not None
    for charge in (first, counted):
        with pytest.raises(InvalidParameter) as refused:
            bought_model(curator, charge)
        assert refused.value.code == "not-recalled"


def test_a_model_is_read_under_the_declarations_it_was_learned_under(curator: Curator, tmp_path: Path) -> None:
    model = curator.fit(GaussianNB(1), "people", features=["age"], label="sex")
    with closing(opened(tmp_path, upper=90)) as other:
        found = bought_model(other, str(model.privacy_.charge))
        assert found is not None
        assert to_json(found.model)["fitted"] == to_json(model)["fitted"]
        assert other.charge_count() == 1


def test_a_condition_of_a_recipe_is_kept_with_its_charge(curator: Curator) -> None:
    stated = {
        "model": "GaussianNB", "table": "people", "features": ["age"], "label": "sex", "where": "age > 30",
        "settings": {"epsilon": 1},
    }  # fmt: skip
    recipe = recipe_from(stated, "recipe")
    bought = curator.buy(recipe.training(curator))
    found = bought_model(curator, bought.charge.id)
    assert found is not None
    assert found.recipe.where == "age > 30"


@pytest.mark.parametrize(
    ("model", "former", "label"),
    [
        (LogisticRegression(1, "1e-6"), {"steps": 16, "clip": 3}, "sex"),
        (LinearRegression(1, "1e-6"), {"steps": 5}, "pay"),
        (LinearRegression(1), {"steps": 0}, "pay"),
    ],
)
def test_what_was_bought_with_former_defaults_is_made_again(
    curator: Curator, model: Any, former: dict[str, Any], label: str
) -> None:
    """An earlier version took fixed steps, and its record does not name them."""
    stated = curator.training(model, "people", features=["age"], label=label).recipe
    given = clone(model).set_params(**former)
    run = replace(curator.training(given, "people", features=["age"], label=label), recipe=stated)
    found = bought_model(curator, curator.buy(run).charge.id)
    assert found is not None
    assert found.model.get_params()["steps"] == former["steps"]
    assert curator.charge_count() == 1
