"""What an attacker found: outcomes that told who is in the data, and rows that changed how others are read."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from curador import ApproxDP, CuradorError, Curator, InvalidParameter, Table
from curador.accounting import calibration
from curador.errors import NotPromised
from curador.learn import PCA, AdditiveClassifier, GaussianNB, KMeans, LinearRegression, LinearSVC, LogisticRegression
from curador.learn.descent.sampled import PoissonDescent, calibrated
from curador.learn.rows.declared import columns_of, design_of, encoding_for, labels_of
from curador.learn.saved import from_json, to_json
from curador.numbers import rational

COLUMNS: dict[str, Any] = {
    "id": {"type": "integer", "bounds": [0, 1000]},
    "age": {"type": "integer", "bounds": [0, 100]},
    "hours": {"type": "integer", "bounds": [0, 100]},
    "town": {"type": "text", "keys": ["a", "b", "c"]},
    "code": "text",
    "flag": "boolean",
    "rich": {"type": "text", "keys": ["no", "yes"]},
}


def held(rows: int = 300) -> Curator:
    i = np.arange(rows)
    data = {"id": i, "age": i % 101, "hours": (i * 7) % 101, "town": np.array(["a", "b", "c"])[i % 3]}
    data |= {
        "code": np.array(["6", "HIV+"])[i % 2],
        "flag": i % 2 == 0,
        "rich": np.array(["no", "yes"])[(i % 101 > 50) * 1],
    }
    return Curator({"people": Table(pa.table(data), columns=COLUMNS)}, budget=ApproxDP(100, 0.01))


SETTINGS: list[dict[str, Any]] = [
    {"learning_rate": 1000},
    {"clip": 1000},
    {"clip": "1e-9"},
    {"solver": "sgd", "rows": 1, "steps": 20, "sample_rate": 1, "learning_rate": 1000},
    {"solver": "sgd", "rows": 10**15, "steps": 5, "sample_rate": "1e-9"},
]


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC, AdditiveClassifier])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_an_outcome_does_not_tell_whether_a_row_is_there(kind: Any, settings: dict[str, Any]) -> None:
    """With one row, and with none, a fit of any setting ends alike, for two classes and for three."""
    curator = held()
    for label, features in (("rich", ["age", "hours"]), ("town", ["age"])):
        if kind is LinearSVC and label == "town":
            continue
        for where in ("id = 7", "id = 999", "age < 50"):
            model = kind("0.001", 1e-9, **settings)
            found = curator.fit(model, curator.table("people").where(where), features=features, label=label)
            assert np.isfinite(found.weights_).all()


SETTINGS_BEYOND: list[dict[str, Any]] = [
    {"learning_rate": "1e308"},
    {"clip": "1e400"},
    {"clip": "1e-12"},
    {"steps": 10**9},
]


@pytest.mark.parametrize("settings", SETTINGS_BEYOND, ids=str)
def test_settings_beyond_reason_are_refused_for_nothing(settings: dict[str, Any]) -> None:
    curator = held()
    with pytest.raises(InvalidParameter):
        curator.fit(LogisticRegression(1, 1e-5, **settings), "people", features=["age"], label="rich")
    assert len(curator.history()) == 0


@pytest.mark.parametrize(
    ("model", "features"),
    [
        (KMeans(1, epsilon="0.001", keys={"code": [5, 6]}), ["age", "code"]),
        (KMeans(1, epsilon="0.001", keys={"age": ["x"]}), ["age"]),
        (KMeans(1, epsilon="0.001", keys={"code": ["6", "6"]}), ["code"]),
        (KMeans(1, epsilon="0.001", keys={"flag": [0, 1]}), ["flag"]),
        (LogisticRegression(1, 1e-5, classes=[0, 1]), ["age"]),
        (LogisticRegression(1, 1e-5, classes=["no", 1]), ["age"]),
        (GaussianNB(1, keys={"code": [None]}), ["code"]),
    ],
)
def test_keys_of_another_type_are_refused_for_nothing(model: Any, features: list[str]) -> None:
    curator = held()
    label = None if isinstance(model, KMeans) else "rich"
    with pytest.raises(CuradorError):
        curator.fit(model, "people", features=features, label=label)
    assert len(curator.history()) == 0


def test_one_row_of_a_list_does_not_change_how_others_are_read() -> None:
    odd: list[Any] = ["x", None, 1 + 2j, [1], {}, float("nan"), object()]
    classes = np.array([0, 1])
    plain = labels_of([0, 1] * 50, classes, 100).tolist()
    encoding = encoding_for(["x0", "x1"], (0, 10), {"x1": [1, 2]})
    rows: list[list[Any]] = [[i % 10, 1 + i % 2] for i in range(100)]
    alone = design_of(rows, encoding, False)
    for value in odd:
        assert labels_of([*[0, 1] * 50, value], classes, 101).tolist() == [*plain, -1]
        found = design_of([*rows, [value, value]], encoding, False)
        assert (found.numbers[:100] == alone.numbers).all()
        assert (found.codes[:100] == alone.codes).all()
        assert found.numbers[100, 0] == 0
    assert columns_of(rows)[0] == ("x0", "x1")


def test_a_regressions_labels_are_read_one_by_one() -> None:
    model = LinearRegression(1, 1e-5, bounds=(0, 10), label_bounds=(0, 10))
    assert model._labels([1, 2, "x", None, [3]], 5)[:2].tolist() == [1.0, 2.0]


def bad(change: Any) -> Any:
    curator = held()
    found = curator.fit(GaussianNB(1, 1e-5), "people", features=["age", "town"], label="rich")
    said = json.loads(json.dumps(to_json(found)))
    change(said["fitted"])
    return curator, from_json(said)


def short(fitted: dict[str, Any]) -> None:
    keys = fitted["key_log_prob_"][0]
    keys["array"], keys["shape"] = keys["array"][:4], [2, 2]


def endless(fitted: dict[str, Any]) -> None:
    fitted["scaled_means_"]["array"][0] = float("nan")


def fewer(fitted: dict[str, Any]) -> None:
    fitted["key_log_prob_"] = []


@pytest.mark.parametrize("change", [short, endless, fewer])
def test_a_model_of_other_numbers_than_a_fits_is_not_scored(change: Any) -> None:
    """Its errors would depend on rows; refused before the charge."""
    curator, model = bad(change)
    with pytest.raises(InvalidParameter, match="not those of a fitted one"):
        curator.score(model, "people", label="rich", epsilon="0.001")
    assert len(curator.history()) == 1


@pytest.mark.parametrize("weights", [np.full((1, 2), 1e6), np.zeros((1, 9)), np.array([[np.inf, 0]]), np.zeros((2, 2))])
def test_weights_that_no_fit_gives_are_not_scored(weights: np.ndarray) -> None:
    curator = held()
    found = curator.fit(LogisticRegression(1, 1e-5), "people", features=["age"], label="rich")
    found.weights_ = weights
    with pytest.raises(InvalidParameter, match="not those of a fitted one"):
        curator.score(found, "people", label="rich", epsilon="0.001")


def test_a_score_is_of_all_that_a_model_predicts_by() -> None:
    curator = held()
    model = AdditiveClassifier(1, 1e-5, bins=4)
    found = curator.fit(model, "people", features=["age"], label="rich")
    curator.score(found, "people", label="rich", epsilon="0.5")
    found.edges_ = ((-100, 0, 100),)
    curator.score(found, "people", label="rich", epsilon="0.5")
    assert len(curator.history()) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"epsilon": {"fraction": "1e99999999"}}},
        {"fitted": {"encoding_": 3}},
        {"fitted": {"weights_": {"array": [1], "shape": [1], "dtype": "U999999999"}}},
    ],
)
def test_hostile_files_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    found = held().fit(LogisticRegression(1, 1e-5), "people", features=["age"], label="rich")
    with pytest.raises(CuradorError):
        from_json({**json.loads(json.dumps(to_json(found))), **change})


def test_deep_files_are_refused(tmp_path: Path) -> None:
    from curador.learn import load

    (tmp_path / "m.json").write_text("[" * 100_000)
    with pytest.raises(CuradorError):
        load(tmp_path / "m.json")


def test_other_models_end_alike_too() -> None:
    curator = held()
    for where in ("id = 7", "id = 999"):
        rows = curator.table("people").where(where)
        curator.fit(PCA(n_components=1, epsilon="0.001", delta=1e-9), rows, features=["age", "hours"])
        curator.fit(KMeans(2, epsilon="0.001"), rows, features=["age", "hours"])
        curator.fit(GaussianNB("0.001"), rows, features=["age", "town"], label="rich")
        curator.fit(LinearRegression("0.001", 1e-9), rows, features=["age"], label="hours")


MANY = [{f"f{i}": list(range(2000)) for i in range(n)} for n in (3, 10)]


@pytest.mark.parametrize(
    ("model", "features", "label"),
    [
        (LogisticRegression(1, 1e-5, keys=MANY[0]), 3, "rich"),
        (LogisticRegression(1, 1e-5, classes=range(300)), 1, "age"),
        (LogisticRegression(1, 1e-5, solver="sgd", rows=100, keys=MANY[1], classes=range(250)), 10, "age"),
        (AdditiveClassifier(1, 1e-5, bins=1000), 3, "rich"),
        (LinearRegression(1, 1e-5, keys=MANY[0]), 3, "hours"),
        (LinearRegression(1, 1e-5, steps=10**6), 1, "hours"),
        (PCA(epsilon=1, delta=1e-5, keys=MANY[0]), 3, None),
        (GaussianNB(1, classes=range(500), keys=MANY[1]), 10, "age"),
        (GaussianNB(1, classes=range(250), keys={f"f{i}": range(9000) for i in range(2)}), 2, "age"),
        (GaussianNB(1, keys={f"f{i}": range(9000) for i in range(4)}), 4, "rich"),
        (KMeans(10**6, epsilon=1, delta=1e-5), 1, None),
        (KMeans(100, epsilon=1, delta=1e-5, keys=MANY[0]), 3, None),
        (KMeans(2, epsilon=1, delta=1e-5, rounds=10**6), 1, None),
    ],
)
def test_models_that_no_machine_holds_are_refused_for_nothing(model: Any, features: int, label: str | None) -> None:
    """Before anything is made up or paid for: a free explanation took hours, and a fit all memory."""
    curator = held()
    with pytest.raises(InvalidParameter, match=r"most is|is above"):
        curator.training(model, "people", features={f"f{i}": f"id + {i}" for i in range(features)}, label=label)


@pytest.mark.parametrize("settings", [{"epsilon": 1}, {"solver": "sgd", "rows": 1000, "noise_multiplier": 5}], ids=str)
def test_an_explanation_tries_nothing_that_takes_long(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    long: list[dict[str, Any]] = [{"steps": 100_000}, {"keys": {"age": range(600)}}]
    for more in long:
        model = LogisticRegression(delta=1e-5, **settings, **more)
        run = held().training(model, "people", features=["age"], label="rich")
        monkeypatch.setattr(type(run.learner), "train", lambda *_, **__: pytest.fail("tried"))
        assert "made-up" not in run.explain()


def test_descent_by_samples_has_noise_for_all_its_columns() -> None:
    """It was charged and then always failed, where there are more than 1,024."""
    curator = held()
    known: dict[str, Any] = {"noise_multiplier": 5, "sample_rate": "0.1"}
    model = LogisticRegression(delta=1e-5, solver="sgd", rows=300, steps=2, keys={"id": range(1500)}, **known)
    found = curator.fit(model, "people", features=["id"], label="rich")
    assert found.weights_.shape == (1, 1501)
    assert len(curator.history()) == 1


@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC, AdditiveClassifier])
def test_samples_of_no_row_are_refused_before_the_charge(kind: Any) -> None:
    """It was sold for a delta, and then always divided by zero."""
    curator = held()
    for rate in (0, "0", "-0.1", "1.1"):
        model = kind(delta=1e-8, solver="sgd", rows=300, steps=2, noise_multiplier=1, sample_rate=rate)
        with pytest.raises(InvalidParameter, match="sample_rate"):
            curator.fit(model, "people", features=["age"], label="rich")
    assert not curator.history()


def test_the_delta_of_a_given_noise_is_rounded_up() -> None:
    for delta in ("1.00000000000000000001e-5", "1e-5"):  # the nearest double of the first stands for less
        model = LogisticRegression(delta=delta, solver="sgd", rows=300, steps=2, noise_multiplier=5)
        stated = held().training(model, "people", features=["age"], label="rich").guarantee
        assert isinstance(stated, ApproxDP)
        assert rational(stated.delta) >= rational(delta)


def test_a_plan_of_many_rows_per_unit_judges_few_amounts_of_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """A free explanation judged two hundred, half a minute for a unit of 64 rows; and each again when asked again."""
    judged: list[Any] = []
    kept = calibration.keeps

    def counted(event: Any, target: Any) -> bool:
        judged.append(event)
        return kept(event, target)

    monkeypatch.setattr(calibration, "keeps", counted)

    def plan(epsilon: str) -> PoissonDescent:
        shape: dict[str, Any] = {"rows": 300, "steps": 50, "clip": Fraction(1), "learning_rate": Fraction(4)}
        return calibrated(None, (epsilon, "1e-6", None), sample_rate=Fraction(1, 10), copies=2, **shape)[0]

    found = plan("0.7")
    number = len(judged)
    assert number < 35
    assert kept(found.all_steps, ApproxDP(0.7, 1e-6))
    assert not kept(
        replace(found, noise_multiplier=found.noise_multiplier * Fraction(9999, 10000)).all_steps, ApproxDP(0.7, 1e-6)
    )
    assert plan("0.7") == found
    assert len(judged) == number
    judged.clear()
    monkeypatch.setattr(calibration, "keeps", lambda event, target: judged.append(event))
    with pytest.raises(NotPromised):
        plan("0.6")
    assert len(judged) < 12


def test_settings_of_another_shape_are_refused_in_words() -> None:
    curator = held()
    paid: dict[str, Any] = {"epsilon": 1, "delta": 1e-5}
    kinds: dict[Any, str | None] = {LogisticRegression: "rich", GaussianNB: "rich", LinearRegression: "hours"}
    odd: list[Any] = ["7.9", ["a"], {"age": 7}, 3]
    for kind, label in {**kinds, KMeans: None, PCA: None}.items():
        for keys in odd:
            with pytest.raises(InvalidParameter, match="by the name"):
                curator.training(kind(**paid, keys=keys), "people", features=["age"], label=label)
    wanted: list[Any] = [[1], {"age": 1}, float("nan"), float("inf"), 10**400, "1", True]
    for number in wanted:
        with pytest.raises(InvalidParameter, match="n_components"):
            curator.training(PCA(number, **paid), "people", features=["age"])
