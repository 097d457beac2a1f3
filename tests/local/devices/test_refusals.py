"""Tasks that are not what they say: altered, mistaken, too costly or too large.  Both clients refuse them, and why."""

from __future__ import annotations

import json
from fractions import Fraction
from hashlib import sha256
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curador.errors import CuradorError, InvalidParameter
from curador.local import (
    KRR,
    OUE,
    SUE,
    CountMean,
    DBitFlip,
    Duchi,
    HadamardCountMean,
    HeavyHitters,
    Hybrid,
    LocalLaplace,
    Longitudinal,
    Rappor,
    Record,
    SubsetSelection,
)
from curador.local.collect.wire import publish_task, read_task
from curador.local.devices import curador_device as client
from curador.local.task.identity import LABELS, canonical
from tests.local.devices.both import document, in_node, or_refused
from tests.local.every_task import EVERY_TASK
from tests.local.exact_law import within

pytestmark = pytest.mark.xdist_group("refusals")  # one Node for the whole file

FURTHER = [HeavyHitters(4), Longitudinal(4, 3, values=3, first="1/2")]
BODIES: list[dict[str, Any]] = [document(task)["task"] for task in (*(task for task, _ in EVERY_TASK), *FURTHER)]
HITTERS: dict[str, Any] = document(HeavyHitters(4, rows=9, places=65_521))["task"]
NO_INTEGERS = [0, -1, 2**32, 2**53, 10**30, True, 1.5, "1", None, [], {}]
NO_FRACTIONS = [
    "0",
    "-1",
    "2/2",
    "1/1",
    "1/0",
    "nan",
    "inf",
    "1e3",
    "0.5",
    " 1",
    "1 ",
    "+1",
    "٣",
    "1/-2",
    "",
    "01",
    "-0",
]
NO_KEYS = [
    [],
    ["a"],
    ["a", "a"],
    [1, True],
    [1, 1.5],
    [None, 1],
    [[], 1],
    1,
    0,
    -3,
    2**25,
    "ab",
    {"a": 1, "b": 2},
    None,
]


def signed(body: Any) -> dict[str, Any]:
    """A document whose id is right, whatever the task in it."""
    if isinstance(body, dict) and not body.get("name"):
        body = {**body, "name": "q", "period": None, "segment": None}
    return {"curador": 1, "id": sha256(canonical(body)).digest()[:16].hex(), "task": body}


def instead(name: str, value: Any) -> list[Any]:
    """What a field of this name could be instead."""
    if name == "values":  # the library raises a ratio to this power
        return [x for x in (*NO_INTEGERS, value + 1) if type(x) is not int or x < 9]
    if isinstance(value, int) and name != "keys":
        return [*NO_INTEGERS, value + 1, value + 2, value + 1000, value - 1, 2 * value]
    if name in ("epsilon", "low", "high"):
        slightly = Fraction(value) * Fraction(999_999, 1_000_000)
        return [*NO_FRACTIONS, *NO_INTEGERS, str(slightly), "1/1000", "9" * 41, "1/" + "9" * 41, "2000", "1/1073741825"]
    if name == "keys":
        return NO_KEYS
    return [*NO_INTEGERS, "zzz", ["a"], value * 2 if isinstance(value, list) else "krr"]


def mutants() -> list[dict[str, Any]]:
    found = []
    for body in BODIES:
        for name, value in body.items():
            if name in LABELS:  # test_identity.py
                continue
            found += [
                {**body, name: other}
                for other in instead(name, value)
                if other != value or type(other) is not type(value)
            ]
            found.append({other: x for other, x in body.items() if other != name})
        found.append({**body, "more": 1})
    # Reports that say nothing, which is where the two ratios meet.
    nothing = {"hadamard": {"true": 1 << 31}, "sue": {"own": 9, "other": 9}, "rappor": {"low": 9, "high": 9}}
    found += [{**body, **nothing[body["mechanism"]]} for body in BODIES if body["mechanism"] in nothing]
    record = document(Record({"x": 3, "y": ["a", "b"]}, 2, sampled=1))["task"]
    for wrong in (
        document(Longitudinal(3, 2, values=1, first=1))["task"],
        document(OUE(3, 4))["task"],
        {**document(OUE(3, 2))["task"], "own": 60_000},
        record,
        {},
        None,
    ):
        found.append({**record, "parts": [record["parts"][0], wrong]})
    found += [{**HITTERS, "rows": rows} for rows in (372, 373, 65_521)]  # the first can be counted
    found += [{**record, "names": names} for names in (["x"], ["x", "x"], ["x", 1], "xy", ["x", "y", "z"], [])]
    return found


MUTANTS = mutants()
NO_MECHANISMS: list[Any] = ["", "KRR", "__proto__", "constructor", 1, None, []]
ENVELOPES: list[Any] = [
    None,
    [],
    {},
    "task",
    7,
    {**signed(BODIES[0]), "curador": 2},
    {**signed(BODIES[0]), "curador": True},
    {**signed(BODIES[0]), "curador": "1"},
    {**signed(BODIES[0]), "id": "0" * 32},
    {**signed(BODIES[0]), "id": None},
    {**signed(BODIES[0]), "id": signed(BODIES[0])["id"].upper()},
    {**signed(BODIES[0]), "task": BODIES[1]},
    {**signed(BODIES[0]), "task": "krr"},
    {**signed(BODIES[0]), "task": [BODIES[0]]},
    {**signed(BODIES[0]), "more": 1},
    {"curador": 1, "task": BODIES[0]},
    *(signed({"mechanism": kind}) for kind in NO_MECHANISMS),
]


@pytest.fixture(scope="module")
def in_javascript() -> list[Any]:
    documents = [*map(signed, MUTANTS), *ENVELOPES, *map(signed, BODIES)]
    return in_node([{"do": "read", "document": one} for one in documents])


def by_library(one: Any) -> bool:
    """Whether the library, too, takes a document."""
    try:
        read_task(one)
    except (CuradorError, TypeError):
        return False
    return True


def test_both_clients_and_the_library_agree_on_every_mutant(in_javascript: list[Any]) -> None:
    taken = 0
    for body, theirs in zip(MUTANTS, in_javascript, strict=False):
        mine = or_refused(lambda body=body: {"id": client.read_task(signed(body)).id})
        assert mine == theirs, body
        if "id" in mine:  # another task, but one that keeps its word: a smaller threshold, say
            assert by_library(signed(body)), body
            taken += 1
    assert len(MUTANTS) > 1500
    assert taken < len(MUTANTS) / 10


def test_what_a_client_refuses_and_the_library_takes() -> None:
    """Only what a device in another language could not read alike, and some records: see docs/reference/wire.md."""
    for body in MUTANTS:
        mine = or_refused(lambda body=body: client.read_task(signed(body)))
        if isinstance(mine, dict) and by_library(signed(body)):
            long = any(isinstance(x, str) and len(x) > 40 for x in body.values())
            assert long or body["mechanism"] == "record" or body.get("rest") is True, (mine, body)


def test_what_is_too_large_to_count_is_refused() -> None:
    """A tally has 11 (1 + rows * 2**16) numbers here, of which 2**28 are the most."""
    client.read_task(signed({**HITTERS, "rows": 372}))
    with pytest.raises(client.Refused, match="too many"):
        client.read_task(signed({**HITTERS, "rows": 373}))
    assert [by_library(signed({**HITTERS, "rows": rows})) for rows in (372, 373)] == [True, False]


@pytest.mark.parametrize("case", range(len(ENVELOPES)))
def test_documents_are_refused_that_were_altered(case: int, in_javascript: list[Any]) -> None:
    mine = or_refused(lambda: client.read_task(ENVELOPES[case]))
    assert set(mine) == {"refused"}
    assert mine == in_javascript[len(MUTANTS) + case]


def test_good_ones_are_read(in_javascript: list[Any]) -> None:
    assert in_javascript[-len(BODIES) :] == [{"id": client.read_task(signed(body)).id} for body in BODIES]


@pytest.mark.parametrize(
    ("name", "task"), [("keep", KRR(3, 1)), ("slope", Duchi(0, 1, 1)), ("inside", Hybrid(0, 1, 3))]
)
def test_one_step_beyond_the_promise_is_refused(name: str, task: Any) -> None:
    body = document(task)["task"]
    client.read_task(signed(body))
    with pytest.raises(client.Refused, match="do not keep epsilon"):
        client.read_task(signed({**body, name: body[name] + 1}))
    with pytest.raises(client.Refused, match="altered"):
        client.read_task({**document(task), "task": {**body, name: body[name] - 1}})


@given(
    st.fractions(min_value=Fraction(1, 10**6), max_value=70, max_denominator=10**6),
    st.integers(1, 2**80),
    st.integers(1, 2**40),
)
def test_what_is_shown_is_so(epsilon: Fraction, n: int, d: int) -> None:
    """By eighty digits of another library, which here tells the two apart or fails."""
    assert client._keeps(n, d, epsilon) == within(Fraction(n, d), min(epsilon, Fraction(64)))


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1), Fraction(22, 7), Fraction(60)])
def test_the_bound_is_tight(epsilon: Fraction) -> None:
    """To forty digits and more on both sides."""
    from tests.local.exact_law import MP

    d = 10 ** (50 - int(epsilon / 2))
    near = int(MP.exp(MP.mpf(epsilon.numerator) / epsilon.denominator) * d)
    assert client._keeps(near, d, epsilon)
    assert not client._keeps(near + 1, d, epsilon)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(ANYTHING)
def test_anything_else_is_refused_and_nothing_worse_happens(found: Any) -> None:
    with pytest.raises(client.Refused):
        client.read_task(found)


@given(st.data())
def test_a_field_that_is_anything_makes_a_sound_task_or_none(data: Any) -> None:
    body = dict(data.draw(st.sampled_from(BODIES)))
    name = data.draw(st.sampled_from(sorted(body)))
    body[name] = data.draw(ANYTHING | st.integers(0, 2**16) | st.integers(0, 2**32))
    try:
        text = signed(body)
    except ValueError:  # JSON has no such floats
        return
    if name == "values" and isinstance(body[name], int):
        body[name] %= 9
        text = signed(body)
    if not isinstance(or_refused(lambda: client.read_task(text)), dict):
        assert by_library(text)


@given(st.sampled_from(range(len(BODIES))), ANYTHING)
def test_any_value_is_answered(case: int, value: Any) -> None:
    read = client.read_task(signed(BODIES[case]))
    assert len(client.report(read, value)) == read.report_bytes


# ---- what would take too long, or too much room ----------------------------------------------------------------------

LIMIT = 1 << 16


def wider(body: dict[str, Any], names: int) -> dict[str, Any]:
    """A record's body with its first part so many times."""
    return {**body, "names": [f"a{i}" for i in range(names)], "parts": [body["parts"][0]] * names}


LARGE = {**Record({"x": 1 << 18}, 4).to_json(), "parts": [OUE(1 << 18, 4).part_json()]}
SMALL = Record({"x": 2}, 1).to_json()
SKETCH = CountMean(1, places=1 << 18).to_json()
FILTER = Rappor(1, bloom=4096).to_json()
LONG = Longitudinal(1 << 24, 9, values=1, first=1).to_json()
HYBRID = Hybrid(0, 1, 3).to_json()
BYTES = "Reports on this task would have more than 65536 bytes."
KEPT = "A device would have to remember more than 4096 bits."
APART = "Doubles do not tell the values between low and high apart."
TOO_MUCH: list[tuple[Any, str | None]] = [
    (OUE(1 << 19, 1).to_json(), None),
    (OUE((1 << 19) + 1, 1).to_json(), BYTES),
    (SUE((1 << 19) + 1, 1).to_json(), BYTES),
    (SubsetSelection((1 << 19) + 1, 1, chosen=2).to_json(), BYTES),
    (DBitFlip(1 << 24, 1, 1 << 14).to_json(), None),
    (DBitFlip(1 << 24, 1, (1 << 14) + 1).to_json(), BYTES),
    (KRR(1 << 24, 1).to_json(), None),
    (SKETCH, None),
    ({**SKETCH, "rows": 1025}, "rows and places are too many to count."),
    (HadamardCountMean(1, rows=16, places=1 << 24).to_json(), None),
    ({**HadamardCountMean(1, rows=16, places=1 << 24).to_json(), "rows": 17}, "rows and places are too many to count."),
    ({**SKETCH, "rows": 1, "places": 1 << 19}, BYTES),
    (FILTER, None),
    ({**FILTER, "bloom": 8192}, "bloom is not a power of two from 2 to 4096."),
    ({**LONG, "values": 85, "epsilon": "1000"}, None),
    ({**LONG, "values": 86, "epsilon": "1000"}, KEPT),
    (KRR([*range(LIMIT)], 1).to_json(), None),
    (KRR([*range(LIMIT + 1)], 1).to_json(), "More than 65536 keys are listed."),
    (wider(SMALL, 1024), None),
    (wider(SMALL, 1025), "A record has more than 1024 attributes."),
    ({**wider(LARGE, 4), "sampled": 1}, None),
    ({**wider(LARGE, 4), "epsilon": "8", "sampled": 2}, BYTES),
    ({**HYBRID, "low": "0", "high": "9" * 40}, None),
    (
        {**HYBRID, "low": "0", "high": "9" * 41},
        'high is not a fraction such as "1" or "1/2", of 40 digits each at most.',
    ),
    ({**HYBRID, "low": str(2**40 - 1), "high": str(2**40)}, None),
    ({**HYBRID, "low": str(-(2**40) - 1), "high": str(-(2**40))}, APART),
    ({**HYBRID, "low": str(2**40), "high": str(2**40 + 1)}, APART),
    ({**HYBRID, "slope": 0, "window": 0}, "slope is not from 1 to 65535."),
    ({**HYBRID, "slope": 65_535, "window": 0}, "This task's thresholds do not keep epsilon = 3."),
    ({**HYBRID, "epsilon": "1024"}, None),
    ({**HYBRID, "epsilon": "1025"}, "epsilon is not from 2**-30 to 1024."),
    (LocalLaplace(0, 1, Fraction(1, 1 << 30)).to_json(), None),
    ({**LocalLaplace(0, 1, 1).to_json(), "epsilon": "1/1073741825"}, "epsilon is not from 2**-30 to 1024."),
]
"""What is just not too much, and what is."""


def test_both_refuse_what_is_too_much() -> None:
    documents = [signed(json.loads(json.dumps(body))) for body, _ in TOO_MUCH]
    mine = [or_refused(lambda one=one: {"id": client.read_task(one).id}) for one in documents]
    assert [answer.get("refused") for answer in mine] == [why for _, why in TOO_MUCH]
    assert in_node([{"do": "read", "document": one} for one in documents]) == mine


def test_a_record_of_long_fractions_is_read_and_summed() -> None:
    """As many parts as there may be, whose denominators have nothing in common: the sum has 40,000 digits."""
    epsilons = [Fraction(10**36 + i, 10**39 + 2 * i + 1) for i in range(1024)]
    part = {"mechanism": "krr", "keys": 2, "rest": None, "bits": 32, "keep": 1 << 20}
    body = {
        "mechanism": "record",
        "names": [f"a{i}" for i in range(1024)],
        "parts": [{**part, "epsilon": str(epsilon)} for epsilon in epsilons],
        "sampled": 1024,
    }
    enough = Fraction(ceil(sum(epsilons) * 10**30), 10**30)
    documents = [signed({**body, "epsilon": str(x)}) for x in (enough, enough - Fraction(1, 10**30))]
    mine = [or_refused(lambda one=one: {"id": client.read_task(one).id}) for one in documents]
    assert [set(answer) for answer in mine] == [{"id"}, {"refused"}]
    assert in_node([{"do": "read", "document": one} for one in documents]) == mine


def test_what_devices_refuse_is_not_published() -> None:
    with pytest.raises(InvalidParameter, match="No device would answer this task: Reports"):
        publish_task(OUE((1 << 19) + 1, 1).named("q"))
