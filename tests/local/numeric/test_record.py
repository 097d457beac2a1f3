"""Records: the exact law of small ones, and estimates as wrong as the formula says."""

from __future__ import annotations

import importlib
import json
import math
from contextlib import ExitStack
from fractions import Fraction
from itertools import product
from typing import Any, cast
from unittest.mock import patch

import numpy as np
import pytest
from scipy import stats

from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.local import KRR, OUE, Frequencies, LocalLaplace, Mean, Range, Record, Tally, task_from_json
from curador.local.frequency.estimates import oracle_variance
from curador.local.frequency.oracle import Oracle
from curador.local.frequency.planning import ORACLES
from tests.local.exact_law import Law, Tree, within, worst_ratio


def law(task: Record, record: dict[str, Any]) -> Law:
    """The probability of each report on one record."""
    tree, found = Tree(), dict[Any, Fraction]()
    with ExitStack() as stack:
        for module, name in (("subset", "uniform"), ("unary", "coins"), ("krr", "coins"), ("krr", "uniform")):
            where = importlib.import_module(f"curador.local.frequency.{module}")
            stack.enter_context(patch.object(where, name, getattr(tree, name)))
        while True:
            tree.begin()
            key = task.randomize({name: [value] for name, value in record.items()}).tobytes()
            found[key] = found.get(key, Fraction(0)) + tree.chance
            if not tree.advance():
                return found


@pytest.mark.parametrize(("attributes", "sampled"), [(2, 1), (2, 2), (3, 2)])
def test_every_report_has_its_probability(attributes: int, sampled: int) -> None:
    names = "abc"[:attributes]
    task = Record(dict.fromkeys(names, 2), epsilon=1, sampled=sampled)
    laws = [law(task, dict(zip(names, values, strict=True))) for values in product(range(2), repeat=attributes)]
    assert all(sum(one.values()) == 1 for one in laws)
    assert worst_ratio(laws) == task.ratio
    assert within(task.ratio, task.epsilon)
    # Each attribute is drawn by sampled/attributes of the people.
    drawn = sum(p for key, p in laws[0].items() if key[1] == 0)  # the first drawn is the first
    assert drawn == Fraction(sampled, attributes)


def test_the_whole_epsilon_for_each_attribute_is_refused() -> None:
    task = Record(dict.fromkeys("abc", 4), epsilon=1, sampled=2)
    document = task.to_json()
    assert task_from_json(json.loads(json.dumps(document))) == task
    with pytest.raises(NotPromised):
        task_from_json({**document, "sampled": 3})
    with pytest.raises(NotPromised):
        task_from_json({**document, "epsilon": "0.9"})
    with pytest.raises(InvalidParameter):
        task_from_json({**document, "names": ["a", "a", "b"]})
    with pytest.raises(InvalidParameter):
        task_from_json({**document, "names": ["a", "b"]})
    with pytest.raises(InvalidParameter):
        task_from_json({**document, "parts": [document] * 3})
    with pytest.raises(InvalidParameter):
        task_from_json({**document, "parts": [LocalLaplace(0, 1, "1/9").to_json()] * 3})
    with pytest.raises(InvalidParameter):
        task_from_json({**document, "names": [1, 2, 3]})


def test_more_attributes_are_drawn_when_epsilon_is_large() -> None:
    attributes = dict.fromkeys("abcdefgh", Range(-1, 1))
    assert [Record(attributes, e).sampled for e in ("1/2", 4.9, 5, 8, 100)] == [1, 1, 2, 3, 8]


@pytest.mark.parametrize("epsilon", [0.5, 1, 4, 6])
def test_mean_squared_error_is_the_formulas(epsilon: float) -> None:
    """Sixteen numbers, R runs, within 5 sqrt(2/(R d)): a report's variance, and that of who drew the attribute."""
    d, users, runs = 16, 1000, 40
    values = np.random.default_rng(5).normal(0.1, 0.5, (d, users)).clip(-1, 1)
    names = [f"x{j}" for j in range(d)]
    task = Record(dict.fromkeys(names, Range(-1, 1)), epsilon)
    columns = dict(zip(names, values, strict=True))
    noise = [np.mean([task.parts[j].unit_variance(v) for v in values[j]]) for j in range(d)]  # type: ignore[union-attr]
    ratios = []
    for _ in range(runs):
        found = task.estimate(task.randomize(columns))
        for j, name in enumerate(names):
            one: Any = found[name]
            formula = noise[j] / one.users + values[j].var(ddof=1) * (1 / one.users - 1 / users)
            ratios.append((one.value - values[j].mean()) ** 2 / formula)
    assert abs(np.mean(ratios) - 1) < 5 * math.sqrt(2 / (runs * d))


def test_mixed_records_are_unbiased_and_covered() -> None:
    n = 4000
    rng = np.random.default_rng(2)
    age, smokes = rng.uniform(18, 90, n), rng.choice(["no", "yes"], n, p=[0.8, 0.2])
    task = Record({"age": Range(18, 90), "smokes": ["no", "yes"]}, epsilon=2)
    ages, shares, covered = [], [], 0
    for _ in range(100):
        found = task.estimate(task.randomize({"age": age, "smokes": smokes}))
        mean, shares_of = found["age"], found["smokes"]
        assert isinstance(mean, Mean)
        assert isinstance(shares_of, Frequencies)
        ages.append(mean.value)
        shares.append(shares_of.values[1])
        low, high = shares_of.interval(0.99)
        bottom, top = mean.interval(0.99)
        covered += bool(low[1] <= np.mean(smokes == "yes") <= high[1] and bottom <= age.mean() <= top)
    # Six standard errors of the mean of 100 runs.
    assert abs(np.mean(ages) - age.mean()) < 6 * np.std(ages) / 10
    assert abs(np.mean(shares) - np.mean(smokes == "yes")) < 6 * np.std(shares) / 10
    # Promised at least 98 in a hundred; fewer than 89 would have a chance below 1e-6 even then.
    assert covered > 88


def test_an_interval_from_a_part_covers_the_whole() -> None:
    """The support among ``part`` of ``users`` people, exactly: hypergeometric, then coins."""
    task, users, part = KRR(3, 2), 12, 7
    p, q = float(task.p), float(task.q)
    for own in range(users + 1):
        chances = np.zeros(part + 1)
        for held in range(part + 1):
            weight = stats.hypergeom.pmf(held, users, own, part)
            if weight:
                coins = np.convolve(
                    stats.binom.pmf(range(held + 1), held, p), stats.binom.pmf(range(part - held + 1), part - held, q)
                )
                chances += weight * coins
        found = Frequencies(tuple(range(part + 1)), Tally(part, np.arange(part + 1)), task.p, task.q).of_a_part(users)
        low, high = found.interval(0.8, simultaneous=False)
        assert chances[(low <= own / users) & (own / users <= high)].sum() >= 0.8


def test_keys_keep_their_types() -> None:
    task = Record({"a": ["x", 1], "b": Range(0, 1)}, 9)
    reports = task.randomize({"a": ["x", 1, 1], "b": [0.5, 1, 0]})
    found = task.estimate(reports)
    assert {name: one.users for name, one in found.items()} == {"a": 3, "b": 3}
    assert isinstance(found["a"], Frequencies)
    assert found["a"].keys == ("x", 1)
    with pytest.raises(InvalidValue):
        task.randomize({"a": ["x", "one", 1], "b": [0.5, 1, 0]})


def test_refusals() -> None:
    task = Record({"a": 2, "b": Range(0, 1)}, 1)
    for columns in (
        {"a": [1]},
        {"a": [1], "b": [0.5, 0.5]},
        {"a": [[1]], "b": [[0.5]]},
        {"a": [1], "b": [1], "c": [1]},
    ):
        with pytest.raises(InvalidValue):
            task.randomize(columns)
    good = task.randomize({"a": [0, 1] * 8, "b": [0.5, 1] * 8})
    drew_a, drew_b = good[good[:, 1] == 0], good[good[:, 1] == 1]
    for bad in (
        good[:, :-1],
        good.astype(np.int64),
        np.full_like(good, 255),  # no such attribute
        drew_a | np.array([0, 0, 2, 0, 0, 0], np.uint8),  # no such key
        drew_a | np.array([0, 0, 0, 0, 0, 1], np.uint8),  # a byte after the end
        drew_b | np.array([0, 0, 255, 0, 0, 0], np.uint8),  # no such answer
    ):
        with pytest.raises(InvalidValue):
            task.estimate(bad)
    twice = Record({"a": 2, "b": 2}, 2, sampled=2)
    doubled = twice.randomize({"a": [1], "b": [1]})
    doubled[0, twice.layout.size // 2 + 1] = 0
    with pytest.raises(InvalidValue):
        twice.estimate(doubled)
    for few in (good[:0], Tally(3, np.array([1, 2]))):
        with pytest.raises(InvalidParameter):
            task.estimate(few)
    with pytest.raises(InvalidParameter):
        Record({}, 1)
    with pytest.raises(InvalidParameter):
        Record({"a": 2}, 1, sampled=2)
    with pytest.raises(InvalidParameter):
        Record({"a": Range(1, 0)}, 1)


def mean_variance(task: Any) -> float:
    """The variance of an estimated frequency, in the mean over keys that are equally frequent: the exact formula."""
    return float(oracle_variance(task.p, task.q, 1 / task.size, 1))


@pytest.mark.parametrize(
    ("keys", "worse"), [(2, (4.5, 6.7, 30.0)), (3, (2.7, 4.0, 16.0)), (6, (1.4, 2.3, 7.3)), (40, (1.06, 1.1, 2.0))]
)
def test_categories_are_reported_by_the_best_oracle(keys: int, worse: tuple[float, ...]) -> None:
    """Reported by OUE, yes or no would cost 4.5 to 30 times the variance."""
    for epsilon, least in zip((1, 2, 4), worse, strict=True):
        task = Record({"x": keys}, epsilon, sampled=1)
        [part] = task.parts
        assert mean_variance(OUE(keys, epsilon)) >= least * mean_variance(part)
        for other in ORACLES:
            assert mean_variance(part) <= 1.03 * mean_variance(other(keys, epsilon))
        assert task_from_json(task.to_json()) == task


def test_a_record_says_how_far_its_estimates_reach() -> None:
    task = Record({"age": Range(0, 100), "smokes": 2}, 1)
    errors = task.errors(20_000)
    columns = {"age": np.full(20_000, 40.0), "smokes": np.arange(20_000) % 2}
    age, smokes = task.estimate(task.randomize(columns)).summaries()
    assert (age.high[0] - age.low[0]) / 2 == pytest.approx(errors["age"], rel=0.03)
    assert (smokes.high[0] - smokes.low[0]) / 2 == pytest.approx(errors["smokes"], rel=0.03)


@pytest.mark.parametrize(("several", "users"), [(2, 12), (5, 100), (10, 100), (10, 200), (30, 600)])
def test_an_attribute_that_few_draw_is_within_the_error_too(several: int, users: int) -> None:
    """By the law of the number who draw it, of those among them who say yes, and of their coins."""
    task = Record({f"a{i}": 2 for i in range(several)}, 4, sampled=1)
    part, reach = cast(Oracle, task.parts[0]), task.errors(users)["a0"]
    p, q, have = float(part.p), float(part.q), users // 2
    missed = stats.binom.pmf(0, users, 1 / several)
    for mine in range(1, users + 1):
        if (weight := stats.binom.pmf(mine, users, 1 / several)) < 1e-7:
            continue
        law = np.zeros(mine + 1)
        for own in range(max(0, mine - users + have), min(have, mine) + 1):
            coins = np.convolve(
                stats.binom.pmf(np.arange(own + 1), own, p), stats.binom.pmf(np.arange(mine - own + 1), mine - own, q)
            )
            law += stats.hypergeom.pmf(own, users, have, mine) * coins
        far = np.abs((np.arange(mine + 1) / mine - q) / (p - q) - have / users) > reach
        missed += weight * law[far].sum()
    assert missed <= 0.05 / several  # of two keys both are far off, or none


def test_nothing_is_foretold_where_perhaps_nobody_draws_an_attribute() -> None:
    task = Record({f"a{i}": 2 for i in range(30)}, 4, sampled=1)
    with pytest.raises(InvalidParameter, match="perhaps never drawn") as refusal:
        task.errors(200)  # each attribute is drawn by nobody with a chance of 0.1 %, one of 30 with 3 %
    assert refusal.value.code == "error-not-known"
    assert Record({"a": 2, "b": 2}, 6, sampled=2).errors(1)["a"] > 0  # where all draw all, one is enough


def test_a_list_of_people_is_refused_in_our_words() -> None:
    task = Record({"a": ["x", "y"], "b": ["x", "y"]}, epsilon=2)
    with pytest.raises(InvalidValue, match="This task is about"):
        task.randomize([{"a": "x", "b": "y"}])  # type: ignore[arg-type]
