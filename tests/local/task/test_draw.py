"""The two primitives, by enumeration of the words they read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from curador.local.task.draw import coins, uniform


class Words:
    """Entropy that gives these arrays of words, one per call, and none besides."""

    def __init__(self, *script: Sequence[int] | NDArray[Any]) -> None:
        self.script = list(script)

    def words(self, n: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
        out = np.asarray(self.script.pop(0), dtype)
        assert out.size == n
        return out

    def bits(self, k: int) -> int:
        raise AssertionError("only words are read")


@pytest.mark.parametrize("threshold", [0, 1, 255, 256, 257, 40_000, 65_279, 65_280, 65_535])
def test_a_coin_of_16_bits_falls_true_for_exactly_its_threshold_of_words(threshold: int) -> None:
    first = np.repeat(np.arange(256), 256)  # every upper byte, so often that ties see every lower byte
    script = [first] + ([np.arange(256)] if threshold & 255 else [])
    found = coins(threshold, 16, first.size, Words(*script))
    assert int(found.sum()) == threshold


@pytest.mark.parametrize("threshold", [1, 65_536, 2**31 + 77, 2**32 - 1])
def test_a_coin_of_32_bits_falls_true_for_exactly_its_threshold_of_words(threshold: int) -> None:
    high, low = divmod(threshold, 1 << 16)
    sure = np.delete(np.arange(1 << 16), high)
    script: list[Any] = [sure] + ([[]] if low else [])
    assert int(coins(threshold, 32, sure.size, Words(*script)).sum()) == high
    ties = np.full(1 << 16, high)
    script = [ties] + ([np.arange(1 << 16)] if low else [])
    assert int(coins(threshold, 32, ties.size, Words(*script)).sum()) == low


def test_a_sure_coin_reads_nothing() -> None:
    assert coins(1 << 16, 16, 2, Words()).all()


def test_a_uniform_integer_throws_away_what_is_out_of_range() -> None:
    # 5 of 8 patterns of the three lowest bits are kept, each of them for 32 of 256 words.
    words = np.arange(256)
    late = int(((words & 7) >= 5).sum())
    found = uniform(5, 256, Words(words, np.full(late, 7), np.full(late, 8 + 3)))
    assert np.bincount(found).tolist() == [32, 32, 32, 32 + late, 32]
    assert uniform(8, 256, Words(words)).tolist() == (words & 7).tolist()
    assert uniform(1, 3, Words([1, 2, 3])).tolist() == [0, 0, 0]
    assert uniform(1 << 32, 1, Words([2**32 - 1])).tolist() == [2**32 - 1]
