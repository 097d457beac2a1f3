"""Estimates as plain values: nothing is lost, changed or made to look better; and the people of rehearsals."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter, InvalidValue
from curador.local import (
    KRR,
    CountMean,
    DBitFlip,
    Duchi,
    DuchiVector,
    HeavyHitters,
    Hitters,
    Longitudinal,
    Range,
    Rappor,
    Record,
    RecordEstimate,
    SquareWave,
)
from curador.local.collect.rehearsal import made_up, people, pieces
from curador.local.collect.summaries import summarize
from curador.local.numeric.record import JOINT, NOBODY
from curador.local.task.task import ONE_PERIOD
from curador.local.unlisted.regress import LISTED
from curador.show.estimates import plot_estimates
from tests.exact import Stream
from tests.local.every_task import EVERY_TASK, WORDS

ASKED = {"rappor", "count-mean", "hadamard-count-mean"}


@pytest.mark.parametrize(("task", "values"), EVERY_TASK, ids=[task.mechanism for task, _ in EVERY_TASK])
def test_summaries_are_the_estimates(task: Any, values: Any) -> None:
    tally = task.tally(task.randomize(values))
    asked = ["tea", "té", "nobody's"] if task.mechanism in ASKED else None
    found = summarize(task, tally, candidates=asked, confidence=0.9)
    if task.mechanism == "heavy-hitters":
        plain = task.find(tally, confidence=0.9)
    else:
        plain = task.estimate(tally) if asked is None else task.estimate(tally, asked)
    estimates: dict[str, Any] = dict(plain) if isinstance(plain, RecordEstimate) else {"": plain}
    assert [one.name for one in found] == list(estimates)
    for one, estimate in zip(found, estimates.values(), strict=True):
        assert np.array_equal(one.values, np.ravel(estimate.values if hasattr(estimate, "values") else estimate.value))
        assert one.users == estimate.users
        if hasattr(estimate, "interval"):
            each = 1 - 0.1 / len(estimates)
            low, high = estimate.interval(each if len(estimates) == 1 else np.nextafter(each, 1))
            assert one.confidence == 0.9
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
    (found,) = hitters.summaries()
    assert found.labels == ("tea", "coff…")
    assert "With 95% confidence every value that 12.346% of" in found.note  # rounded up
    assert found.low == ()
    (found,) = replace(hitters, confidence=0.9).summaries(0.99)
    assert "With 90% confidence" in found.note  # that of the search, whatever is asked for later
    for nothing in (1.5, np.inf):
        (found,) = replace(hitters, complete_above=nothing).summaries()
        assert "is here" not in found.note
        assert "too few reports" in found.note


def test_too_few_reports_find_nothing_in_words() -> None:
    task = HeavyHitters(1, length=3)
    (found,) = summarize(task, task.tally(task.randomize(["tea"] * 100, entropy=Stream(1))))
    assert found.labels == ()
    assert "too few reports" in found.note


def test_intervals_of_a_record_hold_for_all_attributes_at_once() -> None:
    """With 90% each, those of 30 attributes seldom hold all; with their shares of the miss they nearly always do."""
    task = Record({f"q{i}": ["no", "yes"] for i in range(30)}, 8, sampled=3)
    half = ["no", "yes"] * 300
    each_alone = together = 0
    for _ in range(30):
        tally = task.tally(task.randomize(dict.fromkeys(task.names, half)))
        alone = task.estimate(tally)
        limits: list[Any] = [estimate.interval(0.9) for estimate in alone.values()]
        each_alone += all((low <= 0.5).all() and (high >= 0.5).all() for low, high in limits)
        found = summarize(task, tally, confidence=0.9)
        together += all(low <= 0.5 <= high for one in found for low, high in zip(one.low, one.high, strict=True))
        assert {one.notes for one in found} == {(JOINT,)}
    assert together >= 22  # 27 or more are expected: fewer than 22 have a chance below 0.2%
    assert each_alone < together


def test_an_attribute_that_nobody_drew_is_there() -> None:
    task = Record({"age": Range(0, 9), "drink": ["a", "b"], "stars": 5}, 1)
    (report,) = task.randomize({"age": [1], "drink": ["a"], "stars": [2]})
    found = summarize(task, task.tally(np.array([report])))
    assert [one.name for one in found] == ["age", "drink", "stars"]
    assert sorted(one.users for one in found) == [0, 0, 1]
    for one in found:
        assert (one.notes == (NOBODY,)) == (one.users == 0) == (not one.values)
    plot_estimates(found, title="three")


def test_tasks_that_are_answered_again_say_that_a_folder_is_one_period() -> None:
    daily, once = Longitudinal(WORDS, 2, values=1, first=1), KRR(WORDS, 2)
    assert (daily.caution, once.caution) == (ONE_PERIOD, None)
    (found,) = summarize(daily, daily.tally(daily.randomize(["tea"] * 9)))
    assert found.notes == (ONE_PERIOD,)
    rappor = Rappor(4, bloom=32, cohorts=8)
    (found,) = summarize(rappor, rappor.tally(rappor.randomize(["tea"] * 90)), candidates=["tea"])
    assert found.notes == (LISTED, ONE_PERIOD)
    assert found.note == f"{LISTED.text()} {ONE_PERIOD.text()}"


def test_projected_frequencies_say_that_they_are_biased() -> None:
    for task in (KRR(WORDS, 1), DBitFlip(WORDS, 1, 2)):
        tally = task.tally(task.randomize(["tea"] * 200))
        (found,) = summarize(task, tally, projected=True)
        assert found.biased
        assert found.low == found.error == ()
        assert np.array_equal(found.values, task.estimate(tally).projected().values)
        assert found.users == 200
    record = Record({"age": Range(0, 9), "drink": ["a", "b"]}, 6, sampled=2)
    age, drink = summarize(record, record.tally(record.randomize(made_up(record, 90))), projected=True)
    assert (age.biased, drink.biased) == (False, True)


def test_what_is_asked_of_the_wrong_task() -> None:
    krr, duchi, sketch = KRR(3, 1), Duchi(0, 1, 1), CountMean(4, rows=4, places=16)
    with pytest.raises(InvalidParameter, match="takes no candidates"):
        summarize(krr, krr.tally([0]), candidates=["a"])
    with pytest.raises(InvalidParameter, match="Only frequencies"):
        summarize(duchi, duchi.tally(duchi.randomize([0.5])), projected=True)
    with pytest.raises(InvalidParameter, match="does not list its keys"):
        summarize(sketch, sketch.tally(sketch.randomize(["a"])))


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
    misread: list[tuple[Any, list[Any]]] = [  # by Python alone, or without a word
        (KRR(30, 1), ["1_0"]),
        (KRR(3, 1), ["\N{ARABIC-INDIC DIGIT TWO}"]),
        (KRR(3, 1), [1.5]),
        (KRR(3, 1), [float("inf")]),
        (Duchi(0, 90, 1), ["1_0"]),
        (Duchi(0, 9, 1), ["\N{ARABIC-INDIC DIGIT TWO}"]),
    ]
    for task, column in ((SquareWave(0, 1, 1), ["x"]), (KRR(3, 1), ["x"]), (KRR(3, 1), ["1.5"]), *misread):
        with pytest.raises(InvalidValue, match=r"A column has values|1 of the values are not among"):
            people(task, {"a": column})


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        (["\ud800", "b\udc00", "é"], ["\\ud800", "b\\udc00", "é"]),  # half characters
        ([2**63, 5, -(2**70)], [str(2**63), "5", str(-(2**70))]),
        ([2**63 - 1, -(2**63), 0], [2**63 - 1, -(2**63), 0]),
    ],
    ids=["halves", "wide", "widest"],
)
def test_keys_that_other_programs_do_not_have_are_written_out(keys: list[Any], shown: list[Any]) -> None:
    found = KRR(keys=keys, epsilon=2).estimate([0, 1, 2])
    for frame in (found.to_arrow().to_pydict(), found.to_pandas().to_dict("list"), found.to_polars().to_dict()):
        assert list(frame["key"]) == shown
    read = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["key"] for row in read] == list(map(str, shown))
    found.to_csv().encode()


def test_a_spreadsheet_runs_nothing_that_a_stranger_wrote() -> None:
    harmful = ["=1+1", "+A1", "-cmd|x", "@SUM(A1)", " =1", "\t=1", "\r=1", "-", "-1e9"]
    harmless = ["a=1", "-5", "+5", "'=1", "tea", ""]
    found = KRR(keys=[*harmful, *harmless], epsilon=2).estimate(range(15))
    read = [row["key"] for row in csv.DictReader(io.StringIO(found.to_csv(), newline=""))]
    assert read == [*(f"'{key}" for key in harmful), *harmless]
    assert list(found.to_pandas()["key"]) == [*harmful, *harmless]  # a frame runs nothing
    numbers = KRR(keys=[-5, -6], epsilon=2).estimate([0, 1]).to_csv()
    assert "'" not in numbers
