"""The pairs of inputs that a declared domain, or a mechanism of curador, is worst on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from itertools import product
from typing import Any

import numpy as np

from curador.errors import InvalidParameter, NotPromised
from curador.mechanisms.base import Mechanism
from curador.mechanisms.gaussian import Gaussian, IntegerGaussian
from curador.mechanisms.keys import OptimalKeys
from curador.mechanisms.laplace import IntegerLaplace, Laplace
from curador.mechanisms.quantiles import Quantiles
from curador.mechanisms.response import RandomizedResponse
from curador.mechanisms.selection import Selection, TopK
from curador.mechanisms.sparse_vector import AboveThreshold
from curador.mechanisms.thresholded import Thresholded
from curador.mechanisms.tree import ContinualCount
from curador.numbers import whole
from curador.privacy import Neighbors

CORNERS = 16
"""At most so many corners of a domain of many columns are tried."""

MOST_KEYS = 32
"""Up to so many keys between the first and the last are all tried; of more, so many at equal distances."""

LARGE = 100
"""The rows of the largest table: some code treats small tables with care, and forgets it for others."""

HOSTILE = (float("nan"), float("inf"), -float("inf"), 1e6, -1e6)
"""Values outside every declared range: a mechanism that promises anything promises it for these too."""


@dataclass(frozen=True)
class InputPair:
    """Two neighbouring inputs, and how they differ, in words."""

    words: str
    first: Any
    second: Any


# ---- from a declared domain ------------------------------------------------------------------------------------------


def table_pairs(
    columns: Mapping[str, Sequence[Any]],
    *,
    rows: int = 3,
    neighbors: Neighbors | str = Neighbors.ADD_REMOVE,
    hostile: bool = False,
) -> list[InputPair]:
    """Neighbouring tables at the corners of a domain: lists of rows, each a dictionary.

    ``columns`` maps a name to (lower, upper) for numbers, or to a list of its keys.  The tables are empty, of
    equal rows at a corner, or of two opposite corners, few or many; the one row more (or changed) is at every corner,
    has every other key of one column, or the middle between two numbers; with ``hostile`` it also has what no
    declaration allows: NaN, infinities and numbers far outside.

    >>> for pair in table_pairs({"age": (0, 100)}, rows=2)[:2]: print(pair.words, len(pair.first), len(pair.second))
    a row {'age': 0} added to 0 rows 0 1
    a row {'age': 100} added to 0 rows 0 1
    """
    kind, most = Neighbors(neighbors), whole(rows, "rows", 1)
    corners = _corners(columns)
    ends = [corners[0], corners[-1]]
    victims, others = list(corners), _others(columns, corners[0])
    if hostile:
        numeric = [name for name, values in columns.items() if not isinstance(values[0], str)]
        victims += [{**corners[0], name: value} for name in numeric for value in HOSTILE]
    tried = [(base, victims) for base in ([], *([corner] * most for corner in corners[:4]))]
    tried += [([], others), (ends * most, [*victims, *others]), (ends * (LARGE // 2), [*ends, *others])]
    found = []
    for base, added in tried:
        for victim in added:
            if kind is Neighbors.ADD_REMOVE:
                found.append(InputPair(f"a row {victim} added to {len(base)} rows", base, [*base, victim]))
            elif base and victim != base[-1]:
                found.append(InputPair(f"one of {len(base)} rows made {victim}", base, [*base[:-1], victim]))
    return found


def _corners(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    if not columns or any(len(ends) == 0 for ends in columns.values()):
        raise InvalidParameter("A domain has columns, and each its ends or keys.", fix="Declare them.")
    ends = [(values[0], values[-1]) for values in columns.values()]
    every = [dict(zip(columns, corner, strict=True)) for corner in product(*ends)]
    distinct = [corner for i, corner in enumerate(every) if corner not in every[:i]]
    return distinct if len(distinct) <= CORNERS else [*distinct[: CORNERS - 1], distinct[-1]]


def _others(columns: Mapping[str, Sequence[Any]], corner: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows that are at a corner but for one column, which has a value between its first and its last."""
    found = []
    for name, values in columns.items():
        inner = list(values[1:-1])
        if len(values) == 2 and all(isinstance(end, int | float) and not isinstance(end, bool) for end in values):
            low, high = values
            inner = [(low + high) // 2 if isinstance(low, int) and isinstance(high, int) else low / 2 + high / 2]
        some = min(len(inner), MOST_KEYS)
        chosen = [inner[i * len(inner) // some] for i in range(some)]
        found += [{**corner, name: value} for value in chosen if value not in (values[0], values[-1])]
    return found


# ---- of a mechanism --------------------------------------------------------------------------------------------------


@singledispatch
def pairs_of(mechanism: Mechanism) -> list[InputPair]:
    """Inputs on which a mechanism's loss is largest, or a likely fault shows: what it protects moved by all it may.

    >>> [pair.words for pair in pairs_of(IntegerLaplace(2, 1))]
    ['0 and 2', '(0, 0) and (2, 0)', '(0, 0) and (1, 1)']
    """
    raise NotPromised(
        f"No neighbours are known for {type(mechanism).__name__}.", fix="Give two inputs and compare their outputs."
    )


@singledispatch
def runs_of(mechanism: Mechanism, value: Any, n: int) -> Any:
    """The outputs of a mechanism on one input, ``n`` times."""
    return [mechanism.release(value) for _ in range(n)]  # type: ignore[attr-defined]


def _moved(steps: Any, spread: Any, zero: Any) -> list[InputPair]:
    """A number and a pair of numbers that move by the sensitivity, at once or spread over both."""
    return [
        InputPair(f"{zero} and {steps}", zero, steps),
        InputPair(f"({zero}, {zero}) and ({steps}, {zero})", [zero, zero], [steps, zero]),
        InputPair(f"({zero}, {zero}) and ({spread}, {spread})", [zero, zero], [spread, spread]),
    ]


@pairs_of.register
def _(mechanism: Laplace) -> list[InputPair]:
    size = float(mechanism.sensitivity)
    return _moved(size, size / 2, 0.0)


@pairs_of.register
def _(mechanism: IntegerLaplace) -> list[InputPair]:
    return _moved(mechanism.sensitivity, mechanism.sensitivity // 2, 0)


@pairs_of.register
def _(mechanism: Gaussian) -> list[InputPair]:
    size = float(mechanism.sensitivity)
    return _moved(size, size * (0.5**0.5) * (1 - 1e-12), 0.0)


@pairs_of.register
def _(mechanism: IntegerGaussian) -> list[InputPair]:
    most = int(mechanism.sensitivity_squared**0.5)
    one = [InputPair(f"0 and {most}", 0, most)]
    if mechanism.coordinates > 1:
        one += _moved(most, int((mechanism.sensitivity_squared / 2) ** 0.5), 0)[1:]
    return one


@runs_of.register(Laplace)
@runs_of.register(Gaussian)
@runs_of.register(IntegerLaplace)
def _(mechanism: Laplace | Gaussian | IntegerLaplace, value: Any, n: int) -> Any:
    """Many at a time, as many as it was made for: the noise on each number is drawn by itself."""
    one = value if isinstance(value, list) else [value]
    most = max(1, getattr(mechanism, "coordinates", n * len(one)) // len(one))
    parts = [mechanism.release(one * min(most, n - at)) for at in range(0, n, most)]
    return np.concatenate(parts).reshape(n, len(one))


@pairs_of.register
def _(mechanism: RandomizedResponse) -> list[InputPair]:
    last = mechanism.categories - 1
    return [InputPair(f"answers 0 and {last}", 0, last)]


@runs_of.register
def _(mechanism: RandomizedResponse, value: Any, n: int) -> Any:
    return mechanism.release([value] * n)


@pairs_of.register
def _(mechanism: Selection) -> list[InputPair]:
    size = float(mechanism.sensitivity)
    return list(_scores(size, mechanism.monotonic))


@pairs_of.register
def _(mechanism: TopK) -> list[InputPair]:
    size = float(mechanism.each.sensitivity)
    return list(_scores(size, mechanism.each.monotonic, max(4, mechanism.k + 1)))


def _scores(size: float, monotonic: bool, count: int = 4) -> Iterator[InputPair]:
    """One score up against the others, by all that neighbours allow, where it wins often and where it wins rarely."""
    down = 0.0 if monotonic else -size
    for lead in (0.0, -2 * size, -6 * size, 4 * size):
        level = [lead] + [0.0] * (count - 1)
        moved = [lead + size] + [down] * (count - 1)
        yield InputPair(f"scores {level} and {moved}", level, moved)
    if monotonic:
        yield InputPair("every other score up", [0.0] * count, [0.0] + [size] * (count - 1))


@pairs_of.register
def _(mechanism: Quantiles) -> list[InputPair]:
    low, high = float(mechanism.lower), float(mechanism.upper)
    replaced = mechanism.neighbors is Neighbors.REPLACE
    found = []
    for base in ([], [low], [low, high], [low] * 3 + [high] * 3):
        for value in (low, high):
            if not replaced:
                found.append(InputPair(f"{value} added to {len(base)} values", base, [*base, value]))
            elif base and base[-1] != value:
                found.append(InputPair(f"one of {len(base)} values made {value}", base, [*base[:-1], value]))
    return found


@runs_of.register
def _(mechanism: Quantiles, value: Any, n: int) -> Any:
    return np.array([mechanism.release(value) for _ in range(n)])


@pairs_of.register
def _(mechanism: AboveThreshold) -> list[InputPair]:
    at, size = float(mechanism.threshold), float(mechanism.sensitivity)
    down = 0.0 if mechanism.monotonic else -size
    few = [at] * 10
    return [
        InputPair("all up", few, [at + size] * 10),
        InputPair("five up, five down", few, [at + size] * 5 + [at + down] * 5),
        InputPair("five down, five up", few, [at + down] * 5 + [at + size] * 5),
        InputPair("below, then up", [at - 2 * size] * 6, [at - size] * 5 + [at - 2 * size + down]),
    ]


@runs_of.register
def _(mechanism: AboveThreshold, value: Any, n: int) -> Any:
    """The answers of each run as numbers; 2 stands for those that were not given any more."""
    out = np.full((n, len(value)), 2, np.int64)
    for row in out:
        answers = mechanism.release(value)
        row[: len(answers)] = answers
    return out


def _group_pairs(groups: int, near: Sequence[int]) -> list[InputPair]:
    """A unit joins as many groups as it may: empty ones, and ones near where it matters."""
    return [InputPair(f"{groups} groups of {k} and of {k + 1}", [k] * groups, [k + 1] * groups) for k in near]


@pairs_of.register
def _(mechanism: OptimalKeys) -> list[InputPair]:
    return _group_pairs(mechanism.groups, sorted({0, mechanism.sure // 2, max(0, mechanism.sure - 1)}))


@pairs_of.register
def _(mechanism: Thresholded) -> list[InputPair]:
    at = mechanism.threshold
    return _group_pairs(mechanism.groups, sorted({0, max(0, at - 2), at}))


@runs_of.register
def _(mechanism: OptimalKeys, value: Any, n: int) -> Any:
    return np.asarray(mechanism.keep(value * n)).reshape(n, len(value))


@runs_of.register
def _(mechanism: Thresholded, value: Any, n: int) -> Any:
    """The noisy counts that are shown; NaN for the others."""
    kept, noisy = mechanism.noisy(value * n)
    return np.where(kept, noisy, np.nan).reshape(n, len(value))


@pairs_of.register
def _(mechanism: ContinualCount) -> list[InputPair]:
    steps = min(mechanism.horizon, 4)
    zero, size = [0] * steps, mechanism.sensitivity
    return [
        InputPair(f"a unit at step {at + 1}", zero, [size * (i == at) for i in range(steps)]) for at in (0, steps - 1)
    ]


@runs_of.register
def _(mechanism: ContinualCount, value: Any, n: int) -> Any:
    return np.array([mechanism.release(value) for _ in range(n)])
