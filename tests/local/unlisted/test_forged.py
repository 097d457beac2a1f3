"""How far one accepted report moves an estimate: all are tried, and what docs/proofs/local.md says bounds them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidParameter, InvalidValue
from curador.local import CountMean, HadamardCountMean, HeavyHitters, LocalLaplace, Rappor, Tally
from curador.local.collect.tallies import read_tally
from curador.local.collect.wire import sound_reports
from curador.local.unlisted.prefix_search import PrefixSearch


def spread(task: Any, honest: Any, forged: Any, keys: list[str]) -> float:
    """By how many people the forged reports, each alone among the honest ones, set an estimate apart."""
    values = [task.estimate(np.concatenate([honest, one[np.newaxis]]), keys).values for one in forged]
    return float(np.ptp(values, axis=0).max()) * (len(honest) + 1)


@pytest.mark.parametrize("places", [2, 4])
@pytest.mark.parametrize("kind", [CountMean, HadamardCountMean])
def test_a_sketch(kind: Any, places: int) -> None:
    task = kind(2, rows=2, places=places)
    if kind is CountMean:
        rows = [[0, row, bits << (8 - places)] for row, bits in product(range(2), range(1 << places))]
        forged = np.array(rows, np.uint8)
    else:
        forged = np.array([*product(range(2), range(places), range(2))], np.uint32)
    assert sound_reports(task, task.to_bytes(forged)).all()
    factor = places / ((places - 1) * float(task.p - task.q))
    found = spread(task, task.randomize(["a", "b"] * 20), forged, ["a", "b"])
    assert found == pytest.approx(factor)
    assert found > 1.3 / float(task.p - task.q)  # which was said before


def test_rappor() -> None:
    task, keys = Rappor(4, bloom=8, hashes=2, cohorts=2).named("r"), ["a", "b", "c"]
    honest = task.randomize(keys * 20)
    for cohort in range(2):
        forged = np.array([[0, cohort, bits] for bits in range(256)], np.uint8)
        assert sound_reports(task, forged).all()
        said = task.estimate(np.concatenate([honest, forged[:1]]), keys).moved
        found = spread(task, honest, forged, keys)
        assert 1 / float(task.p - task.q) < found <= said


def test_a_heavy_hitter() -> None:
    task = HeavyHitters(4, length=3, rows=2, places=3, hash_bits=1).named("h")
    honest = task.randomize(["abc"] * 400)
    code = np.frombuffer(b"abc", np.uint8)[np.newaxis]
    forged = np.array([*product(range(task.levels), range(2), range(4), range(2))], honest.dtype)
    assert sound_reports(task, task.to_bytes(forged)).all()
    for level, width in enumerate(task.widths):
        values, share = [], 1.0
        for one in forged[forged[:, 0] == level]:
            tally = task.tally(np.concatenate([honest, one[np.newaxis]]))
            search = PrefixSearch(task, tally, at_least=0.0, miss=0.025, beam=16)
            share = search.people[level] / tally.users
            support = search.support(level, code[:, :width])
            values.append(float(search._frequency(support, search.people[level])[0]) * tally.users)
        factor = 1 / (float(task.p - task.stranger) * share)
        assert np.ptp(values) == pytest.approx(factor)
        assert factor > 1 / float(task.p - task.q)


@pytest.mark.parametrize("epsilon", [Fraction(1, 1 << 30), Fraction(3), 1024])
def test_laplace_reports_end_64_scales_beyond_the_bounds(epsilon: Any) -> None:
    task = LocalLaplace(0, 1, epsilon)
    beyond = 64 * -(-65536 // epsilon)
    ends = np.array([-beyond - 1, -beyond, 65536 + beyond, 65536 + beyond + 1])
    assert sound_reports(task, task.to_bytes(ends)).tolist() == [False, True, True, False]
    with pytest.raises(InvalidValue):
        task.tally(ends[:1])


@pytest.mark.parametrize("users", [0, 10, 999, 1001, 10**9])
def test_a_tally_of_heavy_hitters_whose_people_do_not_add_up_is_refused(users: int) -> None:
    task = HeavyHitters(4, length=3, rows=4, places=13).named("n")
    document = task.tally(task.randomize(["abc"] * 1000)).to_json()
    assert task.find(Tally.from_json(document)).users == 1000
    tally = read_tally(task, {"curador": 1, "task": task.id, "tally": {**document, "users": users}})
    with pytest.raises(InvalidValue):
        task.find(tally)


@pytest.mark.parametrize("word", [-(2**63), -(2**40), 2**40, 2**63 - 1])
def test_a_spectrum_that_no_reports_have_is_refused(word: int) -> None:
    task = HeavyHitters(4, length=3, rows=4, places=13)
    tally = task.tally(task.randomize(["abc"] * 1000))
    for place in (0, 1, tally.support.shape[1] - 1):
        bad = tally.support.copy()
        bad[-1, place] = word
        with pytest.raises((InvalidValue, InvalidParameter)):
            task.find(Tally(tally.users, bad))
