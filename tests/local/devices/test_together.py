"""Given the same bytes, the two clients send the same messages, down to the last byte that they read."""

from __future__ import annotations

import base64
import math
from fractions import Fraction
from typing import Any

import numpy as np
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
from curador.local.collect.wire import sound_reports
from curador.local.devices import curador_device as client
from tests.local.devices.both import Scripted, document, for_node, in_node, or_refused, plain, script_for, to_text
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
EDGES: list[Any] = [2**53, 2**60, -(2**63), 2**63 - 1, 1 - 2**63, 2.0**60, -(2.0**63), 10**400, 1e300]
ANY: list[Any] = [
    *ODD,
    *EDGES,
    "b",
    0,
    -1,
    7,
    1.0,
    -0.0,
    2**31,
    "水",
    True,
    False,
    None,
    1.5,
    math.nan,
    math.inf,
    [],
    {},
]
NUMBERS = [0.1, -0.0, 1 / 3, 22 / 7, 5e-324, -5e-324, 1e308, -1e308, 3, 0.1 + 0.2, 2.5, 10**18, math.pi]
NO_NUMBERS = [math.nan, math.inf, -math.inf, "1", None, True, [1], {}, 10**400, -(10**400)]

FURTHER: list[tuple[Any, Any]] = [
    (KRR(ODD, 1, rest="1"), ANY),
    (KRR(ODD, "1/3"), ANY),
    (KRR(70_000, 9), [0, 69_999, 256, 65_536, -1, "a", *ANY]),
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
    (LocalLaplace(-1, 1, 1024), NUMBERS),
    (LocalLaplace(-1, 1, Fraction(1, 1 << 30)), [0.0] * 5),
    (Duchi("1/3", "22/7", 1), [*NUMBERS, *NO_NUMBERS]),
    (Duchi(0, "1e-39", 1), [*NUMBERS, 5e-40]),
    (Duchi(2**40 - 1, 2**40, 1), [*NUMBERS, 2.0**40 - 0.5]),
    (Piecewise("-1e39", "1e39", 8), [*NUMBERS, 5e38]),
    (Piecewise("0.1", "0.3", 1, window=1), [*NUMBERS, 0.2, 0.15]),
    (Hybrid("0.1", "0.3", 1, mix=1), [*NUMBERS, 0.2, 0.15, *NO_NUMBERS]),
    (Hybrid("0.1", "0.3", 1, mix=2**32 - 1), [*NUMBERS, 0.2]),
    (DuchiVector(0, 1, 1, 1), [[x] for x in NUMBERS]),
    (DuchiVector(0, 1, 1, 9), [[0.1 * i for i in range(9)], [1] * 8, [1] * 10, 1.0, "123456789", None, NO_NUMBERS]),
    (SquareWave("0.1", "0.7", 1, buckets=6), [*NUMBERS, 0.2, 0.3, 0.4, 0.5, 0.6, *NO_NUMBERS]),
    (SquareWave(0, 1, 1, buckets=2), NUMBERS),
    (SquareWave(0, 1, 1, buckets=65_536), NUMBERS),
    (DBitFlip(300, 3, 300), [0, 299]),
    (DBitFlip(ODD, 3, 1), ANY),
    (Rappor(2, bloom=2, hashes=1, cohorts=1), ANY),
    (Rappor(2, bloom=4, hashes=16, cohorts=65_536), ANY),
    (CountMean(1, rows=1, places=2), ANY),
    (HadamardCountMean(1, rows=2048, places=1 << 17), ANY),
    (HadamardCountMean(1, rows=2, places=2), ANY),
    (Longitudinal(ODD, 3, values=3, first="1/2", bits=16), ANY),
    (
        HeavyHitters(4),
        [*ANY, "coffee" * 9, "teé" * 9, "a" * 11 + "😀", "a" * 12, "a" * 13, "x\udc00\ud800"],
    ),
    (HeavyHitters(2, length=1, rows=1, places=2, last=64), ["", "a", "é", "水", "ab"]),
    (
        HeavyHitters(2, kind="integers", length=6, rows=800, places=65_521),
        [*ANY, 2**47, -(2**47), -(2**50), 2**47 - 1],
    ),
    (HeavyHitters(9, kind="integers", length=64, places=3001, last=1), [*ANY, 255, 256]),
    (Record({"x": Range(0, 1)}, 1), [{"x": 0.5}, {"x": 2}, {"y": 1}, {"x": math.nan}, {}, [], {"x": 1, "y": 2}]),
    (
        Record({"x": Range(0, 1), "__proto__": 300, "k": ODD}, 9, sampled=3),
        [{"x": 0.5, "__proto__": 7, "k": "a"}, {"x": 0.5, "__proto__": 300, "k": "a"}, {"k": 1.0}, None, "xk", []],
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
    assert all("report" in answer for answer in mine["sent"])  # whatever the value is


@pytest.mark.parametrize(("value", "minus", "report"), [(0, 1, -64 * 64), (1, 0, 65536 + 64 * 64)])
def test_both_hold_laplace_noise_at_64_scales_beyond_the_bounds(value: float, minus: int, report: int) -> None:
    """The level; an exponential of 100 scales, each a run of coins 1, 1/2 and not 1/3; its sign."""
    task = LocalLaplace(0, 1, 1024)  # of scale 64
    script = bytes([1, 0, 0, *[0, 1] * 100, 1, minus]).ljust(512, b"\0")
    mine = client.message(client.read_task(document(task)), value, Scripted(script))
    job = {"do": "messages", "document": document(task), "values": [value], "script": to_text(script)}
    assert in_node([job])[0]["sent"] == [mine]
    bytes_ = base64.urlsafe_b64decode(mine["report"] + "=")
    assert int.from_bytes(bytes_, "big", signed=True) == report
    farther = report + (1 if report > 0 else -1)
    rows = np.frombuffer(bytes_ + farther.to_bytes(8, "big", signed=True), np.uint8).reshape(2, 8)
    assert sound_reports(task, rows).tolist() == [True, False]


def test_every_mechanism_is_here() -> None:
    from curador.local.task import task

    assert {one.mechanism for one, _ in ALL} == set(client.KINDS)
    assert set(task._KINDS) == set(client.KINDS)


NO_KEYS: list[Any] = [True, False, None, 1.5, -1, math.nan, math.inf, 2**70, [], {}, b"a"]
KEYED = [KRR(["a", 1, "z"], 1, rest="z"), KRR(["a", 1, "z"], 1), KRR(3, 1, rest=2), KRR(3, 1)]
"""With a key for the rest and without, listed and numbered."""


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        ("a", [0, 0, 2, 0]),
        (1, [1, 1, 1, 1]),
        (1.0, [1, 1, 1, 1]),
        ("1", [1, 1, 1, 1]),  # as an HTML input gives it
        ("one", [2, 0, 2, 0]),
        (0, [2, 0, 0, 0]),
        (2, [2, 0, 2, 2]),
        *((other, [2, 0, 2, 0]) for other in NO_KEYS),
    ],
)
def test_what_is_not_listed_is_the_rest_or_the_first(value: Any, keys: list[int]) -> None:
    assert [client.read_task(document(task)).seen(value) for task in KEYED] == keys


LAST = 2**32


@pytest.mark.parametrize(
    ("value", "place"),
    [
        *((-1, 0), (5, LAST // 2), (99, LAST), (math.inf, LAST), (-math.inf, 0), (10**400, LAST), (-(10**400), 0)),
        *((math.nan, 0), ("5", LAST // 2), ("five", 0), (None, 0), (True, 0), ([5], 0), ({}, 0)),
    ],
)
def test_what_is_no_number_counts_as_low(value: Any, place: int) -> None:
    assert client.read_task(document(Duchi(0, 10, 1))).seen(value) == place


def test_what_is_no_key_counts_as_the_empty_string() -> None:
    read = client.read_task(document(CountMean(1)))
    assert [read.seen(x) for x in ("", "1", 1, 1.0, 2**63 - 1, 1 - 2**63)] == [
        *(b"s", b"s1", b"i1", b"i1", b"i9223372036854775807", b"i-9223372036854775807")
    ]
    others: list[Any] = [None, True, 1.5, math.nan, math.inf, 2**63, -(2**63), 10**4300, [], {}]
    assert {read.seen(x) for x in others} == {b"s"}


def test_what_heavy_hitters_make_of_anything() -> None:
    words, numbers = HeavyHitters(2, length=2), HeavyHitters(2, kind="integers", length=2)
    others: list[Any] = [None, 1, True, [], ""]
    assert {client.read_task(document(words)).seen(x) for x in others} == {b"\xff\xff"}
    read = client.read_task(document(numbers))
    assert {read.seen(x) for x in (None, "seven", True, math.nan, 0, 0.9, -0.9)} == {b"\x80\x00"}
    assert {read.seen(x) for x in (10**400, math.inf, 2**15 - 1, 32767.5, 1e300)} == {b"\xff\xff"}
    assert {read.seen(x) for x in (-(10**400), -math.inf, -(2**15), -1e300)} == {b"\0\0"}
    assert read.seen(-1.5) == read.seen(-1) == b"\x7f\xff"
