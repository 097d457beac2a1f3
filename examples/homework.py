"""The course's homework, end to end: a dashboard under epsilon 1, a model without privacy, and the same with DP-SGD.

    make data
    python examples/homework.py

What is learned from is Adult's official training part, by the bounds and keys of its codebook; what is measured is the
official test part.  A ledger in memory counts every step; with ``--ledger FILE`` it is kept.  What attackers find of
who was in these models is measured by examples/homework_membership.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression as PlainRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

from curador import ApproxDP, Curator
from curador.accounting.meaning import posterior
from curador.learn import LogisticRegression

HERE = Path(__file__).parent
NUMBERS = ["age", "education_num", "capital_gain", "capital_loss", "hours_per_week"]
KEYS = ["workclass", "marital_status", "occupation", "relationship", "race", "sex", "native_country"]
FEATURES = [*NUMBERS, *KEYS]
ROWS = 32_561
"""How many people the codebook says are in the training part: public."""

DASHBOARD = {
    "people": "SELECT COUNT(*) AS people FROM adult",
    "mean age": "SELECT AVG(age) AS age FROM adult",
    "mean hours": "SELECT AVG(hours_per_week) AS hours FROM adult",
    "by sex": "SELECT sex, COUNT(*) AS people FROM adult GROUP BY sex",
    "by education": "SELECT education_num, COUNT(*) AS people FROM adult GROUP BY education_num",
}
SHARES = {"people": 1, "mean age": 2, "mean hours": 2, "by sex": 1, "by education": 4}


def measured(model: Any, test: pd.DataFrame) -> tuple[float, float]:
    """Accuracy and area under the curve on the test part."""
    right = np.mean(model.predict(test[FEATURES]) == test["income"])
    return float(right), float(roc_auc_score(test["income"] == ">50K", model.predict_proba(test[FEATURES])[:, 1]))


def main(ledger: str) -> dict[str, tuple[float, float]]:
    train, test = (pd.read_csv(HERE.parent / "data" / f"adult_{part}.csv") for part in ("data", "test"))
    curator = Curator(HERE / "adult_learning.toml", ledger=ledger)

    print("1. A dashboard of five statistics under a total epsilon of 1\n")
    print(curator.publish(curator.batch(DASHBOARD, epsilon=1, weights=SHARES)))

    print("\n2. Logistic regression without privacy, and a constant\n")
    keyed = OneHotEncoder(handle_unknown="ignore")
    encoded = make_column_transformer((MinMaxScaler(), NUMBERS), (keyed, KEYS))
    plain = make_pipeline(encoded, PlainRegression(max_iter=1000))
    found = {"without privacy": measured(plain.fit(train[FEATURES], train["income"]), test)}
    found["always <=50K"] = (float((test["income"] == "<=50K").mean()), 0.5)

    print("3. DP-SGD with the course's numbers: gradients clipped to 1, noise of deviation 1 on their sum\n")
    recipe = {"clip": 1, "noise_multiplier": 1, "sample_rate": "1/127", "steps": 1270, "learning_rate": 4}
    course = LogisticRegression(solver="sgd", delta=1e-5, rows=ROWS, **recipe)
    curator.fit(course, "adult", features=FEATURES, label="income", because="the course's recipe")
    found["DP-SGD, clip 1, noise 1"] = measured(course, test)
    print(course.privacy_, "\n")

    print("4. The same epsilon 1 for a model as for the dashboard\n")
    model = LogisticRegression(epsilon=1, delta=1e-5)
    print(curator.training(model, "adult", features=FEATURES, label="income"), "\n")
    curator.fit(model, "adult", features=FEATURES, label="income")
    found["epsilon 1"] = measured(model, test)

    print("model                       accuracy    AUC")
    for name, (right, area) in found.items():
        print(f"{name:<26} {right:9.2%} {area:6.3f}")
    print("\nWhat is left of the budget:", curator.budget())
    best = found["without privacy"][0]
    lost, constant = (100 * (best - found[name][0]) for name in ("epsilon 1", "always <=50K"))
    belief = posterior(ApproxDP(1, 1e-5)).sentence()
    print(fill(DISCUSSION.format(lost=lost, constant=constant, belief=belief), 100))
    curator.close()
    return found


DISCUSSION = """
Discussion.  At epsilon 1 the model loses {lost:.2f} points of accuracy.  "Less than 10 points" alone proves nothing: to
predict the same for everybody loses {constant:.2f}.  Noise of deviation 1 on the *mean* of a batch, as the course words
step 4, would be 256 times as large as on its sum: no model is left of that.  May the private model be published?  What
it tells about anybody is bounded, whatever else is known: {belief}  The bound is for what the ledger counted, together;
it is the worst case, and says nothing of models that were fitted without it."""


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--ledger", default="memory:", help="a file, to be kept")
    main(asked.parse_args().ledger)
