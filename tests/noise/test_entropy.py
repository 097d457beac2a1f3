"""The system's bits: shape and range, no repeats across forks, no shared state across threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import pytest
from numpy.typing import NDArray

from curador.noise import SYSTEM, DiscreteGaussian, DiscreteLaplace, Entropy, RoundedGaussian, RoundedLaplace, entropy
from tests.exact import Stream

pytestmark = pytest.mark.real_entropy


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.uint64])
def test_words_have_all_their_bits(dtype: type[np.unsignedinteger[Any]]) -> None:
    """In 1,000 words every bit is seen as 0 and as 1 (a miss has chance 2**-993)."""
    words = SYSTEM.words(1000, dtype)
    assert words.shape == (1000,)
    assert words.dtype == np.dtype(dtype)
    assert np.bitwise_or.reduce(words) == np.iinfo(dtype).max
    assert np.bitwise_and.reduce(words) == 0
    assert SYSTEM.words(0, dtype).size == 0


@pytest.mark.parametrize("k", [0, 1, 7, 8, 9, 63, 64, 65, 1000])
def test_bits_fill_their_range(k: int) -> None:
    drawn = [SYSTEM.bits(k) for _ in range(1000)]
    every = (1 << k) - 1
    assert all(0 <= d <= every for d in drawn)
    seen_one, seen_zero = 0, 0
    for d in drawn:
        seen_one, seen_zero = seen_one | d, seen_zero | (d ^ every)
    assert seen_one == seen_zero == every


FORK = """
import os, sys
from fractions import Fraction
import numpy as np
from curador.noise import SYSTEM, DiscreteLaplace

noise = DiscreteLaplace(Fraction(1 << 50))
noise.sample(10)
SYSTEM.words(10, np.uint64)

def stream():
    words, samples = SYSTEM.words(4, np.uint64).tolist(), noise.sample(4).tolist()
    return " ".join(map(str, [*words, *samples, SYSTEM.bits(64), noise.draw()]))

readers = []
for _ in range(4):
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, stream().encode())
        os._exit(0)
    os.close(write)
    readers.append(read)
print(stream())
for read in readers:
    os.wait()
    print(os.read(read, 10000).decode())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here, so no child to repeat its parent")
def test_a_child_never_repeats_its_parent() -> None:
    """Parent and four children, forked after the generator was used: fifty numbers, none of them twice.

    Were all well, two would be equal with a chance below 50**2 / 2 / 2**51 < 1e-12.
    """
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [len(line) for line in lines] == [10] * 5
    numbers = [number for line in lines for number in line]
    assert len(set(numbers)) == 50


class Sampler(Protocol):
    def sample(self, n: int, entropy: Entropy) -> NDArray[np.int64]: ...
    def draw(self, entropy: Entropy) -> int: ...


FRESH: dict[str, Callable[[], Sampler]] = {
    "laplace, table": lambda: DiscreteLaplace(Fraction(3)),
    "laplace, split": lambda: DiscreteLaplace(Fraction(1000)),
    "gaussian, table": lambda: DiscreteGaussian(Fraction(9)),
    "gaussian, split": lambda: DiscreteGaussian(Fraction(10**6)),
    "laplace, rounded": lambda: RoundedLaplace(Fraction(1 << 40)),
    "gaussian, rounded": lambda: RoundedGaussian(Fraction(1 << 80)),
}


@pytest.mark.parametrize("name", FRESH)
def test_threads_share_no_state(name: str) -> None:
    """Eight threads use one fresh sampler at once, each with its own bits: each gets what those bits give alone."""

    def use(sampler: Sampler, seed: int) -> list[int]:
        stream = Stream(seed)
        return [*sampler.sample(5000, stream).tolist(), *(sampler.draw(stream) for _ in range(20))]

    alone = [use(FRESH[name](), seed) for seed in range(8)]
    shared = FRESH[name]()
    found: dict[int, list[int]] = {}
    ready = threading.Barrier(8)

    def work(seed: int) -> None:
        ready.wait()
        found[seed] = use(shared, seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that threads are interrupted everywhere
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(old)
    assert [found[seed] for seed in range(8)] == alone


def test_threads_on_the_system_source_differ() -> None:
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(SYSTEM.bits(128))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 16


def test_many_bytes_are_drawn_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenSSL takes a C int: 2 GiB at once were an OverflowError, after the charge."""
    asked: list[int] = []

    def many(size: int) -> bytes:
        asked.append(size)
        return bytes([len(asked)]) * size

    monkeypatch.setattr(entropy, "_many", lambda: many)
    monkeypatch.setattr(entropy, "MOST", 1000)
    assert entropy._random(2500) == b"\1" * 1000 + b"\2" * 1000 + b"\3" * 500
    assert entropy._random(2000) == b"\4" * 1000 + b"\5" * 1000
    assert asked == [1000, 1000, 500, 1000, 1000]


def test_no_piece_is_beyond_a_c_int() -> None:
    assert entropy.MOST < 2**31
