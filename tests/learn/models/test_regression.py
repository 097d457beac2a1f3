"""Linear regression: both doors, what is bought, and what is refused."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from curador.curator.curator import Curator
from curador.errors import CuradorError
from curador.learn.models.regression import LinearRegression, Ridge
from curador.privacy import ZCDP, ApproxDP
from curador.query.tables.table import Table

COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "bounds": [0, 100]},
    "sex": {"type": "text", "keys": ["f", "m"]},
    "hours": {"type": "real", "bounds": [0, 80]},
}


def people(count: int) -> pd.DataFrame:
    some = np.random.default_rng(0)
    age, sex = some.integers(0, 101, count), some.choice(["f", "m"], count)
    hours = 10 + 0.4 * age + np.where(sex == "m", 10, 0) + some.normal(0, 3, count)
    return pd.DataFrame({"age": age, "sex": sex, "hours": hours.round(2)})


@pytest.fixture
def curator(tmp_path: Path) -> Curator:
    people(4000).to_csv(tmp_path / "people.csv", index=False)
    return Curator({"people": Table(tmp_path / "people.csv", columns=COLUMNS)}, budget=ApproxDP(10, 1e-3))


def arrays(model: Any) -> Any:
    frame = people(4000)
    model.set_params(bounds={"age": (0, 100)}, keys={"sex": ["f", "m"]}, label_bounds=(0, 80))
    return model.fit(frame[["age", "sex"]], frame["hours"])


def test_both_doors_learn_the_line(curator: Curator) -> None:
    held = arrays(LinearRegression(1, 1e-5))
    bought = curator.fit(LinearRegression(1, 1e-5), "people", features=["age", "sex"], label="hours")
    for model in (held, bought):
        assert model.coef_[0] == pytest.approx(0.4, abs=0.03)
        assert model.coef_[2] - model.coef_[1] == pytest.approx(10, abs=2)
        row = pd.DataFrame({"age": [50], "sex": ["m"]})
        assert model.predict(row)[0] == pytest.approx(40, abs=1.5)
        by_hand = model.intercept_ + model.coef_ @ [50, 0, 1]
        assert model.predict(row)[0] == pytest.approx(by_hand, abs=0.1)
    assert bought.privacy_.charge is not None
    assert held.privacy_.charge is None


def test_another_alpha_of_what_was_bought_is_free(curator: Curator) -> None:
    def fit(alpha: float) -> Ridge:
        model = Ridge(alpha, epsilon=1, delta=1e-5)
        return curator.fit(model, "people", features=["age", "sex"], label="hours")

    first = fit(1)
    left = curator.budget("people").remaining
    other = fit(10**5)
    assert curator.budget("people").remaining == left
    assert other.privacy_.charge == first.privacy_.charge
    assert 0 < other.coef_[0] < first.coef_[0] / 2
    assert (first.with_alpha(10**5).coef_ == other.coef_).all()
    assert (first.coef_ == fit(1).coef_).all()


def test_what_is_bought_holds_noised_numbers_only(curator: Curator) -> None:
    run = curator.training(LinearRegression(rho=0.1), "people", features=["age", "sex"], label="hours")
    kept = json.loads(run.run(curator._engines))
    assert sorted(kept) == ["at", "moments", "step"]
    assert kept["moments"][9] / 2**20 != pytest.approx(4000, abs=1e-6)  # not even the number of rows is exact
    assert (
        run.learner.code
        == curator.training(Ridge(3, rho=0.1), "people", features=["age", "sex"], label="hours").learner.code
    )


def test_a_row_without_a_label_is_left_out_by_itself() -> None:
    frame = people(3000)
    frame.loc[::2, "hours"] = np.nan
    frame.loc[1::4, "age"] = np.nan  # the middle of the bounds
    model = LinearRegression(rho=10**6, bounds={"age": (0, 100)}, keys={"sex": ["f", "m"]}, label_bounds=(0, 80)).fit(
        frame[["age", "sex"]], frame["hours"]
    )
    kept = frame.dropna(subset="hours").fillna({"age": 50})
    design = np.c_[kept["age"], kept["sex"] == "m", np.ones(len(kept))]
    best = design @ np.linalg.lstsq(design, kept["hours"], rcond=None)[0]
    assert np.abs(model.predict(kept[["age", "sex"]]) - best).max() < 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label_bounds": None}, "label's bounds"),
        ({"label_bounds": (3, 3)}, "bounds of 'y'"),
        ({"bounds": None}, "bounds of every feature"),
        ({"delta": None, "steps": 5}, "Gaussian noise"),
        ({"alpha": -1}, "alpha"),
        ({"alpha": 10**400}, "alpha"),
        ({"steps": -1}, "steps"),
    ],
)
def test_what_is_not_declared_is_refused(change: dict[str, Any], message: str) -> None:
    model = Ridge(epsilon=1, delta=1e-5, bounds=(0, 1), label_bounds=(0, 1)).set_params(**change)
    with pytest.raises(CuradorError, match=message):
        model.fit([[0.5]], [0.5])


def test_a_curator_refuses_before_it_is_paid(curator: Curator) -> None:
    def refused(message: str, model: Any, label: str | None) -> None:
        with pytest.raises(CuradorError, match=message):
            curator.fit(model, "people", features=["age"], label=label)

    refused("predicts a number", LinearRegression(1, 1e-5), None)
    refused("predicts a number", LinearRegression(1, 1e-5), "sex")
    refused("label's bounds", LinearRegression(1, 1e-5, label_bounds=(0, 1)), "hours")
    assert curator.budget("people").remaining == ApproxDP(10, 1e-3)


def test_no_rows_at_all_are_fitted() -> None:
    model = LinearRegression(1, 1e-5, bounds=[(0, 1)], label_bounds=(0, 1))
    assert np.isfinite(model.fit(np.zeros((0, 1)), np.zeros(0)).predict([[0.5]])).all()


def test_a_clone_has_the_parameters_and_nothing_learned() -> None:
    model = clone(arrays(Ridge(2, rho=1)))
    assert model.alpha == 2
    assert not hasattr(model, "coef_")
    assert model.fit(people(50)[["age", "sex"]], people(50)["hours"]).privacy_.guarantee == ZCDP(1)


@pytest.mark.parametrize("settings", [{"epsilon": 1, "delta": 1e-5}, {"epsilon": 1}])
def test_it_says_beforehand_what_it_explains_of_made_up_rows(curator: Curator, settings: dict[str, Any]) -> None:
    """Of rows half of whose variance is a rule: without noise about half, with much noise next to none."""
    reached = []
    for scale in (1, "0.0001"):
        model = LinearRegression(**{**settings, "epsilon": scale})
        run = curator.training(model, "people", features=["age", "sex"], label="hours")
        *_, note = run.learner.notes(5000)
        assert note["code"] == "fit-made-up-line"
        reached.append([float(str(note[name]).rstrip(" %")) for name in ("noised", "plain")])
    assert all(40 < plain < 60 for _, plain in reached)
    assert reached[0][0] > 35
    assert reached[1][0] < 20


def flags(count: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """One of many 0/1 columns in each row, as an array has keys; a fifth of the label's variance is the first half."""
    some = np.random.default_rng(5)
    place = some.integers(0, columns, count)
    label = 40 + np.where(place < columns // 2, 6, -6) + some.normal(0, 12, count)
    return np.eye(columns)[place], np.clip(label, 0, 100)


@pytest.mark.parametrize("delta", [None, 1e-5])
def test_it_is_never_far_below_the_constant_nor_worse_with_more(delta: float | None) -> None:
    """It was at -10 and worse for an array of 0/1 columns, and by keys for a small budget, without a word."""
    X, y = flags(40_000, 40)
    keys = pd.DataFrame({"k": X.argmax(axis=1)})
    for rows, declared in ((X, {"bounds": (0, 1)}), (keys, {"keys": {"k": range(40)}})):
        found = []
        for epsilon in ("0.01", "0.1", 1, 10):
            model = LinearRegression(epsilon, delta, **declared, label_bounds=(0, 100))
            found.append(model.fit(rows, y).score(rows, y))
        assert min(found) > -0.02
        assert all(more > less - 0.005 for less, more in itertools.pairwise(found))
        if "keys" in declared:
            assert found[3] > 0.15


def test_few_rows_get_the_mean_alone() -> None:
    X, y = flags(2000, 40)
    model = Ridge(1, epsilon=1, bounds=(0, 1), label_bounds=(0, 100)).fit(X, y)
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(y.mean(), abs=1)
    assert (model.with_alpha(10**6).predict(X) == model.predict(X)).all()
    assert Ridge(1, epsilon=1, steps=0, bounds=(0, 1), label_bounds=(0, 100)).fit(X, y).coef_.any()  # as is said


def test_given_steps_are_what_was_bought_by_them(curator: Curator) -> None:
    """Plans of given steps are what earlier versions sold."""
    for steps, learner in ((5, "regression"), (0, "regression-moments")):
        run = curator.training(LinearRegression(1, 1e-5, steps=steps), "people", features=["age"], label="hours")
        assert run.learner.code["learner"] == learner
    run = curator.training(LinearRegression(1, 1e-5), "people", features=["age"], label="hours")
    assert run.learner.code["learner"] == "regression-from-constant"
