"""A lower bound on the privacy loss of local reports, from the reports alone, whatever program made them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import Event
from curador.accounting.rules.profiles import pure_epsilon
from curador.errors import InvalidParameter, InvalidValue
from curador.mechanisms.base import checked_confidence
from curador.numbers import below

FEWEST = 200
"""Fewer reports than this on a value show next to nothing."""

CUTS = 32
"""How many sets of reports are tried on the half that is learned from."""


@dataclass(frozen=True)
class Floor:
    """With this confidence the reports cost at least ``shown``; ``stated`` is what their event says they cost.

    >>> Floor(shown=0.9, stated=1.0, confidence=0.99).broken
    False
    """

    shown: float
    stated: float
    confidence: float

    @property
    def broken(self) -> bool:
        """Whether the event's promise is refuted."""
        return self.shown > self.stated


def floor(event: Event, first: Any, second: Any, *, confidence: float = 0.99) -> Floor:
    """The floor that independent reports on two values put under their epsilon; each report is a row of bytes.

    One half of them chooses a set of reports that is likelier under one value; the other half judges how much.

    Guarantee: ``shown`` is above the true epsilon with a probability of at most 1 - confidence, whatever the program
        is: exact limits for two binomial chances [CP34], on reports that had no part in choosing the set.
    Assumes: reports are independent; the two values were chosen without looking at the reports.
    Fails: a floor is not a proof that a promise holds.  It is far below the truth where few reports differ much.

    >>> from curador.accounting.events import PureLoss
    >>> zeros, ones = np.zeros((1000, 1), np.uint8), np.ones((1000, 1), np.uint8)
    >>> found = floor(PureLoss(1), zeros, ones)  # reports that reveal everything
    >>> found.broken, found.shown > 4
    (True, True)
    """
    rows = [_rows(first), _rows(second)]
    if rows[0].shape[1] != rows[1].shape[1]:
        raise InvalidValue("These reports are not on one task: their lengths differ.", fix="Compare reports alike.")
    miss = (1 - checked_confidence(confidence)) / 2
    learned, judged = [some[0::2] for some in rows], [some[1::2] for some in rows]
    score = _score(*learned)
    likely, cut = _chosen(score(learned[0]), score(learned[1]), miss)
    yes = [int(np.count_nonzero(likely * score(some) >= cut)) for some in judged]
    own, other = (0, 1) if likely > 0 else (1, 0)
    shown = _log_ratio(yes[own], len(judged[own]), yes[other], len(judged[other]), miss)
    return Floor(max(0.0, below(shown)), float(pure_epsilon(event)), confidence)


def _rows(reports: Any) -> NDArray[np.uint8]:
    found = np.asarray(reports)
    if found.dtype != np.uint8 or found.ndim != 2 or not found.shape[1]:
        raise InvalidValue("Reports are rows of bytes.", fix="Use the task's to_bytes().")
    if len(found) < FEWEST:
        raise InvalidParameter(f"{len(found)} reports show nothing.", fix=f"Make at least {FEWEST} on each value.")
    return found


def _score(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> Any:
    """How much likelier a report is under the first value than under the second, learned from these: any rule is fair.

    Reports of which there are few are counted; of others each bit is, as if bits were independent.
    """
    kinds, number = np.unique(np.concatenate([first, second]), axis=0, return_inverse=True)
    if len(kinds) <= len(first) // 20:
        counts = [np.bincount(part, minlength=len(kinds)) + 1 for part in np.split(number.reshape(-1), [len(first)])]
        table = {kind.tobytes(): w for kind, w in zip(kinds, np.log(counts[0] / counts[1]), strict=True)}
        return lambda some: np.array([table.get(row.tobytes(), 0.0) for row in some])
    one, two = ((np.unpackbits(part, axis=1).sum(axis=0) + 1) / (len(part) + 2) for part in (first, second))
    weight = np.log(one / two) - np.log((1 - one) / (1 - two))
    return lambda some: np.unpackbits(some, axis=1) @ weight


def _chosen(first: NDArray[np.float64], second: NDArray[np.float64], miss: float) -> tuple[int, float]:
    """For which value a high score speaks, and from which score on, so that the reports learned from show most."""
    tried = []
    for likely, own, other in ((1, first, second), (-1, -second, -first)):
        for cut in np.unique(np.quantile(np.concatenate([own, other]), np.linspace(0, 1, CUTS))):
            yes = int(np.count_nonzero(own >= cut)), int(np.count_nonzero(other >= cut))
            tried.append((_log_ratio(yes[0], len(own), yes[1], len(other), miss), likely, float(cut)))
    return max(tried)[1:]


def _log_ratio(own: int, of: int, other: int, of_others: int, miss: float) -> float:
    """The logarithm of the least chance that ``own`` shows over the largest that ``other`` shows."""
    from scipy.special import betaincinv

    least = betaincinv(own, of - own + 1, miss) if own else 0.0
    most = 1 - betaincinv(of_others - other, other + 1, miss) if other < of_others else 1.0
    return math.log(least / most) if least > 0 else -math.inf
