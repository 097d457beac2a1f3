"""Curador on a device: read a task, check that it keeps its epsilon, and answer it.

Copy this one file and run it.

Standard library only, Python 3.9 or later.  Every random decision is made in integers from the bytes of the operating
system.  docs/reference/wire.md states the format, and which bytes are read in which order.

    task = read_task(json.load(open("task.json")))
    print(json.dumps(message(task, "tea")))
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from abc import ABC, abstractmethod
from base64 import urlsafe_b64encode
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import ceil, gcd, isqrt
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Union

__all__ = ["Device", "Refused", "Source", "check", "message", "read_task", "report"]

VERSION = 1
LEVELS = 1 << 16  # steps between the bounds of a number
WIDE = 1 << 32  # thresholds without a field "bits" have 32 of them
SAFE = 1 << 53  # integers in a document are smaller, so that all languages read the same
DIGITS = 40  # of a fraction's numerator and denominator, each
REPORT_MOST = 1 << 16  # bytes
KEPT_MOST = 1 << 12  # bits
LISTED_MOST = 1 << 16  # keys
NAMES_MOST = 1 << 10  # attributes of a record
TABLE_MOST = 1 << 28  # numbers that a collector counts
LABEL_MOST = 1 << 8  # bytes of a name, a period or a segment
PERIODS_MOST = 1 << 12  # of one task that remembers
LABELS = ("name", "period", "segment")
FINEST = 1 << 40  # bounds are at least this part of their size apart, so that doubles separate the steps between them
PRECISION = 192  # bits after the point when e**epsilon is bounded from below
INFINITE = float("inf")
ENOUGH = 64  # no threshold of 32 bits makes a ratio of e**64
FETCH = 64  # bytes are asked for in at least this many
PLANES = 12  # and for many coins in about as many planes as they usually need
NUMERAL_MOST = 64  # characters of a number that is given as text
NUMERAL = re.compile(r"[ \t\n\f\r]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[ \t\n\f\r]*")
Number = Union[int, float]  # noqa: UP007 (Python 3.9)


class Refused(ValueError):
    """A refusal of a task, or of a report that would cost too much: never because of a value.

    >>> str(Refused("This is not a task."))
    'This is not a task.'
    """


def _must(true: object, what: str) -> None:
    if not true:
        raise Refused(what)


# ---- random decisions ------------------------------------------------------------------------------------------------


class Source:
    """Random decisions with exact laws; ``fetch(n)`` returns n fair random bytes.

    Make one for each report, as :func:`report` does, so that no bytes are left over for a fork to repeat.

    >>> Source(lambda n: bytes(n)).uniform(6), Source(lambda n: bytes(n)).coin(1, 16)
    (0, True)
    """

    __slots__ = ("_at", "_bytes", "_end", "_fetch")

    def __init__(self, fetch: Callable[[int], bytes] = os.urandom) -> None:
        self._fetch = fetch
        self._bytes = b""
        self._at = self._end = 0

    def _more(self, wanted: int) -> None:
        fetched = self._fetch(wanted)
        if len(fetched) != wanted:
            raise Refused("The source did not give the bytes that it was asked for.")
        self._bytes = self._bytes[self._at :] + fetched
        self._at, self._end = 0, len(self._bytes)

    def take(self, n: int) -> int:
        """The next ``n`` bytes as one integer, the highest first."""
        at = self._at
        if at + n > self._end:
            self._more(n if n > FETCH else FETCH)
            at = 0
        self._at = at + n
        return self._bytes[at] if n == 1 else int.from_bytes(self._bytes[at : at + n], "big")

    def coins(self, threshold: int, bits: int, n: int) -> int:
        """Draw ``n`` coins, the first in the highest bit; each is 1 with chance threshold / 2**bits.

        Each coin compares a uniform number with the threshold.  All coins do so at once, one binary digit after another
        from the highest.  The digits of all numbers at one position are a plane of n bits, in ⌈n/8⌉ bytes.  Drawing
        ends when no number ties.
        """
        ones, tied = 0, (1 << n) - 1
        if threshold >= 1 << bits:
            return tied
        size = (n + 7) // 8
        spare = 8 * size - n
        if self._end - self._at < size * PLANES:
            self._more(max(size * PLANES, FETCH))
        while tied and threshold:
            bits -= 1
            high = tied & (self.take(size) >> spare)
            if threshold >> bits:  # a 0 here is below
                ones |= tied ^ high
                tied = high
                threshold -= 1 << bits
            else:  # a 1 here is above
                tied ^= high
        return ones

    def coin(self, threshold: int, bits: int) -> bool:
        """Draw a bit, 1 with chance threshold / 2**bits; the lower half is drawn only if the upper ties."""
        if threshold >= 1 << bits:
            return True
        half = bits >> 1
        high, first = threshold >> half, self.take(bits >> 4)
        if first != high:
            return first < high
        low = threshold - (high << half)
        return low > 0 and self.take(bits >> 4) < low

    def uniform(self, n: int) -> int:
        """Draw a uniform integer below ``n``; a draw out of range is discarded whole."""
        bits = (n - 1).bit_length()
        size, mask = (bits + 7) >> 3, (1 << bits) - 1
        while (drawn := self.take(size) & mask) >= n:
            pass
        return drawn

    def subset(self, chosen: int, of: int) -> list[int]:
        """Draw a uniform set of ``chosen`` integers below ``of``, in rising order, by Floyd's algorithm."""
        found: set[int] = set()
        for top in range(of - chosen, of):
            drawn = self.uniform(top + 1)
            found.add(top if drawn in found else drawn)
        return sorted(found)

    def chance(self, n: int, d: int) -> bool:
        """Draw a bit that is 1 with probability n/d."""
        return self.uniform(d) < n

    def exp_coin(self, n: int, d: int) -> bool:
        """Draw a bit, 1 with probability exp(-n/d), for 0 <= n <= d: if a run of coins n/d, n/2d, ... is even."""
        k = 1
        while self.chance(n, d * k):
            k += 1
        return k % 2 == 1

    def laplace(self, scale: Fraction) -> int:
        """Draw an integer x with probability ~ exp(-|x| / scale), by Canonne, Kamath and Steinke (2020)."""
        t, s = scale.numerator, scale.denominator
        while True:
            u, v = self.uniform(t), 0
            if not self.exp_coin(u, t):
                continue
            while self.exp_coin(1, 1):
                v += 1
            size, minus = (u + t * v) // s, self.uniform(2)
            if size or not minus:  # zero must not be drawn in two ways
                return -size if minus else size

    def level(self, fine: int) -> int:
        """Round ``fine`` / 2**16 to one of the two next steps, right on average.  Rounding precedes the noise."""
        return (fine >> 16) + self.coin(fine & 0xFFFF, 16)


# ---- the parts of a document -----------------------------------------------------------------------------------------


def _whole(x: Any, name: str) -> int:
    _must(type(x) is int and abs(x) < SAFE, f"{name} is not an integer that all devices can read.")
    return int(x)


def _fraction(x: Any, name: str) -> Fraction:
    number = f"[1-9][0-9]{{0,{DIGITS - 1}}}"
    found = re.fullmatch(f"(0|-?{number})(?:/({number}))?", x) if isinstance(x, str) else None
    if found is None:
        raise Refused(f'{name} is not a fraction such as "1" or "1/2", of {DIGITS} digits each at most.')
    n, d = int(found[1]), int(found[2] or 1)
    _must(gcd(n, d) == 1 and found[2] != "1", f"{name} is not in lowest terms.")
    return Fraction(n, d)


def _is_key(x: object) -> bool:
    return type(x) is str or (type(x) is int and abs(x) < SAFE)


def _keys(x: Any, name: str) -> Any:
    if isinstance(x, list):
        _must(len(x) <= LISTED_MOST, f"More than {LISTED_MOST} keys are listed.")
        _must(all(map(_is_key, x)) and len(set(x)) == len(x), "Keys are different strings or integers.")
        return {key: i for i, key in enumerate(x)}
    return _whole(x, name)


def _text(x: Any, name: str) -> str:
    _must(isinstance(x, str), f"{name} is not a string.")
    return str(x)


def _label(x: Any, name: str) -> str:
    fits = isinstance(x, str) and 0 < len(x.encode("utf-8", "surrogatepass")) <= LABEL_MOST
    _must(fits, f"{name} is not a text of 1 to {LABEL_MOST} bytes.")
    return str(x)


def _any(x: Any, name: str) -> Any:
    return x


def _keeps(n: int, d: int, epsilon: Fraction) -> bool:
    """Prove n/d <= e**epsilon by a partial sum of its series, terms rounded down; else return False."""
    x, k, term, total = min(epsilon, Fraction(ENOUGH)), 0, 1 << PRECISION, 1 << PRECISION
    while term:
        k += 1
        term = term * x.numerator // (x.denominator * k)
        total += term
    return n << PRECISION <= total * d


def _bytes_for(n: int) -> int:
    """The number of bytes of an integer below ``n`` in a report."""
    return 1 if n <= 1 << 8 else 2 if n <= 1 << 16 else 4


def _words(numbers: list[int], size: int) -> bytes:
    """Encode integers in ``size`` bytes each, the highest byte first."""
    return b"".join(int(x).to_bytes(size, "big") for x in numbers)


def _pack(cells: int, n: int) -> bytes:
    """Pack the lowest ``n`` bits, from the highest of the first byte on; spare bits at the end are zero."""
    size = (n + 7) // 8
    return (cells << (8 * size - n)).to_bytes(size, "big")


def _bits(cells: list[bool]) -> bytes:
    """Pack bits, the first as the highest of the first byte."""
    return _pack(int("".join("1" if cell else "0" for cell in cells), 2), len(cells))


def _place(salt: str, row: int, code: bytes, places: int) -> int:
    """Hash a key's code to a place of this row: the lowest bits of the first eight bytes of a SHA-256."""
    return int.from_bytes(hashlib.sha256(f"{salt}\n{row}\n".encode() + code).digest()[:8], "big") % places


# ---- values ----------------------------------------------------------------------------------------------------------
# A person may have any value, and anyone may write a task.  Every value makes one report: a device that refused some
# values would reveal them by its silence, at no cost.


# Classes are compared by type(): an object may lie about its own class (__class__, as proxies do).


def _as_text(value: object) -> str | None:
    """The value as a text, or None."""
    return str.__str__(value) if issubclass(type(value), str) else None


def _as_list(value: object) -> list[Any] | None:
    """The items of a list or a tuple, or None."""
    if issubclass(type(value), list):
        return list.__getitem__(value, slice(None))  # type: ignore[call-overload, no-any-return]
    return list(tuple.__iter__(value)) if issubclass(type(value), tuple) else None  # type: ignore[arg-type]


def _lookup(value: object, name: str) -> Any:
    """Look up a name in a dictionary; None if there is none."""
    try:
        return dict.get(value, name) if issubclass(type(value), dict) else None  # type: ignore[call-overload]
    except Exception:  # noqa: BLE001 (its names may be of any class)
        return None


def _number_of(value: object) -> Number | None:
    """Convert any Python number, or decimals in a short text; None for NaN, truth values and the rest."""
    if type(value) is int or type(value) is float:
        return value if value == value else None
    try:
        text = _as_text(value)
        if text is not None:
            found = NUMERAL.fullmatch(text) if len(text) <= NUMERAL_MOST else None
            return float(found[1]) if found else None
        if isinstance(value, Integral) and not isinstance(value, bool):
            return int(value)
        if isinstance(value, (Real, Decimal)) and not isinstance(value, bool):
            number = _as_double(value)
            return number if number == number else None
    except Exception:  # noqa: BLE001 (a value may be of any class, and silence would reveal which)
        return None
    return None


def _as_double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a fraction beyond all doubles
        return INFINITE if value > 0 else -INFINITE


def _integer_of(value: object) -> int | None:
    """The value if it is an integer, such as 1 or 1.0, between -2**63 and 2**63."""
    number = _number_of(value)
    return int(number) if number is not None and abs(number) < 1 << 63 and number == int(number) else None


def _key_code(value: object) -> bytes:
    """Encode a string or an integer between -2**63 and 2**63; everything else counts as the empty string."""
    text = _as_text(value)
    if text is not None:
        return b"s" + text.encode("utf-8", "surrogatepass")
    integer = _integer_of(value)
    return b"s" if integer is None else b"i%d" % integer


def _double(x: Fraction) -> float:
    return float(x.numerator) / float(x.denominator)


def _description(counts_as: Any, note: str = "") -> dict[str, Any]:
    return {"counts_as": counts_as, "note": note}


# ---- the mechanisms --------------------------------------------------------------------------------------------------


class Task(ABC):
    """A question that was read and proved to keep its epsilon; :func:`read_task` makes it.

    >>> KINDS["duchi"]({"low": "0", "high": "10", "epsilon": "1", "slope": 30284}).report_bytes
    1
    """

    fields: ClassVar[dict[str, Callable[[Any, str], Any]]] = {"epsilon": _fraction}
    name: str
    period: str | None
    segment: str | None
    id: str
    digest: str  # identifies a question that a device answers once: 32 bytes, without the period if the task remembers
    series: str  # the first 16 of them, which are the id of a task that does not remember
    report_bytes: int  # the length of a report
    remembers = False

    def __init_subclass__(cls, **fields: Callable[[Any, str], Any]) -> None:
        inherited = (base.fields for base in reversed(cls.__mro__) if issubclass(base, Task))
        cls.fields = {name: read for some in (*inherited, fields) for name, read in some.items()}

    if TYPE_CHECKING:  # the fields

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, body: dict[str, Any]) -> None:
        for name, read in self.fields.items():
            setattr(self, name, read(body[name], name))
        _must(Fraction(1, 1 << 30) <= self.epsilon <= 1024, "epsilon is not from 2**-30 to 1024.")
        self.check()
        _must(self.report_bytes <= REPORT_MOST, f"Reports on this task would have more than {REPORT_MOST} bytes.")

    @abstractmethod
    def check(self) -> None:
        """Refuse fields out of range and thresholds that do not keep epsilon; set ``report_bytes``."""

    @abstractmethod
    def seen(self, value: Any) -> Any:
        """Encode the part of a value that the coins see; every value, of any type, has one."""

    @abstractmethod
    def describe(self, value: Any) -> dict[str, Any]:
        """Describe what a value counts as, with a note if that differs from the value; see :func:`check`."""

    @abstractmethod
    def draw(self, own: Any, source: Source) -> bytes:
        """Draw the report on an encoded value."""

    def _between(self, least: int, most: int, *names: str) -> None:
        for name in names:
            _must(least <= getattr(self, name) <= most, f"{name} is not from {least} to {most}.")

    def _promise(self, n: int, d: int, times: int = 1) -> None:
        """Refuse unless (n/d)**times keeps epsilon; n/d is the largest ratio only if it is above 1."""
        _must(n > d, "These reports would say nothing.")
        _must(_keeps(n, d, self.epsilon / times), f"This task's thresholds do not keep epsilon = {self.epsilon}.")


class Keyed(Task, keys=_keys, rest=_any, bits=_whole):
    """A task about keys that are listed, or numbered from 0."""

    def check(self) -> None:
        self.size = len(self.keys) if isinstance(self.keys, dict) else self.keys
        _must(2 <= self.size <= 1 << 24, "There are not 2 to 2**24 keys.")
        _must(self.bits in (16, 32), "bits is not 16 or 32.")
        self.unit, self.report_bytes = 1 << self.bits, _bytes_for(self.size)
        found = self._index(self.rest) if _is_key(self.rest) else None
        _must(self.rest is None or found is not None, "rest is none of the keys.")
        self.other_number: int = found or 0  # without a rest the first key, as numbers are clamped to their bounds

    def _index(self, key: str | int | None) -> int | None:
        if isinstance(self.keys, dict):
            return self.keys.get(key)
        return key if isinstance(key, int) and 0 <= key < self.size else None

    def _number(self, value: Any) -> int | None:
        text = _as_text(value)
        found = None if text is None else self._index(text)
        return self._index(_integer_of(value)) if found is None else found  # a text may be that of an integer key

    def seen(self, value: Any) -> int:
        found = self._index(value) if type(value) is int else self._number(value)
        return self.other_number if found is None else found

    def describe(self, value: Any) -> dict[str, Any]:
        names = list(self.keys) if isinstance(self.keys, dict) else range(self.size)
        note = "It is not among the keys." if self._number(value) is None else ""
        return _description(names[self.seen(value)], note)

    def _keep_or_redraw(self, own: int, keep: int, size: int, source: Source) -> int:
        other = source.uniform(size)  # drawn in any case
        return own if source.coin(keep, self.bits) else other

    def _keep_promise(self, keep: int, size: int, times: int = 1) -> None:
        self._promise(self.unit + keep * (size - 1), self.unit - keep, times)


class Krr(Keyed, keep=_whole):
    """k-ary randomized response: the own key with probability keep/2**bits, else a uniform one."""

    def check(self) -> None:
        super().check()
        self._between(1, self.unit - 1, "keep")
        self._keep_promise(self.keep, self.size)

    def draw(self, own: int, source: Source) -> bytes:
        return self._keep_or_redraw(own, self.keep, self.size, source).to_bytes(self.report_bytes, "big")


class Unary(Keyed, own=_whole, other=_whole):
    """A bit per key: 1 with probability own/2**bits for the own key, other/2**bits for every other."""

    def check(self) -> None:
        super().check()
        self._between(1, self.unit - 1, "own", "other")
        self._promise(self.own * (self.unit - self.other), self.other * (self.unit - self.own))
        self.report_bytes = (self.size + 7) // 8

    def draw(self, own: int, source: Source) -> bytes:
        cells, place = source.coins(self.other, self.bits, self.size), 1 << (self.size - 1 - own)
        cells |= place
        return _pack(cells if source.coin(self.own, self.bits) else cells ^ place, self.size)


class Olh(Krr, hash_bits=_whole):
    """Linear local hashing: bit j is the parity of mask j and the key; Krr reports the hash."""

    def check(self) -> None:
        Keyed.check(self)
        self._between(1, self.unit - 1, "keep")
        self._between(1, 8, "hash_bits")
        self._keep_promise(self.keep, 1 << self.hash_bits)
        self.masks = 1 << (self.size - 1).bit_length()
        self.word = _bytes_for(max(self.masks, 1 << self.hash_bits))
        self.report_bytes = self.word * (self.hash_bits + 1)

    def draw(self, own: int, source: Source) -> bytes:
        return _words(self.hashed(own, source), self.word)

    def hashed(self, own: int, source: Source) -> list[int]:
        """Draw the masks of a hash function, and the answer."""
        masks = [source.uniform(self.masks) for _ in range(self.hash_bits)]
        answer = sum(_odd(mask & own) << j for j, mask in enumerate(masks))
        return [*masks, self._keep_or_redraw(answer, self.keep, 1 << self.hash_bits, source)]


class Hadamard(Keyed, true=_whole):
    """A uniform column in which the own key's row is +1 with probability true/2**bits, else -1."""

    def check(self) -> None:
        super().check()
        self._between(1, self.unit - 1, "true")
        self._promise(self.true, self.unit - self.true)
        self.order = 1 << self.size.bit_length()
        self.report_bytes = _bytes_for(self.order)

    def draw(self, own: int, source: Source) -> bytes:
        row, column = own + 1, source.uniform(self.order)
        if source.coin(self.true, self.bits) == bool(_odd(row & column)):
            column ^= row & -row  # pairs each column of one sign with one of the other
        return column.to_bytes(self.report_bytes, "big")


class Subset(Keyed, chosen=_whole, inside=_whole):
    """A uniform set of ``chosen`` keys that includes the own key with probability inside/2**bits."""

    def check(self) -> None:
        super().check()
        self._between(1, self.unit - 1, "inside")
        self._between(1, self.size - 1, "chosen")
        self._promise(self.inside * (self.size - self.chosen), (self.unit - self.inside) * self.chosen)
        self.report_bytes = (self.size + 7) // 8

    def draw(self, own: int, source: Source) -> bytes:
        with_own, last = source.coin(self.inside, self.bits), self.size - 1
        cells = [False] * self.size
        for other in source.subset(self.chosen - with_own, last):
            cells[other if other != own else last] = True  # the last key stands in for the own one
        cells[own] = with_own
        return _bits(cells)


class DBitFlip(Hadamard, sampled=_whole):
    """For each of ``sampled`` uniform keys, a bit "it is my key", true with probability true/2**bits."""

    def check(self) -> None:
        Keyed.check(self)
        self._between(1, self.unit - 1, "true")
        self._between(1, self.size, "sampled")
        self._promise(self.true, self.unit - self.true, min(2, self.sampled))
        self.word = _bytes_for(2 * self.size)
        self.report_bytes = self.word * self.sampled

    def draw(self, own: int, source: Source) -> bytes:
        asked = source.subset(self.sampled, self.size)
        answers = [2 * v + ((v == own) == source.coin(self.true, self.bits)) for v in asked]
        return _words(answers, self.word)


class Longitudinal(Krr, again=_whole, values=_whole):
    """A repeated question: Krr of a permanent answer, which is Krr of the key, drawn once a value."""

    remembers = True

    def check(self) -> None:
        Keyed.check(self)
        self._between(1, self.unit - 1, "keep", "again")
        self._between(1, 1024, "values")
        bits = 2 * self.values * (self.size - 1).bit_length()
        _must(bits <= KEPT_MOST, f"A device would have to remember more than {KEPT_MOST} bits.")
        self._keep_promise(self.keep, self.size, self.values)

    def draw(self, own: int, source: Source) -> bytes:
        return self.report_on(self.remember(own, None, source), source)

    def remember(self, own: int, kept: Any, source: Source) -> dict[str, Any]:
        """Update the state after a value: a permanent answer for each of the first ``values`` values."""
        met, answers, last = (kept["met"], kept["answers"], kept["last"]) if kept else ([], [], -1)
        if own in met:
            last = met.index(own)
        elif len(met) < self.values:  # later values repeat the last answer, since silence would reveal a change
            met, answers, last = (
                [*met, own],
                [*answers, self._keep_or_redraw(own, self.keep, self.size, source)],
                len(met),
            )
        return {"met": met, "answers": answers, "last": last}

    def report_on(self, kept: dict[str, Any], source: Source) -> bytes:
        return self._keep_or_redraw(kept["answers"][kept["last"]], self.again, self.size, source).to_bytes(
            self.report_bytes, "big"
        )

    def is_kept(self, kept: Any) -> bool:
        """Check that :meth:`remember` can have made this state."""
        if not isinstance(kept, dict) or set(kept) != {"met", "answers", "last"}:
            return False
        met, answers = kept["met"], kept["answers"]
        if not isinstance(met, list) or not isinstance(answers, list) or not len(met) == len(answers) <= self.values:
            return False
        keys = all(type(x) is int and 0 <= x < self.size for x in met + answers)
        return keys and len(set(met)) == len(met) and type(kept["last"]) is int and 0 <= kept["last"] < len(met)


class Bounded(Task, low=_fraction, high=_fraction):
    """A task about numbers between bounds."""

    def check(self) -> None:
        _must(self.low < self.high, "low is not below high.")
        self.across: Fraction = self.high - self.low
        most = max(abs(self.low), abs(self.high))
        _must(self.across * FINEST >= most, "Doubles do not tell the values between low and high apart.")

    def seen(self, value: Any) -> Any:
        n, d = self._share(value, LEVELS << 16)
        return (2 * n + d) // (2 * d)  # to the nearest; halves go up

    def describe(self, value: Any) -> dict[str, Any]:
        number = _number_of(value)
        if number is None:
            return _description(_double(self.low), "It is not a number.")
        if number < self.low or number > self.high:
            return _description(_double(self.low if number < self.low else self.high), "It is beyond the bounds.")
        return _description(float(number))

    def _share(self, value: Any, steps: int) -> tuple[int, int]:
        """The value's distance above low as a fraction of ``steps``, clamped: exact in every language."""
        number = _number_of(value)
        if number is None:
            return 0, 1  # it counts as low
        if number in (INFINITE, -INFINITE):
            return steps * (number > 0), 1
        n, d = number.as_integer_ratio()
        above = (n * self.low.denominator - self.low.numerator * d) * self.across.denominator
        width = self.across.numerator * self.low.denominator * d
        return min(max(above, 0), width) * steps, width


class Laplace(Bounded):
    """The level plus integer Laplace noise of scale LEVELS / epsilon."""

    def check(self) -> None:
        super().check()
        self.scale, self.report_bytes = LEVELS / self.epsilon, 8  # at most 2**46
        self.beyond: int = 64 * ceil(self.scale)

    def draw(self, own: int, source: Source) -> bytes:
        noisy = source.level(own) + source.laplace(self.scale)
        # The collector accepts no noise from farther, where it ends once in e**64 reports.
        noisy = max(-self.beyond, min(noisy, LEVELS + self.beyond))
        return noisy.to_bytes(8, "big", signed=True)


class Duchi(Bounded, slope=_whole):
    """A bit: with probability slope/2**16 a coin whose chance is the value's place, else a fair one."""

    def check(self) -> None:
        super().check()
        self._between(1, LEVELS - 1, "slope")
        self._promise(LEVELS + self.slope, LEVELS - self.slope)
        self.report_bytes = 1

    def draw(self, own: int, source: Source) -> bytes:
        return bytes([self._bit(source.level(own), source)])

    def _bit(self, level: int, source: Source) -> int:
        lean, own, fair = source.coin(self.slope, 16), source.coin(level, 16), source.coin(1 << 15, 16)
        return int(own if lean else fair)


class Windowed(Bounded, window=_whole, inside=_whole):
    """A task whose reports are cells, usually of a window that moves with the value."""

    def _check_window(self, widest: int, outside: int) -> None:
        self._between(1, widest, "window")
        self._between(1, WIDE - 1, "inside")
        self._promise(self.inside * outside, (WIDE - self.inside) * self.window)
        self.outside = outside
        self.report_bytes = _bytes_for(outside + self.window)

    def _cell(self, start: int, source: Source) -> int:
        near, far = start + source.uniform(self.window), source.uniform(self.outside)
        far += self.window * (far >= start)  # the cells outside, numbered past the window
        return near if source.coin(self.inside, 32) else far


class Piecewise(Windowed):
    """A cell of a window that starts at the level, or of the LEVELS others."""

    def check(self) -> None:
        super().check()
        self._check_window(LEVELS - 1, LEVELS)

    def draw(self, own: int, source: Source) -> bytes:
        return self._cell(source.level(own), source).to_bytes(self.report_bytes, "big")


class Hybrid(Piecewise, Duchi, mix=_whole):
    """Piecewise with probability mix/2**32, and then the cell plus 2; else Duchi's bit."""

    def check(self) -> None:
        super().check()  # Duchi's, then the window
        self._between(0, WIDE - 1, "mix")
        self.report_bytes = _bytes_for(LEVELS + self.window + 2 if self.mix else 2)

    def draw(self, own: int, source: Source) -> bytes:
        level = source.level(own)
        report = self._bit(level, source)
        if self.mix:
            cell = self._cell(level, source) + 2
            report = cell if source.coin(self.mix, 32) else report
        return report.to_bytes(self.report_bytes, "big")


class SquareWave(Windowed, buckets=_whole):
    """A cell of a window that starts at the value's bucket, or of the buckets - 1 others."""

    def check(self) -> None:
        super().check()
        self._between(2, 1 << 16, "buckets")
        self._check_window(self.buckets, self.buckets - 1)

    def seen(self, value: Any) -> int:
        n, d = self._share(value, self.buckets)
        return min(n // d, int(self.buckets) - 1)

    def draw(self, own: int, source: Source) -> bytes:
        return self._cell(own, source).to_bytes(self.report_bytes, "big")


class DuchiVector(Bounded, dimension=_whole, true=_whole):
    """A uniform corner, turned to the person's with probability true/2**32, else away; right angles stay."""

    def check(self) -> None:
        super().check()
        self._between(1, 1 << 16, "dimension")
        self._between(1, WIDE - 1, "true")
        self._promise(self.true, WIDE - self.true)
        self.report_bytes = (self.dimension + 7) // 8

    def seen(self, value: Any) -> list[int]:
        return [super(DuchiVector, self).seen(x) for x in self._each(value)]

    def describe(self, value: Any) -> dict[str, Any]:
        each = [super(DuchiVector, self).describe(x) for x in self._each(value)]
        note = f"{sum(1 for one in each if one['note'])} of its coordinates are no numbers, or beyond the bounds."
        return _description([one["counts_as"] for one in each], note if any(one["note"] for one in each) else "")

    def _each(self, value: Any) -> list[Any]:
        found = _as_list(value)
        if found is None:
            try:
                found = _as_list(value.tolist())  # an array
            except Exception:  # noqa: BLE001 (a value may be of any class)
                found = None
        given = (found or [])[: self.dimension]
        return given + [None] * (self.dimension - len(given))

    def draw(self, own: list[int], source: Source) -> bytes:
        corner = [source.coin(source.level(x), 16) for x in own]
        drawn = [source.coin(1 << 15, 16) for _ in own]
        lean = 2 * sum(a == b for a, b in zip(corner, drawn)) - len(own)  # noqa: B905 (Python 3.9)
        wrong = lean < 0 if source.coin(self.true, 32) else lean > 0
        return _bits([bit != wrong for bit in drawn])


class Hashed(Task, true=_whole):
    """A task about strings or integers without a list of them."""

    def seen(self, value: Any) -> bytes:
        return _key_code(value)

    def describe(self, value: Any) -> dict[str, Any]:
        text = _as_text(value)
        if text is not None:
            return _description(text)
        integer = _integer_of(value)
        return _description("", "It is neither a string nor an integer.") if integer is None else _description(integer)

    def _check_places(self, name: str, most: int, times: int) -> None:
        places = getattr(self, name)
        _must(2 <= places <= most and not places & (places - 1), f"{name} is not a power of two from 2 to {most}.")
        self._between(1, WIDE - 1, "true")
        self._promise(self.true, WIDE - self.true, times)
        self.report_bytes = 2 + (places + 7) // 8


class Rappor(Hashed, bloom=_whole, hashes=_whole, cohorts=_whole, high=_whole, low=_whole):
    """A Bloom filter, each bit kept for good with probability true/2**32, then randomised again."""

    remembers, values = True, 1

    def check(self) -> None:
        self._between(1, 16, "hashes")
        self._between(1, 1 << 16, "cohorts")
        self._between(1, WIDE - 1, "high", "low")
        _must(self.low < self.high, "These reports would say nothing.")
        self._check_places("bloom", KEPT_MOST, 2 * self.hashes)

    def draw(self, own: bytes, source: Source) -> bytes:
        return self.report_on(self.remember(own, None, source), source)

    def remember(self, own: bytes, kept: Any, source: Source) -> dict[str, Any]:
        """Return the state of the first value, from which every report is made, also on later values."""
        if kept:
            return dict(kept)
        cohort = source.uniform(self.cohorts)
        mine = {_place(self.series, cohort * self.hashes + j, own, self.bloom) for j in range(self.hashes)}
        cells = (1 << self.bloom) - 1 ^ source.coins(self.true, 32, self.bloom)  # the flipped bits
        for place in mine:
            cells ^= 1 << (self.bloom - 1 - place)
        return {"row": (cohort.to_bytes(2, "big") + _pack(cells, self.bloom)).hex()}

    def report_on(self, kept: dict[str, Any], source: Source) -> bytes:
        row = bytes.fromhex(kept["row"])
        ones = int.from_bytes(row[2:], "big") >> -self.bloom % 8
        high, low = source.coins(self.high, 32, self.bloom), source.coins(self.low, 32, self.bloom)
        return row[:2] + _pack(low ^ (ones & (low ^ high)), self.bloom)

    def is_kept(self, kept: Any) -> bool:
        """Check that :meth:`remember` can have made this state."""
        row = kept["row"] if isinstance(kept, dict) and set(kept) == {"row"} else None
        if not isinstance(row, str) or not re.fullmatch(f"[0-9a-f]{{{2 * self.report_bytes}}}", row):
            return False
        spare = -self.bloom % 8
        return int(row[:4], 16) < self.cohorts and not int(row[-2:], 16) & ((1 << spare) - 1)


class CountMean(Hashed, rows=_whole, places=_whole):
    """For each place of a uniform row, a bit "it is my key's place", true with probability true/2**32."""

    changed = 2

    def check(self) -> None:
        self._between(1, 1 << 16, "rows")
        self._check_places("places", 1 << 24, self.changed)
        _must(self.rows * self.places <= TABLE_MOST, "rows and places are too many to count.")

    def draw(self, own: bytes, source: Source) -> bytes:
        row = source.uniform(self.rows)
        mine = _place(self.series, row, own, self.places)
        cells = (1 << self.places) - 1 ^ source.coins(self.true, 32, self.places)  # the flipped bits
        return row.to_bytes(2, "big") + _pack(cells ^ 1 << (self.places - 1 - mine), self.places)


class HadamardCountMean(CountMean):
    """The sign of the key's place in a uniform row and column, true with probability true/2**32."""

    changed = 1

    def check(self) -> None:
        super().check()
        self.word = _bytes_for(max(self.rows, self.places))
        self.report_bytes = 3 * self.word

    def draw(self, own: bytes, source: Source) -> bytes:
        row, column = source.uniform(self.rows), source.uniform(self.places)
        minus = _odd(column & _place(self.series, row, own, self.places))
        answer = source.coin(self.true, 32) != bool(minus)
        return _words([row, column, answer], self.word)


class HeavyHitters(
    Task, kind=_text, length=_whole, last=_whole, rows=_whole, places=_whole, hash_bits=_whole, keep=_whole
):
    """The place of the value's prefix in a uniform level and row, reported as by Olh."""

    def check(self) -> None:
        _must(self.kind in ("text", "integers"), "kind is not text or integers.")
        self._between(1, 64, "length", "last")
        self._between(2, (1 << 16) - 1, "places")
        _must(all(self.places % i for i in range(2, isqrt(self.places) + 1)), "places is not prime.")
        self._between(1, self.places, "rows")
        oracle = {"keys": self.places, "rest": None, "bits": 32, "hash_bits": self.hash_bits, "keep": self.keep}
        self.oracle = Olh({"epsilon": str(self.epsilon), **oracle})
        self.widths = range(min(2, self.length), self.length + 1)
        table = len(self.widths) * (1 + self.rows * self.oracle.masks)  # the numbers that a collector counts
        _must(table <= TABLE_MOST, "rows and places are too many to count.")
        self.word = _bytes_for(max(len(self.widths), self.rows, self.oracle.masks, 1 << self.hash_bits))
        self.report_bytes = self.word * (self.hash_bits + 3)

    def describe(self, value: Any) -> dict[str, Any]:
        if self.kind == "text":
            text = _as_text(value)
            code = self.seen(value).rstrip(b"\xff")
            kept = code.rstrip(b"\xfe").decode()
            note = "It is not a text." if text is None else _change_note(text, kept)
            return _description(kept, "It is cut." if code.endswith(b"\xfe") else note)
        number = _number_of(value)
        held = int.from_bytes(self.seen(value), "big") - (1 << (8 * self.length - 1))
        return _description(held, "It is not a number." if number is None else "" if number == held else "It is cut.")

    def seen(self, value: Any) -> bytes:
        if self.kind == "text":
            return _text_code(_as_text(value) or "", self.length)
        half: int = 1 << (8 * self.length - 1)
        held = int(min(max(_number_of(value) or 0, -half), half - 1))  # towards 0
        return (held + half).to_bytes(self.length, "big")

    def draw(self, own: bytes, source: Source) -> bytes:
        level = min(source.uniform(len(self.widths) - 1 + self.last), len(self.widths) - 1)
        row = source.uniform(self.rows)
        digest = hashlib.sha256(f"{self.series}\n".encode() + own[: self.widths[level]]).digest()
        a, b, c = (int.from_bytes(digest[i : i + 4], "big") % self.places for i in (0, 4, 8))
        place = (a + b * row + c * row * row) % self.places
        return _words([level, row, *self.oracle.hashed(place, source)], self.word)


def _change_note(text: str, kept: str) -> str:
    return "" if text == kept else "Half a character is replaced."


def _text_code(value: str, length: int) -> bytes:
    """Encode a string in ``length`` bytes: its UTF-8 and FF; if longer, all that fits, FE and FF."""
    if any("\ud800" <= character <= "\udfff" for character in value):  # half a pair is U+FFFD, as in browsers
        value = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    code = value.encode()
    if len(code) > length:
        code = code[: length - 1].decode(errors="ignore").encode() + b"\xfe"
    return code.ljust(length, b"\xff")


class Record(Task, names=_any, parts=_any, sampled=_whole):
    """``sampled`` uniform attributes, each reported by its part."""

    def check(self) -> None:
        listed = isinstance(self.names, list) and isinstance(self.parts, list)
        _must(listed and 0 < len(self.names) == len(self.parts), "A record has one part for each name.")
        _must(len(self.names) <= NAMES_MOST, f"A record has more than {NAMES_MOST} attributes.")
        texts = all(isinstance(name, str) for name in self.names)
        _must(texts and len(set(self.names)) == len(self.names), "A record's names are not different strings.")
        self._between(1, len(self.names), "sampled")
        self.each = [_read(part, PARTS) for part in self.parts]
        most = sorted((part.epsilon for part in self.each), reverse=True)[: self.sampled]
        _must(sum(most) <= self.epsilon, f"This record's parts do not keep epsilon = {self.epsilon}.")
        self.slot = 2 + max(part.report_bytes for part in self.each)
        self.report_bytes = self.sampled * self.slot

    def seen(self, value: Any) -> list[Any]:
        return [part.seen(_lookup(value, name)) for name, part in zip(self.names, self.each)]  # noqa: B905 (Python 3.9)

    def describe(self, value: Any) -> dict[str, Any]:
        each = {name: part.describe(_lookup(value, name)) for name, part in zip(self.names, self.each)}  # noqa: B905
        return _description(each, "" if issubclass(type(value), dict) else "It is not a record.")

    def draw(self, own: list[Any], source: Source) -> bytes:
        report = b""
        for j in source.subset(self.sampled, len(self.names)):
            report += (j.to_bytes(2, "big") + self.each[j].draw(own[j], source)).ljust(self.slot, b"\0")
        return report


def _odd(x: int) -> int:
    return bin(x).count("1") & 1


ORACLES = {"krr": Krr, "sue": Unary, "oue": Unary, "olh": Olh, "hadamard": Hadamard, "subset": Subset}
PARTS: dict[str, type[Task]] = {**ORACLES, "duchi": Duchi, "piecewise": Piecewise, "hybrid": Hybrid}
KINDS: dict[str, type[Task]] = {
    **PARTS,
    "laplace": Laplace,
    "duchi-vector": DuchiVector,
    "record": Record,
    "square-wave": SquareWave,
    "dbitflip": DBitFlip,
    "rappor": Rappor,
    "count-mean": CountMean,
    "hadamard-count-mean": HadamardCountMean,
    "longitudinal": Longitudinal,
    "heavy-hitters": HeavyHitters,
}


# ---- tasks and messages ----------------------------------------------------------------------------------------------


def _read(body: Any, kinds: dict[str, type[Task]]) -> Task:
    kind = body.get("mechanism") if isinstance(body, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise Refused("This task's mechanism is not known here.")
    _must(set(body) == {"mechanism", *kinds[kind].fields}, f"A {kind} task has other fields.")
    return kinds[kind](body)


def read_task(document: Any) -> Task:
    """Read the task of a published document, refused if it was altered or does not keep its epsilon.

    Guarantee: for any two values that a person may have, a report on a returned task is at most exp(epsilon) times as
        likely under one as under the other.  Integer arithmetic proves it here, so a task's author need not be trusted.
        Every value, of any type, makes a report, so that silence reveals nothing.  A value that is not a number counts
        as low.  An unlisted value counts as the task's rest or, without a rest, as its first key.  Work and bytes are
        bounded.
    Assumes: fair bytes from the operating system; one report per person and task, or a Device.

    >>> duchi = {"mechanism": "duchi", "low": "0", "high": "10", "epsilon": "1", "slope": 30284}
    >>> named = {"name": "ages", "period": None, "segment": None, **duchi}
    >>> read_task({"curador": 1, "id": "5f1dbc4d6b3f3a2b3f1c7f0d4c9d2b11", "task": named})
    Traceback (most recent call last):
    curador.local.devices.curador_device.Refused: This task was altered after it was published.
    """
    _must(isinstance(document, dict) and set(document) == {"curador", "id", "task"}, "This is not a task.")
    version = document["curador"]
    _must(type(version) is int and version == VERSION, "This task is of another version.")
    body = document["task"]
    task = _identify(body)
    _label(body["name"], "name")
    for part in ("period", "segment"):
        _must(body[part] is None or _label(body[part], part), part)
    _must(document["id"] == task.id, "This task was altered after it was published.")
    return task


def _identify(body: Any) -> Task:
    """Read the task of a document's body, with its identity; the labels are not checked."""
    labelled = isinstance(body, dict) and set(LABELS) <= set(body)
    task = _read({name: x for name, x in body.items() if name not in LABELS} if labelled else body, KINDS)
    _must(labelled, "This task has no name, period and segment.")
    task.name, task.period, task.segment = (body[part] for part in LABELS)
    task.id = _digest(body)[:32]
    # A task that remembers is one for all periods: they share the permanent answer, its cost and its hash functions.
    task.digest = _digest({**body, "period": None} if task.remembers else body)
    task.series = task.digest[:32]
    return task


def _digest(body: Any) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def check(task: Task, value: Any) -> dict[str, Any]:
    """For developers: what a value counts as on this task, with a note if that differs from the value.

    Nothing is drawn.  The result is the value itself, so it must never be sent.

    >>> duchi = Duchi({"low": "0", "high": "10", "epsilon": "1", "slope": 30284})
    >>> check(duchi, "7.5"), check(duchi, 11)
    ({'counts_as': 7.5, 'note': ''}, {'counts_as': 10.0, 'note': 'It is beyond the bounds.'})
    """
    return task.describe(value)


def report(task: Task, value: Any, source: Source | None = None) -> bytes:
    """Draw a report on a value, as bytes.

    >>> duchi = Duchi({"low": "0", "high": "10", "epsilon": "1", "slope": 30284})
    >>> report(duchi, 7.5) in (b"\\0", b"\\1")
    True
    """
    return task.draw(task.seen(value), source or Source())


def message(task: Task, value: Any, source: Source | None = None) -> dict[str, str]:
    """Draw a message to send once.  A :class:`Device` also counts the budget spent, and remembers answers."""
    source = source or Source()
    return _message(task, report(task, value, source), source)


def _message(task: Task, bytes_: bytes, source: Source) -> dict[str, str]:
    token, text = f"{source.take(16):032x}", urlsafe_b64encode(bytes_).rstrip(b"=").decode()
    return {"task": task.id, "epsilon": str(task.epsilon), "token": token, "report": text}


# ---- what a device keeps ---------------------------------------------------------------------------------------------


def _sum(spent: Fraction, epsilon: Fraction) -> Fraction:
    """Add epsilons; round the sum up if its denominator would exceed 128 bits."""
    found = spent + epsilon
    return found if found.denominator < 1 << 128 else Fraction(ceil(found * (1 << 64)), 1 << 64)


class Device:
    """A person's device: its answers, its remaining budget, and its permanent answers.

    ``save`` gets the state, a plain dictionary, before any message is released; it returns when the state is saved.
    If it fails, the report counts as spent although it is never released.  It may read the device, but must not answer
    with it.  Some tasks ask for more than one value of a person; their epsilon does not cover a change of value.  They
    are answered only if ``changes`` is True.

    Guarantee: the epsilons of all tasks answered do not sum to more than the limit.  Whether a task is refused depends
        on the task and on earlier answers, never on the value.
    Assumes: one Device for each saved state at a time; a state that is lost, or copied, is spent again.

    >>> device = Device("2", save=lambda state: None)
    >>> str(device.remaining)
    '2'
    """

    def __init__(self, limit: str | int, save: Callable[[dict[str, Any]], object], *, changes: bool = False) -> None:
        self._begin({"curador": VERSION, "limit": str(limit), "changes": changes, "answered": [], "kept": {}}, save)

    @classmethod
    def from_json(cls, state: Any, save: Callable[[dict[str, Any]], object]) -> Device:
        """Restore a device from a saved state; anything else is refused, as a new device spends again."""
        made = cls.__new__(cls)
        made._begin(state, save)
        return made

    def _begin(self, state: Any, save: Callable[[dict[str, Any]], object]) -> None:
        if not callable(save):
            raise TypeError("save is not a function.")
        broken = "This is not a device's state."
        parts = {"curador", "limit", "changes", "answered", "kept"}
        _must(isinstance(state, dict) and set(state) == parts, broken)
        _must(type(state["curador"]) is int and state["curador"] == VERSION, broken)
        self._limit, self._changes = _fraction(state["limit"], "limit"), state["changes"]
        answered, kept = state["answered"], state["kept"]
        _must(isinstance(self._changes, bool) and isinstance(answered, list) and isinstance(kept, dict), broken)
        self._answered: dict[str, tuple[str, Fraction, list[str]]] = {}
        self._spent = Fraction(0)
        for one in answered:
            _must(isinstance(one, dict) and set(one) == {"task", "digest", "epsilon", "periods"}, broken)
            digest, epsilon = _text(one["digest"], "digest"), _fraction(one["epsilon"], "epsilon")
            _must(re.fullmatch("[0-9a-f]{64}", digest) and one["task"] == digest[:32] and epsilon > 0, broken)
            periods = one["periods"]
            _must(isinstance(periods, list) and len(periods) <= PERIODS_MOST, broken)
            _must(all(isinstance(x, str) for x in periods) and len(set(periods)) == len(periods), broken)
            self._charge(digest, epsilon, periods)
        _must(len(self._answered) == len(answered) and set(kept) <= set(self._answered), broken)
        self._kept, self._save, self._turn, self._busy = dict(kept), save, threading.RLock(), False

    def _charge(self, digest: str, epsilon: Fraction, periods: list[str]) -> None:
        self._answered[digest[:32]] = digest, epsilon, [*periods]
        self._spent = _sum(self._spent, epsilon)

    @property
    def spent(self) -> Fraction:
        """The epsilon of all answered tasks together."""
        with self._turn:
            return self._spent

    @property
    def remaining(self) -> Fraction:
        """The epsilon that further tasks may cost."""
        return self._limit - self.spent

    def to_json(self) -> dict[str, Any]:
        """The state as a document; :meth:`from_json` reads it, in any language."""
        with self._turn:
            answered = [
                {"task": name, "digest": digest, "epsilon": str(epsilon), "periods": [*periods]}
                for name, (digest, epsilon, periods) in self._answered.items()
            ]
            kept = json.loads(json.dumps(self._kept))
        parts = {"curador": VERSION, "limit": str(self._limit), "changes": self._changes}
        return {**parts, "answered": answered, "kept": kept}

    def message(self, task: Task, value: Any, source: Source | None = None) -> dict[str, str]:
        """Make a message on the task.

        A first message is charged and saved.  Later ones need a task that remembers: all its periods are charged once,
        and each is answered once.  Other tasks are new tasks in every period.
        """
        with self._turn:  # two concurrent messages must not both see the same remaining budget
            if self._busy:  # the state being saved would be the older one, and be written last
                raise RuntimeError("save must not answer with the device that it saves.")
            self._busy = True
            try:
                return self._answer(task, value, source or Source())
            finally:
                self._busy = False

    def _answer(self, task: Task, value: Any, source: Source) -> dict[str, str]:
        kept = self._check_answerable(task)  # before reading the value
        own = task.seen(value)
        if isinstance(task, (Longitudinal, Rappor)):
            kept = task.remember(own, kept, source)
            bytes_ = task.report_on(kept, source)
        else:
            bytes_ = task.draw(own, source)
        made = _message(task, bytes_, source)
        # A source that fails before this has cost nothing, since nothing about the value has left.
        if task.series not in self._answered:
            self._charge(task.digest, task.epsilon, [])
        if task.remembers:
            self._kept[task.series] = kept
            if task.period is not None:
                self._answered[task.series][2].append(task.period)
        done = self._save(self.to_json())
        if hasattr(done, "__await__"):
            getattr(done, "close", lambda: None)()
            raise TypeError("save is not done when it returns: it must not be asynchronous.")
        return made

    def _check_answerable(self, task: Task) -> Any:
        """Return the state of a task that may be answered now, or refuse the task before anything is drawn."""
        if not isinstance(task, Task):
            raise TypeError("This is not a task that was read.")
        if task.series in self._answered:
            digest, _, periods = self._answered[task.series]
            _must(digest == task.digest, "This device answered another task of the same id.")
            _must(task.remembers and task.period not in periods, "This task was answered.")
            _must(len(periods) < PERIODS_MOST, f"This device answered {PERIODS_MOST} periods of this task.")
            kept = self._kept.get(task.series)
            _must(task.is_kept(kept), "What this device kept of the task is lost or broken.")
            return kept
        changes = "Epsilon of this task does not cover that a value changed, and this device answers no such task."
        _must(self._changes or getattr(task, "values", 1) == 1, changes)
        _must(task.epsilon <= self.remaining, f"This task costs {task.epsilon}, more than remains.")
        return None
