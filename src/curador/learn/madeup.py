"""Made-up rows with a linear rule in them: what settings reach on them says beforehand what noise will do.

Nothing is read and nothing is random: the values follow sequences that fill the bounds evenly, so an explanation is the
same every time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, Floats, Ints

ROWS = 10_000
"""How many rows are made up where their number is not declared."""

MOST_ROWS = 100_000
"""The most rows that are made up, whatever is declared: more would say no more, and take longer."""

STEEP = 4.0
"""How clearly the rule decides: margins spread about this far."""


MOST_STEPS = 2000
"""Settings of more steps are not tried on made-up rows: an explanation is free, and may not take for ever."""

MOST_COLUMNS_TRIED = 512
"""Of more columns nothing is tried: what is drawn and solved for them takes long, however few the rows."""

FEWEST_ROWS = 100
"""On fewer made-up rows nothing is tried: it would say nothing."""

WORK = 1 << 30
"""The most products that a trial takes: some seconds."""

A_DRAW = 40
"""Products that take as long as drawing a number."""

A_VALUE = 32
"""Products that take as long as making up a value of a row, and looking at it to see what was reached."""


def tried_on(rows: int, each: float, steps: int = 1, columns: int = 1, a_step: float = 0) -> int:
    """How many rows to make up where each takes so many products; none where that would be too few, or too long.

    ``a_step`` are those that each step takes however few the rows are.

    >>> tried_on(10_000, 100), tried_on(10_000, 10**6), tried_on(10_000, 10**8), tried_on(10_000, 1, steps=10**5)
    (10000, 1073, 0, 0)
    >>> tried_on(10_000, 10**5, steps=10, a_step=10**7), tried_on(10_000, 100, steps=200, a_step=10**7)
    (9734, 0)
    """
    found = min(rows, MOST_ROWS, int((WORK - steps * a_step) // (each + A_VALUE * columns)))
    long = steps > MOST_STEPS or columns > MOST_COLUMNS_TRIED
    return 0 if long or found < min(rows, FEWEST_ROWS) else found


def even(rows: int, column: int) -> Floats:
    """Numbers between 0 and 1 that fill the interval evenly, other ones for each column."""
    turn = np.sqrt(2.0 + 3.0 * column) % 1.0
    return np.asarray((0.5 + turn * np.arange(1, rows + 1)) % 1.0)


def made_up(encoding: Encoding, rows: int, classes: int) -> tuple[Design, NDArray[np.int32]]:
    """Rows that fill the declared bounds and keys evenly, with labels that follow a linear rule by chance."""
    design, margins = _ruled(encoding, min(rows, MOST_ROWS), classes)
    margins *= STEEP / max(float(margins.std()), 1e-9)
    chance = np.exp(margins - margins.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    place = (_luck(design)[:, None] > np.cumsum(chance, axis=1)).sum(axis=1)
    return design, np.minimum(place, classes - 1).astype(np.int32)


def made_up_numbers(encoding: Encoding, rows: int) -> tuple[Design, Ints]:
    """The same rows with numbers for labels, on the grid: half of their variance is a linear rule, half is chance."""
    design, margins = _ruled(encoding, min(rows, MOST_ROWS), 1)
    rule = margins[:, 0] / max(float(margins.std()), 1e-9)
    chance = (2 * _luck(design) - 1) * 3**0.5
    return design, np.clip(np.rint((rule + chance) * SCALE / 4), -SCALE, SCALE).astype(np.int64)


def _ruled(encoding: Encoding, rows: int, rules: int) -> tuple[Design, Floats]:
    """Rows, and for each of them a linear rule or several, around 0."""
    p = len(encoding.numbers)
    numbers = [np.rint((2 * even(rows, j) - 1) * SCALE).astype(np.int16) for j in range(p)]
    codes = [(even(rows, p + j) * f.width).astype(np.int16) for j, f in enumerate(encoding.keyed)]
    design = Design(
        encoding,
        np.stack(numbers, axis=1) if numbers else np.zeros((rows, 0), np.int16),
        np.stack(codes, axis=1) if codes else np.zeros((rows, 0), np.int16),
    )
    weights = np.rint(1024 * np.cos(np.outer(np.arange(1, encoding.width + 1), np.arange(1, rules + 1))))
    margins = design.dot(weights)
    return design, margins - margins.mean(axis=0)


def _luck(design: Design) -> Floats:
    """What is chance in a label: another even sequence."""
    return even(len(design), 2 * design.encoding.width + 1)
