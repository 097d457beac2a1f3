"""The models made of sums on Adult: what the documentation says of them, with room for chance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans as ExactKMeans
from sklearn.linear_model import LinearRegression as ExactRegression

from curador.learn import PCA, BoundsScaler, GaussianNB, KMeans, LinearRegression

pytestmark = pytest.mark.slow
DATA = Path(__file__).parents[3] / "data"
BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (0, 1_500_000),
    "education_num": (1, 16),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 5_000),
    "hours_per_week": (1, 99),
}
KEYS = {
    "marital_status": [
        "Married-civ-spouse",
        "Divorced",
        "Never-married",
        "Separated",
        "Widowed",
        "Married-spouse-absent",
        "Married-AF-spouse",
    ],
    "relationship": ["Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"],
    "race": ["White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"],
    "sex": ["Female", "Male"],
}


@pytest.fixture(scope="module")
def adult() -> tuple[pd.DataFrame, pd.DataFrame]:
    if not (DATA / "adult_data.csv").is_file():
        pytest.skip("Adult is not here; run `make data`")
    train, test = (pd.read_csv(DATA / f"adult_{part}.csv") for part in ("data", "test"))
    return train, test


def eight(frame: pd.DataFrame) -> pd.DataFrame:
    """Eight features that hours per week are predicted from."""
    made = frame[["age", "education_num"]].assign(age_squared=((frame["age"] - 17) / 73) ** 2)
    for name in ("capital_gain", "capital_loss"):
        made[name] = np.log1p(frame[name].clip(0, BOUNDS[name][1]))
    made["male"] = (frame["sex"] == "Male").astype(float)
    made["white"] = (frame["race"] == "White").astype(float)
    made["married"] = (frame["marital_status"] == "Married-civ-spouse").astype(float)
    return made


def test_regression_is_as_good_as_least_squares(adult: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    train, test = (eight(frame) for frame in adult)
    hours, asked = (frame["hours_per_week"] for frame in adult)
    bounds: dict[str, tuple[float, float]] = dict.fromkeys(train, (0.0, 1.0))
    bounds.update({"age": (17, 90), "education_num": (1, 16)})
    for name in ("capital_gain", "capital_loss"):
        bounds[name] = (0, float(np.log1p(BOUNDS[name][1])))
    best = ExactRegression().fit(train, hours).score(test, asked)
    model = LinearRegression(1, 1e-5, bounds=bounds, label_bounds=(1, 99))
    found = [model.fit(train, hours).score(test, asked) for _ in range(5)]
    assert best == pytest.approx(0.183, abs=0.001)
    assert min(found) > 0.175
    for settings, least in (({"epsilon": 1}, 0.1), ({"epsilon": 1, "delta": 1e-5}, 0.14)):  # from sums alone
        model = LinearRegression(**settings, steps=0, bounds=bounds, label_bounds=(1, 99))
        assert np.mean([model.fit(train, hours).score(test, asked) for _ in range(5)]) > least


def test_components_hold_as_much_variance(adult: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    train = adult[0]
    rows = BoundsScaler(BOUNDS).fit_transform(train[list(BOUNDS)])
    for name, key in (
        ("sex", "Male"),
        ("race", "White"),
        ("marital_status", "Married-civ-spouse"),
        ("native_country", "United-States"),
    ):
        rows = np.column_stack([rows, 2.0 * (train[name] == key) - 1])
    spread = np.cov(rows.T)
    best = np.linalg.eigvalsh(spread)[::-1]
    for delta, least in ((1e-5, 0.99), (None, 0.97)):
        model = PCA(epsilon=1, delta=delta, bounds=(-1, 1)).fit(rows)
        for k in (1, 2, 3, 5):
            held = np.trace(model.components_[:k] @ spread @ model.components_[:k].T)
            assert held / best[:k].sum() > least


@pytest.mark.parametrize("settings", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-5}, {"epsilon": 1, "bins": 50}])
def test_naive_bayes_is_better_than_always_no(
    adult: tuple[pd.DataFrame, pd.DataFrame], settings: dict[str, float]
) -> None:
    train, test = adult
    numbers = {name: pair for name, pair in BOUNDS.items() if name != "fnlwgt"}
    names = [*numbers, *KEYS]
    model = GaussianNB(**settings, bounds=numbers, keys=KEYS, classes=["<=50K", ">50K"])  # type: ignore[arg-type]
    found = model.fit(train[names], train["income"]).score(test[names], test["income"])
    assert (test["income"] == "<=50K").mean() < 0.765
    assert found > 0.79


@pytest.mark.parametrize(("settings", "most"), [({"epsilon": 1, "delta": 1e-5}, 0.041), ({"epsilon": 1}, 0.046)])
def test_clusters_are_nearly_as_close(
    adult: tuple[pd.DataFrame, pd.DataFrame], settings: dict[str, float], most: float
) -> None:
    """Distances with numbers between 0 and 1, as in the notes; a single cluster in the mean has 0.097."""
    rows = BoundsScaler(BOUNDS).fit_transform(adult[0][list(BOUNDS)])
    best = ExactKMeans(8, n_init=2, random_state=0).fit(rows).inertia_ / len(rows) / 4
    found = -KMeans(8, **settings, bounds=(-1, 1)).fit(rows).score(rows) / len(rows) / 4  # type: ignore[arg-type]
    assert best > 0.034
    assert found < most
