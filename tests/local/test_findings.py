"""Estimates as plain values: nothing is lost, changed or made to look better; and the people of rehearsals."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter, InvalidValue
from curador.local import KRR, CountMean, DBitFlip, Duchi, DuchiVector, Hitters, Range, Record, SquareWave
from curador.local.findings import findings, shown
from curador.local.rehearsal import made_up, people, pieces
from tests.local.every_task import EVERY_TASK, WORDS

ASKED = {"rappor", "count-mean", "hadamard-count-mean"}


@pytest.mark.parametrize(("task", "values"), EVERY_TASK, ids=[task.mechanism for task, _ in EVERY_TASK])
def test_findings_are_the_estimates(task: Any, values: Any) -> None:
    tally = task.tally(task.randomize(values))
    asked = ["tea", "té", "nobody's"] if task.mechanism in ASKED else None
    found = findings(task, tally, candidates=asked, confidence=0.9)
    if task.mechanism == "heavy-hitters":
        plain = task.find(tally, confidence=0.9)
    else:
        plain = task.estimate(tally) if asked is None else task.estimate(tally, asked)
    estimates = plain if isinstance(plain, dict) else {"": plain}
    assert [one.name for one in found] == list(estimates)
    for one, estimate in zip(found, estimates.values(), strict=True):
        assert np.array_equal(one.values, np.ravel(estimate.values if hasattr(estimate, "values") else estimate.value))
        assert one.users == estimate.users
        if hasattr(estimate, "interval"):
            low, high = estimate.interval(0.9)
            assert np.array_equal(one.low, np.ravel(low))
            assert np.array_equal(one.high, np.ravel(high))
        else:
            assert one.low == one.high == ()
            assert one.note  # why there is none
        assert one.approximate == (task.mechanism == "rappor")
        assert one.biased == getattr(estimate, "biased", False)
        assert json.loads(json.dumps(one.to_json()))["kind"] == one.kind


def test_heavy_hitters_say_what_is_sure_to_be_there() -> None:
    hitters = Hitters(
        ("tea", "coff"), (False, True), 1000, np.array([0.5, 0.1]), np.array([1e-4, 1e-4]), 0.1234561, False
    )
    (found,) = shown(hitters, 0.95, False)
    assert found.labels == ("tea", "coff…")
    assert "12.346%" in found.note  # rounded up
    assert found.low == ()
    (nothing,) = shown(replace(hitters, complete_above=1.5), 0.95, False)
    assert "is here" not in nothing.note


def test_projected_frequencies_say_that_they_are_biased() -> None:
    for task in (KRR(WORDS, 1), DBitFlip(WORDS, 1, 2)):
        tally = task.tally(task.randomize(["tea"] * 200))
        (found,) = findings(task, tally, projected=True)
        assert found.biased
        assert found.low == found.error == ()
        assert np.array_equal(found.values, task.estimate(tally).projected().values)
        assert found.users == 200
    record = Record({"age": Range(0, 9), "drink": ["a", "b"]}, 6, sampled=2)
    age, drink = findings(record, record.tally(record.randomize(made_up(record, 90))), projected=True)
    assert (age.biased, drink.biased) == (False, True)


def test_what_is_asked_of_the_wrong_task() -> None:
    krr, duchi, sketch = KRR(3, 1), Duchi(0, 1, 1), CountMean(4, rows=4, places=16)
    with pytest.raises(InvalidParameter, match="takes no candidates"):
        findings(krr, krr.tally([0]), candidates=["a"])
    with pytest.raises(InvalidParameter, match="Only frequencies"):
        findings(duchi, duchi.tally(duchi.randomize([0.5])), projected=True)
    with pytest.raises(InvalidParameter, match="does not list its keys"):
        findings(sketch, sketch.tally(sketch.randomize(["a"])))
    with pytest.raises(InvalidParameter, match="is no estimate"):
        shown(3, 0.95, False)


# ---- the people of rehearsals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("task", "values"), EVERY_TASK, ids=[task.mechanism for task, _ in EVERY_TASK])
def test_made_up_people_suit_every_task(task: Any, values: Any) -> None:
    made = made_up(task, 100)
    parts = [task.randomize(piece) for piece in pieces(made, 30)]
    assert [len(part) for part in parts] == [30, 30, 30, 10]
    again = made_up(task, 100)
    for name in made if isinstance(made, dict) else ():
        assert list(made[name]) == list(again[name])


def test_made_up_people_are_skewed_as_said() -> None:
    counts = Counter(made_up(KRR(["a", "b", "c"], 1), 1100))
    assert counts == {"a": 600, "b": 300, "c": 200}
    assert len(made_up(KRR(1000, 1), 7)) == 7
    assert abs(float(np.mean(made_up(Duchi(3, 6, 1), 10_000))) - 4) < 1e-3  # a third of the way
    with pytest.raises(InvalidParameter):
        made_up(KRR(2, 1), 0)


def test_columns_become_the_values_that_a_task_takes() -> None:
    assert people(KRR([1, "2", 2], 1), {"x": ["1", "2", 2]}) == [1, "2", 2]  # text stays text where that is a key
    assert people(CountMean(4), {"x": ["1", 1]}) == ["1", 1]
    vector = DuchiVector(0, 1, 1, 2)
    assert people(vector, {"a": ["0", "1"], "b": [0.5, 0.25]}).tolist() == [[0.0, 0.5], [1.0, 0.25]]
    record = Record({"age": Range(0, 9), "stars": 3}, 1)
    assert people(record, {"age": ["1.5"], "stars": ["2"]})["stars"] == [2]
    with pytest.raises(InvalidParameter, match="about age, stars"):
        people(record, {"age": [1]})
    with pytest.raises(InvalidParameter, match="one value of each person"):
        people(Duchi(0, 1, 1), {"a": [1], "b": [1]})
    for task, column in ((SquareWave(0, 1, 1), ["x"]), (KRR(3, 1), ["x"]), (KRR(3, 1), ["1.5"])):
        with pytest.raises(InvalidValue, match="A column has values"):
            people(task, {"a": column})
