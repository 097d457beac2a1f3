"""Canaries: rows that are put into the data by coins, so that one training run shows how much it tells of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from curador.accounting.account import epsilon as epsilon_of
from curador.accounting.events import ZCDPLoss
from curador.audit.finding import Finding
from curador.audit.models.guesses import proven
from curador.audit.models.scores import Score, joined_rows, membership_score, some_rows
from curador.numbers import rational, whole
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP

Fit = Callable[[Any, Any], Any]
"""Rows and labels to a fitted model."""

DELTA = 1e-5
"""The delta at which a floor is stated where the claim has none of its own: of a model without privacy, or of rho."""


def epsilon_and_delta(claim: Guarantee | None) -> tuple[float, float]:
    """The epsilon that is claimed, and its delta; infinite where nothing is."""
    if isinstance(claim, PureDP):
        return float(claim.epsilon), 0.0
    if isinstance(claim, ApproxDP):
        return float(claim.epsilon), float(claim.delta)
    if isinstance(claim, ZCDP):
        return float(epsilon_of(ZCDPLoss(rational(claim.rho)), rational(DELTA)).upper), DELTA + float(claim.delta)
    return float("inf"), DELTA


def finding_of(
    subject: str, scores: Any, inside: Any, claim: Guarantee | None, confidence: float, how: str, **details: object
) -> Finding:
    """The finding about one claim from scores of people who were in by fair coins."""
    promised, delta = epsilon_and_delta(claim)
    best = proven(np.asarray(scores), np.asarray(inside), delta=delta, confidence=confidence)
    told = {"guesses": best.guesses, "right": best.right, "people": best.people, "ceiling": promised, "delta": delta}
    return Finding(
        subject,
        claim,
        best.floor,
        confidence,
        best.people,
        violated=best.floor > promised,
        witness=f"{best.right} of {best.guesses} guesses by {how} were right",
        details={**told, **details},
    )


def audit_canaries(
    fit: Fit,
    X: Any,
    y: Any,
    canaries: tuple[Any, Any],
    *,
    claim: Guarantee | None = None,
    runs: int = 1,
    score: Score = membership_score,
    confidence: float = 0.99,
    seed: int | None = None,
    subject: str = "a model",
) -> Finding:
    """A floor under the epsilon of a training run: each canary is put in or left out by a coin, and then guessed.

    ``fit`` takes rows and labels and returns a fitted model.  Canaries should be rows that a model learns by heart:
    each with something of its own.  Several ``runs`` are one with as many canaries more: each coin is in one run alone.

    Guarantee: above the true epsilon with a chance of at most 1 - confidence [SNJ23].
    Assumes: neighbours differ by one canary added or removed; a model that cannot tell canaries apart hides more than
        it protects.

    >>> class Remembers:
    ...     def __init__(self, rows): self.rows = rows
    ...     def transform(self, X): return np.abs(X - self.rows.T)
    >>> rows, marks = np.zeros((5, 1)), np.arange(1.0, 301.0)[:, None]
    >>> found = audit_canaries(lambda X, y: Remembers(X), rows, None, (marks, None), claim=PureDP(1), seed=1)
    >>> found.violated, found.floor > 3
    (True, True)
    """
    rows, labels = canaries
    rng = np.random.default_rng(seed)
    scores, inside = [], []
    for _ in range(whole(runs, "runs", 1)):
        coins = rng.random(len(rows)) < 0.5
        some = some_rows(rows, coins)
        own = None if labels is None else joined_rows(y, some_rows(labels, coins))
        model = fit(joined_rows(X, some), own)
        scores.append(score(model, rows, labels))
        inside.append(coins)
    return finding_of(subject, np.concatenate(scores), np.concatenate(inside), claim, confidence, "canaries", runs=runs)
