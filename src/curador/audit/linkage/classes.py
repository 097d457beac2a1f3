"""k-anonymity, broken in three ways: everybody in a class is alike, something is known, or there are two releases."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from curador.audit.linkage.people import DIAGNOSES, OLDEST, Population, population
from curador.audit.stage import MadeUp, released_bars, staged
from curador.numbers import whole
from curador.privacy import PureDP
from curador.show.pages.charts import Axis, Track
from curador.show.pages.exhibits import Drawing, Exhibit, Part

SIZES = (2, 3, 5, 8, 12)

Members = NDArray[np.int64]


def classes(columns: NDArray[np.int64], members: Members, k: int, first: int = 0) -> list[Members]:
    """Split people at medians, by turns over the columns, while every part keeps k of them; k-anonymous [LDR06].

    >>> parts = classes(np.array([[1, 2, 3, 4, 5, 6]]).T, np.arange(6), k=2)
    >>> [p.tolist() for p in parts]
    [[0, 1, 2], [3, 4, 5]]
    """
    for turn in range(columns.shape[1]):
        axis = (first + turn) % columns.shape[1]
        values = columns[members, axis]
        low = members[values < np.median(values)]
        high = members[values >= np.median(values)]
        if len(low) >= k and len(high) >= k:
            return [*classes(columns, low, k, axis + 1), *classes(columns, high, k, axis + 1)]
    return [members]


def link_classes(people: int = 3000, k: int = 5, seed: int = 0) -> Exhibit:
    """Attack a k-anonymous table of diagnoses: homogeneity, background knowledge [MKGV07], composition [GKS08].

    >>> found = link_classes(people=400)
    >>> facts = found.facts
    >>> facts["alike"] < facts["known"], facts["smallest"] >= facts["k"]
    (True, True)
    """
    n, size = whole(people, "people", 50), whole(k, "k", 2)
    made = population(n, seed)
    lines = {s: _attacked(made, s, np.random.default_rng([seed, 8])) for s in sorted({*SIZES, size})}
    x = tuple(float(s) for s in lines)
    names = ("@classes-two", "@classes-known", "@classes-alike")
    series = tuple(
        Track(name, x, tuple(lines[s][i] for s in lines), style)
        for name, i, style in zip(names, (2, 1, 0), ("line", "dashed", "line"), strict=True)
    )
    chart = Drawing(
        "classes-chart", "xy", series, x=Axis("@classes-k", ends=(2, x[-1])),
        y=Axis("@classes-share", percent=True, ends=(0, 1)),
    )  # fmt: skip
    alike, known, two, smallest = lines[size]
    facts = {"people": n, "k": size, "alike": alike, "known": known, "two": two, "smallest": smallest}
    reach, drawing = _privately(made)
    parts = (
        Part("the-attack", ("classes-how", "classes-found"), (chart,)),
        Part("privately", ("classes-private",), (drawing,)),
    )
    return Exhibit("classes", {**facts, "reach": reach}, parts)


def _attacked(made: Population, k: int, rng: np.random.Generator) -> tuple[float, float, float, int]:
    """The shares of people whose diagnosis a k-anonymous release tells: alone; to who knows one thing that they do not
    have; and together with a second release, of those who are in both; and the smallest class."""
    place = made.zip * 1000 + rng.integers(0, 1000, len(made))  # a place within the zip code
    columns = np.stack([made.age, place, made.sex], axis=1)
    one = classes(columns, np.arange(len(made)), k)
    alike = known = 0
    told: dict[int, frozenset[int]] = {}
    for members in one:
        there = frozenset(made.diagnosis[members].tolist())
        alike += len(members) * (len(there) == 1)
        # The attacker can rule out one diagnosis of the victim: any of those that the victim does not have.
        known += sum(len(there) == 1 or (len(there) == 2 and rng.random() < 1 / (len(DIAGNOSES) - 1)) for _ in members)
        told |= {int(i): there for i in members}
    both = np.flatnonzero(rng.random(len(made)) < 0.5)
    others = population(len(made), int(rng.integers(1, 1 << 30)))
    second = classes(np.concatenate([columns[both], _columns(others, rng)]), np.arange(len(both) + len(others)), k, 1)
    two = 0
    for members in second:
        here = members[members < len(both)]
        strangers = members[members >= len(both)] - len(both)
        there = frozenset([*made.diagnosis[both[here]].tolist(), *others.diagnosis[strangers].tolist()])
        two += sum(len(told[int(both[i])] & there) == 1 for i in here)
    return alike / len(made), known / len(made), two / len(both), min(map(len, one))


def _columns(made: Population, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.stack([made.age, made.zip * 1000 + rng.integers(0, 1000, len(made)), made.sex], axis=1)


def _privately(made: Population) -> tuple[float, Drawing]:
    columns = {
        "age": {"type": "integer", "bounds": [0, OLDEST - 1], "nullable": False},
        "diagnosis": {"type": "text", "keys": list(DIAGNOSES), "nullable": False},
    }
    values = {"age": made.age.tolist(), "diagnosis": [DIAGNOSES[k] for k in made.diagnosis]}
    with staged({"records": MadeUp(columns, values)}, PureDP(1)) as curator:
        text = "SELECT diagnosis, COUNT(*) AS n FROM records WHERE age >= 60 GROUP BY diagnosis"
        release = curator.ask(text, epsilon=1)
    old = made.diagnosis[made.age >= 60]
    exact = {name: float((old == k).sum()) for k, name in enumerate(DIAGNOSES)}
    bars, reach = released_bars(release, exact, "ill")
    return reach, Drawing("classes-private-chart", bars=bars, mark="@true-value")
