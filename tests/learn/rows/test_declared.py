"""Labels are refused by the type of their array, and never by a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from curador.curator.curator import Curator
from curador.errors import InvalidValue
from curador.learn import GaussianNB, LogisticRegression
from curador.learn.rows.declared import declared_classes, labels_of
from curador.privacy import ApproxDP
from tests.curator.test_training import held

TEXTS, NUMBERS = ["no", "yes"], [0, 1]


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        (NUMBERS, np.array(["0", "1"])),
        (NUMBERS, np.array([b"0", b"1"])),
        (NUMBERS, pd.Series(["0", "1"], dtype="string")),
        (NUMBERS, pd.Series(["0", "1"], dtype="str")),
        (NUMBERS, pl.Series(["0", "1"])),
        (NUMBERS, np.array(["2020-01-01", "2020-01-02"], "datetime64[ns]")),
        ([False, True], np.array(["False", "True"])),
        (TEXTS, np.array([0, 1])),
        (TEXTS, np.array([[0], [1]])),
        (TEXTS, pd.Series([0.0, 1.0])),
        (TEXTS, pl.Series([True, False])),
    ],
)
@pytest.mark.filterwarnings("ignore:A column-vector")
def test_labels_of_another_type_are_refused(classes: Any, labels: Any) -> None:
    with pytest.raises(InvalidValue, match="no label is a class") as refused:
        labels_of(labels, declared_classes(classes), 2)
    assert refused.value.code == "labels-of-another-type"


@pytest.mark.parametrize(
    ("classes", "labels", "found"),
    [
        (NUMBERS, np.array([0.0, 1.0]), [0, 1]),
        (NUMBERS, np.array([False, True]), [0, 1]),
        (NUMBERS, ["0", 1], [-1, 1]),
        (NUMBERS, pd.Series([0, 1], dtype="category"), [0, 1]),
        (NUMBERS, pd.Series([None, 1], dtype="Int64"), [-1, 1]),
        (TEXTS, [0, "yes"], [-1, 1]),
        (TEXTS, pd.Series(["no", None], dtype="string"), [0, -1]),
        (TEXTS, pd.Series(["no", 3], dtype=object), [0, -1]),
        (TEXTS, pl.Series(["no", "yes"]), [0, 1]),
        (TEXTS, np.array([None, {}], dtype=object), [-1, -1]),
    ],
)
def test_labels_of_a_type_that_may_be_classes_are_read_one_by_one(classes: Any, labels: Any, found: list[int]) -> None:
    assert labels_of(labels, declared_classes(classes), 2).tolist() == found


@pytest.mark.parametrize("kind", [LogisticRegression, GaussianNB])
def test_a_model_of_pure_noise_is_not_charged(kind: Any) -> None:
    curator: Curator = held()
    model = kind(1, 1e-5, bounds=(0, 10), classes=[0, 1], curator=curator)
    X = np.array([[1.0], [9.0]] * 50)
    with pytest.raises(InvalidValue):
        model.fit(X, np.array(["0", "1"] * 50))
    assert curator.budget().remaining == ApproxDP(3, 1e-4)
    fitted = model.fit(X, [0, 1] * 50)
    with pytest.raises(InvalidValue):
        fitted.charged_score(X, np.array(["0", "1"] * 50), "0.5")
    assert len(curator.history()) == 1
