"""Encoded rows: each by itself, and summed exactly."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, KeyFeature, NumberFeature, codes

ENCODING = Encoding((NumberFeature("a", -3, 5), KeyFeature("k", ("x", "y", "z")), NumberFeature("b", 0, 1)))
AWKWARD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 5.0, -3.0, 1e300, -1e300, 5e-324, 4.999999999999999]


def made(rows: int, seed: int = 1, encoding: Encoding = ENCODING) -> Design:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-SCALE, SCALE + 1, (rows, len(encoding.numbers))).astype(np.int16)
    keyed = [rng.integers(-1, f.width, rows) for f in encoding.keyed]
    return Design(encoding, numbers, np.stack(keyed, axis=1).astype(np.int16))


def dense(design: Design) -> NDArray[np.int64]:
    parts = [part for _, part in design.blocks()]
    return np.vstack(parts).astype(np.int64) if parts else np.zeros((0, design.encoding.width), np.int64)


def test_columns_are_numbers_then_keys_then_the_intercept() -> None:
    assert ENCODING.columns == ("a", "b", "k=x", "k=y", "k=z", "1")
    assert dense(Design(ENCODING, np.array([[1, 2]], np.int16), np.array([[2]], np.int16))).tolist() == [
        [1, 2, 0, 0, SCALE, SCALE]
    ]


def test_whatever_a_number_is_it_is_encoded_within_the_scale() -> None:
    found = NumberFeature("a", -3, 5).encoded(np.array(AWKWARD))
    assert np.abs(found).max() <= SCALE
    assert found[:3].tolist() == [0, 0, 0]  # as an engine reads them: missing


@pytest.mark.parametrize("bounds", [(0, 1), (-1e308, 1e308), (0, 1e-290), (1e300, 1.5e300)])
def test_bounds_of_any_size_encode_their_ends(bounds: tuple[float, float]) -> None:
    assert NumberFeature("a", *bounds).encoded(np.array(bounds)).tolist() == [-SCALE, SCALE]


def test_a_row_is_encoded_alike_wherever_it_stands() -> None:
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.normal(0, 3, 1000), AWKWARD])
    feature = NumberFeature("a", -3, 5)
    whole = feature.encoded(values)
    assert [int(feature.encoded(values[i : i + 1])[0]) for i in range(len(values))] == whole.tolist()
    assert feature.encoded(values[::-1]).tolist() == whole[::-1].tolist()


@pytest.mark.parametrize("bounds", [(1, 1), (2, 1), (np.nan, 1), (0, np.inf), (0, 5e-324)])
def test_bounds_that_are_none_are_refused(bounds: tuple[float, float]) -> None:
    with pytest.raises(InvalidParameter, match="bounds"):
        NumberFeature("a", *bounds)


@pytest.mark.parametrize("rows", [0, 1, 8193, 65537])
def test_sums_are_exact(rows: int) -> None:
    design = made(rows)
    plain = dense(design)
    rng = np.random.default_rng(5)
    weights = rng.integers(-(2**39), 2**39, design.encoding.width).astype(np.float64)
    pull = rng.integers(-(2**22), 2**22, (rows, 3)).astype(np.float64)
    assert (design.moments() == plain.T @ plain).all()
    assert (design.dot(weights) == plain @ weights.astype(np.int64)).all()
    assert (design.summed(pull) == plain.T @ pull.astype(np.int64)).all()
    assert (design.summed(pull[:, 0]) == plain.T @ pull[:, 0].astype(np.int64)).all()


def test_rows_are_no_longer_than_is_said() -> None:
    lengths = (dense(made(4000)) ** 2).sum(axis=1)
    assert lengths.max() <= ENCODING.most
    top = Design(ENCODING, np.full((1, 2), SCALE, np.int16), np.zeros((1, 1), np.int16))
    assert (dense(top) ** 2).sum() == ENCODING.most


def test_codes_of_what_cannot_be_a_key() -> None:
    assert codes([[1], {}, None, "x", 1.0, True], ["x", 1]).tolist() == [-1, -1, -1, 0, 1, 1]
