"""Made-up rows with a linear rule in them: what settings reach on them says beforehand what noise will do.

Nothing is read and nothing is random: the values follow sequences that fill the bounds evenly, so an explanation is the
same every time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from curador.learn.rows.design import Design
from curador.learn.rows.encoding import SCALE, Encoding, Floats

ROWS = 10_000
"""How many rows are made up where their number is not declared."""

MOST_ROWS = 100_000
"""The most rows that are made up, whatever is declared: more would say no more, and take longer."""

STEEP = 4.0
"""How clearly the rule decides: margins spread about this far."""


def even(rows: int, column: int) -> Floats:
    """Numbers between 0 and 1 that fill the interval evenly, other ones for each column."""
    turn = np.sqrt(2.0 + 3.0 * column) % 1.0
    return np.asarray((0.5 + turn * np.arange(1, rows + 1)) % 1.0)


def made_up(encoding: Encoding, rows: int, classes: int) -> tuple[Design, NDArray[np.int32]]:
    """Rows that fill the declared bounds and keys evenly, with labels that follow a linear rule by chance."""
    rows = min(rows, MOST_ROWS)
    p = len(encoding.numbers)
    numbers = [np.rint((2 * even(rows, j) - 1) * SCALE).astype(np.int16) for j in range(p)]
    codes = [(even(rows, p + j) * f.width).astype(np.int16) for j, f in enumerate(encoding.keyed)]
    design = Design(
        encoding,
        np.stack(numbers, axis=1) if numbers else np.zeros((rows, 0), np.int16),
        np.stack(codes, axis=1) if codes else np.zeros((rows, 0), np.int16),
    )
    weights = np.rint(1024 * np.cos(np.outer(np.arange(1, encoding.width + 1), np.arange(1, classes + 1))))
    margins = design.dot(weights)
    margins = margins - margins.mean(axis=0)
    margins *= STEEP / max(float(margins.std()), 1e-9)
    chance = np.exp(margins - margins.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    place = (even(rows, 2 * encoding.width + 1)[:, None] > np.cumsum(chance, axis=1)).sum(axis=1)
    return design, np.minimum(place, classes - 1).astype(np.int32)
