"""The test of one pair of neighbours: can their outputs be told apart better than the claim allows?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from curador.audit.finding import Finding
from curador.audit.tester.certify import at_least, at_most
from curador.audit.tester.claim import floors
from curador.audit.tester.events import TRIED, OutputSet, choose
from curador.audit.tester.outputs import FEWEST, both
from curador.audit.tester.power import detectable
from curador.errors import InvalidParameter
from curador.mechanisms.base import checked_confidence
from curador.numbers import below, whole
from curador.privacy import Guarantee

GIVEN = ", if no other pair of inputs is worse"
"""What a finding says about inputs that were not searched for."""

Sampler = Callable[[int], Any]
"""Runs a black box so many times, independently, and gives its outputs: an array, or a list of anything."""


def distinguish(
    first: Sampler,
    second: Sampler,
    claim: Guarantee,
    *,
    n: int = 30_000,
    confidence: float = 0.999,
    subject: str = "the mechanism",
) -> Finding:
    """Run a black box ``n`` times on each of two neighbours, and say what its outputs contradict.

    **Give the worst pair.**  One pair is tested, and nothing is said about others: a mechanism that breaks its claim on
    another pair passes.  ``audit_rows`` and ``audit_mechanism`` search for the worst pair.

    Half of the outputs choose at most four sets of outputs that are likelier on one side; the other half judges how
    much.  What to do with a mechanism of one's own is in docs/audit.md.

    Guarantee: a sound mechanism is called violated with a chance of at most 1 - confidence, whatever its outputs
        are: exact limits for binomial chances [CP34] on runs that had no part in choosing the sets, and the misses
        of all limits sum to 1 - confidence.
    Assumes: runs are independent, and the two inputs are neighbours that were chosen without looking at these runs; a
        finding of nothing assumes besides that they are the worst pair.
    Fails: what is not found may still be there; ``detectable`` says what would have been found.

    >>> from curador import IntegerLaplace, PureDP
    >>> noise = IntegerLaplace(sensitivity=1, epsilon=2)
    >>> def run(count):  # what it does to a count, many times
    ...     return lambda n: noise.release([count] * n)
    >>> print(distinguish(run(10), run(11), PureDP(2), n=4000).sentence())
    the mechanism: no violation found with n = 4,000; would have found a scale error ≥ ..., if no other pair ...
    >>> found = distinguish(run(10), run(11), PureDP(1), n=4000)
    >>> found.violated, 1 < found.floor <= 2
    (True, True)
    """
    runs = whole(n, "n", FEWEST)
    return compare(first(runs), second(runs), claim, confidence=confidence, subject=subject)


def compare(
    first: Any, second: Any, claim: Guarantee, *, confidence: float = 0.999, subject: str = "the mechanism"
) -> Finding:
    """The same for outputs that are there already: an array or a list for each neighbour, one entry for each run.

    As for :func:`distinguish`, the two inputs have to be the worst pair.

    >>> from curador import PureDP
    >>> rng = np.random.default_rng(1)
    >>> steps = [rng.geometric(0.63, 4000) - rng.geometric(0.63, 4000) for _ in range(2)]
    >>> compare(steps[0], 1 + steps[1], PureDP(1)).violated
    False
    >>> noise = [rng.laplace(0, 1, 4000) for _ in range(2)]  # floating noise is another matter
    >>> print(compare(noise[0], 1 + noise[1], PureDP(1)).details["event"])
    the finest bit of the output is below -53
    """
    found = judged(first, second, claim, confidence=confidence, subject=subject)
    return replace(found, detectable=found.detectable + GIVEN) if found.detectable else found


def judged(first: Any, second: Any, claim: Guarantee, *, confidence: float, subject: str) -> Finding:
    """The finding of outputs on one pair; whether it is the worst pair is for the caller to say."""
    one, two = both(first, second)
    runs = min(len(one), len(two))
    miss = (1 - checked_confidence(confidence)) / (2 * TRIED)
    half = slice(runs // 2)
    chosen = choose(one.part(half), two.part(half), claim, runs - runs // 2, miss)
    judges = [side.part(slice(runs // 2, runs)) for side in (one, two)]
    shown = [_judged(event, judges, claim, miss) for event in chosen]
    best = max(shown, key=lambda one: one["excess"], default=None)
    if best is None or not best["floor"] > 0:
        return Finding(subject, claim, 0.0, confidence, runs, detectable=detectable(claim, runs, confidence, 0.0))
    floor = max(0.0, below(best["floor"]))
    if not np.isfinite(floor):
        raise InvalidParameter(
            "A floor from finitely many runs is finite.", fix="Report this as a fault of the tester."
        )
    violated = floor > best["stated"]
    return Finding(
        subject,
        claim,
        floor,
        confidence,
        runs,
        violated=violated,
        witness=best["witness"],
        detectable=detectable(claim, runs, confidence, best["excess"]),
        details={name: value for name, value in best.items() if name not in ("excess", "witness")},
    )


def _judged(event: OutputSet, judges: list[Any], claim: Guarantee, miss: float) -> dict[str, Any]:
    """What the second half shows about one event."""
    counts = [event.happens(side) for side in judges]
    of = len(judges[0])
    own = float(at_least(counts[event.side], of, miss))
    other = float(at_most(counts[1 - event.side], of, miss))
    found = floors(claim, own, other)
    names = ("first", "second")
    words = (
        f"{event.in_words()}: at least {own:.4g} of runs on the {names[event.side]} input, "
        f"at most {other:.4g} on the {names[1 - event.side]}"
    )
    order = float(found.order)
    return {
        "floor": float(found.least),
        "stated": float(found.stated),
        "excess": float(found.excess),
        "witness": words + ("" if np.isnan(order) else f" (order {order:.4g})"),
        "event": event.in_words(),
        "likelier_on": names[event.side],
        "at_least": own,
        "at_most": other,
        "seen": counts,
        "of": of,
        **({} if np.isnan(order) else {"order": order}),
    }
