"""Two hundred secrets from a thousand counts: what exact answers give away, and what a budget keeps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.accounting.meaning import decision
from curador.audit.stage import MadeUp, staged
from curador.curator.purchase import Request
from curador.errors import BudgetExceeded, InvalidParameter
from curador.mechanisms.laplace import IntegerLaplace
from curador.numbers import Number, positive, whole
from curador.privacy import PureDP
from curador.show.pages.bars import Bar
from curador.show.pages.charts import Axis, Track
from curador.show.pages.exhibits import Drawing, Exhibit, Part

PRIME = 1009
"""Subsets are chosen by (a * pid + b) modulo it; there are fewer people than this."""

SWEEP = tuple(10.0 ** (k / 2) for k in range(-2, 9))
"""The total epsilons of the curve."""

UNITS = 10**12
"""A count is paid with a whole number of these parts of epsilon: a ledger rounds costs up to them."""

TOGETHER = 50
"""Counts of one question, which share its epsilon equally: one reading for all of them."""

_COUNT = f"COUNT(*) FILTER (WHERE secret = 1 AND ({{a}} * pid + {{b}}) % {PRIME} < {PRIME // 2})"

REPEATS = 5
"""Runs at each of them."""


@dataclass(frozen=True)
class Reconstruction:
    """What least squares recovers of ``bits`` secret bits, as shares, from ``counts`` counts over random subsets.

    ``exact``: the counts themselves; ``unbudgeted``: each with noise of epsilon 1, with no budget; ``private``: bought
    from a curator whose whole budget is ``epsilon``, which refused the next one; ``guess``: saying the commoner bit of
    everybody; ``ceiling``: no attack of any kind has a larger expected share, if the bits were fair coins.
    """

    bits: int
    counts: int
    epsilon: float
    exact: float
    unbudgeted: float
    private: float
    guess: float
    ceiling: float
    refused: bool
    error: float
    sweep: tuple[tuple[float, float, float, float], ...]

    def exhibit(self) -> Exhibit:
        """The same for a page."""
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "sweep"}
        bars = (
            Bar("@rec-exact", self.exact, mark=None),
            Bar("@rec-unbudgeted", self.unbudgeted),
            Bar(f"ε = {self.epsilon:g}", self.private, mark=self.ceiling),
        )
        share = Axis("@rec-share", percent=True, ends=(0, 1))
        x = tuple(e for e, *_ in self.sweep)
        found, low, high = (tuple(row[k] for row in self.sweep) for k in (1, 2, 3))
        fine = tuple(10.0 ** (k / 10) for k in range(-10, 41))
        most = tuple(float(1 - decision(Fraction(e)).error) for e in fine)
        lines = (
            Track("@rec-found", x, found, "line", low, high),
            Track("@rec-ceiling", fine, most, "dashed"),
            Track("@rec-guess", (x[0], x[-1]), (self.guess,) * 2, "line"),
        )
        curve = Drawing("rec-curve", "xy", lines, x=Axis("@rec-total", log=True), y=share)
        attack = Part(
            "the-attack", ("rec-how", "rec-exact-says", "rec-unbudgeted-says"),
            (Drawing("rec-bars", bars=bars, x=share, mark="@rec-ceiling"),),
        )  # fmt: skip
        kept = "rec-private-says" if self.refused else "rec-private-open"
        return Exhibit("rec", facts, (attack, Part("privately", (kept,), (curve,))))


def reconstruct(bits: int = 200, counts: int = 1000, epsilon: Number = 1, seed: int = 0) -> Reconstruction:
    """Attack the counts of random subsets with least squares, under three regimes.

    The people, their bits and the subsets come from the ``seed``; the noise does not.  Any set of counts that are
    exact, or nearly so, gives almost every bit away [DN03].

    Guarantee: the private answers are epsilon-DP for one person's bit: a person whose bit is 0 is in no count, so that
        changing it is adding or removing a counted person.
    Fails: refused where the counts are fewer than the people, or the people more than 1,000.

    >>> found = reconstruct(bits=20, counts=60)
    >>> found.exact, found.refused, found.private < 1
    (1.0, True, True)
    """
    n, m, paid = *_sizes(bits, counts), positive(epsilon, "epsilon")
    secret, chosen, exact, solve = _prepared(n, m, seed)
    answers, refused, error = _bought(secret.tolist(), chosen, paid)
    return Reconstruction(
        bits=n,
        counts=m,
        epsilon=float(paid),
        exact=_recovered(solve, exact, secret),
        unbudgeted=_recovered(solve, _noised(exact, Fraction(1)), secret),
        private=_recovered(solve, np.array(answers, float), secret),
        guess=float(max(secret.mean(), 1 - secret.mean())),
        ceiling=float(1 - decision(paid).error),
        refused=refused,
        error=error,
        sweep=tuple(_swept(solve, exact, secret, total) for total in SWEEP),
    )


@dataclass(frozen=True)
class Shares:
    """The shares of a :class:`Reconstruction` alone, where the budget is only divided, and no curator sells."""

    exact: float
    unbudgeted: float
    private: float
    guess: float
    ceiling: float


def recovered(bits: int = 200, counts: int = 1000, epsilon: Number = 1, seed: int = 0) -> Shares:
    """The same attack in a moment: each count has its part of epsilon, and its noise, but was not bought.

    Guarantee: as of :func:`reconstruct`.

    >>> found = recovered(bits=20, counts=60)
    >>> found.exact, found.private < 1
    (1.0, True)
    """
    n, m, paid = *_sizes(bits, counts), positive(epsilon, "epsilon")
    secret, _, exact, solve = _prepared(n, m, seed)
    return Shares(
        exact=_recovered(solve, exact, secret),
        unbudgeted=_recovered(solve, _noised(exact, Fraction(1)), secret),
        private=_recovered(solve, _noised(exact, paid / m), secret),
        guess=float(max(secret.mean(), 1 - secret.mean())),
        ceiling=float(1 - decision(paid).error),
    )


def _sizes(bits: int, counts: int) -> tuple[int, int]:
    n, m = whole(bits, "bits", 2), whole(counts, "counts", 2)
    if n >= PRIME or m < n:
        raise InvalidParameter(
            f"{m} counts of {n} people are no such attack.", fix=f"Ask for fewer than {PRIME} people, and more counts."
        )
    return n, m


@lru_cache(maxsize=4)
def _prepared(n: int, m: int, seed: int) -> tuple[NDArray[np.int64], Any, NDArray[np.float64], NDArray[np.float64]]:
    """The secret bits, the subsets, their exact counts, and the matrix that solves for the bits."""
    rng = np.random.default_rng(seed)
    secret = rng.integers(0, 2, n)
    a, b = rng.integers(1, PRIME, m), rng.integers(0, PRIME, m)
    inside = ((np.outer(a, np.arange(n)) + b[:, None]) % PRIME < PRIME // 2).astype(float)
    return secret, list(zip(a.tolist(), b.tolist(), strict=True)), inside @ secret, np.linalg.pinv(inside)


def _noised(exact: NDArray[np.float64], epsilon: Fraction) -> NDArray[np.float64]:
    return np.asarray(IntegerLaplace(1, epsilon).release(exact.astype(np.int64)), float)


def _recovered(solve: NDArray[np.float64], answers: NDArray[np.float64], secret: NDArray[np.int64]) -> float:
    """The share of bits that rounded least squares gets right."""
    guess = solve @ answers > 0.5
    return float((guess == secret).mean())


def _swept(solve: Any, exact: Any, secret: Any, total: float) -> tuple[float, float, float, float]:
    """A total epsilon; the mean share recovered at it, and the least and largest of a few runs."""
    each = Fraction(total) / len(exact)
    runs = [_recovered(solve, _noised(exact, each), secret) for _ in range(REPEATS)]
    return total, math.fsum(runs) / len(runs), min(runs), max(runs)


def _bought(
    secret: Sequence[int], chosen: Sequence[tuple[int, int]], epsilon: Fraction
) -> tuple[list[float], bool, float]:
    """The counts as a curator sells them for a whole budget, whether it refused one more, and their error."""
    columns = {
        "pid": {"type": "integer", "bounds": [0, len(secret) - 1], "nullable": False},
        "secret": {"type": "integer", "bounds": [0, 1], "nullable": False},
    }
    people = MadeUp(columns, {"pid": range(len(secret)), "secret": secret})
    each, answers, error = Fraction(math.floor(epsilon * UNITS / len(chosen)), UNITS), [], 0.0
    how = Request("an attack on made-up rows", override=True, fresh=True, anyway=True)
    with staged({"people": people}, PureDP(float(epsilon))) as curator:
        for start in range(0, len(chosen), TOGETHER):
            some = chosen[start : start + TOGETHER]
            counted = ", ".join(f"{_COUNT.format(a=a, b=b)} AS n{k}" for k, (a, b) in enumerate(some))
            plan = curator.plan(f"SELECT {counted} FROM people", epsilon=each * len(some))
            release = curator.release(plan, how)
            answers += [float(str(release[f"n{k}"][0])) for k in range(len(some))]
            low, high = release.interval("n0")
            error = float(high - low) / 2
        try:
            curator.release(curator.plan("SELECT COUNT(*) AS n FROM people", epsilon=each), how)
        except BudgetExceeded:
            return answers, True, error
    return answers, False, error
