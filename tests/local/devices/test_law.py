"""The exact law of the client's reports: every way its decisions can fall is followed, and it is the library's law."""

from __future__ import annotations

import importlib
from contextlib import ExitStack
from fractions import Fraction
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest

from curador.local import (
    KRR,
    OLH,
    OUE,
    SUE,
    CountMean,
    DBitFlip,
    Duchi,
    DuchiVector,
    Hadamard,
    HadamardCountMean,
    HeavyHitters,
    Hybrid,
    Longitudinal,
    Piecewise,
    Rappor,
    Record,
    SquareWave,
    SubsetSelection,
)
from curador.local.devices import curador_device as client
from tests.local.devices.both import document
from tests.local.exact_law import MP, Law, Tree, keeps_its_word, within, worst_ratio

MODULES = (
    *(f"frequency.{name}" for name in ("krr", "unary", "local_hashing", "hadamard", "subset", "dbitflip")),
    *(f"numeric.{name}" for name in ("duchi", "piecewise", "hybrid", "vector", "square_wave")),
    *(f"unlisted.{name}" for name in ("rappor", "sketch", "heavy_hitters")),
)
SMALL = 4
"""Cells outside the window of the piecewise mechanism, so that every way can be followed."""


class Ways(client.Source):
    """A source whose decisions are those of a tree.  That the real ones have their laws is tested below."""

    def __init__(self, tree: Tree) -> None:
        super().__init__()
        self.tree = tree

    def coin(self, threshold: int, bits: int) -> bool:
        return bool(self.tree.coins(min(threshold, 1 << bits), bits, 1)[0])

    def coins(self, threshold: int, bits: int, n: int) -> int:
        return sum(self.coin(threshold, bits) << i for i in range(n))

    def uniform(self, n: int) -> int:
        return int(self.tree.take([Fraction(1, n)] * n))


def followed(run: Any) -> Law:
    """The probability of each result of a program that gets a tree."""
    tree, found = Tree(), dict[Any, Fraction]()
    while True:
        tree.begin()
        out = run(tree)
        found[out] = found.get(out, Fraction(0)) + tree.chance
        if not tree.advance():
            return found


def client_law(read: Any, value: Any) -> Law:
    return followed(lambda tree: client.report(read, value, Ways(tree)))


def library_law(task: Any, value: Any) -> Law:
    """The same of the library's own randomizer, in which arrays are drawn."""
    values = {name: [x] for name, x in value.items()} if isinstance(value, dict) else [value]

    def run(tree: Tree) -> bytes:
        with ExitStack() as stack:
            for where in (importlib.import_module(f"curador.local.{name}") for name in MODULES):
                for name in ("coins", "uniform", "level_coins"):
                    if hasattr(where, name):
                        stack.enter_context(patch.object(where, name, getattr(tree, name)))
            row: bytes = task.to_bytes(task.randomize(values))[0].tobytes()
            return row

    return followed(run)


def read_small(task: Any) -> Any:
    """A task as the client reads it, with as few cells as the library has in these tests."""
    read = client.read_task(document(task))
    if isinstance(read, client.Piecewise):
        read.outside, read.report_bytes = SMALL, task.layout.size
    return read


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few cells in the library's piecewise mechanism while it draws; thresholds stay those of all cells."""
    monkeypatch.setattr("curador.local.numeric.piecewise.LEVELS", SMALL)


ENDS = [0.0, 1.0, 0.5]
KEYS = ["a", "b", "c", "d", 1]
STEPS = [0.0, 1 / 65536, 2 / 65536, 3 / 65536, 4 / 65536]
_CASES: list[tuple[Any, list[Any]]] = [
    (KRR(3, 1), [0, 1, 2]),
    (KRR(["a", "b"], "1/100", bits=16), ["a", "b"]),
    (SUE(3, 1), [0, 1, 2]),
    (OUE(["a", "b", "c"], 2, rest="c"), ["a", "b", "c", "?"]),
    (OLH(3, 1, hash_bits=1), [0, 1, 2]),
    (OLH(4, 2, hash_bits=2), [0, 1, 2, 3]),
    (Hadamard(3, 1), [0, 1, 2]),
    (Hadamard(4, 1), [0, 1, 2, 3]),
    (SubsetSelection(5, 1, chosen=2), [0, 1, 2, 3, 4]),
    (SubsetSelection(4, 1, chosen=3), [0, 1, 2, 3]),
    (Duchi(0, 1, 1), ENDS),
    (DuchiVector(0, 1, 1, 3), [[0.0] * 3, [1.0] * 3, [0.0, 1.0, 1.0]]),
    (DuchiVector(0, 1, 1, 4), [[0.0] * 4, [1.0] * 4, [0.0, 1.0, 1.0, 0.0]]),
    (SquareWave(0, 1, 1, buckets=4), [0.0, 0.25, 0.5, 1.0]),
    (DBitFlip(4, 1, 2), [0, 1, 2, 3]),
    (DBitFlip(3, 1, 1), [0, 1, 2]),
    (Rappor(2, bloom=2, hashes=1, cohorts=2), KEYS),
    (CountMean(2, rows=2, places=4), KEYS),
    (HadamardCountMean(2, rows=2, places=4), KEYS),
    (Longitudinal(3, 2, values=1, first=1), [0, 1, 2]),
    (HeavyHitters(1, length=3, rows=2, places=3, hash_bits=1), ["", "abc", "abd", "tea", "teapot", "é"]),
]
CASES = [(task.named("q"), values) for task, values in _CASES]
RECORD = Record({"x": 2, "y": ["a", "b"]}, 2, sampled=1)


@pytest.mark.parametrize(("task", "values"), CASES, ids=lambda x: getattr(x, "mechanism", ""))
def test_reports_have_the_librarys_law_and_keep_epsilon(task: Any, values: list[Any]) -> None:
    read = client.read_task(document(task))
    laws = [client_law(read, value) for value in values]
    assert laws == [library_law(task, value) for value in values]
    assert keeps_its_word(task, laws)
    worst = worst_ratio(laws)
    assert isinstance(worst, Fraction)
    assert worst <= task.ratio
    assert len(set(map(str, laws))) > 1  # the value has a part in it


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("task", [Piecewise(0, 1, 1, window=2), Hybrid(0, 1, 1, window=3, mix=1 << 31)])
def test_cells_have_the_librarys_law(task: Any) -> None:
    """On few cells.  The ratio of two laws is then that of the thresholds times what the cells are fewer."""
    read = read_small(task)
    laws = [client_law(read, value) for value in STEPS]
    assert laws == [library_law(task, value) for value in STEPS]
    assert all(sum(one.values()) == 1 for one in laws)


def test_piecewise_keeps_epsilon_on_few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curador.local.numeric.piecewise.LEVELS", SMALL)
    monkeypatch.setattr(client, "LEVELS", SMALL)
    task = Piecewise(0, 1, 1)
    laws = [client_law(client.read_task(document(task)), i / SMALL) for i in range(SMALL + 1)]
    assert keeps_its_word(task, laws)
    assert worst_ratio(laws) == task.ratio
    assert set(laws[0]) == {bytes([j]) for j in range(task.cells)}


@pytest.mark.parametrize("sampled", [1, 2])
def test_records_have_the_librarys_law(sampled: int) -> None:
    task = Record({"x": 2, "y": ["a", "b"]}, 2, sampled=sampled)
    values = [{"x": x, "y": y} for x in (0, 1) for y in "ab"]
    read = client.read_task(document(task))
    laws = [client_law(read, value) for value in values]
    assert laws == [library_law(task, value) for value in values]
    assert keeps_its_word(task, laws)


def test_levels_are_right_on_average() -> None:
    read = client.Duchi({"low": "0", "high": "3", "epsilon": "1", "slope": 30000})
    for value in (0.0, 0.1, 1.0, 2.0, 3.0, 17.0, -1.0):
        fine = read.seen(value)
        assert abs(Fraction(fine, 1 << 32) - min(max(Fraction(value), Fraction(0)), Fraction(3)) / 3) <= Fraction(
            1, 1 << 33
        )
        one = followed(lambda tree, fine=fine: Ways(tree).level(fine))
        assert sum(level * chance for level, chance in one.items()) == Fraction(fine, 1 << 16)


# ---- sequences from one device ---------------------------------------------------------------------------------------


def sequence_law(task: Any, history: tuple[Any, ...]) -> Law:
    read = client.read_task(document(task))

    def run(tree: Tree) -> tuple[bytes, ...]:
        source, kept, sent = Ways(tree), None, []
        for value in history:
            kept = read.remember(read.seen(value), kept, source)
            assert read.is_kept(kept)
            sent.append(read.report_on(kept, source))
        return tuple(sent)

    return followed(run)


def test_all_reports_of_a_device_together_keep_epsilon() -> None:
    task = Longitudinal(2, 1, values=1, first="1/2")
    laws = [sequence_law(task, history) for history in ((0, 0, 0), (1, 1, 1), (0, 1, 0), (1, 0, 0))]
    assert keeps_its_word(task, laws)
    assert laws[0] == laws[2]  # what comes after the one value that is protected does not show
    forgets = [_product(client_law(client.read_task(document(task)), value), 3) for value in (0, 1)]
    assert not within(worst_ratio(forgets), task.epsilon)


def test_all_reports_on_a_filter_together_keep_epsilon() -> None:
    task = Rappor(1, bloom=2, hashes=1, cohorts=1)
    keys = ("a", "b", "c", "d", 1)
    laws = [sequence_law(task, (key, key)) for key in keys]
    assert keeps_its_word(task, laws)
    assert laws[0] == sequence_law(task, ("a", "b"))


def _product(one: Law, times: int) -> Law:
    found: Law = {(): Fraction(1)}
    for _ in range(times):
        found = {(*so_far, report): p * q for so_far, p in found.items() for report, q in one.items()}
    return found


# ---- broken clients --------------------------------------------------------------------------------------------------


class WithoutTheCoin(client.Krr):
    """Sends the key itself."""

    def draw(self, own: int, source: client.Source) -> bytes:
        source.uniform(self.size)
        return own.to_bytes(self.report_bytes, "big")


class NeverClears(client.Unary):
    """A bit that is set stays set, as in pure-ldp 1.2.0's RAPPOR client."""

    def draw(self, own: int, source: client.Source) -> bytes:
        row = super().draw(own, source)
        row = row[: own // 8] + bytes([row[own // 8] | 128 >> own % 8]) + row[own // 8 + 1 :]
        return row


class NeverClearsAFilter(client.Rappor):
    """The same with a filter, in what is remembered."""

    def remember(self, own: Any, kept: Any, source: client.Source) -> dict[str, Any]:
        row = bytearray.fromhex(super().remember(own, kept, source)["row"])
        mine = client._place(self.series, (row[0] * 256 + row[1]) * self.hashes, own, self.bloom)
        row[2 + mine // 8] |= 128 >> mine % 8
        return {"row": row.hex()}


class KeepsOnTies(client.Krr):
    """Compares with "at most": one step beyond the threshold."""

    def draw(self, own: int, source: client.Source) -> bytes:
        return self._keep_or_redraw(own, self.keep + 1, self.size, source).to_bytes(self.report_bytes, "big")


class NoRightAngles(client.DuchiVector):
    """A corner at a right angle, which says nothing, is replaced by the person's own."""

    def draw(self, own: list[int], source: client.Source) -> bytes:
        corner = [source.coin(source.level(x), 16) for x in own]
        drawn = [source.coin(1 << 15, 16) for _ in own]
        lean = 2 * sum(a == b for a, b in zip(corner, drawn, strict=True)) - len(own)
        wrong = lean < 0 if source.coin(self.true, 32) else lean > 0
        return client._bits([bit != wrong for bit in drawn] if lean else corner)


@pytest.mark.parametrize(
    ("broken", "task", "values"),
    [
        (WithoutTheCoin, KRR(3, 1), [0, 1, 2]),
        (KeepsOnTies, KRR(3, 1), [0, 1, 2]),
        (NeverClears, SUE(3, 1), [0, 1, 2]),
        (NoRightAngles, DuchiVector(0, 1, 1, 2), [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]),
    ],
)
def test_a_broken_client_is_caught(broken: Any, task: Any, values: list[Any]) -> None:
    body = {name: x for name, x in task.to_json().items() if name != "mechanism"}
    assert not keeps_its_word(task, [client_law(broken(body), value) for value in values])


def remembered(read: Any, series: str, key: Any, tree: Tree) -> Any:
    read.series = series
    return read.remember(read.seen(key), None, Ways(tree))["row"]


def test_a_filter_that_is_never_cleared_is_caught() -> None:
    task = Rappor(1, bloom=4, hashes=1, cohorts=1)
    body = {name: x for name, x in task.part_json().items() if name != "mechanism"}
    salted = client._identify(task.to_json()).series
    laws = {
        kind: [followed(partial(remembered, kind(body), salted, key)) for key in KEYS]
        for kind in (client.Rappor, NeverClearsAFilter)
    }
    assert keeps_its_word(task, laws[client.Rappor])
    assert worst_ratio(laws[NeverClearsAFilter]) == float("inf")


# ---- the decisions themselves ----------------------------------------------------------------------------------------


class Bytes(client.Source):
    """Every way that bytes can come, one tree level for each; words are cut down to few values to be followed."""

    def __init__(self, tree: Tree, values: list[int]) -> None:
        super().__init__()
        self.tree, self.values = tree, values

    def take(self, n: int) -> int:
        if not n:
            return 0
        return self.values[self.tree.take([Fraction(1, len(self.values))] * len(self.values))]


@pytest.mark.parametrize("threshold", [0, 1, 255, 256, 257, 30_000, 32_768, 65_535, 65_536])
def test_a_coin_has_its_chance(threshold: int) -> None:
    one = followed(lambda tree: Bytes(tree, list(range(256))).coin(threshold, 16))
    assert one.get(True, 0) == Fraction(threshold, 1 << 16)


@pytest.mark.parametrize("threshold", [1, 65_535, 65_536, 65_537, (1 << 31) + 77, (1 << 32) - 1, 1 << 32])
def test_a_coin_of_32_bits_has_its_chance(threshold: int) -> None:
    """By counting: P(first < high) + P(first = high) P(second < low)."""
    high, low = divmod(threshold, 1 << 16)

    def chance(first: int, second: int) -> bool:
        words = first.to_bytes(2, "big") + second.to_bytes(2, "big")
        return client.Source(lambda n: words * (n // 4)).coin(threshold, 32)

    if threshold == 1 << 32:
        assert chance(65_535, 65_535)
        return
    for first in {0, high - 1, high, high + 1, 65_535} & set(range(65_536)):
        wins = [second for second in (0, low - 1, low, 65_535) if 0 <= second <= 65_535 and chance(first, second)]
        wanted = [0, low - 1, low, 65_535] if first < high else [0, low - 1] if first == high and low else []
        assert wins == [second for second in wanted if second >= 0]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 128, 200, 256])
def test_a_uniform_integer_is_uniform(n: int) -> None:
    """Given that the first byte is taken; those thrown away are drawn again from the start."""
    firsts: dict[int, int] = {}
    for byte in range(256):
        source = client.Source()
        source._bytes = bytes([byte, 0])
        drawn = source.uniform(n)
        if source._at <= 1:
            firsts[drawn] = firsts.get(drawn, 0) + 1
    assert set(firsts) == set(range(n))
    assert len(set(firsts.values())) == 1


def test_wider_integers_read_the_highest_byte_first() -> None:
    assert client.Source(lambda n: bytes([1, 2, 3, 4] * (n // 4))).uniform(1 << 16) == 258
    assert client.Source(lambda n: bytes([255, 255, 1, 2] * (n // 4))).uniform(65_000) == 258
    assert client.Source(lambda n: bytes([255, 2, 3, 4] * (n // 4))).uniform(300) == (
        0x1FF & 0xFF02 if 0xFF02 & 511 < 300 else 4
    )


@pytest.mark.parametrize(("chosen", "of"), [(0, 3), (1, 4), (2, 4), (3, 5), (4, 4)])
def test_subsets_are_uniform(chosen: int, of: int) -> None:
    from math import comb

    one = followed(lambda tree: tuple(Ways(tree).subset(chosen, of)))
    assert set(one.values()) == {Fraction(1, comb(of, chosen))}
    assert len(one) == comb(of, chosen)
    assert all(list(some) == sorted(set(some)) for some in one)


class Cut(Exception):
    """A way that is too unlikely to be followed."""


class UntilUnlikely(Ways):
    """Leaves ways that are less likely than ``least``."""

    least = Fraction(1, 10**6)

    def chance(self, n: int, d: int) -> bool:
        return bool(self._go([1 - Fraction(n, d), Fraction(n, d)]))

    def uniform(self, n: int) -> int:
        return self._go([Fraction(1, n)] * n)

    def _go(self, chances: list[Fraction]) -> int:
        i = self.tree.take(chances)
        if self.tree.chance < self.least:
            raise Cut
        return i


class Again(Exception):
    """A try that is thrown away; the next is like the first."""


class OneTry(UntilUnlikely):
    """One try at Laplace noise, in which an exponential coin, which is tested for itself, is one decision."""

    least = Fraction(1, 10**12)

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self.coins_seen, self.uniforms_seen = 0, 0

    def exp_coin(self, n: int, d: int) -> bool:
        self.coins_seen += 1
        p = Fraction(int(MP.exp(-MP.mpf(n) / d) * 10**70), 10**70)
        return bool(self._go([1 - p, p]))

    def uniform(self, n: int) -> int:
        self.uniforms_seen += 1
        # After the first number one coin decides on it; with more coins seen, the second number is the sign.
        if self.uniforms_seen > 2 or (self.uniforms_seen == 2 and self.coins_seen == 1):
            raise Again
        return super().uniform(n)


def unlikely_left_out(kind: Any, run: Any) -> Law:
    def kept(tree: Tree) -> Any:
        try:
            return run(kind(tree))
        except Cut:
            return "left out"
        except Again:
            return "again"

    return followed(kept)


def mp(x: Fraction) -> Any:
    return MP.mpf(x.numerator) / x.denominator


@pytest.mark.parametrize(("n", "d"), [(0, 1), (1, 1), (1, 2), (2, 3)])
def test_an_exponential_coin_has_its_chance(n: int, d: int) -> None:
    one = unlikely_left_out(UntilUnlikely, lambda source: source.exp_coin(n, d))
    left = one.pop("left out", Fraction(0))
    assert left < Fraction(1, 10**5)
    assert sum(one.values()) + left == 1
    assert -(MP.mpf(10) ** -60) <= MP.exp(-MP.mpf(n) / d) - mp(one[True]) <= mp(left)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(3, 2), Fraction(2)])
def test_laplace_noise_has_its_law(scale: Fraction) -> None:
    one = unlikely_left_out(OneTry, lambda source: source.laplace(scale))
    assert sum(one.values()) == 1
    left, taken = one.pop("left out"), 1 - one.pop("again")
    assert left < Fraction(1, 10**10)
    rho = MP.exp(-mp(1 / scale))
    for x in range(-30, 31):
        gap = (1 - rho) / (1 + rho) * rho ** abs(x) - mp(one.get(x, Fraction(0)) / taken)
        assert abs(gap) <= mp(2 * left / taken)
    assert len(one) > 10
