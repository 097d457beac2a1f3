"""Matrix mechanisms: DP-FTRL, trees and banded factorisations.

The file has the sensitivity of an encoder, and the event of a run.

The mechanism releases C x + noise, row by row, where x holds one clipped sum of gradients per step and noise is
Gaussian.  Computations from that, such as B (C x + noise) for a workload A = B C, are post-processing.  Its event is
Gaussian noise at the sensitivity of C: how far one unit can move the columns of its steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curador.accounting.events import Composed, GaussianNoise, PoissonSampled
from curador.errors import InvalidParameter, NotPromised
from curador.numbers import Number, log2_floor, positive, probability, rational, sqrt_up, whole
from curador.privacy import Neighbors

_Array = NDArray[np.float64]
MOST = 4096
"""The most steps of an encoder."""

_SLOW = 2**19  # steps times participations beyond which sets of steps are bounded, not searched
_LONG = 2**28  # the same where it is done for each step
_UNIT = 2.0**-52
_LEAST = 2.0**-1074  # the largest size of a product that vanished


def matrix_event(
    encoder: ArrayLike,
    sigma: Number,
    clip: Number = 1,
    *,
    participations: int = 1,
    separation: int = 1,
    neighbors: Neighbors = Neighbors.ADD_REMOVE,
    same_steps: bool = False,
) -> GaussianNoise:
    """The event of a whole run of a matrix mechanism with noise ``sigma`` on each number of C x.

    ``clip`` is the most that a unit moves the sum of one step in l2 norm.  A unit takes part in at most
    ``participations`` steps, any two of them at least ``separation`` apart.  Under replace the new unit may take part
    in other steps than the old one, which costs twice the sensitivity, unless ``same_steps``.

    Guarantee: also when each step's gradients depend on earlier outputs [DMRST22, Theorem 2.1].
    Assumes: the steps of a unit do not change those of others, as with batches fixed in advance.
        ``same_steps``: a replacement takes part in the steps of the old unit, as with batches by row number.
    Fails: NotPromised for an encoder that needs a later step before an earlier row.

    >>> round(float(matrix_event([[1, 0], [1, 1]], sigma=2).sensitivity) ** 2, 12)
    2.0
    """
    kind = Neighbors(neighbors)
    far = encoder_sensitivity(encoder, participations, separation) * positive(clip, "clip")
    moved = 2 if kind is Neighbors.REPLACE and not same_steps else 1  # the steps left and the steps joined
    return GaussianNoise(positive(sigma, "sigma"), moved * far, kind)


def banded_event(encoder: ArrayLike, sigma: Number, rate: Number, clip: Number = 1) -> Composed:
    """The event of a banded matrix mechanism with Poisson samples.

    Its steps draw from shares of the units in turn.

    With b bands, entry (i, j) is 0 unless 0 <= i - j < b.  The units are in b permanent shares, and a unit alone fixes
    its share.  Step i draws each unit of share i mod b with chance ``rate``.

    Guarantee: a unit's steps are b apart, where columns of the encoder share no row.  So a run of n steps is ceil(n /
        b) sampled Gaussian releases at the largest column [CGMMRTX23].

    >>> event = banded_event([[1, 0, 0], ["0.5", 1, 0], [0, "0.5", 1]], sigma=2, rate="0.01")
    >>> [(part.rate, count) for part, count in event.parts]
    [(Fraction(1, 100), 2)]
    """
    matrix, unit = _read(encoder)
    steps = matrix.shape[1]
    rows, columns = np.nonzero(matrix)
    if matrix.shape[0] != steps or np.any(rows < columns):
        raise NotPromised("A banded encoder is square and lower triangular.", fix="Use matrix_event().")
    bands = int(np.max(rows - columns, initial=0)) + 1
    far = unit * _root(float(np.max(_norms(matrix))))
    noise = GaussianNoise(positive(sigma, "sigma"), far * positive(clip, "clip"))
    return Composed.of((PoissonSampled(noise, probability(rate, "rate")), -(-int(steps) // bands)))


def tree_encoder(steps: int) -> _Array:
    """The binary tree of partial sums, each row released after its last step: DP-FTRL's first encoder.

    >>> tree_encoder(3).astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]
    """
    n = whole(steps, "steps", 1)
    _check_steps(n)
    found = []
    for end in range(1, n + 1):
        size = 1
        while end % size == 0 and size <= end:
            row = np.zeros(n)
            row[end - size : end] = 1
            found.append(row)
            size *= 2
    return np.array(found)


def encoder_sensitivity(encoder: ArrayLike, participations: int = 1, separation: int = 1) -> Fraction:
    """Bound how far a unit can move C x in l2 norm, if it moves each of its steps by at most 1.

    Guarantee: the largest norm of sums of columns over allowed steps.  It is exact for one participation, for columns
        that are orthogonal at the separation (banded), and for some lower triangular Toeplitz encoders.  Their entries
        fall from the diagonal on and stay non-negative [KL24, Theorem 2].  Elsewhere absolute inner products of columns
        bound it, which gives the norm itself where those are non-negative and steps may meet [CMRT23].

    >>> [round(float(encoder_sensitivity(tree_encoder(8), k)) ** 2) for k in (1, 8)]
    [4, 120]
    """
    matrix, unit = _read(encoder)
    last = [int(np.max(np.flatnonzero(row), initial=-1)) for row in matrix]
    if any(a > b for a, b in pairwise(last)):
        raise NotPromised(
            "A row of this encoder needs a later step than a row after it.",
            fix="Order rows by their last step; with all steps known in advance, sort them so.",
        )
    steps = matrix.shape[1]
    most, apart = whole(participations, "participations", 1), whole(separation, "separation", 1)
    most = min(most, -(-steps // apart))
    if most == 1:
        return unit * _root(float(np.max(_norms(matrix))))
    if (found := _falling(matrix)) is not None:
        total = np.zeros(steps)
        for start in range(0, most * apart, apart):
            total[start:] += found[: steps - start]
        return unit * _root(float(_norms(total[:, None])[0]) * (1 + 4 * steps * _UNIT))
    size = np.abs(matrix)
    inner = np.abs(matrix.T @ matrix) + (len(matrix) + 4) * (_UNIT * (size.T @ size) + _LEAST)
    np.fill_diagonal(inner, _norms(matrix))
    each = _with_others(inner, most, apart)
    return unit * _root(float(_best(each, most, apart)) * (1 + 8 * steps * _UNIT))


def _read(encoder: ArrayLike) -> tuple[_Array, Fraction]:
    """Read the encoder as doubles below 1, and the power of two that scales them.

    The largest is at least 1/2.

    So no square of an entry that matters overflows or vanishes.  Each entry is right to half a unit in its last place.
    An entry that is not 0 never becomes 0: the steps that a row needs are not rounded.
    """
    if isinstance(encoder, np.ndarray) and encoder.dtype.kind in "biuf":
        matrix = _check_size(np.asarray(encoder, np.float64))
        power = int(np.frexp(np.max(np.abs(matrix)))[1])
        scaled, there = np.ldexp(matrix, -power), matrix != 0
    else:
        exact = [
            [rational(x) for x in row]
            for row in _rows(encoder.tolist() if isinstance(encoder, np.ndarray) else encoder)
        ]
        largest = max((abs(x) for row in exact for x in row), default=Fraction(0))
        power = log2_floor(largest) + 1 if largest else 0
        scaled = _check_size(np.array([[float(x / Fraction(2) ** power) for x in row] for row in exact]))
        there = np.array([[x != 0 for x in row] for row in exact])
        matrix = np.array([[-1.0 if x < 0 else 1.0 for x in row] for row in exact])
    return np.where(there & (scaled == 0), np.copysign(_LEAST, matrix), scaled), Fraction(2) ** power


def _check_size(matrix: _Array) -> _Array:
    if matrix.ndim != 2 or not matrix.size or not np.all(np.isfinite(matrix)) or not np.any(matrix):
        raise InvalidParameter(
            "An encoder is a matrix of finite numbers that are not all 0.", fix="Give rows of one length."
        )
    _check_steps(matrix.shape[1])
    return matrix


def _check_steps(n: int) -> None:
    if n > MOST:
        raise InvalidParameter(f"An encoder has at most {MOST} steps here.", fix="Restart the mechanism now and then.")


def _rows(encoder: ArrayLike) -> Sequence[Sequence[object]]:
    if not isinstance(encoder, Sequence) or not all(isinstance(row, Sequence) for row in encoder):
        raise InvalidParameter("An encoder is a matrix.", fix="Give a list of rows, or an array.")
    if len({len(row) for row in encoder}) != 1:  # type: ignore[arg-type]
        raise InvalidParameter("The rows of an encoder have one length.", fix="Fill them with zeros.")
    return encoder  # type: ignore[return-value]


def _norms(matrix: _Array) -> _Array:
    """The squared norms of columns with rounded entries, from above."""
    return np.asarray((matrix * matrix).sum(axis=0) * (1 + (len(matrix) + 4) * _UNIT) + len(matrix) * _LEAST)


def _root(squared: float) -> Fraction:
    return sqrt_up(Fraction(squared))


def _falling(matrix: _Array) -> _Array | None:
    """The first column of a lower triangular Toeplitz encoder whose entries fall and stay non-negative."""
    n, first = matrix.shape[1], matrix[:, 0]
    if matrix.shape[0] != n or np.any(first < 0) or np.any(np.diff(first) > 0):
        return None
    same = all(np.array_equal(matrix[j:, j], first[: n - j]) and not np.any(matrix[:j, j]) for j in range(n))
    return first if same else None


def _with_others(inner: _Array, most: int, apart: int) -> _Array:
    """For each step, bound the largest sum of its row over allowed sets of steps that contain it."""
    if apart == 1 or len(inner) ** 2 * most > _LONG:
        rest = inner.copy()
        np.fill_diagonal(rest, 0.0)
        return np.asarray(np.diag(inner) + _largest(rest, most - 1, apart))
    after = _sums_after(inner, most, apart)
    before = _sums_after(inner[::-1, ::-1], most, apart)[:, ::-1]
    both = [before[t] + after[most - 1 - t] for t in range(most)]
    return np.asarray(np.diag(inner) + np.max(both, axis=0))


def _largest(rows: _Array, most: int, apart: int) -> _Array:
    """Bound the largest sum of ``most`` entries of each row that are far enough apart.

    Each run of ``apart`` columns gives one entry.

    With ``apart`` 1 it is that sum.  Entries are not negative.
    """
    runs = np.maximum.reduceat(rows, np.arange(0, rows.shape[-1], apart), axis=-1)
    return np.asarray(np.sort(runs, axis=-1)[..., max(0, runs.shape[-1] - most) :].sum(axis=-1))


def _sums_after(inner: _Array, most: int, apart: int) -> _Array:
    """The largest sums of t = 0 … most - 1 entries of each row i that are far enough apart.

    Columns begin at i + apart.
    """
    n = len(inner)
    index = np.arange(n)
    entries = np.ascontiguousarray(inner.T)  # a row for each column, so that a step reads one run of memory
    sums, found = np.zeros((n + apart, n)), [np.zeros(n)]
    for _ in range(1, most):
        fresh = np.zeros_like(sums)
        for p in range(n - 1, -1, -1):
            fresh[p] = np.maximum(fresh[p + 1], entries[p] + sums[min(p + apart, n)])
        sums = fresh
        found.append(sums[np.minimum(index + apart, n), index])
    return np.array(found)


def _best(values: _Array, most: int, apart: int) -> float:
    """The largest sum of at most ``most`` values that are far enough apart."""
    n = len(values)
    if apart == 1 or n * most > _SLOW:
        return float(_largest(values, most, apart))
    sums = np.zeros(n + apart)
    for _ in range(most):
        fresh = np.zeros(n + apart)
        for p in range(n - 1, -1, -1):
            fresh[p] = max(fresh[p + 1], values[p] + sums[min(p + apart, n)])
        sums = fresh
    return float(sums[0]) if not math.isnan(sums[0]) else math.inf
