"""The decision game of the course, played: what a promise allows an attacker, and how a real one does beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from curador.accounting.events import TruncatedLaplaceNoise
from curador.accounting.meaning import posterior
from curador.accounting.rules.profiles import log_delta, pure_epsilon
from curador.accounting.rules.tradeoffs import tradeoff
from curador.audit.chances import at_least, at_most, epsilon_floor
from curador.audit.finding import Finding
from curador.errors import InvalidParameter
from curador.mechanisms.laplace import IntegerLaplace
from curador.numbers import Number, positive, whole
from curador.privacy import PureDP
from curador.show.pages.charts import Axis, Track
from curador.show.pages.exhibits import Drawing, Exhibit, Listing, Part

PLAYED = (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3), Fraction(5))
"""The epsilons at which the attacker plays, beside the one that is asked for."""

CONFIDENCE = 0.99

CUTS = (-3, -2, -1, 0, 1, 2, 3, 4)
"""The attacker says D' if the answer is at least this: one test each."""

BOUNDS = (2, 5, 10, 30, 100, 300, 1000)
"""Where Laplace noise of scale 1 is cut off; the last one is the course's."""

CURVE = tuple(sorted({round(2 * 500 ** (k / 30)) for k in range(31)}))
"""The bounds at which delta is drawn: from 2 to 1,000, so many that the curve has no corners."""


@dataclass(frozen=True)
class Game:
    """The game at one epsilon, played ``plays`` times; a fair coin says whether Alice is there.

    ``won``: how often the attacker who says what is likelier was right, with its limits; ``most``: the most that any
    attacker can be, in expectation; ``tests``: (false positives, false negatives) of a test at each cut; ``seen``: of
    the plays with and of those without Alice, in how many the attacker said that she is there.
    """

    epsilon: float
    plays: int
    won: float
    low: float
    high: float
    most: float
    tests: tuple[tuple[float, float], ...]
    seen: tuple[tuple[int, int], tuple[int, int]]


def play(epsilon: Number, plays: int = 20_000, seed: int = 0) -> Game:
    """Count Alice, or not, with noise of an epsilon, many times; and let an attacker decide each time.

    The coins are those of the ``seed``; the noise is the product's own, and not.

    Guarantee: the attacker is the best there is: of integer Laplace noise, to say that Alice is there from 1 on errs
        with a chance of exactly 1/(1 + e**epsilon) [GRS12].

    >>> game = play(1, plays=4000)
    >>> game.low < 0.7311 < game.high, game.most
    (True, 0.731...)
    """
    paid, n = positive(epsilon, "epsilon"), whole(plays, "plays", 100)
    alice = np.random.default_rng(seed).integers(0, 2, n)
    answers = np.asarray(IntegerLaplace(1, paid).release(alice))
    there, absent = answers[alice == 1], answers[alice == 0]
    right = int((there >= 1).sum() + (absent < 1).sum())
    miss = (1 - CONFIDENCE) / 2
    tests = tuple((float((absent >= cut).mean()), float((there < cut).mean())) for cut in CUTS)
    seen = (int((there >= 1).sum()), len(there)), (int((absent >= 1).sum()), len(absent))
    limits = at_least(right, n, miss), at_most(right, n, miss)
    return Game(float(paid), n, right / n, *limits, posterior(paid).upper, tests, seen)


def attacked(game: Game) -> Finding:
    """The game as a finding: the floor that the attacker's accusations put under epsilon.

    >>> attacked(play(1, plays=4000)).violated
    False
    """
    (yes, n), (other, of) = game.seen
    floor = epsilon_floor(yes, n, other, of, CONFIDENCE)
    return Finding(
        f"integer Laplace, ε = {game.epsilon:g}",
        PureDP(game.epsilon),
        floor,
        CONFIDENCE,
        min(n, of),
        violated=floor > game.epsilon,
        witness="the answer is at least 1",
        details={"won": game.won, "most": game.most},
    )


@dataclass(frozen=True)
class Truncated:
    """Laplace noise of scale 1 cut off at ``bound``: its pure epsilon, and the logarithm (base 10) of δ at ε = 1."""

    bound: int
    epsilon: float
    log_delta: float


def truncated(bounds: Sequence[int] = BOUNDS) -> tuple[Truncated, ...]:
    """Cut-off Laplace noise: some answers can come from one database alone, so no epsilon is promised.

    >>> [(t.bound, t.epsilon, round(t.log_delta)) for t in truncated((5, 1000))]
    [(5, inf, -2), (1000, inf, -434)]
    """
    found = []
    for bound in bounds:
        event = TruncatedLaplaceNoise(Fraction(1), Fraction(1), Fraction(bound))
        found.append(Truncated(bound, float(pure_epsilon(event)), log_delta(event, 1) / math.log(10)))
    return tuple(found)


def certain(bound: int, draws: int, seed: int = 0) -> int:
    """How many of so many answers, Alice being there, tell it for sure, where noise is cut off at ``bound``.

    Without Alice the count is 0, and an answer beyond the bound is impossible.  Without a cut there is no such answer.

    >>> 50 < certain(2, 1000) < 150
    True
    """
    if bound < 1:
        raise InvalidParameter("Noise of scale 1 is cut off at 1 or more.", fix="Give a larger bound.")
    n = whole(draws, "draws", 1)
    noise = np.random.default_rng(seed).laplace(size=3 * n + 100)
    return int((1 + noise[np.abs(noise) <= bound][:n] > bound).sum())


def game_exhibits(epsilon: Number = 1, plays: int = 20_000, seed: int = 0) -> tuple[Exhibit, Exhibit]:
    """The game as a picture, and the course's page on cut-off noise.

    >>> [e.code for e in game_exhibits(plays=200)]
    ['game', 'cut']
    """
    paid = positive(epsilon, "epsilon")
    games = [play(e, plays, seed) for e in sorted({*PLAYED, paid})]
    one = next(g for g in games if g.epsilon == float(paid))
    return _played(one, games), _cut_off(plays, seed)


def _played(one: Game, games: Sequence[Game]) -> Exhibit:
    x = tuple(k / 20 for k in range(121))
    drawn = [g for g in games if g.epsilon <= x[-1]]
    bounds = [posterior(Fraction(e)) if e else None for e in x]
    beliefs = Drawing(
        "game-belief",
        "xy",
        (
            Track("@game-most", x, tuple(0.5 if b is None else b.upper for b in bounds)),
            Track(
                "@game-attacker", tuple(g.epsilon for g in drawn), tuple(g.won for g in drawn), "points",
                tuple(g.low for g in drawn), tuple(g.high for g in drawn),
            ),
            Track("@game-least", x, tuple(0.5 if b is None else b.lower for b in bounds), "dashed"),
        ),
        x=Axis("@game-epsilon", ends=(0, 6)),
        y=Axis("@game-after", percent=True, ends=(0, 1)),
    )  # fmt: skip
    corners = tradeoff(PureDP(one.epsilon)).corners()
    curve = Drawing(
        "game-tradeoff",
        "tradeoff",
        (
            Track("@game-bound", tuple(a for a, _ in corners), tuple(b for _, b in corners)),
            Track("@game-tests", tuple(a for a, _ in one.tests), tuple(b for _, b in one.tests), "points"),
        ),
        x=Axis("@game-fpr"),
        y=Axis("@game-fnr"),
    )
    facts = {"epsilon": one.epsilon, "plays": one.plays, "won": one.won, "low": one.low, "high": one.high}
    facts |= {"most": one.most, "ten": posterior(10).upper, "floor": attacked(one).floor}
    parts = (Part("the-rules", ("game-how",), (beliefs,)), Part("the-attacker", ("game-won", "game-ten"), (curve,)))
    return Exhibit("game", facts, parts)


def _cut_off(draws: int, seed: int) -> Exhibit:
    found = truncated()
    rows = []
    for one in found:
        sure = certain(one.bound, draws, seed)
        rows.append((one.bound, "∞", f"10^{one.log_delta:.1f}", sure))
    curve = truncated(CURVE)
    drawing = Drawing(
        "cut-chart",
        "xy",
        (Track("@cut-delta", tuple(float(t.bound) for t in curve), tuple(t.log_delta for t in curve)),),
        x=Axis("@cut-bound", log=True),
        y=Axis("@cut-log"),
    )
    last, first = found[-1], found[1]
    facts = {
        "bound": last.bound, "log": last.log_delta, "draws": draws, "near": first.bound,
        "sure": certain(first.bound, draws, seed), "near_delta": 10**first.log_delta,
    }  # fmt: skip
    listing = Listing("cut-table", ("cut-bound", "cut-epsilon", "cut-delta", "cut-sure"), tuple(rows))
    says = ("cut-how", "cut-near", "cut-far")
    return Exhibit("cut", facts, (Part("the-attack", says, (drawing,), (listing,)),))
