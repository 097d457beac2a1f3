"""`curador fit` and `predict`: a recipe, a saved model, predictions; what they print and charge."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from curador.errors import CuradorError
from tests.cli import test_cli
from tests.cli.test_cli import Invoke

invoke = test_cli.invoke  # the fixture

STUDY = """
[budget]
epsilon = 2
delta = "1e-4"

[tables.people]
source = "people.csv"
unit = "row"

[tables.people.columns]
age = { type = "integer", bounds = [0, 100] }
town = { type = "text", keys = ["Lugo", "Vigo"] }
rich = { type = "text", keys = ["no", "yes"] }
"""
RECIPE = """
model = "LogisticRegression"
table = "people"
features = ["age", "town"]
label = "rich"

[settings]
epsilon = 1
delta = "1e-5"
"""


@pytest.fixture
def study(invoke: Invoke) -> Invoke:
    rng = np.random.default_rng(1)
    lines = ["age,town,rich"]
    for age, town in zip(rng.integers(0, 101, 3000), rng.choice(["Lugo", "Vigo"], 3000), strict=True):
        lines.append(f"{age},{town},{'yes' if age > 50 else 'no'}")
    Path("people.csv").write_text("\n".join(lines))
    Path("study.toml").write_text(STUDY)
    Path("rich.toml").write_text(RECIPE)
    return invoke


def test_a_model_is_explained_bought_saved_and_used(study: Invoke) -> None:
    said = study("fit", "rich.toml", "--explain")
    assert "epsilon 1, delta 1e-05" in said
    assert "made-up rows" in said
    assert "Nothing was spent" in said
    assert not Path("rich.json").exists()
    first = json.loads(study("fit", "rich.toml", "--json"))
    assert first["saved"] == "rich.json"
    assert not first["repeated"]
    kept = Path("rich.json").read_text()
    again = study("fit", "rich.toml")
    assert "bought before" in again
    assert Path("rich.json").read_text() == kept
    Path("new.csv").write_text("town,age\nLugo,5\nVigo,95\n?,\n")
    said = study("predict", "rich.json", "new.csv")
    assert said.splitlines()[:3] == ["predicted", "no", "yes"]
    study("predict", "rich.json", "new.csv", "--out", "found.csv")
    assert Path("found.csv").read_text().splitlines()[:3] == ["predicted", "no", "yes"]


def test_explained_in_spanish(study: Invoke) -> None:
    assert "filas inventadas" in study("fit", "rich.toml", "--explain", "-l", "es")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("LogisticRegression", "Magic"), "No model is called 'Magic'"),
        (("epsilon = 1", "epsilom = 1"), "no setting 'epsilom'"),
        (("label", "lable"), "unknown entry 'lable'"),
        (("features = [", "features = [1, "), "needs a table, and features"),
        (("model = ", "model = = "), "is not TOML"),
        (("epsilon = 1", "epsilon = 3"), "epsilon"),
        (('"age"', '"height"'), "height"),
    ],
)
def test_recipes_that_are_wrong_cost_nothing(study: Invoke, change: tuple[str, str], said: str) -> None:
    Path("rich.toml").write_text(RECIPE.replace(*change))
    with pytest.raises(CuradorError) as found:
        study("fit", "rich.toml", "--because", "a test")
    assert said in str(found.value)
    assert not Path("rich.json").exists()
    assert "2" in study("budget")


def test_rows_without_a_column_are_refused(study: Invoke) -> None:
    study("fit", "rich.toml")
    Path("new.csv").write_text("town\nLugo\n")
    with pytest.raises(CuradorError, match="no column 'age'"):
        study("predict", "rich.json", "new.csv")
    with pytest.raises(CuradorError, match="cannot be read"):
        study("predict", "rich.json", "none.csv")
