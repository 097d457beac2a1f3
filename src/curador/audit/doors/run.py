"""The harness: one request to D and to D', and everything that can be seen compared."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from curador.curator.curator import Curator
from curador.curator.releases.release import Release
from curador.errors import CuradorError
from curador.show.release import WARNED

ANSWERED = "answered"
UNSENT = "not sent"
"""The status of a request that a door has no way to send."""

TERMS: Mapping[str, Any] = {"because": "an attack", "override": True, "fresh": True, "anyway": True}
"""What an attacker says to buy whatever is sold."""

MASK = "#"
"""Stands where a noised number was."""


@dataclass(frozen=True)
class AttackRequest:
    """One request of an attacker: a text, its budget, and what is to be prepared before.

    >>> AttackRequest("SELECT COUNT(*) FROM people").budget["epsilon"]
    1
    """

    sql: str
    budget: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({"epsilon": 1}))
    prepare: tuple[str, tuple[str, ...]] | None = None


@dataclass(frozen=True)
class Observation:
    """Everything an attacker sees of one request, with noised numbers masked; ``numbers`` holds those, row by row.

    ``seconds`` is how long the answer took, without what was read before and after it.
    """

    status: str
    text: str
    shape: tuple[int, tuple[str, ...]]
    order: tuple[tuple[str, ...], ...]
    balance: str
    explain: str
    numbers: tuple[tuple[float | None, ...], ...] = field(default=(), compare=False)
    seconds: float = field(default=0.0, compare=False)


class Door(Protocol):
    """A way into a curator: the library, the command line, HTTP.

    To add one, write a class with ``ask``, and a function that opens it on the folder of a study (``Opens``).
    """

    def ask(self, request: AttackRequest) -> Observation:
        """Send one request, and report all that comes back, including the balance after it."""
        ...


Opens = Callable[[Path], AbstractContextManager[Door]]
"""Opens a door to the curator of ``study.toml`` in a folder, which no other door uses; nothing is bought yet."""


class Library:
    """The door of a Python program that holds a curator.

    >>> from curador.curator.curator import Curator
    >>> from curador.privacy import PureDP
    >>> from curador.query.tables.table import Table
    >>> people = Table("people.csv", columns={"age": {"type": "integer", "bounds": [0, 120]}})
    >>> stage = Curator({"people": people}, budget=PureDP(1)).rehearse(rows=50)
    >>> Library(stage).ask(AttackRequest("SELECT COUNT(*) AS n FROM people")).status
    'answered'
    """

    def __init__(self, curator: Curator, scope: str | None = None) -> None:
        self._curator, self._scope = curator, scope

    def ask(self, request: AttackRequest) -> Observation:
        """Explain, then ask, then read the balance and the history."""
        curator, explain, release = self._curator, "", None
        status, text, start = ANSWERED, "", 0.0
        try:
            if request.prepare is not None:
                curator.prepare(request.prepare[0], group_by=request.prepare[1])
            explain = str(curator.explain(request.sql, **request.budget))
            start = time.perf_counter()
            release = curator.ask(request.sql, **TERMS, **request.budget)
        except Exception as error:  # noqa: BLE001  an attacker sees whatever comes, ours or not
            status, text = type(error).__name__, error_chain(error)
        seconds = time.perf_counter() - start if start else 0.0
        charges = [(c.id, c.scopes, c.costs, c.settled, str(c.note)) for c in curator.history(last=None)]
        balance = f"{curator.budget(self._scope)} {charges}"
        if release is None:
            return Observation(status, text, (0, ()), (), balance, explain, seconds=seconds)
        return observed(release, balance, explain, seconds=seconds)


def observed(release: Release, balance: str, explain: str, beside: str = "", *, seconds: float = 0.0) -> Observation:
    """What is seen of an answer; ``beside`` is what a door says besides the release."""
    return Observation(
        ANSWERED,
        masked(release) + beside,
        (len(release), tuple(release.columns)),
        tuple(tuple(str(release[g][i]) for g in release.groups) for i in range(len(release))),
        balance,
        explain,
        tuple(tuple(_number(release[o][i]) for o in release.outputs) for i in range(len(release))),
        seconds,
    )


@contextmanager
def library(folder: Path) -> Iterator[Door]:
    """The library's door to the study in a folder, with a ledger in memory."""
    with closing(Curator(folder / "study.toml", ledger="memory:")) as curator:
        yield Library(curator)


def error_chain(error: BaseException) -> str:
    """The text of an error with its causes and contexts, which a traceback prints.

    >>> error_chain(ValueError("no"))
    "ValueError('no')"
    """
    chain: list[str] = []
    seen: BaseException | None = error
    while seen is not None:
        words = str(seen) if isinstance(seen, CuradorError) else repr(seen)
        chain.append(words)
        seen = seen.__cause__ or seen.__context__
    return " BEHIND IT: ".join(chain)


def masked(release: Release) -> str:
    """A release as its bytes, with a mask for every noised number, every interval made of them, and the seal.

    Notes that follow from noised numbers and declarations alone are left out, as the numbers are.
    """
    plain = release.to_dict()
    plain["notes"] = [note for note in plain["notes"] if note["code"] not in WARNED]
    plain["seal"] = MASK  # over the noised numbers, by a key of each ledger
    for name in release.outputs:
        plain["columns"][name] = [MASK] * len(release)
    for name, ends in plain["intervals"].items():
        plain["intervals"][name] = [[MASK, MASK]] * len(ends)
    for name in release.groups:  # seen in the order, and masked here so that order can be compared or not
        plain["columns"][name] = len(release)
    return json.dumps(plain, sort_keys=True, default=str)


def _number(x: object) -> float | None:
    return float(x) if isinstance(x, int | float) else None


def differences(here: Observation, there: Observation, shuffled: bool = False) -> Iterator[str]:
    """Where D and D' can be distinguished without reading a noised number; nothing, if the attack fails.

    ``shuffled`` answers are ordered, cut or filtered by their noised values: neither order nor length is compared.

    >>> one = Observation("answered", "", (1, ("n",)), (), "spent", "plan")
    >>> other = Observation("EngineFailed", "", (0, ()), (), "spent", "plan")
    >>> [line.split(":")[0] for line in differences(one, other)]
    ['status', 'shape']
    """
    for f in fields(Observation):
        if not f.compare or (shuffled and f.name in ("text", "order")):
            continue
        a, b = getattr(here, f.name), getattr(there, f.name)
        if shuffled and f.name == "shape":
            a, b = a[1], b[1]
        if a != b:
            yield f"{f.name}: {_apart(str(a), str(b))}"


def _apart(a: str, b: str) -> str:
    """The first place where two texts differ."""
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    start = max(0, at - 40)
    return f"{a[start : at + 80]!r} against {b[start : at + 80]!r}"


def distance(here: Sequence[Sequence[float | None]], there: Sequence[Sequence[float | None]]) -> float:
    """The sum of how far each number moved: at a large epsilon, what one unit did.

    >>> distance([[1.0], [2.0]], [[1.0], [5.0]])
    3.0
    """
    pairs = [(x, y) for a, b in zip(here, there, strict=True) for x, y in zip(a, b, strict=True)]
    return sum(abs(x - y) for x, y in pairs if x is not None and y is not None)
