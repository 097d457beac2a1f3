"""A model is bought like anything else: charged first, kept, found again, refused for nothing."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from joblib import parallel_config
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline

from curador import ApproxDP, BudgetExceeded, CuradorError, Curator, EngineFailed, InvalidParameter, Table
from curador.accounting.calibration import keeps
from curador.learn import ChargedAccuracy, GaussianNB, LinearSVC, LogisticRegression
from curador.learn.descent.whitened import Whitened
from curador.learn.models.linear import LinearLearner

COLUMNS: dict[str, Any] = {
    "id": "integer",
    "age": {"type": "integer", "bounds": [0, 100]},
    "town": {"type": "text", "keys": ["Lugo", "Vigo"]},
    "rich": {"type": "text", "keys": ["no", "yes"]},
}
FEATURES = ["age", "town"]


TOOLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "cross_val_score": lambda of, X, y: cross_val_score(of, X, y, cv=5),
    "cross_val_score by a name": lambda of, X, y: cross_val_score(of, X, y, cv=5, scoring="roc_auc"),
    "cross_val_predict": lambda of, X, y: cross_val_predict(of, X, y, cv=2),
    "GridSearchCV": lambda of, X, y: GridSearchCV(of, {"epsilon": ["0.25", "0.5"]}, cv=2).fit(X, y),
    "VotingClassifier": lambda of, X, y: VotingClassifier([("a", of), ("b", of)]).fit(X, y),
    "a pipeline": lambda of, X, y: cross_val_score(make_pipeline("passthrough", of), X, y, cv=2),
}
"""Uses of scikit-learn that fit copies of a model and then ask them about private rows."""


def people(rows: int = 4000, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 101, rows)
    town = rng.choice(["Lugo", "Vigo"], rows)
    rich = np.where(age + 20 * (town == "Vigo") + rng.normal(0, 10, rows) > 60, "yes", "no")
    return pa.table({"id": np.arange(rows) // 2, "age": age, "town": town, "rich": rich})


def held(data: pa.Table | None = None, **declared: Any) -> Curator:
    table = Table(people() if data is None else data, columns=COLUMNS, **declared)
    return Curator({"people": table}, budget=ApproxDP(3, 1e-4))


def model(**more: Any) -> LogisticRegression:
    return LogisticRegression(epsilon=1, delta=1e-5, **more)


def fitted(curator: Curator, of: Any = None, **more: Any) -> Any:
    return curator.fit(model() if of is None else of, "people", features=FEATURES, label="rich", **more)


def right(of: Any) -> float:
    test = people(seed=9).to_pandas()
    return float((of.predict(test[FEATURES]) == test["rich"]).mean())


def test_a_model_is_learned_paid_for_and_kept() -> None:
    curator = held()
    first = fitted(curator)
    assert right(first) > 0.85
    assert curator.budget().remaining == ApproxDP(2, 9e-5)
    again = fitted(curator)
    assert (again.weights_ == first.weights_).all()
    assert curator.budget().remaining == ApproxDP(2, 9e-5)
    other = fitted(curator, fresh=True)
    assert (other.weights_ != first.weights_).any()
    assert curator.budget().remaining == ApproxDP(1, 8e-5)


def test_names_of_features_are_not_what_is_bought() -> None:
    curator = held()
    fitted(curator)
    renamed = curator.fit(model(), "people", features={"years": "age", "place": "town"}, label="rich")
    assert renamed.feature_names_in_.tolist() == ["years", "place"]
    assert len(curator.history()) == 1


def test_more_than_the_budget_is_refused_before_a_row_is_read() -> None:
    curator = held()
    with pytest.raises(BudgetExceeded):
        curator.fit(LogisticRegression(4, 1e-5), "people", features=FEATURES, label="rich", because="a test")
    assert len(curator.history()) == 0


def test_refusals_cost_nothing() -> None:
    curator = held()
    for features, label, of in (
        ([], "rich", model()),
        (["age", "age"], "rich", model()),
        (["age", "height"], "rich", model()),
        (["rich"], "rich", model()),
        (FEATURES, "age + 0.5", model()),
        (FEATURES, None, model()),
        (FEATURES, "rich", LogisticRegression(epsilon=1)),
        (FEATURES, "rich", LogisticRegression(1, 1e-5, solver="magic")),
        (FEATURES, "rich", LogisticRegression(1, 1e-5, solver="sgd")),
        (FEATURES, "rich", LogisticRegression(1, 1e-5, bounds=(0, 1))),
    ):
        with pytest.raises(CuradorError):
            curator.fit(of, "people", features=features, label=label)
    assert len(curator.history()) == 0


def test_a_failure_after_the_charge_is_the_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Whitened, *a: object, **k: object) -> None:
        raise ValueError("row 17 is odd")

    monkeypatch.setattr(Whitened, "descend", broken)
    curator = held()
    with pytest.raises(EngineFailed) as found:
        fitted(curator)
    assert "17" not in str(found.value)
    assert found.value.__context__ is None
    assert len(curator.history()) == 1


def test_a_person_with_several_rows_is_one_unit() -> None:
    curator = held(unit="id", contribution=2)
    run = curator.training(model(), "people", features=FEATURES, label="rich")
    alone = held().training(model(), "people", features=FEATURES, label="rich")
    assert run.records.limit == 2
    several, single = (one.learner.settings.gradients(5, 16, Fraction(3)) for one in (run, alone))  # type: ignore[attr-defined]
    assert several.sensitivity == 2 * single.sensitivity
    found = fitted(curator)
    assert found.privacy_.unit == "id"
    assert right(found) > 0.8


def test_dp_sgd_pays_for_all_rows_of_a_person() -> None:
    """Each row has its own coin; what is promised is the person's, of whom some rows are drawn and others not."""
    curator = held(unit="id", contribution=2)
    settings: dict[str, Any] = {"solver": "sgd", "rows": 4000, "steps": 20, "sample_rate": "1/16"}
    run = curator.training(model(**settings), "people", features=FEATURES, label="rich")
    alone = held().training(model(**settings), "people", features=FEATURES, label="rich")
    assert isinstance(run.learner, LinearLearner)
    assert isinstance(alone.learner, LinearLearner)
    more = float(run.learner.settings.noise_multiplier / alone.learner.settings.noise_multiplier)  # type: ignore[union-attr]
    assert 1.5 < more < 2  # two rows are seldom drawn together, so it is less than twice the noise
    assert keeps(run.event, ApproxDP(1, 1e-5))
    assert not keeps(run.event, ApproxDP(0.99, 1e-5))
    assert "group-sampled" in json.dumps(run.event.to_json())
    found = fitted(curator, model(**settings))
    assert found.privacy_.unit == "id"
    assert right(found) > 0.7
    assert curator.budget().remaining == ApproxDP(2, 9e-5)


@pytest.mark.parametrize("data", ["empty", "one class", "no labels", "missing"])
def test_data_of_any_kind_are_fitted(data: str) -> None:
    rows = people(300)
    if data == "empty":
        rows = rows.slice(0, 0)
    elif data == "one class":
        rows = rows.set_column(3, "rich", pa.array(["no"] * 300))
    elif data == "no labels":
        rows = rows.set_column(3, "rich", pa.array(["maybe"] * 300))
    else:
        rows = rows.set_column(1, "age", pa.array([None] * 300, pa.int64()))
    for of in (model(), LinearSVC(1, 1e-5), model(solver="sgd", rows=300, steps=10)):
        found = fitted(held(rows), of)
        assert np.isfinite(found.weights_).all()
        assert found.classes_.tolist() == ["no", "yes"]


def test_rows_of_a_condition_and_expressions() -> None:
    curator = held()
    found = curator.fit(
        model(), curator.table("people").where("age >= 18"), features=["age * age", "town"], label="rich"
    )
    assert found.feature_names_in_.tolist() == ["age * age", "town"]


def test_a_score_is_two_noised_counts_and_is_charged() -> None:
    curator = held()
    of = fitted(curator)
    score = curator.score(of, "people", label="rich", epsilon="0.5")
    true = float((of.predict(people().to_pandas()[FEATURES]) == np.array(people()["rich"].to_pylist())).mean())
    low, high = score.interval(0.999)
    assert low <= true <= high
    assert high - low < 0.02
    assert curator.budget().remaining == ApproxDP(1.5, 9e-5)
    assert curator.score(of, "people", label="rich", epsilon="0.5").right == score.right
    assert len(curator.history()) == 2
    with pytest.raises(InvalidParameter, match="other columns"):
        curator.score(of, "people", label="rich", features={"age": "age"}, epsilon="0.5")


def test_classes_are_sorted_whatever_the_order_of_the_keys() -> None:
    keys = {**COLUMNS, "rich": {"type": "text", "keys": ["yes", "no"]}}
    curator = Curator({"people": Table(people(), columns=keys)}, budget=ApproxDP(3, 1e-4))
    found = fitted(curator)
    assert found.classes_.tolist() == ["no", "yes"]
    assert right(found) > 0.85
    assert curator.score(found, "people", label="rich", epsilon=1).accuracy > 0.85


def test_another_curators_rows_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="another curator"):
        held().fit(model(), held().table("people"), features=FEATURES, label="rich")


def test_a_public_table_that_is_not_any_more_is_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read and not charged has to be public still, as for questions."""
    towns = pa.table({"town": ["Lugo", "Vigo"], "coast": [False, True]})
    declared = {"town": {"type": "text", "keys": ["Lugo", "Vigo"]}, "coast": "boolean"}
    public = Table(towns, columns=declared, public=True)
    tables = {"people": Table(people(), columns=COLUMNS), "towns": public}
    curator = Curator(tables, budget=ApproxDP(3, 1e-4))
    joined = curator.table("people").join("towns", "town")
    run = curator.training(model(), joined, features=["age", "coast"], label="rich")
    assert run.tables == ("people",)
    assert run.reads == {"people", "towns"}
    curator.buy(run)
    monkeypatch.setattr(curator.scopes, "require_public", _not_public)
    with pytest.raises(InvalidParameter, match="not public"):
        curator.buy(curator.training(model(rho=None), joined, features=["coast"], label="rich"))


def _not_public(names: object) -> None:
    if names:
        raise InvalidParameter("It is not public any more.", fix="Declare it private.")


class TestArrays:
    def test_arrays_are_charged_to_a_table_each_time(self) -> None:
        curator, rows = held(), people().to_pandas()
        of = model(bounds={"age": (0, 100)}, keys={"town": ["Lugo", "Vigo"]}, classes=["no", "yes"], curator=curator)
        of.fit(rows[FEATURES], rows["rich"])
        assert right(of) > 0.85
        of.fit(rows[FEATURES], rows["rich"])
        assert len(curator.history()) == 2
        assert of.privacy_.charge == "2"

    def test_copies_charge_the_same_ledger(self) -> None:
        from sklearn.base import clone

        curator, rows = held(), people().to_pandas()
        of = model(bounds=(0, 100), classes=["no", "yes"], curator=curator)
        for one in (clone(of.set_params(in_search=True)), copy.deepcopy(of), copy.copy(of)):
            one.fit(rows[["age"]], rows["rich"])
        assert len(curator.history()) == 3

    def test_a_search_charges_every_fit_and_every_score(self) -> None:
        """From several threads too; the best model answers about rows once its curator is taken off."""
        curator, rows = held(), people().to_pandas()
        of = LogisticRegression("0.25", 1e-5, bounds=(0, 100), classes=["no", "yes"], curator=curator, in_search=True)
        found = GridSearchCV(of, {"clip": [1, 3]}, cv=2, scoring=ChargedAccuracy("0.25"))
        with parallel_config("threading", n_jobs=2):
            found.fit(rows[["age"]], rows["rich"])
        assert len(curator.history()) == 9
        assert curator.budget().remaining == ApproxDP(3 - 5 * 0.25 - 4 * 0.25, 5e-5)
        assert found.best_score_ > 0.8
        with pytest.raises(InvalidParameter, match="clone with a curator"):
            found.predict(rows[["age"]])
        assert len(found.best_estimator_.set_params(curator=None).predict(rows[["age"]])) == len(rows)

    @pytest.mark.parametrize("tool", TOOLS)
    @pytest.mark.parametrize("kind", [LogisticRegression, GaussianNB])
    def test_tools_that_would_fit_and_then_be_refused_spend_nothing(self, tool: str, kind: Any) -> None:
        curator, rows = held(), people(400).to_pandas()
        of = kind("0.25", 1e-5, bounds=(0, 100), classes=["no", "yes"], curator=curator)
        with pytest.raises((CuradorError, ValueError), match="scoring=ChargedAccuracy"):
            TOOLS[tool](of, rows[["age"]], rows["rich"])
        assert not curator.history()

    def test_a_search_without_a_scorer_of_its_own_is_refused_before_the_first_fit(self) -> None:
        curator, rows = held(), people(400).to_pandas()
        of = LogisticRegression("0.25", 1e-5, bounds=(0, 100), classes=["no", "yes"], curator=curator, in_search=True)
        with pytest.raises(TypeError, match="score"):
            cross_val_score(of, rows[["age"]], rows["rich"], cv=2)
        with pytest.raises(InvalidParameter, match="clone with a curator"):
            cross_val_score(of, rows[["age"]], rows["rich"], cv=2, scoring="roc_auc", error_score="raise")
        assert len(curator.history()) == 1
        assert hasattr(of.set_params(curator=None), "score")

    def test_a_search_in_other_processes_is_refused_by_name(self) -> None:
        of = model(bounds=(0, 100), classes=["no", "yes"], curator=held(), in_search=True)
        with pytest.raises(TypeError, match="n_jobs=1"):
            pickle.dumps(of)

    def test_a_search_stops_where_the_budget_ends(self) -> None:
        curator, rows = held(), people(400).to_pandas()
        of = LogisticRegression("0.9", 1e-5, bounds=(0, 100), classes=["no", "yes"], curator=curator, in_search=True)
        search = GridSearchCV(of, {"clip": [1, 3]}, cv=2, scoring=ChargedAccuracy("0.1"), error_score="raise")
        with pytest.raises(BudgetExceeded):
            search.fit(rows[["age"]], rows["rich"])
        assert len(curator.history()) == 6

    def test_a_score_of_arrays_is_bought_as_one_of_a_table(self) -> None:
        curator, rows = held(), people().to_pandas()
        of = model(bounds=(0, 100), classes=["no", "yes"], curator=curator).fit(rows[["age"]], rows["rich"])
        score = of.charged_score(rows[["age"]], [*rows["rich"][:-1], "?"], "0.5")
        right = float((of.predict(rows[["age"]]) == rows["rich"]).mean())
        low, high = score.interval(0.999)
        assert low <= right <= high
        assert curator.budget().remaining == ApproxDP(1.5, 9e-5)
        of.curator = None
        with pytest.raises(InvalidParameter, match="nothing is charged"):
            of.charged_score(rows[["age"]], rows["rich"], 1)

    def test_a_score_of_arrays_is_refused_with_a_curator(self) -> None:
        rows = people().to_pandas()
        of = model(bounds=(0, 100), classes=["no", "yes"], curator=held()).fit(rows[["age"]], rows["rich"])
        with pytest.raises(InvalidParameter, match="charged"):
            of.score(rows[["age"]], rows["rich"])

    def test_a_model_with_a_curator_is_not_pickled(self) -> None:
        of = model(bounds=(0, 100), classes=["no", "yes"], curator=held())
        with pytest.raises((TypeError, CuradorError), match="curator"):
            pickle.dumps(of)
        plain = model(bounds=(0, 100), classes=["no", "yes"]).fit([[1.0], [2.0]], ["no", "yes"])
        assert (pickle.loads(pickle.dumps(plain)).weights_ == plain.weights_).all()

    def test_units_of_several_rows_are_refused(self) -> None:
        of = model(bounds=(0, 100), classes=["no", "yes"], curator=held(unit="id", contribution=2))
        with pytest.raises(InvalidParameter, match="many rows"):
            of.fit([[1.0]], ["no"])


def test_a_public_table_of_a_database_may_have_changed_so_it_is_bought_again(tmp_path: Any) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "towns.duckdb")) as made:
        made.execute("CREATE TABLE towns AS SELECT * FROM (VALUES ('Lugo', false), ('Vigo', true)) t(town, coast)")
        made.execute(
            "CREATE TABLE people AS SELECT i % 101 AS age, CASE WHEN i % 2 = 0 THEN 'Lugo' ELSE 'Vigo' END AS town, "
            "CASE WHEN i % 101 > 50 THEN 'yes' ELSE 'no' END AS rich FROM range(500) t(i)"
        )
    there = f"duckdb:///{tmp_path}/towns.duckdb#"
    declared = {"town": {"type": "text", "keys": ["Lugo", "Vigo"]}, "coast": "boolean"}
    own = {name: column for name, column in COLUMNS.items() if name != "id"}
    towns = Table(f"{there}towns", columns=declared, public=True)
    tables = {"people": Table(f"{there}people", columns=own), "towns": towns}
    curator = Curator(tables, budget=ApproxDP(3, 1e-4))
    joined = curator.table("people").join("towns", "town")
    for _ in range(2):
        curator.fit(model(), joined, features=["age", "coast"], label="rich")
    assert len(curator.history()) == 2
