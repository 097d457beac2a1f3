"""Naive Bayes: both doors, against scikit-learn's where there is hardly any noise, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB as Exact

from curador.curator.curator import Curator
from curador.errors import CuradorError
from curador.learn.models.bayes import GaussianNB
from curador.learn.models.classifier import digest_of
from curador.privacy import ApproxDP, PureDP
from curador.query.tables.table import Table

COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "bounds": [0, 100]},
    "job": {"type": "text", "keys": ["a", "b", "c"]},
    "rich": {"type": "text", "keys": ["no", "yes"]},
}


def people(count: int) -> pd.DataFrame:
    some = np.random.default_rng(1)
    rich = some.random(count) < 0.3
    age = np.clip(some.normal(np.where(rich, 60, 40), 10), 0, 100).round()
    job = np.where(rich, some.choice(list("abc"), count, p=[0.1, 0.2, 0.7]), some.choice(list("abc"), count))
    return pd.DataFrame({"age": age.astype(int), "job": job, "rich": np.where(rich, "yes", "no")})


def held(**settings: Any) -> GaussianNB:
    frame = people(4000)
    model = GaussianNB(bounds={"age": (0, 100)}, keys={"job": list("abc")}, classes=["no", "yes"], **settings)
    return model.fit(frame[["age", "job"]], frame["rich"])


@pytest.fixture
def curator(tmp_path: Path) -> Curator:
    people(4000).to_csv(tmp_path / "people.csv", index=False)
    return Curator({"people": Table(tmp_path / "people.csv", columns=COLUMNS)}, budget=ApproxDP(10, 1e-3))


def test_with_hardly_any_noise_it_is_naive_bayes() -> None:
    frame = people(4000)
    age = frame[["age"]]
    model = GaussianNB(rho=10**6, bounds=(0, 100), classes=["no", "yes"]).fit(age, frame["rich"])
    exact = Exact().fit(age, frame["rich"])
    assert model.theta_ == pytest.approx(exact.theta_, abs=0.1)
    assert model.var_ == pytest.approx(exact.var_, rel=0.01)
    assert model.class_prior_ == pytest.approx(exact.class_prior_, abs=1e-3)
    assert model.predict_proba(age) == pytest.approx(exact.predict_proba(age), abs=0.02)
    mixed = held(rho=10**6)
    likely = np.exp(mixed.key_log_prob_[0][1])
    assert likely == pytest.approx([(frame.loc[frame["rich"] == "yes", "job"] == k).mean() for k in "abc"], abs=0.002)


@pytest.mark.parametrize(
    "settings",
    [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-5}, {"epsilon": 0.5, "delta": 1e-3}, {"epsilon": 1, "bins": 10}],
)
def test_both_doors_learn(curator: Curator, settings: dict[str, Any]) -> None:
    bought = curator.fit(GaussianNB(**settings), "people", features=["age", "job"], label="rich")
    frame = people(2000)
    for model in (held(**settings), bought):
        assert model.score(frame[["age", "job"]], frame["rich"]) > 0.85  # the larger class alone: 0.7
        assert model.predict_proba(frame[["age", "job"]]).sum(axis=1) == pytest.approx(1)
    left = curator.budget("people").remaining
    again = curator.fit(GaussianNB(**settings), "people", features=["age", "job"], label="rich")
    assert curator.budget("people").remaining == left
    assert (again.class_count_ == bought.class_count_).all()


def test_epsilon_alone_is_kept_by_laplace_noise(curator: Curator) -> None:
    run = curator.training(GaussianNB(1), "people", features=["age", "job"], label="rich")
    assert run.guarantee == PureDP(1)
    assert run.kinds == {"laplace"}
    kept = json.loads(run.run(curator._engines))
    assert list(kept) == ["sums"]
    assert np.shape(kept["sums"]) == (2, 1 + 2 + 3)
    assert not any(float(x).is_integer() for row in kept["sums"] for x in row)


def test_rows_that_come_in_parts_are_the_same_rows(curator: Curator) -> None:
    run = curator.training(GaussianNB(rho=10**6), "people", features=["age", "job"], label="rich")
    learner: Any = run.learner
    read = np.array([[30, 0, 0], [60, 2, 1], [61, -1, 1], [-1, 1, 0], [40, 1, -1]], np.int64)

    def parts(take: Any) -> None:
        for start in (0, 2, 4):
            take(read[start : start + 2])

    found = np.array(json.loads(learner.learn(parts))["sums"]) / 1024
    assert found[:, 0] == pytest.approx([2, 2], abs=0.1)  # a label that is no class is left out
    assert found[0, 3:] == pytest.approx([1, 1, 0], abs=0.1)
    assert found[1, 3:] == pytest.approx([0, 0, 1], abs=0.1)  # a key that is not declared is none of them
    assert found[0, 1] == pytest.approx(-0.4, abs=0.1)  # a missing number is the middle of the bounds


def test_classes_are_sorted_however_they_are_declared(tmp_path: Path) -> None:
    people(3000).to_csv(tmp_path / "people.csv", index=False)
    columns = {**COLUMNS, "rich": {"type": "text", "keys": ["yes", "no"]}}
    curator = Curator({"people": Table(tmp_path / "people.csv", columns=columns)}, budget=ApproxDP(3, 1e-3))
    model = curator.fit(GaussianNB(1), "people", features=["age", "job"], label="rich")
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.class_prior_ == pytest.approx([0.7, 0.3], abs=0.05)
    assert model.score(people(500)[["age", "job"]], people(500)["rich"]) > 0.8
    bought = curator.score(model, "people", label="rich", epsilon=0.5)
    assert bought.accuracy == pytest.approx(model.score(people(3000)[["age", "job"]], people(3000)["rich"]), abs=0.02)


def test_what_a_row_is_classed_as_is_its_own() -> None:
    model = held(epsilon=1)
    frame = people(300)[["age", "job"]]
    design = model._design(frame)
    predicts = model._predicts()
    alone = [int(predicts(design.some(np.array([i])))[0]) for i in range(300)]
    assert predicts(design).tolist() == alone
    assert digest_of(held(epsilon=1)) != digest_of(model)


def test_what_is_not_known_of_a_row_says_nothing() -> None:
    model = held(epsilon=1)
    frame = pd.DataFrame({"age": [50, 50], "job": ["nobody's", None]})
    joint = model.predict_joint_log_proba(frame)
    assert (joint[0] == joint[1]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classes": None}, "classes"),
        ({"bounds": None}, "bounds"),
        ({"bins": 1}, "bins"),
        ({"bins": 5000}, "bins"),
        ({"epsilon": None}, "epsilon"),
    ],
)
def test_what_is_not_declared_is_refused(change: dict[str, Any], message: str) -> None:
    model = GaussianNB(epsilon=1, bounds=(0, 1), classes=[0, 1]).set_params(**change)
    with pytest.raises(CuradorError, match=message):
        model.fit([[0.5]], [1])


def test_a_curator_refuses_a_label_without_classes(curator: Curator) -> None:
    with pytest.raises(CuradorError, match="predicts something"):
        curator.fit(GaussianNB(1), "people", features=["age"])
    assert curator.budget("people").remaining == ApproxDP(10, 1e-3)


def test_no_rows_at_all_are_fitted() -> None:
    model = GaussianNB(epsilon=1, bounds=[(0, 1)], classes=[0, 1]).fit(np.zeros((0, 1)), np.zeros(0))
    assert np.isfinite(model.predict_proba([[0.5]])).all()


def test_more_budget_is_not_worse_where_a_number_piles_up() -> None:
    """Most rows have 0, of one class nearly all: its bell curve had no width, and 79 % right became 75 %."""
    some = np.random.default_rng(6)
    rich = some.random(20_000) < 0.3
    gain = some.exponential(np.where(rich, 15_000, 300)) * (some.random(20_000) < np.where(rich, 0.2, 0.04))
    rows = np.column_stack([gain, some.normal(np.where(rich, 60, 40), 12)])
    model = GaussianNB(delta=1e-5, bounds=[(0, 100_000), (0, 100)], classes=[False, True])
    found = [model.set_params(epsilon=epsilon).fit(rows, rich).score(rows, rich) for epsilon in (1, 100)]
    assert found[1] > found[0] - 0.015
