"""The worst of many pairs of neighbours: a look at each, then the whole test on the worst."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from curador.audit.finding import Finding
from curador.audit.tester.distinguish import judged
from curador.audit.tester.neighbours import InputPair, pairs_of, runs_of, table_pairs
from curador.audit.tester.outputs import FEWEST
from curador.errors import InvalidParameter, NotPromised
from curador.mechanisms.base import Mechanism, checked_confidence
from curador.numbers import whole
from curador.privacy import ApproxDP, Guarantee, Neighbors, PureDP

WHOLE = 2
"""So many pairs get the whole test."""

GLANCE = 8
"""A look at a pair takes this part of the runs of a test."""

TOLD_EVERY = 1000
"""Runs between two reports of how far a test is."""

Run = Callable[[Any, int], Any]
"""Runs a black box on an input so many times: ``run(input, n)`` gives n outputs."""


def worst(
    run: Run,
    pairs: Sequence[InputPair],
    claim: Guarantee,
    *,
    n: int = 30_000,
    confidence: float = 0.999,
    subject: str = "the mechanism",
) -> Finding:
    """The finding on the pair that shows most.

    Guarantee: that of ``distinguish``: the runs that choose the pairs are not those that judge them, and the pairs that
        are judged share the chance of a false alarm.
    """
    if not pairs:
        raise InvalidParameter("There are no neighbours to test.", fix="Give at least one pair.")
    some = list(pairs)
    if len(some) > WHOLE:
        glance = partial(_on, run, claim=claim, n=max(FEWEST, n // GLANCE), confidence=0.9, subject=subject)
        some.sort(key=lambda pair: -_excess(glance(pair)))
    share = 1 - (1 - checked_confidence(confidence)) / min(WHOLE, len(some))
    tested = [_on(run, pair, claim=claim, n=n, confidence=share, subject=subject) for pair in some[:WHOLE]]
    found = max(tested, key=_excess)
    witness = f"{found.witness}; the inputs: {found.details['neighbours']}" if found.witness else ""
    looked = {"pairs": len(pairs), "glance": n // GLANCE if len(pairs) > WHOLE else 0}
    return replace(found, confidence=confidence, witness=witness, details={**found.details, **looked})


def _on(run: Run, pair: InputPair, *, claim: Guarantee, n: int, confidence: float, subject: str) -> Finding:
    runs = whole(n, "n", FEWEST)
    found = judged(run(pair.first, runs), run(pair.second, runs), claim, confidence=confidence, subject=subject)
    return replace(found, details={**found.details, "neighbours": pair.words})


def _excess(found: Finding) -> float:
    excess = found.details.get("stated")
    return found.floor / max(float(excess), 1e-300) if isinstance(excess, float) else 0.0


def audit_mechanism(
    mechanism: Mechanism,
    claim: Guarantee | None = None,
    *,
    n: int = 30_000,
    confidence: float = 0.999,
    delta: float = 0.01,
    progress: Callable[[float], None] | None = None,
) -> Finding:
    """Test a mechanism of curador on the neighbours it is worst on, against what its event promises.

    A mechanism whose loss is not bounded by an epsilon alone is tested at ``delta``, where so many runs can show
    something: what its accountant promises there is as much a promise as at 1e-6.  ``progress`` is told the part of
    all runs that are done.

    >>> from curador.mechanisms.response import RandomizedResponse
    >>> print(audit_mechanism(RandomizedResponse(truth=0.75), n=4000).sentence())
    RandomizedResponse: no violation found with n = 4,000; would have found a scale error ≥ ... % (Laplace noise).
    """
    stated = promise(mechanism, delta) if claim is None else claim

    pairs, done = pairs_of(mechanism), 0
    glances = len(pairs) * max(FEWEST, n // GLANCE) if len(pairs) > WHOLE else 0
    every = 2 * (glances + min(WHOLE, len(pairs)) * n)

    def run(value: Any, times: int) -> Any:
        nonlocal done
        if progress is None:
            return runs_of(mechanism, value, times)
        parts = []
        for first in range(0, times, TOLD_EVERY):
            parts.append(runs_of(mechanism, value, some := min(TOLD_EVERY, times - first)))
            done += some
            progress(done / every)
        return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else [one for part in parts for one in part]

    name = type(mechanism).__name__
    return worst(run, pairs, stated, n=n, confidence=confidence, subject=name)


def promise(mechanism: Mechanism, delta: float = 0.01) -> Guarantee:
    """What a mechanism's event promises: its epsilon, or the one at delta, or above, where there is none.

    >>> from curador.mechanisms.laplace import IntegerLaplace
    >>> promise(IntegerLaplace(1, "1/2"))
    PureDP(epsilon=0.5)
    >>> from curador.mechanisms.thresholded import ThresholdedLaplace
    >>> promise(ThresholdedLaplace(epsilon=1, delta=0.03)).delta
    0.04
    """
    from curador.accounting.account import epsilon
    from curador.accounting.rules.profiles import pure_epsilon

    try:
        alone = float(pure_epsilon(mechanism.event))
    except NotPromised:
        alone = math.inf
    if alone < math.inf:
        return PureDP(alone)
    found = ApproxDP(epsilon(mechanism.event, delta).upper, delta)
    return found if found.epsilon < math.inf or delta >= 0.5 else promise(mechanism, 2 * delta)


def audit_rows(
    run: Run,
    columns: Mapping[str, Sequence[Any]],
    claim: Guarantee,
    *,
    n: int = 10_000,
    confidence: float = 0.999,
    neighbors: Neighbors | str = Neighbors.ADD_REMOVE,
    hostile: bool = False,
    subject: str = "the function",
) -> Finding:
    """Test a function of a table, of which only the domain of its columns is told: neighbours are found by search.

    ``columns`` maps a name to (lower, upper) for numbers, or to a list of its keys: see ``table_pairs`` for the tables
    and rows that are tried.  A fault that only other rows show, or only larger tables, is not found.

    ``run(rows, n)`` gives n outputs on a list of rows, each a dictionary; what it raises is for it to turn into an
    output.

    >>> import numpy as np
    >>> def noisy_sum(rows, n):  # the sum of ages up to 100, with noise for a row that counts 1
    ...     return sum(row["age"] for row in rows) + np.random.default_rng(len(rows)).geometric(0.6, n)
    >>> found = audit_rows(noisy_sum, {"age": (0, 100)}, PureDP(1), n=1000)
    >>> found.violated, found.details["neighbours"]
    (True, "a row {'age': 100} added to 0 rows")
    """
    pairs = table_pairs(columns, neighbors=neighbors, hostile=hostile)
    return worst(run, pairs, claim, n=n, confidence=confidence, subject=subject)
