"""Given the same bytes, the two clients send the same messages, down to the last byte that they read."""

from __future__ import annotations

import math
from typing import Any

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
    LocalLaplace,
    Longitudinal,
    Piecewise,
    Range,
    Rappor,
    Record,
    SquareWave,
    SubsetSelection,
)
from curador.local.clients import curador_device as client
from tests.local.clients.both import Scripted, document, for_node, in_node, or_refused, plain, script_for, to_text
from tests.local.every_task import EVERY_TASK

pytestmark = pytest.mark.xdist_group("together")  # one Node for the whole file

ODD: list[str | int] = [
    "a",
    'q"\\',
    "\n\t\x00",
    "\x7f\x80",
    "\u2028",
    "\ud800",
    "😀",
    "\u07ff\u0800",
    "\uffff\U00010000",
    "",
    1,
    -5,
    "1",
    2**53 - 1,
]
ANY: list[Any] = [*ODD, "b", 0, -1, 7, 2**31, "水", True, None, 1.5, math.nan, [], {}]
NUMBERS = [0.1, -0.0, 1 / 3, 22 / 7, 5e-324, -5e-324, 1e308, -1e308, 3, 0.1 + 0.2, 2.5, 10**18, math.pi]
NO_NUMBERS = [math.nan, math.inf, -math.inf, "1", None, True, [1], {}]

FURTHER: list[tuple[Any, Any]] = [
    (KRR(ODD, 1, rest="1"), ANY),
    (KRR(ODD, "1/3"), ANY),
    (KRR(70_000, 9), [0, 69_999, 256, 65_536, -1, "a"]),
    (KRR(70_000, 9, rest=3), [0, 69_999, 70_000, 10**20, -1, "a", True, 1.5]),
    (SUE(9, "1/100"), list(range(9))),
    (OUE(300, 1), [0, 299]),
    (OLH(2, 1), [0, 1, 2]),
    (OLH(70_000, 5), [0, 69_999, 1234]),
    (Hadamard(255, 1, bits=16), [0, 254, 127]),
    (Hadamard(65_536, 2), [0, 65_535]),
    (SubsetSelection(9, 4, chosen=1), list(range(9))),
    (SubsetSelection(9, 1, chosen=8), list(range(9))),
    (LocalLaplace("1/3", "22/7", "7/1000"), [*NUMBERS, *NO_NUMBERS]),
    (LocalLaplace(-1, 1, 50), NUMBERS),
    (LocalLaplace(-1, 1, 10**6), NUMBERS),
    (LocalLaplace(-1, 1, "1/12345678912"), [0.0] * 5),
    (Duchi("1/3", "22/7", 1), [*NUMBERS, *NO_NUMBERS]),
    (Duchi(0, "1e-300", 1), [*NUMBERS, 5e-301]),
    (Piecewise("-1e300", "1e300", 8), [*NUMBERS, 5e299]),
    (Piecewise("0.1", "0.3", 1, window=1), [*NUMBERS, 0.2, 0.15]),
    (Hybrid("0.1", "0.3", 1, mix=1), [*NUMBERS, 0.2, 0.15, *NO_NUMBERS]),
    (Hybrid("0.1", "0.3", 1, mix=2**32 - 1), [*NUMBERS, 0.2]),
    (DuchiVector(0, 1, 1, 1), [[x] for x in NUMBERS]),
    (DuchiVector(0, 1, 1, 9), [[0.1 * i for i in range(9)], [1] * 8, 1.0, [math.nan] * 9, ["a"] * 9]),
    (SquareWave("0.1", "0.7", 1, buckets=6), [*NUMBERS, 0.2, 0.3, 0.4, 0.5, 0.6, *NO_NUMBERS]),
    (SquareWave(0, 1, 1, buckets=2), NUMBERS),
    (SquareWave(0, 1, 1, buckets=65_536), NUMBERS),
    (DBitFlip(300, 3, 300), [0, 299]),
    (DBitFlip(ODD, 3, 1), ANY),
    (Rappor(2, bloom=2, hashes=1, cohorts=1), ANY),
    (Rappor(2, salt="é\n😀", bloom=4, hashes=16, cohorts=65_536), ANY),
    (CountMean(1, salt="\ud800", rows=1, places=2), ANY),
    (HadamardCountMean(1, rows=65_536, places=1 << 17), ANY),
    (HadamardCountMean(1, rows=2, places=2), ANY),
    (Longitudinal(ODD, 3, values=3, first="1/2", bits=16), ANY),
    (
        HeavyHitters(4, salt="\ud800é"),
        [*ANY, "coffee" * 9, "teé" * 9, "a" * 11 + "😀", "a" * 12, "a" * 13, "x\udc00\ud800"],
    ),
    (HeavyHitters(2, length=1, rows=1, places=2, last=64), ["", "a", "é", "水", "ab"]),
    (
        HeavyHitters(2, kind="integers", length=6, rows=65_521, places=65_521),
        [*ANY, 2**47, -(2**47), -(2**50), 2**47 - 1],
    ),
    (HeavyHitters(9, kind="integers", length=64, places=3001, last=1), [*ANY, 255, 256]),
    (Record({"x": Range(0, 1)}, 1), [{"x": 0.5}, {"x": 2}, {"y": 1}, {"x": math.nan}, {}, [], {"x": 1, "y": 2}]),
    (
        Record({"x": Range(0, 1), "__proto__": 300, "k": ODD}, 9, sampled=3),
        [{"x": 0.5, "__proto__": 7, "k": "a"}, {"x": 0.5, "__proto__": 300, "k": "a"}],
    ),
]
"""Small and large words, odd keys and bounds, and values that are none."""

ALL = [(task, plain(values)) for task, values in EVERY_TASK] + [
    (task, [values[i % len(values)] for i in range(300)]) for task, values in FURTHER
]


SIZE = 1_000_000
"""More bytes than 300 reports on any of these tasks read."""


@pytest.fixture(scope="module")
def pairs() -> list[tuple[Any, Any]]:
    """What each client answers on each task, Node on all at once."""
    mine, jobs = [], []
    for seed, (task, values) in enumerate(ALL):
        script = script_for(task.to_json(), SIZE, seed)
        read, source = client.read_task(document(task)), Scripted(script)
        sent = [
            or_refused(lambda value=value, read=read, source=source: client.message(read, value, source))
            for value in values
        ]
        mine.append({"sent": sent, "next": source.take(4)})
        used = to_text(script[: source.fetched])
        jobs.append({"do": "messages", "document": document(task), "values": for_node(values), "script": used})
    return list(zip(mine, in_node(jobs), strict=True))


@pytest.mark.parametrize("case", range(len(ALL)), ids=lambda i: f"{i}-{ALL[i][0].mechanism}")
def test_the_same_bytes_make_the_same_messages(case: int, pairs: list[tuple[Any, Any]]) -> None:
    """And both read as many of them: ``next`` is what comes after."""
    mine, theirs = pairs[case]
    assert mine == theirs
    assert len(mine["sent"]) >= 300
    assert any("report" in answer for answer in mine["sent"])


def test_every_mechanism_is_here() -> None:
    from curador.local import task

    assert {one.mechanism for one, _ in ALL} == set(client.KINDS)
    assert set(task._KINDS) == set(client.KINDS)


def test_values_are_refused_and_values_are_taken() -> None:
    """So that the comparison above is not one of refusals."""
    answers = [or_refused(lambda t=t, v=v: client.message(client.read_task(document(t)), v)) for t, v in _few()]
    refused = ["refused" in answer for answer in answers]
    assert refused == [False, True, True, True, False, True, True]


def _few() -> list[tuple[Any, Any]]:
    words, number = KRR(ODD, 1, rest="1"), Duchi(0, 1, 1)
    return [
        (words, "unlisted"),
        (words, None),
        (words, math.nan),
        (KRR(ODD, 1), "unlisted"),
        (number, 7),
        (number, math.nan),
        (number, "7"),
    ]
