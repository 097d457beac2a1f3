"""Every model that a form makes is drawn with its names, answers about a typed row, and is code that runs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from curador import Curator
from curador.errors import InvalidParameter
from curador.learn.recipe import BoughtModel, bought_model, recipe_from
from curador.server.console.forms import Filled, amount
from curador.server.console.learning.chosen import FAMILIES, MODELS, shown_with
from curador.server.console.learning.fitted import fitted
from curador.server.console.learning.recipe_code import recipe_code
from curador.server.console.learning.typed import asked_of, fields_of, row_of
from curador.show.words.say import say

STUDY = """
[tables.people]
source = "people.csv"
unit = "row"
[tables.people.columns]
age = { type = "integer", bounds = [0, 100] }
born = { type = "date", bounds = [1950-01-01, 2010-01-01] }
seen = { type = "timestamp", bounds = [2020-01-01 00:00:00, 2021-01-01 00:00:00] }
pay = { type = "real", bounds = [0, 5000], step = 0.5 }
sex = { type = "text", keys = ["F", "M", "X"] }
full = { type = "boolean" }
[budget]
epsilon = 100
delta = 1e-3
"""
FEATURES = ["age", "born", "seen", "sex"]
LABELS = {"classes": "full", "number": "pay", "shape": None}


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Curator]:
    folder = tmp_path_factory.mktemp("study")
    rows = [
        f"{i % 90},1980-01-0{1 + i % 9},2020-03-04 05:06:07,{i % 900}.5,{'FMX'[i % 3]},{i % 2 == 0}" for i in range(300)
    ]
    (folder / "people.csv").write_text("\n".join(["age,born,seen,pay,sex,full", *rows]) + "\n")
    (folder / "study.toml").write_text(STUDY)
    made = Curator(folder / "study.toml")
    yield made
    made.close()


def bought(curator: Curator, model: str, **changes: Any) -> BoughtModel:
    (label,) = (LABELS[family] for family, members in FAMILIES.items() if model in members)
    stated: dict[str, Any] = {"model": model, "table": "people", "features": FEATURES, "label": label}
    stated |= {"settings": {"epsilon": "1", "delta": "1e-6"}, **changes}
    run = recipe_from({name: x for name, x in stated.items() if x is not None}, "recipe").training(curator)
    found = bought_model(curator, curator.buy(run).charge.id)
    assert found is not None
    return found


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("language", ["en", "es"])
def test_a_model_is_drawn_with_the_names_of_its_columns(curator: Curator, model: str, language: str) -> None:
    found = bought(curator, model)
    words = lambda code, **facts: say(code, language, **facts)  # noqa: E731
    shown = fitted(found, ["born"], words)
    drawn = "".join(chart.svg(width) for chart in shown.charts for width in (680, 340))
    named = [str(row[0]) for row in shown.rows]
    assert shown.charts
    assert shown.hint
    assert {"age", "sex=F", "sex=M", "sex=X"} <= set(named) | {"age" if "age" in drawn else ""}
    assert "sex=M" in drawn or model == "GaussianNB"
    assert all(len(row) == len(shown.headings) for row in shown.rows)


def test_more_classes_than_two_are_a_grid(curator: Curator) -> None:
    found = bought(curator, "LogisticRegression", features=["age", "full"], label="sex")
    shown = fitted(found, [], lambda code, **facts: say(code, "en", **facts))
    assert shown.headings == ("Column", "F", "M", "X")
    assert [row[0] for row in shown.rows] == ["age", "full=False", "full=True"]


@pytest.mark.parametrize("model", MODELS)
def test_a_typed_row_is_answered_and_what_is_wrong_names_its_field(curator: Curator, model: str) -> None:
    found = bought(curator, model)
    fields = fields_of(found)
    assert [one.kind for one in fields] == ["number", "date", "datetime-local", "keys"]
    assert [one.low for one in fields[:3]] == ["0", "1950-01-01", "2020-01-01T00:00:00"]
    words = lambda code, **facts: say(code, "en", **facts)  # noqa: E731
    typed = {"x-0": "30", "x-1": "1990-05-17", "x-2": "2020-06-01T12:00", "x-3": "2"}
    _, said = asked_of(found, Filled(typed), fields, words)
    assert said is not None
    assert said.answer or said.details
    _, about = asked_of(found, Filled({}), fields, words)
    assert about is not None
    for field, text in (
        ("x-0", "many"), ("x-0", "nan"), ("x-0", "1e999"), ("x-1", "yesterday"), ("x-1", "0000-00-00"),
        ("x-2", "noon"), ("x-3", "3"), ("x-3", "-1"), ("x-3", "F"), ("x-3", "9" * 5000),
    ):  # fmt: skip
        wrong, nothing = asked_of(found, Filled({**typed, field: text}), fields, words)
        assert nothing is None, text
        assert wrong.errors[field].code == "model-value"


def test_a_typed_row_is_the_row_that_the_table_would_have(curator: Curator) -> None:
    """Dates are days, timestamps seconds, keys themselves: as the model reads a table."""
    found = bought(curator, "LinearRegression")
    fields = fields_of(found)
    typed = Filled({"x-0": "7.5", "x-1": "1970-01-11", "x-2": "1970-01-01T00:01:00", "x-3": "1"})
    assert row_of(typed, fields, found) == [7.5, 10.0, 60.0, "M"]
    with pytest.raises(InvalidParameter):
        row_of(Filled({"x-0": "x"}), fields, found)


@pytest.mark.parametrize("where", [None, "age > 3 AND sex = 'F'\"\n"])
def test_its_code_is_the_same_model(tmp_path: Path, where: str | None) -> None:
    stated: dict[str, Any] = {"model": "Ridge", "table": 'a "b"', "features": ["x\n'", "y"], "label": "z"}
    stated |= {"settings": {"epsilon": "1/4", "alpha": 2}} | ({"where": where} if where else {})
    made = recipe_code(stated, "https://data.example", "for 'fun'")
    assert tomllib.loads(made["toml"]) == stated
    calls: list[Any] = []

    class Ends(Exception):
        pass

    class Remote:
        def fit(self, *given: Any, **named: Any) -> Any:
            calls.append((given, named))
            raise Ends

    code = made["python"].replace("from curador import connect", "").replace('os.environ["CURADOR_TOKEN"]', "''")
    with pytest.raises(Ends):
        exec(code, {"connect": lambda *given: Remote()})  # noqa: S102
    ((model, table), named) = calls[0]
    assert (type(model).__name__, model.alpha, model.epsilon, table) == ("Ridge", 2, "1/4", stated["table"])
    assert named == {
        "features": stated["features"], "label": "z", "because": "for 'fun'", **({"where": where} if where else {}),
    }  # fmt: skip


@pytest.mark.parametrize("text", ["1e3000000", "1e-3000000", "1E+3000000", "1e400"])
def test_a_number_that_would_keep_the_server_busy_is_refused_before_it_is_made(text: str) -> None:
    """Found by attack: an epsilon of 1e999999999 in a form was made digit by digit, and nothing else ran meanwhile."""
    for read in (lambda: amount(text, "epsilon"), lambda: shown_with("Ridge", text)):
        with pytest.raises(InvalidParameter) as refused:
            read()
        assert refused.value.code == "amount"
