"""Many coins at once: each has exactly its chance, and both clients read the same bytes for them."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest

from curador.local.devices import curador_device as client
from tests.local.devices.both import Scripted, in_node, script_for, to_text

EVERY = 1 << 16
THRESHOLDS = [1, 2, 3, 255, 256, 257, 17_626, 1 << 15, EVERY - 1]


def digits(bits: int, lanes: int) -> bytes:
    """The planes by which the i-th of so many coins compares the number i."""
    planes = [int("".join(str(i >> j & 1) for i in range(lanes)), 2) for j in reversed(range(bits))]
    return b"".join(plane.to_bytes(lanes // 8, "big") for plane in planes)


@pytest.fixture(scope="module")
def every_number() -> bytes:
    return digits(16, EVERY)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_of_all_numbers_those_below_the_threshold_say_one(threshold: int, every_number: bytes) -> None:
    """All 2**16 numbers are compared, so as many coins as the threshold say are 1: the chance is exact."""
    stream = BytesIO(every_number)
    found = client.Source(lambda n: stream.read(n).ljust(n, b"\0")).coins(threshold, 16, EVERY)
    assert found == int("1" * threshold + "0" * (EVERY - threshold), 2)


@pytest.mark.parametrize(("threshold", "bits"), [(0x8001, 16), (0x80000001, 32), (0x00010000, 32), (0x7FFFFFFF, 32)])
def test_coins_are_independent_of_each_other(threshold: int, bits: int) -> None:
    """Each is as if it were alone, whatever the others' numbers are, though all end when the last is decided."""
    numbers = [threshold - 1, threshold, threshold + 1, 0, (1 << bits) - 1, threshold ^ 1, threshold >> 1]
    for chosen in ([x] * 7 for x in numbers):
        for i, other in enumerate(numbers):
            mixed = [*chosen[:i], other, *chosen[i + 1 :]]
            planes = [sum((x >> j & 1) << (7 - k) for k, x in enumerate(mixed)) for j in reversed(range(bits))]
            stream = BytesIO(bytes(planes).ljust(256, b"\0"))
            found = client.Source(stream.read).coins(threshold, bits, 7)
            assert found == sum((x < threshold) << (6 - k) for k, x in enumerate(mixed))


def test_nothing_is_read_for_what_is_certain_or_settled() -> None:
    assert client.Source(lambda n: b"").coins(1 << 16, 16, 5) == 0b11111
    source = client.Source(lambda n: (b"\x0f" + b"\xaa" * n)[:n])
    assert source.coins(1 << 15, 16, 8) == 0xF0  # one digit decides a fair coin
    assert source.take(1) == 0xAA


def test_both_clients_read_the_same_bytes() -> None:
    cases = [(t, bits, n) for bits in (16, 32) for t in (1, 1 << 15, 40_001, 1 << 16) for n in (2, 7, 8, 9, 1024)]
    scripts = [script_for({"t": t}, 9000, i) for i, (t, _, _) in enumerate(cases)]
    jobs: list[dict[str, Any]] = [
        {"do": "coins", "threshold": t, "bits": bits, "n": n, "script": to_text(script)}
        for (t, bits, n), script in zip(cases, scripts, strict=True)
    ]
    for (t, bits, n), script, theirs in zip(cases, scripts, in_node(jobs), strict=True):
        source = Scripted(script)
        mine = client._pack(source.coins(t, bits, n), n).hex()
        assert theirs == {"coins": mine, "next": source.take(4)}
