"""Sets drawn all at once: the same as sorting random numbers, for every way their first digits can fall."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from curador.local import SubsetSelection
from curador.local.frequency import subset
from curador.local.frequency.subset import smallest
from tests.exact import Stream

PLACES = (0, 3, 40, 63)
"""Which bits of a word are open."""


class OutOfDigits(Exception):
    """A set that the first digits do not decide."""


class Digits:
    """Entropy that gives these words, one per call."""

    def __init__(self, *words: int) -> None:
        self.script = list(words)

    def words(self, n: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
        if not self.script:
            raise OutOfDigits
        return np.full(n, self.script.pop(0), dtype)

    def bits(self, k: int) -> int:
        raise AssertionError("only words are read")


def word(bits: Any) -> int:
    """The word in which these places are set; all others too, since closed bits must not matter."""
    closed = (1 << 64) - 1 - sum(1 << place for place in PLACES)
    return closed | sum(1 << place for place, bit in zip(PLACES, bits, strict=True) if bit)


def chosen(wanted: int, rounds: Any) -> frozenset[int] | None:
    """The places chosen when the digits of each round are these, 1 for the smaller; None if they do not decide."""
    open_ = np.array([[sum(1 << place for place in PLACES)]], np.uint64)
    try:
        found = int(smallest(open_, np.array([wanted]), Digits(*map(word, rounds)))[0, 0])
    except OutOfDigits:
        return None
    return frozenset(place for place in range(64) if found >> place & 1)


def by_sorting(wanted: int, rounds: Any) -> frozenset[int] | None:
    """The same, from numbers that are written out and sorted."""
    numbers = [tuple(1 - digits[i] for digits in rounds) for i in range(len(PLACES))]
    order = sorted(range(len(PLACES)), key=lambda i: numbers[i])
    if wanted and numbers[order[wanted - 1]] == numbers[order[wanted]]:
        return None
    return frozenset(PLACES[i] for i in order[:wanted])


@pytest.mark.parametrize("wanted", [1, 2, 3])
def test_the_smallest_of_random_numbers_are_chosen(wanted: int) -> None:
    """All 2**12 ways in which three digits of four numbers can fall; each set is decided equally often."""
    counts: Counter[frozenset[int]] = Counter()
    for rounds in product(product((0, 1), repeat=4), repeat=3):
        found = chosen(wanted, rounds)
        assert found == by_sorting(wanted, rounds)
        if found is not None:
            counts[found] += 1
    assert len(set(counts.values())) == 1
    assert all(len(found) == wanted for found in counts)
    assert len(counts) == {1: 4, 2: 6, 3: 4}[wanted]
    assert sum(counts.values()) > 2**11


def test_columns_that_end_early_and_late_do_not_disturb_each_other() -> None:
    """A thousand columns of two words, in which 0 to 90 bits are open and any number of them wanted."""
    rng = np.random.default_rng(3)
    cells = rng.random((1000, 128)) < rng.uniform(0, 0.7, (1000, 1))
    open_ = np.ascontiguousarray(np.packbits(cells, axis=1).view(np.uint64).T)
    wanted = rng.integers(0, cells.sum(axis=1) + 1)
    found = smallest(open_.copy(), wanted, Stream(1))
    assert (found & ~open_ == 0).all()
    assert np.bitwise_count(found).sum(axis=0).tolist() == wanted.tolist()


@pytest.mark.parametrize("with_own", [False, True])
def test_a_report_is_the_own_key_or_not_and_a_uniform_set_of_others(
    with_own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All ways in which two digits of four other keys can fall; the own key's digits and the spare bits are set."""
    monkeypatch.setattr(subset, "FEW", 0)
    monkeypatch.setattr(subset, "coins", lambda threshold, bits, size, entropy: np.full(size, with_own))
    task, own, others = SubsetSelection(5, 1, chosen=2), 3, (0, 1, 2, 4)
    counts: Counter[frozenset[int]] = Counter()
    for rounds in product(product((0, 1), repeat=4), repeat=2):
        cells = np.ones((2, 64), bool)
        cells[:, others] = rounds
        try:
            found = task.randomize([own], entropy=Digits(*np.packbits(cells, axis=1).view(np.uint64)[:, 0].tolist()))
        except OutOfDigits:
            continue
        counts[frozenset(np.flatnonzero(np.unpackbits(found[0])).tolist())] += 1
    mine = {own} if with_own else set()
    assert set(counts) == {frozenset(mine | set(some)) for some in combinations(others, 2 - with_own)}
    assert len(set(counts.values())) == 1


@pytest.mark.parametrize(("keys", "size"), [(5, 2), (70, 20), (128, 127), (1000, 300)])
def test_reports_drawn_at_once_hold_the_own_key_as_often_as_stated(
    keys: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their own counts: the own key by the coin, every other one as often as any, in all of 20,000 reports."""
    monkeypatch.setattr(subset, "FEW", 0)
    task = SubsetSelection(keys, 2, chosen=size)
    n, own = 20_000, keys * 2 // 3
    cells = np.unpackbits(task.randomize(np.full(n, own), entropy=Stream(keys)), axis=1)
    assert not cells[:, keys:].any()
    assert set(cells.sum(axis=1).tolist()) == {size}
    chance = np.full(keys, float(task.q))
    chance[own] = float(task.p)
    # Six standard deviations, and one report more for chances near 1.
    assert (np.abs(cells[:, :keys].sum(axis=0) - n * chance) < 6 * np.sqrt(n * chance * (1 - chance)) + 1).all()


def test_both_ways_to_draw_are_used() -> None:
    sizes = {SubsetSelection(1024, epsilon).chosen <= subset.FEW for epsilon in (1, 4)}
    assert sizes == {True, False}
