"""Outputs of every shape are read alike on both sides, and what is read of them is what it says."""

from __future__ import annotations

import numpy as np
import pytest

from curador.audit.tester.features import features, finest_bit
from curador.audit.tester.outputs import both
from curador.errors import InvalidParameter, InvalidValue

N = 400


def names(first: object, second: object) -> list[str]:
    return [feature.name for feature in features(*both(first, second))]


def test_numbers_rows_and_bytes() -> None:
    rng = np.random.default_rng(0)
    assert names(np.arange(N), np.arange(N)) == ["the output"]
    assert names(rng.random(N), rng.random(N)) == [
        "the output",
        "the finest bit of the output",
        "the fraction of the output",
    ]
    rows = names(rng.integers(0, 9, (N, 2)), rng.integers(0, 9, (N, 2)))
    assert {"the whole output", "number 1", "number 2", "the sum", "a learned score"} <= set(rows)
    assert {"number 1 less number 2", "number 2 less number 1"} & set(rows)
    reports = names(rng.integers(0, 256, (N, 2), np.uint8), rng.integers(0, 256, (N, 2), np.uint8))
    assert {"bit 0", "bit 15", "the report as a number"} <= set(reports)


def test_texts_tuples_and_failures_are_symbols() -> None:
    for some, other in (
        (["a", "b"] * N, ["b", "c"] * N),
        ([(1, 2), ("x",)] * N, [(), (1,)] * N),
        ([None, 1.5] * N, [ValueError("x"), 1.5] * N),
    ):
        first, second = both(some, other)
        assert first.numbers.shape[1] == 0
        assert len({*first.symbols.tolist(), *second.symbols.tolist()}) == len({repr(x) for x in [*some, *other]})


def test_rows_of_other_lengths_are_filled_up() -> None:
    for some, other in (([[1, 2]] * N, [[1, 2, 3]] * N), ([(), (1,)] * N, [(2, 3), (1,)] * N), ([1.5] * N, [()] * N)):
        first, second = both(some, other)
        assert first.numbers.shape[1] == second.numbers.shape[1]
        assert np.isnan(first.numbers).any() or np.isnan(second.numbers).any()
    assert "how many numbers are missing" in names([[1, 2]] * N, [[1, 2, 3]] * N)


def test_rows_are_told_apart_by_their_symbols() -> None:
    rows = np.random.default_rng(1).integers(0, 5, (2000, 3))
    for kind in (np.int64, np.int8, np.float32, np.float64):
        found, _ = both(rows.astype(kind), rows.astype(kind))
        assert len(np.unique(found.symbols)) == len(np.unique(rows, axis=0))


def test_the_finest_bit() -> None:
    assert finest_bit(np.array([1.0, 1 + 2.0**-52, 0.1, 2.0**-1074, 96.0])).tolist() == [0, -52, -55, -1074, 5]
    assert np.isnan(finest_bit(np.array([0.0, np.nan, np.inf]))).all()


def test_too_little_is_refused() -> None:
    with pytest.raises(InvalidParameter):
        both(np.zeros(199), np.zeros(N))
    with pytest.raises(InvalidValue):
        both(3.0, np.zeros(N))


def test_the_way_to_read_is_not_chosen_by_the_runs_that_judge() -> None:
    whole = [(i % 3, i % 5) for i in range(N)]
    for odd in ((0.5, 0), (float("nan"), 0), (2**63 + 1, 0), (2**70, 0), (1, 2, 3), (), None, "x"):
        first, second = both(whole, [*whole[:-1], odd])
        assert (first.symbols[:-1] == second.symbols[:-1]).all()
        assert (first.numbers[:-1] == second.numbers[:-1]).all()
        assert first.numbers.shape == second.numbers.shape == (N, 2)
        assert first.symbols[-1] != second.symbols[-1]
    reports = [np.array([i % 256, 7], np.uint8) for i in range(N)]
    first, second = both(reports, [*reports[:-1], None])
    assert first.bits
    assert second.bits
    assert (first.numbers[:-1] == second.numbers[:-1]).all()
    assert np.isnan(second.numbers[-1]).all()


def test_an_output_has_one_symbol_in_every_array() -> None:
    rows = np.random.default_rng(1).integers(0, 5, (N, 2))
    for kind in (np.int32, np.uint8, np.uint64, np.float32, np.float64, object):
        first, second = both(rows, rows.astype(kind))
        assert (first.symbols == second.symbols).all()
    numbers = [*range(N)]
    for odd in (None, "x", 0.5, True, 2**64, 1j, b"x"):
        first, second = both(np.array([odd, *numbers]), np.array([1, *numbers]))
        assert (first.symbols[1:] == second.symbols[1:]).all()
    texts = [b"a\0", b"b"] * N
    first, second = both(np.array([None, *texts], object), np.array([b"", *texts]))
    assert (first.symbols[1:] == second.symbols[1:]).all()


def test_a_masked_output_is_the_same_beside_whatever_it_stands() -> None:
    """Alone NumPy reads it as 0, among numbers as NaN: one None on a side made a sound box look violated."""
    runs = [1.0, np.ma.masked] * 100
    one, two = both(runs, [*runs[:-1], None])
    assert (one.symbols[:-1] == two.symbols[:-1]).all()
    assert np.array_equal(one.numbers[:-1], two.numbers[:-1], equal_nan=True)
