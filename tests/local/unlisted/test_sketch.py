"""Apple's sketches: their exact laws, what a report supports, and the error over coins and hash functions."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.local import CountMean, HadamardCountMean, Tally, task_from_json
from curador.local.task.limits import mean_chance
from curador.local.unlisted.digest import hashed
from curador.numbers import set_fields
from tests.local.all_ways import law_of
from tests.local.exact_law import Law, keeps_its_word, within, worst_ratio
from tests.mutants import local_further as mutants

SKETCHES: list[type[Any]] = [CountMean, HadamardCountMean]
KEYS = ["a", "b", "c", "d", "e", 1]


def laws_of(task: Any) -> list[Law]:
    def report(key: Any) -> Any:
        return tuple(task.randomize([key])[0].tolist())

    return [
        law_of(partial(report, key), "curador.local.unlisted.sketch", "tests.mutants.local_further") for key in KEYS
    ]


def places_of(task: Any, key: Any) -> Any:
    return hashed([key] * task.rows, range(task.rows), task.salt, task.places)


def apart(task: Any) -> Any:
    """The same under the first name by which two of the keys do not meet in the first row."""
    named = (task.named(f"keys {i}") for i in range(100))
    return next(one for one in named if len({int(places_of(one, key)[0]) for key in KEYS}) > 1)


def supports_as_said(task: Any, laws: list[Law]) -> bool:
    """Whether a report supports the own key with p, another with p where they meet and q elsewhere, exactly."""
    every = np.arange(task.rows)
    for own, one in zip(KEYS, laws, strict=True):
        for key in KEYS:
            place = places_of(task, key)
            chance = Fraction(0)
            for report, probability in one.items():
                row = np.array([report], np.uint8 if isinstance(task, CountMean) else np.uint32)
                chance += int(task.tally(row).support[every, place].sum()) * probability
            met = Fraction(int((place == places_of(task, own)).sum()), task.rows)
            if chance != met * task.p + (1 - met) * task.q:
                return False
    return True


@pytest.mark.parametrize("made", SKETCHES)
@pytest.mark.parametrize(("rows", "places"), [(1, 2), (3, 2), (2, 4)])
@pytest.mark.parametrize("epsilon", ["1/2", 3])
def test_every_report_has_its_probability(made: Any, rows: int, places: int, epsilon: Any) -> None:
    task = apart(made(epsilon, rows=rows, places=places))
    laws = laws_of(task)
    assert keeps_its_word(task, laws)
    assert worst_ratio(laws) == task.ratio
    assert supports_as_said(task, laws)


@pytest.mark.parametrize("made", SKETCHES)
@pytest.mark.parametrize("epsilon", ["1/1000", 1, 4, 10])
def test_the_threshold_is_the_largest_that_keeps_epsilon(made: Any, epsilon: Any) -> None:
    task = made(epsilon)
    assert within(task.ratio, task.epsilon)
    set_fields(task, true=task.true + 1)
    assert not within(task.ratio, task.epsilon)


def test_broken_randomizers_are_caught() -> None:
    column = mutants.ColumnOfItself(1, rows=2, places=4)
    assert worst_ratio(laws_of(column)) == math.inf
    whole = mutants.WholeEpsilonPerBit(1, rows=2, places=2)
    laws = laws_of(whole)
    assert not keeps_its_word(whole, laws)
    assert worst_ratio(laws) == whole.ratio**2


def test_a_private_but_biased_sketch_is_caught() -> None:
    mutant = mutants.NeverTheFirstColumn(1, rows=2, places=4)
    laws = laws_of(mutant)
    assert keeps_its_word(mutant, laws)
    assert not supports_as_said(mutant, laws)


@pytest.mark.parametrize("made", SKETCHES)
def test_the_table_is_what_a_loop_counts(made: Any) -> None:
    task = made(2, rows=5, places=16)
    reports = task.randomize(KEYS * 30)
    slow = np.zeros((5, 16), int)
    for report in reports.astype(int):
        if made is CountMean:
            bits = np.unpackbits(report[2:].astype(np.uint8))
            slow[report[0] * 256 + report[1]] += bits
        else:
            row, column, bit = report
            slow[row] += [((column & place).bit_count() % 2 == 0) == bool(bit) for place in range(16)]
    assert task.tally(reports).support.tolist() == slow.tolist()


@pytest.mark.parametrize("made", SKETCHES)
def test_the_estimate_is_that_of_the_paper(made: Any) -> None:
    """m/(m-1) (mean over rows of M[j, h_j(d)] - n/m), with M built as in [App17]."""
    task = made(2, rows=4, places=8)
    reports = task.randomize(KEYS * 40)
    n, k, m = 240, 4, 8
    table = np.zeros((k, m))
    grown = float(task.p / (1 - task.p))  # e**(epsilon/2) of the one, e**epsilon of the other
    scale = (grown + 1) / (grown - 1)
    for report in reports.astype(int):
        if made is CountMean:
            signs = 2.0 * np.unpackbits(report[2:].astype(np.uint8)) - 1
            table[report[0] * 256 + report[1]] += k * (scale / 2 * signs + 0.5)
        else:
            table[report[0], report[1]] += k * scale * (2 * report[2] - 1)
    if made is HadamardCountMean:
        table = table @ [[(-1) ** (i & j).bit_count() for j in range(m)] for i in range(m)]
    wanted = [m / (m - 1) * (table[range(k), places_of(task, key)].mean() - n / m) / n for key in KEYS]
    assert task.estimate(reports, KEYS).values == pytest.approx(wanted)


@pytest.mark.parametrize("made", SKETCHES)
@pytest.mark.parametrize(("epsilon", "rows", "places"), [(1, 64, 16), (4, 4, 8), (30, 8, 4)])
def test_mean_squared_error_is_the_formulas(made: Any, epsilon: int, rows: int, places: int) -> None:
    """Over coins and hash functions; estimates of one run are related, so R runs count as R squares."""
    users, runs = 100, 600
    share = {"a": 0.5, "b": 0.3, "c": 0.2, "d": 0.0}
    values = [key for key, f in share.items() for _ in range(round(users * f))]
    squares = sum(f * f for f in share.values())
    true = np.array(list(share.values()))
    formula = [made(epsilon, rows=rows, places=places).variance(users, f, round(squares - f * f, 9)) for f in true]
    errors = []
    for run in range(runs):
        task = made(epsilon, rows=rows, places=places).named(f"{run}")
        errors.append(task.estimate(task.randomize(values), list(share)).values - true)
    assert abs(np.mean(np.square(errors) / formula) - 1) < 5 * math.sqrt(2 / runs)
    assert (np.abs(np.mean(errors, axis=0)) < 6 * np.sqrt(np.array(formula) / runs)).all()


@pytest.mark.parametrize("made", SKETCHES)
@pytest.mark.parametrize("rows", [1, 2])
def test_the_variance_is_that_of_all_hash_functions_together(made: Any, rows: int) -> None:
    """Every function of three keys into two places, for five people; exact but for the last rounding."""
    task = made(2, rows=rows, places=2)
    people = ["d", "v", "v", "w", "v"]
    means, variances = [], []
    for drawn in product(product(range(2), repeat=3), repeat=rows):
        met = {"d": Fraction(1)}
        for i, key in enumerate("vw", start=1):
            met[key] = Fraction(sum(function[0] == function[i] for function in drawn), rows)
        chances = [task.q + (task.p - task.q) * met[key] for key in people]
        means.append(sum(chances))
        variances.append(sum(chance * (1 - chance) for chance in chances))
    count = len(means)
    middle = sum(means) / count
    total = sum(variances) / count + sum((mean - middle) ** 2 for mean in means) / count
    stranger = (task.p + task.q) / 2
    assert middle == task.p + 4 * stranger
    wanted = total / 25 / (task.p - stranger) ** 2
    assert task.variance(5, 0.2, 0.4) == pytest.approx(float(wanted), rel=1e-12)


@pytest.mark.parametrize("made", SKETCHES)
def test_intervals_cover_over_coins_and_hash_functions(made: Any) -> None:
    """Hash functions matter most here: few rows, coins that are almost sure, and one key that nearly all have."""
    share, users, runs = {"a": 0.9, "b": 0.1, "c": 0.0, "d": 0.0}, 2000, 200
    values = [key for key, f in share.items() for _ in range(round(users * f))]
    true, missed, coins_only = np.array(list(share.values())), 0, 0
    for run in range(runs):
        task = made(8, rows=64, places=16).named(f"interval {run}")
        found = task.estimate(task.randomize(values), list(share))
        low, high = found.interval(0.9)
        missed += not ((low <= true) & (true <= high)).all()
        assert (high - low).max() < 0.5
        met = task.q + (task.p - task.q) / task.places
        ends = [(chance - float(met)) / float(task.p - met) for chance in mean_chance(found.support, users, 0.1 / 4)]
        coins_only += not ((ends[0] <= true) & (true <= ends[1])).all()
    assert missed <= 0.1 * runs
    assert coins_only > 0.2 * runs  # so much for intervals that forget the hash functions


@pytest.mark.parametrize("made", SKETCHES)
def test_unlisted_keys_do_not_move_the_others(made: Any) -> None:
    task = made(4, rows=256, places=256)
    values = [f"key {i % 3}" for i in range(3000)] + [f"nobody named {i}" for i in range(3000)]
    found = task.estimate(task.randomize(values), ["key 0", "key 1", "key 2", "absent"])
    assert (np.abs(found.values - [1 / 6, 1 / 6, 1 / 6, 0]) < 6 * np.sqrt(found.variance)).all()
    assert found.users == 6000
    assert (found.variance >= task.variance(6000, 0.5, 0)).all()


@pytest.mark.parametrize("made", SKETCHES)
def test_parts_add_up_and_a_task_is_a_small_document(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    task = made("1.5", rows=300, places=16).named("ü")
    again: Any = task_from_json(json.loads(json.dumps(task.to_json())))
    assert again == task
    monkeypatch.setattr("curador.local.unlisted.sketch.CELLS", 64)
    reports = task.randomize(KEYS * 50)
    both = again.tally(reports[:123]) + again.tally(reports[123:])
    assert both.users == 300
    assert both.support.tolist() == task.tally(reports).support.tolist()
    assert task.randomize([]).shape == (0, reports.shape[1])


@pytest.mark.parametrize("made", SKETCHES)
def test_refusals(made: Any) -> None:
    task = made(1, rows=4, places=4)
    with pytest.raises(NotPromised):
        task_from_json({**task.to_json(), "epsilon": "0.9"})
    for name in ("rows", "places", "true"):
        for bad in (0, 1 << 32, -1, 0.5, True, "1", None):
            with pytest.raises(InvalidParameter):
                task_from_json({**task.to_json(), name: bad})
    for bad_task in ({"places": 12}, {"true": 5}):
        with pytest.raises(InvalidParameter):
            task_from_json({**task.to_json(), **bad_task})
    values: list[Any] = [[1.5], [None], [True], [b"a"]]
    for some in values:
        with pytest.raises(InvalidValue):
            task.randomize(some)
    good = task.randomize(["a"] * 10)
    beyond = np.array([[0, 4, 0]] if made is CountMean else [[4, 0, 0]], good.dtype)
    spare = np.array([[0, 0, 255]] if made is CountMean else [[0, 4, 0]], good.dtype)
    rows: list[Any] = [good[:, :2], good[0], 5, beyond, spare, [[0.5, 0, 0]]]
    for some in rows:
        with pytest.raises(InvalidValue):
            task.estimate(some, ["a"])
    with pytest.raises(InvalidParameter):
        task.estimate(good, [])
    for few in (good[:0], Tally(3, np.array([1, 2]))):
        with pytest.raises(InvalidParameter):
            task.estimate(few, ["a"])
    for f, others in ((2, 0), (0.5, 0.5), (0, -1)):
        with pytest.raises(InvalidParameter):
            task.variance(10, f, others)


def test_what_was_written_for_one_sketch_is_refused_by_the_other() -> None:
    """One bit may be surer than two: the Hadamard form's threshold breaks the promise of the other."""
    document = {**HadamardCountMean(1).to_json(), "mechanism": "count-mean"}
    with pytest.raises(NotPromised):
        task_from_json(document)
