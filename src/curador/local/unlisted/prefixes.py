"""Values as rows of bytes that a collector can find byte by byte: coding, hashes and continuations."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidValue
from curador.local.task.keys import LocalKey
from curador.local.task.values import listed

Bytes = NDArray[np.uint8]

END, CUT = 0xFF, 0xFE
"""Two bytes that UTF-8 never uses: the end of a value, and the end of a value that was cut."""

# The number of further bytes of a character, by the first byte of its UTF-8.
_MORE = np.zeros(256, np.int64)
_MORE[0xC2:0xE0], _MORE[0xE0:0xF0], _MORE[0xF0:0xF5] = 1, 2, 3

# The bytes that may follow: between characters, inside one, after an end, and after the four first bytes with rules.
_BETWEEN, _INSIDE, _ENDED = 0, 1, 2
_RULES = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}
_NEXT = np.zeros((3 + len(_RULES), 256), bool)
_NEXT[_BETWEEN] = _MORE > 0
_NEXT[_BETWEEN, :0x80] = _NEXT[_BETWEEN, [CUT, END]] = True
_NEXT[_INSIDE, 0x80:0xC0] = True
_NEXT[_ENDED, END] = True
for _i, (_low, _high) in enumerate(_RULES.values(), start=3):
    _NEXT[_i, _low : _high + 1] = True


def text_code(value: str, length: int) -> bytes:
    """Encode a string as ``length`` bytes: its UTF-8, padded with END.

    A longer string keeps the whole characters that fit, then CUT, then END.  A lone surrogate becomes U+FFFD, as in a
    browser's TextEncoder.

    >>> text_code("té", 6).hex(" "), text_code("tea", 3).hex(" "), text_code("teé", 3).hex(" ")
    ('74 c3 a9 ff ff ff', '74 65 61', '74 65 fe')
    """
    try:
        raw = value.encode()
    except UnicodeEncodeError:
        raw = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
    if len(raw) > length:
        raw = raw[: length - 1].decode(errors="ignore").encode() + bytes([CUT])
    return raw.ljust(length, bytes([END]))


def integer_code(value: int, length: int) -> bytes:
    """Encode an integer, clamped to ``length`` bytes, as its distance from the least; highest byte first.

    >>> integer_code(-1, 2).hex(" "), integer_code(10**9, 2).hex(" ")
    ('7f ff', 'ff ff')
    """
    half = 1 << (8 * length - 1)
    return (min(max(value, -half), half - 1) + half).to_bytes(length)


def coded(values: Any, length: int, text: bool) -> tuple[Bytes, NDArray[np.int64]]:
    """Encode the different values, one a row; return the rows and the row number of each value.

    >>> rows, number = coded(["a", "b", "a"], 2, text=True)
    >>> rows.tolist(), number.tolist()
    ([[97, 255], [98, 255]], [0, 1, 0])
    """
    given = listed(values)
    if not set(map(type, given)) <= {str if text else int}:
        raise InvalidValue(
            f"Values of this task are {'strings' if text else 'integers'}.", fix="Give everything else one of them."
        )
    index: dict[Any, int] = {}
    number = np.fromiter((index.setdefault(value, len(index)) for value in given), np.int64, len(given))
    code = text_code if text else integer_code
    rows = np.frombuffer(b"".join(code(value, length) for value in index), np.uint8)
    return rows.reshape(len(index), length), number


def key_of(row: Bytes, text: bool) -> tuple[LocalKey, bool]:
    """Decode a whole code to its value, and whether it may stand for longer or larger values too.

    >>> key_of(np.frombuffer(text_code("teapot", 4), np.uint8), text=True)
    ('tea', True)
    >>> key_of(np.frombuffer(integer_code(7, 1), np.uint8), text=False)
    (7, False)
    """
    raw = row.tobytes()
    if not text:
        value = int.from_bytes(raw)
        return value - (1 << (8 * len(raw) - 1)), value in (0, (1 << (8 * len(raw))) - 1)
    kept = raw.rstrip(bytes([END]))
    cut = kept.endswith(bytes([CUT]))
    return kept.removesuffix(bytes([CUT])).decode(), cut


def extended(prefixes: Bytes, length: int, text: bool) -> tuple[NDArray[np.int64], Bytes]:
    """Extend every prefix by every byte that may follow it; also return the index of each one's prefix.

    >>> which, longer = extended(np.array([[0xC3], [END]], np.uint8), 4, text=True)
    >>> longer.shape, int((which == 1).sum())
    ((65, 2), 1)
    """
    size, width = prefixes.shape
    allowed = np.ones((size, 256), bool)
    if text:
        allowed = _NEXT[_states(prefixes)]
        allowed &= width + _MORE < length  # a character has room, or it was cut off whole
        # A cut character did not fit: at most four bytes of it, one of them where CUT stands.
        allowed[:, CUT] &= width >= length - 4
    which, byte = np.nonzero(allowed)
    return which, np.column_stack([prefixes[which], byte.astype(np.uint8)])


def ended(prefixes: Bytes, text: bool) -> NDArray[np.bool_]:
    """Mark the prefixes of complete values, after which only END follows.

    >>> ended(np.array([[97, END], [97, 98]], np.uint8), text=True).tolist()
    [True, False]
    """
    return (prefixes[:, -1] >= CUT) & text


def _states(prefixes: Bytes) -> NDArray[np.int64]:
    size, width = prefixes.shape
    pending, states = np.zeros(size, np.int64), np.full(size, _BETWEEN)
    for back in range(min(width, 3)):
        pending = np.maximum(pending, _MORE[prefixes[:, width - 1 - back]] - back)
    states[pending > 0] = _INSIDE
    if width:
        last = prefixes[:, -1]
        states[last >= CUT] = _ENDED
        for i, first in enumerate(_RULES, start=3):
            states[last == first] = i
    return states


def coefficients(prefixes: Bytes, salt: str, places: int) -> NDArray[np.uint32]:
    """Hash each prefix to three numbers below ``places``, by SHA-256(salt + newline + prefix).

    They are the remainders of its first three words of 32 bits, highest byte first, on division by places.  The salt is
    in UTF-8.

    >>> coefficients(np.array([[97, 98]], np.uint8), "x", 251).tolist()
    [[11, 164, 190]]
    >>> [int.from_bytes(sha256(b"x\\nab").digest()[i : i + 4]) % 251 for i in (0, 4, 8)]
    [11, 164, 190]
    """
    whole = prefixes.tobytes()
    size, width = prefixes.shape
    head = sha256(f"{salt}\n".encode("utf-8", "surrogatepass"))
    digests = bytearray()
    for i in range(0, size * width, width):
        one = head.copy()
        one.update(whole[i : i + width])
        digests += one.digest()[:12]
    return np.frombuffer(bytes(digests), ">u4").reshape(size, 3).astype(np.uint32) % np.uint32(places)


def place(three: NDArray[np.uint32], row: NDArray[Any], places: int) -> NDArray[np.int64]:
    """The place of each prefix in its row: (a + b row + c row**2) mod places.

    Places are prime in number, so two prefixes with different coefficients meet in at most two rows.

    >>> place(np.array([[1, 2, 3], [1, 2, 3]], np.uint32), np.array([0, 4]), 7).tolist()
    [1, 1]
    """
    a, b, c = three.astype(np.int64).T
    r = row.astype(np.int64)
    found: NDArray[np.int64] = (a + b * r + c * r * r) % places  # below 2**49
    return found


def all_places(three: NDArray[np.uint32], rows: int, places: int) -> Iterator[NDArray[np.uint32]]:
    """Yield the places of all prefixes, row by row; each row follows from the last by two additions.

    >>> [found.tolist() for found in all_places(np.array([[1, 2, 3]], np.uint32), 5, 7)]
    [[1], [6], [3], [6], [1]]
    """
    size = np.uint32(places)
    here, once, twice = three[:, 0].copy(), (three[:, 1] + three[:, 2]) % size, 2 * three[:, 2] % size
    for _ in range(rows):
        yield here
        # Below twice the size; where the difference would be negative it wraps around to more than the sum.
        here = here + once
        np.minimum(here, here - size, out=here)
        once += twice
        np.minimum(once, once - size, out=once)
