"""RAPPOR: the exact laws of what is remembered and of what is reported, and the regression on candidates."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.local import Rappor, Tally, task_from_json
from curador.local.task.keys import LocalKey
from curador.local.unlisted.digest import hashed
from curador.local.unlisted.regress import Filters
from curador.numbers import set_fields
from tests.local.all_ways import law_of
from tests.local.exact_law import Law, keeps_its_word, within, worst_ratio
from tests.mutants import local_further as mutants

MODULE = "curador.local.unlisted.rappor"
KEYS: list[LocalKey] = ["a", "b", "c", "d", "e", "f", 1, 2]


def remembered_law(task: Any, key: Any) -> Law:
    return law_of(lambda: tuple(task.remember([key])[0].tolist()), MODULE)


def reported_law(task: Any, key: Any) -> Law:
    """What is remembered, and then a report on it."""

    def report(row: Any) -> Any:
        return tuple(task.report(np.array([row], np.uint8))[0].tolist())

    found: Law = {}
    for row, chance in remembered_law(task, key).items():
        for said, then in law_of(partial(report, row), MODULE).items():
            found[said] = found.get(said, Fraction(0)) + chance * then
    return found


@pytest.mark.parametrize(("bloom", "hashes", "cohorts"), [(2, 1, 2), (4, 1, 3), (4, 2, 2), (8, 2, 1)])
@pytest.mark.parametrize("epsilon", ["1/2", 4])
def test_what_is_remembered_has_its_law(bloom: int, hashes: int, cohorts: int, epsilon: Any) -> None:
    task = Rappor(epsilon, bloom=bloom, hashes=hashes, cohorts=cohorts)
    laws = [remembered_law(task, key) for key in KEYS]
    assert keeps_its_word(task, laws)
    worst = worst_ratio(laws)
    assert isinstance(worst, Fraction)
    # Reached if two of the keys have no bit in common.
    most = [max(int((x ^ y).sum()) for x in some for y in some) for some in filters_by_cohort(task)]
    assert worst == (task.kept / (1 - task.kept)) ** max(most)
    assert worst <= task.ratio
    assert max(most) == 2 * hashes or bloom == 4 == 2 * hashes


def filters_by_cohort(task: Rappor) -> list[Any]:
    return [task.filters(KEYS, np.full(len(KEYS), j)) for j in range(task.cohorts)]


@pytest.mark.parametrize(
    ("bloom", "hashes", "cohorts"), [(2, 1, 2), pytest.param(4, 1, 2, marks=pytest.mark.slow), (4, 2, 1)]
)
def test_one_report_has_its_law_and_costs_less(bloom: int, hashes: int, cohorts: int) -> None:
    task = Rappor(2, bloom=bloom, hashes=hashes, cohorts=cohorts)
    laws = [reported_law(task, key) for key in KEYS[:4]]
    assert keeps_its_word(task, laws)
    worst = worst_ratio(laws)
    assert isinstance(worst, Fraction)
    assert worst <= task.one_report < task.ratio
    for key, one in zip(KEYS, laws, strict=False):
        for row, chance in one.items():
            cohort = np.array([row[0] * 256 + row[1]])
            bits = np.unpackbits(np.array(row[2:], np.uint8), count=bloom)
            own = task.filters([key], cohort)[0]
            ones = [task.p if mine else task.q for mine in own]
            parts = [x if bit else 1 - x for x, bit in zip(ones, bits, strict=True)]
            assert chance == math.prod(parts, start=Fraction(1, cohorts))


def test_one_report_is_as_bad_as_said_for_keys_apart() -> None:
    task = Rappor(2, bloom=4, hashes=1, cohorts=1)
    assert worst_ratio([reported_law(task, key) for key in KEYS]) == task.one_report


def test_the_formulas_of_the_paper() -> None:
    """With f = 1/2, p = 1/2, q = 3/4 and h = 2: epsilon without end 4 ln 3, of one report 1.0743 [EPK14]."""
    task = Rappor("4.3945", hashes=2, true=3 << 30)
    assert task.ratio == 3**4
    f, p, q = 0.5, 0.5, 0.75
    ones, others = f / 2 * (p + q) + (1 - f) * q, f / 2 * (p + q) + (1 - f) * p
    assert (float(task.p), float(task.q)) == (ones, others)
    assert math.log(task.one_report) == pytest.approx(2 * math.log(ones * (1 - others) / (others * (1 - ones))))


@pytest.mark.parametrize("hashes", [1, 2, 5])
@pytest.mark.parametrize("epsilon", ["1/1000", 1, 10])
def test_the_threshold_is_the_largest_that_keeps_epsilon(hashes: int, epsilon: Any) -> None:
    task = Rappor(epsilon, hashes=hashes)
    assert within(task.ratio, task.epsilon)
    set_fields(task, true=task.true + 1)
    assert not within(task.ratio, task.epsilon)


def test_a_filter_that_is_never_cleared_is_caught() -> None:
    broken = mutants.NeverClears(1, bloom=4, hashes=1, cohorts=2)
    assert worst_ratio([remembered_law(broken, key) for key in KEYS]) == math.inf


def test_hashes_that_are_not_paid_for_are_caught() -> None:
    broken = mutants.ForgetsItsHashes(1, 8, 1)
    assert not keeps_its_word(broken, [remembered_law(broken, key) for key in KEYS])


def test_many_reports_say_no_more_than_what_is_remembered() -> None:
    """The mean of many reports on one row tells the row, and nothing else: the same bits again and again."""
    task = Rappor(2, bloom=8, hashes=1, cohorts=1)
    kept = task.remember(["a"])
    reports = task.report(np.repeat(kept, 4000, axis=0))
    ones = np.unpackbits(reports[:, 2:], axis=1).mean(axis=0)
    # Chances are 3/4 and 1/2; ten deviations are 0.08.
    assert ((ones > 0.625) == np.unpackbits(kept[0, 2:]).astype(bool)).all()


def test_hashes_are_spread_and_differ_by_row_and_salt() -> None:
    keys = [f"key {i}" for i in range(4000)]
    first, second = hashed(keys, [0] * 4000, "s", 16), hashed(keys, [1] * 4000, "s", 16)
    other = hashed(keys, [0] * 4000, "t", 16)
    for places in (first, second, other):
        # Chi-square of 15 degrees: above 60 once in five million.
        assert ((np.bincount(places, minlength=16) - 250) ** 2 / 250).sum() < 60
    # 250 meetings by chance, deviation 15.3.
    assert abs((first == second).sum() - 250) < 80
    assert abs((first == other).sum() - 250) < 80
    assert hashed(["1", 1], [0, 0], "", 1 << 24).tolist() != [hashed([1], [0], "", 1 << 24)[0]] * 2


@pytest.mark.parametrize("epsilon", [2, 30])
def test_mean_squared_error_is_the_formulas(epsilon: int) -> None:
    """Of coins and cohorts, given the people; estimates of one run are related, so R runs count as R squares."""
    users, runs, keys = 400, 600, KEYS[:6]
    values = ["a"] * 200 + ["b"] * 100 + ["c"] * 60 + ["d"] * 40
    true = np.array([0.5, 0.25, 0.15, 0.1, 0, 0])
    task = Rappor(epsilon, bloom=8, hashes=2, cohorts=4, high=(1 << 32) - 1, low=1)
    p, q = float(task.p), float(task.q)
    ratios, errors = [], []
    for _ in range(runs):
        tally = task.tally(task.randomize(values))
        bits = np.stack([task.filters(keys, np.full(6, j)).T for j in range(4)]).astype(float)
        formula = Filters(bits, tally.support[:, 0].astype(float)).variance(true, p, q)
        error = task.estimate(tally, keys).values - true
        errors.append(error)
        ratios.append(error**2 / formula)
    assert abs(np.mean(ratios) - 1) < 5 * math.sqrt(2 / runs)
    assert (np.abs(np.mean(errors, axis=0)) < 6 * np.std(errors, axis=0) / math.sqrt(runs)).all()
    assert users == tally.users


def test_least_squares_are_those_of_the_textbook() -> None:
    rng = np.random.default_rng(2)
    bits, people = (rng.random((3, 8, 5)) < 0.3).astype(float), np.array([10.0, 20.0, 70.0])
    share = rng.random((3, 8))
    root = np.sqrt(np.repeat(people, 8))
    wanted = np.linalg.lstsq(bits.reshape(24, 5) * root[:, None], share.reshape(24) * root, rcond=None)[0]
    assert np.allclose(Filters(bits, people).solve(share), wanted)


def test_many_candidates_are_found() -> None:
    task = Rappor(8, high=(1 << 32) - 1, low=1).named("words")
    words = [f"word {i}" for i in range(40)]
    values = np.random.default_rng(1).choice(5, 20_000, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    found = task.estimate(task.randomize([words[v] for v in values]), words)
    true = np.append(np.bincount(values, minlength=5) / 20_000, np.zeros(35))
    assert (np.abs(found.values - true) < 6 * np.sqrt(found.variance)).all()
    low, high = found.interval(0.99999)
    assert ((low <= true) & (true <= high)).all()
    assert (high - low).max() < 0.2
    assert found.values[:3].min() > found.values[5:].max()


def test_parts_add_up_and_a_task_is_a_small_document(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Rappor("1.5", bloom=16, cohorts=300).named("ü")
    text = json.dumps(task.to_json())
    again: Any = task_from_json(json.loads(text))
    assert again == task
    assert len(text) < 250
    reports = task.randomize(KEYS * 50)
    whole = task.tally(reports)
    monkeypatch.setattr("curador.local.unlisted.rappor.CELLS", 64)
    both = again.tally(reports[:123]) + again.tally(reports[123:])
    assert both.users == whole.users == 400
    assert both.support.tolist() == whole.support.tolist()
    assert whole.support[:, 0].sum() == 400


def test_refusals() -> None:
    task = Rappor(1, bloom=16, cohorts=4)
    with pytest.raises(NotPromised):
        task_from_json({**task.to_json(), "epsilon": "0.9"})
    with pytest.raises(NotPromised):
        task_from_json({**task.to_json(), "hashes": 3})
    for name in ("bloom", "hashes", "cohorts", "true", "high", "low"):
        for bad in (0, 1 << 32, -1, 0.5, True, "1", None):
            with pytest.raises(InvalidParameter):
                task_from_json({**task.to_json(), name: bad})
    for bad_task in ({"bloom": 12}, {"low": task.high}, {"true": 5}):
        with pytest.raises(InvalidParameter):
            task_from_json({**task.to_json(), **bad_task})
    values: list[Any] = [[1.5], [None], [True], [b"a"]]
    for some in values:
        with pytest.raises(InvalidValue):
            task.randomize(some)
    good = task.randomize(["a"] * 10)
    rows: list[Any] = [good[:, :3], good.astype(int), good[0], good + np.array([[0, 4, 0, 0]], np.uint8), 5]
    for some in rows:
        with pytest.raises(InvalidValue):
            task.estimate(some, ["a"])
    with pytest.raises(InvalidValue):
        Rappor(1, bloom=4).estimate(np.array([[0, 0, 255]], np.uint8), ["a"])
    for candidates in ([], ["a", "a"], [f"{i}" for i in range(100)]):
        with pytest.raises(InvalidParameter):
            task.estimate(good, candidates)
    for few in (good[:0], Tally(3, np.array([1, 2]))):
        with pytest.raises(InvalidParameter):
            task.estimate(few, ["a"])
