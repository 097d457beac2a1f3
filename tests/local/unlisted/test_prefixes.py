"""Values as bytes: each has one code and comes back, each continuation is one of some value, hashes are public."""

from __future__ import annotations

from hashlib import sha256
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.errors import InvalidValue
from curador.local.unlisted.prefixes import (
    CUT,
    END,
    all_places,
    coded,
    coefficients,
    ended,
    extended,
    integer_code,
    key_of,
    place,
    text_code,
)
from tests.seeded import examples

ALPHABET = "a\x00\x7fé߿ࠀ한\ud7ff\ue000￿𐀀😀\U0010ffff"


def row_of(code: bytes) -> Any:
    return np.frombuffer(code, np.uint8)


@given(st.text(max_size=9), st.integers(1, 12))
def test_a_string_comes_back_or_its_beginning_does(value: str, length: int) -> None:
    code = text_code(value, length)
    assert len(code) == length
    key, cut = key_of(row_of(code), text=True)
    raw = value.encode()
    assert cut == (len(raw) > length)
    assert value.startswith(str(key))
    if not cut:
        assert key == value
    else:  # one more character would not have left room for the mark
        assert len(value[: len(str(key)) + 1].encode()) > length - 1


@given(st.integers(-(1 << 40), 1 << 40), st.integers(1, 5))
def test_an_integer_comes_back_or_an_end_does(value: int, length: int) -> None:
    key, cut = key_of(row_of(integer_code(value, length)), text=False)
    low, high = -(1 << (8 * length - 1)), (1 << (8 * length - 1)) - 1
    assert key == min(max(value, low), high)
    assert cut == (value <= low or value >= high)


def test_integers_keep_their_order() -> None:
    codes = [integer_code(value, 2) for value in (-(10**6), -300, -1, 0, 1, 300, 10**6)]
    assert codes == sorted(codes)


def test_lone_surrogates_become_what_browsers_make_of_them() -> None:
    assert text_code("a\ud800b", 8) == text_code("a\ufffdb", 8)
    assert text_code("\ud83d\ude00", 8) == text_code("😀", 8)


@examples(200)
@given(st.text(alphabet=ALPHABET, max_size=5), st.integers(1, 9))
def test_every_code_is_reached_byte_by_byte(value: str, length: int) -> None:
    code = text_code(value, length)
    prefixes = np.zeros((1, 0), np.uint8)
    for width in range(1, length + 1):
        which, longer = extended(prefixes, length, text=True)
        assert (longer[:, :-1] == prefixes[which]).all()
        prefixes = longer[longer[:, -1] == code[width - 1]]
        assert prefixes.tolist() == [list(code[:width])]
        assert ended(prefixes, text=True)[0] == (code[width - 1] in (CUT, END))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_nothing_else_is_reached(length: int) -> None:
    """Every continuation to the full length is the code of the value it stands for, or of one that begins with it."""
    prefixes = np.zeros((1, 0), np.uint8)
    for _ in range(min(length, 2)):
        prefixes = extended(prefixes, length, text=True)[1]
    if length == 3:
        prefixes = extended(prefixes[:: max(1, len(prefixes) // 600)], length, text=True)[1]
    for row in prefixes:
        key, cut = key_of(row, text=True)
        longer = [str(key) + more for more in ("aaa", "é", "한", "😀")] if cut else [str(key)]
        assert row.tobytes() in {text_code(value, length) for value in longer}
    assert len({row.tobytes() for row in prefixes}) == len(prefixes)


def test_integers_go_on_with_every_byte() -> None:
    prefixes = np.array([[END], [0]], np.uint8)
    which, longer = extended(prefixes, 2, text=False)
    assert [tuple(row) for row in longer] == list(product((END, 0), range(256)))
    assert not ended(prefixes, text=False).any()
    assert which.tolist() == [0] * 256 + [1] * 256


def test_places_are_what_a_client_computes() -> None:
    salt, places = "sült", 1021
    words = [b"ab", b"\xff\xfe", b"\x00\x00"]
    three = coefficients(np.array([list(word) for word in words], np.uint8), salt, places)
    table = np.array(list(all_places(three, places, places)))
    for i, word in enumerate(words):
        digest = sha256(salt.encode() + b"\n" + word).digest()
        a, b, c = (int.from_bytes(digest[j : j + 4], "big") % places for j in (0, 4, 8))
        wanted = [(a + b * row + c * row**2) % places for row in range(places)]
        assert table[:, i].tolist() == wanted
        assert place(three[[i] * places], np.arange(places), places).tolist() == wanted


def test_two_prefixes_meet_in_two_rows_at_most() -> None:
    places = 251
    codes = np.array([[i % 256, i // 256] for i in range(600)], np.uint8)
    table = np.array(list(all_places(coefficients(codes, "", places), places, places)))
    met = sum((row[:, np.newaxis] == row).astype(int) for row in table)
    apart = met[~np.eye(600, dtype=bool)]
    assert apart.max() == 2
    # Each pair meets in a row with chance 1/251; 180,000 pairs, whose numbers of meetings have variance 1.
    assert abs(apart.mean() - 1) < 5 / np.sqrt(180_000)


def test_values_of_another_kind_are_refused() -> None:
    wrong: list[tuple[list[Any], bool]] = [([1], True), ([None], True), ([b"a"], True), (["a"], False), ([True], False)]
    for values, text in wrong:
        with pytest.raises(InvalidValue):
            coded(values, 4, text)
    rows, number = coded(np.array([3, 3, -1]), 1, text=False)
    assert rows.tolist() == [[131], [127]]
    assert number.tolist() == [0, 0, 1]
