"""What counts as a number, in both clients alike, and what a developer is told about it."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from curador.errors import InvalidValue
from curador.local import (
    KRR,
    CountMean,
    Duchi,
    DuchiVector,
    HeavyHitters,
    Range,
    Rappor,
    Record,
    SquareWave,
)
from curador.local.devices import curador_device as client
from tests.local.devices.both import Scripted, document, for_node, in_node, script_for, to_text

pytestmark = pytest.mark.xdist_group("together")


class Stars(IntEnum):
    THREE = 3


class Hostile(int):
    def __int__(self) -> int:
        raise RuntimeError("no")

    def __index__(self) -> int:
        raise RuntimeError("no")


TENS: list[Any] = [10, 10.0, np.int64(10), np.uint8(10), np.float32(10), np.float64(10), Decimal(10), Fraction(10)]
TEXTS = ["10", " 10\n", "+10", "10.", "10.0", "1e1", "1E+1", "0.1e2", "\t10\f\r", "0010"]
NO_TEXTS = ["", " ", "ten", "1_0", "0x0a", "10 000", "1e", ".", "+", "١٠", "１０", "Infinity", "NaN", "10n", "\v10"]
NO_TEXTS += ["\xa010", "1,0", "1.0.0", "--1", "1" * 65, "1" + " " * 64, "true", "inf", "1e1e1", "e5", "10\x00"]
DUCHI, KEYS, STARS = Duchi(0, 40, 1), KRR([*range(5, 20), "x"], 1), KRR(20, 1)


def read(task: Any) -> Any:
    return client.read_task(document(task))


@pytest.mark.parametrize("task", [DUCHI, KEYS, STARS, HeavyHitters(4, kind="integers", length=2)], ids=lambda t: t.id)
def test_every_kind_of_ten_is_ten(task: Any) -> None:
    known = read(task)
    assert {str(known.seen(value)) for value in (*TENS, *TEXTS)} == {str(known.seen(10))}
    assert {str(known.seen(value)) for value in (*NO_TEXTS, None, True, math.nan)} == {str(known.seen(None))}
    assert known.seen(10) != known.seen(None)


def test_numbers_of_other_kinds() -> None:
    known = read(DUCHI)
    top, bottom = known.seen(40), known.seen(0)
    assert known.seen(Decimal("1e999999")) == known.seen(Fraction(10**400)) == known.seen("1e999") == top
    assert known.seen(Fraction(-(10**400))) == known.seen("-1e999") == known.seen(Decimal("-inf")) == bottom
    nothing: list[Any] = [Decimal("nan"), Decimal("snan"), np.float32("nan"), np.bool_(True), 1j, Hostile(9), object()]
    assert {known.seen(x) for x in nothing} == {bottom}
    assert known.seen(np.float32(0.1)) == known.seen(float(np.float32(0.1)))
    assert known.seen("0.1") == known.seen(Decimal("0.1")) == known.seen(0.1)
    assert read(STARS).seen(Stars.THREE) == 3
    assert read(DuchiVector(0, 1, 1, 2)).seen(np.array([0.5, 1.0])) == read(DuchiVector(0, 1, 1, 2)).seen([0.5, 1])


def test_the_library_takes_decimals_too() -> None:
    assert DUCHI.read([Decimal("0.1"), np.float32(0.5), Fraction(1, 4)]).tolist() == [0.1, 0.5, 0.25]
    for bad in (Decimal("nan"), Decimal("snan")):
        with pytest.raises(InvalidValue):
            DUCHI.read([bad])


def test_a_listed_text_is_itself_before_it_is_a_number() -> None:
    both = read(KRR([1, "1", "2", 3], 1, rest="2"))
    assert [both.seen(x) for x in (1, "1", "1.0", " 1", 2, "2", "3", 3)] == [0, 1, 0, 0, 2, 2, 3, 3]
    free = read(CountMean(4))
    assert free.seen("10") == b"s10" != free.seen(10) == free.seen(np.int64(10))


def test_rest_must_be_listed_as_it_is() -> None:
    body = {**document(KRR([1, "x"], 1))["task"], "rest": "1"}
    found = {"curador": 1, "id": client._digest(body)[:32], "task": body}
    with pytest.raises(client.Refused, match="rest is none"):
        client.read_task(found)
    assert in_node([{"do": "read", "document": found}]) == [{"refused": "rest is none of the keys."}]


VALUES: list[Any] = [
    10,
    10.5,
    -3,
    1e300,
    math.inf,
    -math.inf,
    math.nan,
    None,
    True,
    [],
    {},
    2**60,
    -(2**70),
    "tea",
    "té",
]
VALUES += [
    *TEXTS,
    *NO_TEXTS,
    "coffee" * 3,
    "a\ud800",
    "\ufeffa",
    "a\ufeff",
    "0.1",
    "1e-400",
    "-0",
    -0.0,
    0.1,
    "123456789012345678901",
]
VALUES += ["\ufeffa", "a\ufeff"]  # a mark that begins a text is part of it
MIXED = Record({"age": Range(0, 100), "stars": 5}, 1)
TASKS = [
    *(
        DUCHI,
        KEYS,
        STARS,
        Duchi("1/3", "22/7", 1),
        SquareWave(-5, 5, 1, buckets=4),
        CountMean(4, rows=8, places=32),
        Rappor(4, bloom=16),
    ),
    *(
        HeavyHitters(4, length=6),
        HeavyHitters(4, kind="integers", length=2),
        HeavyHitters(4, kind="integers", length=9),
    ),
]
CASES: list[tuple[Any, list[Any]]] = [
    *((task, VALUES) for task in TASKS),
    (DuchiVector(0, 20, 1, 3), [[1, "10", 30], ["x"], None, [1, 2, 3, 4], "123"]),
    (MIXED, [{"age": "30", "stars": "4"}, {"age": "x"}, {"stars": 9, "other": 1}, None, []]),
]


def unpacked(x: Any) -> Any:
    if isinstance(x, dict):
        return int(x["$integer"]) if "$integer" in x else {name: unpacked(y) for name, y in x.items()}
    return [unpacked(y) for y in x] if isinstance(x, list) else x


def test_both_clients_understand_and_tell_the_same() -> None:
    script = script_for({}, 60_000, 11)
    jobs: list[dict[str, Any]] = []
    for task, values in CASES:
        common = {"document": document(task), "values": [for_node(value) for value in values]}
        jobs += [{"do": "checks", **common}, {"do": "messages", **common, "script": to_text(script)}]
    theirs = in_node(jobs)
    for i, (task, values) in enumerate(CASES):
        known = read(task)
        told = [client.check(known, value) for value in values]
        assert unpacked(theirs[2 * i]) == json.loads(json.dumps(told))
        source = Scripted(script)
        assert theirs[2 * i + 1]["sent"] == [client.message(known, value, source) for value in values]


def test_a_developer_is_told_what_a_value_counts_as() -> None:
    assert KEYS.check("x") == {"counts_as": "x", "note": ""}
    assert KEYS.check(99) == {"counts_as": 5, "note": "It is not among the keys."}
    assert DUCHI.check("50") == {"counts_as": 40.0, "note": "It is beyond the bounds."}
    assert DUCHI.check("5O") == {"counts_as": 0.0, "note": "It is not a number."}
    assert HeavyHitters(4, length=4).check("coffee") == {"counts_as": "cof", "note": "It is cut."}
    assert MIXED.check({"age": 30})["counts_as"]["stars"]["note"] == "It is not among the keys."


def test_to_check_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client.Source, "_more", lambda self, n: pytest.fail("something was drawn"))
    for task, values in CASES:
        for value in values:
            task.check(value)


def test_one_report_has_the_law_of_many() -> None:
    """The library's single report is what the client draws, and it takes every value."""
    known = read(STARS.named("q"))
    script = script_for({}, 4000, 2)
    assert STARS.answer("10") in {bytes([i]) for i in range(20)}
    one = client.report(known, 3, Scripted(script))
    assert one == client.report(STARS.named("q")._client, 3, Scripted(script))
