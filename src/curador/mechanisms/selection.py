"""Choose one candidate, or a few, by private scores; only the choice is released, never a score.

Scores are first put on a grid that divides their sensitivity, which costs nothing.  Rounding down to whole steps
commutes with moving by whole steps.  Let the sensitivity be a whole number of steps.  Then two scores at most one
sensitivity apart stay at most that many steps apart.  Scores that all move the same way still do
(docs/proofs/selection.md).  Integers are on the grid already.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import Event, ExponentialChoice, PureLoss
from curador.errors import InvalidParameter, InvalidValue
from curador.mechanisms.base import Mechanism, checked_confidence, checked_epsilon, real_scalar, refuse_hidden
from curador.noise import SYSTEM, Entropy, bernoulli_exp_array, choose, uniform_below
from curador.noise.arrays import checked_count
from curador.noise.laplace import discrete_laplace
from curador.numbers import Number, above, positive, set_fields, times, up, whole
from curador.privacy import Neighbors

Scores = Sequence[float | Fraction] | NDArray[Any]

BITS = 30
"""A sensitivity is at least 2**BITS steps."""

MOST_STEPS = 1 << 40
"""The exact number of steps of a sensitivity with a larger numerator; integers may then fall between them."""

FARTHEST = 1 << 61
"""The largest gap below the best score, at least 2**20 sensitivities.  A larger gap counts as this one; that too moves
by no more than the scores do."""


_T = TypeVar("_T")


@dataclass(frozen=True)
class ScoreGrid:
    """Multiples of ``step``; a sensitivity holds exactly ``steps`` of them.

    >>> ScoreGrid.of(Fraction(1)).gaps([3, 5, 4.5]) / 2**30
    array([2. , 0. , 0.5])
    >>> ScoreGrid.of(Fraction(2, 3)).gaps([1, 3])  # whole numbers are whole numbers of steps
    array([3221225472,          0])
    """

    steps: int
    step: Fraction

    @classmethod
    def of(cls, sensitivity: Fraction) -> ScoreGrid:
        """Make the grid for scores of this sensitivity."""
        p = sensitivity.numerator
        # With p / q = sensitivity and steps = p 2**k, one is q 2**k steps: a whole number.
        steps = p << max(0, BITS + 1 - p.bit_length()) if p <= MOST_STEPS else MOST_STEPS
        return cls(steps, sensitivity / steps)

    def floor(self, score: object) -> int:
        """Round a score down to whole steps, exactly."""
        return real_scalar(score) // self.step

    def gaps(self, scores: Any) -> NDArray[np.int64]:
        """Count the steps of each score below the best.

        The same numbers give the same gaps in any type.  A type may depend on the data: a list of ints, say, beside a
        list with one float.  It must not change the law.
        """
        refuse_hidden(scores)
        given = np.asarray(scores) if isinstance(scores, np.ndarray) else None  # drops what a subclass adds
        listed = isinstance(scores, Sequence) and not isinstance(scores, str | bytes)
        if not (listed if given is None else given.ndim == 1):
            raise InvalidValue("Scores come one per candidate.", fix="Pass a list or an array of one dimension.")
        if len(scores) == 0:
            raise InvalidValue("There is nothing to choose from.", fix="Pass at least one score.")
        if given is not None:
            scores = given
        if given is not None and given.dtype.kind in "iu":
            return self._of_integers(given)
        if given is not None and given.dtype.kind == "f" and given.dtype.itemsize <= 8:
            return self._of_floats(given.astype(np.float64))
        return self._exactly([real_scalar(x) for x in scores])

    def _of_integers(self, scores: NDArray[Any]) -> NDArray[np.int64]:
        per_unit = 1 / self.step
        if per_unit.denominator != 1 or per_unit > FARTHEST:
            return self._exactly(scores.tolist())
        c = per_unit.numerator
        # Machine words subtract modulo 2**64, and the true differences lie in [0, 2**64).
        below = scores.max().astype(np.uint64) - scores.astype(np.uint64)
        near = below <= np.uint64(FARTHEST // c)
        out: NDArray[np.int64] = np.where(near, np.where(near, below, 0).astype(np.int64) * c, FARTHEST)
        return out

    def _of_floats(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        if not np.isfinite(scores).all():
            raise InvalidValue("A score is NaN or infinite.", fix="Give every candidate a finite score.")
        c = int(1 / self.step)
        # A product with a power of two is exact, as long as it stays a machine number.
        if c * self.step == 1 and c & (c - 1) == 0 and np.abs(scores).max() < FARTHEST / c:
            steps = np.floor(scores * float(c)).astype(np.int64)
            out: NDArray[np.int64] = np.minimum(steps.max() - steps, FARTHEST)
            return out
        return self._exactly(scores.tolist())

    def _exactly(self, scores: list[Any]) -> NDArray[np.int64]:
        n, d = self.step.numerator, self.step.denominator
        return _below([(a * d) // (b * n) for a, b in (x.as_integer_ratio() for x in scores)])


def _below(steps: list[int]) -> NDArray[np.int64]:
    best = max(steps)
    return np.array([min(best - s, FARTHEST) for s in steps], np.int64)


@dataclass(frozen=True, init=False)
class Selection(Mechanism):
    """The common part of the choices below: scores of a given sensitivity, their grid, and a budget.

    ``monotonic`` states that between neighbours all scores move the same way, as counts do under add-remove.  It
    doubles the effect of epsilon.
    """

    sensitivity: Fraction
    epsilon: Fraction
    monotonic: bool
    neighbors: Neighbors

    def __init__(
        self,
        sensitivity: Number,
        epsilon: Number,
        *,
        monotonic: bool = False,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        set_fields(
            self,
            sensitivity=positive(sensitivity, "sensitivity"),
            epsilon=checked_epsilon(epsilon),
            monotonic=bool(monotonic),
            neighbors=Neighbors(neighbors),
        )

    @property
    def grid(self) -> ScoreGrid:
        """The grid to which scores are rounded down."""
        return ScoreGrid.of(self.sensitivity)

    @property
    def rate(self) -> Fraction:
        """The change in log-weight for one step of score."""
        return self.epsilon / ((1 if self.monotonic else 2) * self.grid.steps)

    @property
    def event(self) -> Event:
        return PureLoss(self.epsilon, self.neighbors)

    def release(self, scores: Scores, *, entropy: Entropy = SYSTEM) -> int:
        """Choose a candidate; return its place in the list of scores."""
        return self._pick(self.grid.gaps(scores), entropy)

    def error(self, count: int, confidence: float = 0.95) -> float:
        """Bound the loss of score of the chosen among ``count`` candidates, at least this often.

        It is infinite where epsilon is so small that the choice reaches beyond :data:`FARTHEST`.
        """
        return self._error(count, 1 - checked_confidence(confidence))

    def _error(self, count: int, miss: float) -> float:
        others = times(whole(count, "count", 1)) - 1
        reach = max(0.0, self._reach(others, miss)) if others else 0.0
        steps = Fraction(above(reach)) / self.rate
        if steps > FARTHEST:  # candidates that far below are all alike, and any of them may be chosen
            return math.inf
        # One more step, because scores were rounded down to the grid before they were compared.
        return up((steps + 1) * self.grid.step)

    @abstractmethod
    def _pick(self, gaps: NDArray[np.int64], entropy: Entropy) -> int: ...

    @abstractmethod
    def _reach(self, others: int, miss: float) -> float:
        """A gap, times the rate, that is exceeded with probability at most ``miss``."""


class ExponentialMechanism(Selection):
    """Choose a candidate with probability proportional to exp(epsilon * score / (2 * sensitivity)).

    Guarantee: epsilon-DP [MT07], and of bounded range epsilon [DR19], so that many choices compose better than many
    pure releases.  Scores are first rounded down to a grid, at no cost (docs/proofs/selection.md).
    Assumes: no score moves by more than ``sensitivity`` between neighbours, and the candidates are public.

    >>> mechanism = ExponentialMechanism(sensitivity=1, epsilon=2)
    >>> mechanism.probabilities([0, 1, 1]).round(3)
    array([0.155, 0.422, 0.422])
    >>> mechanism.release([0, 1, 10**6]), mechanism.event.epsilon
    (2, Fraction(2, 1))
    >>> round(mechanism.error(count=100, confidence=0.95), 3)
    7.54
    """

    kind: ClassVar[str] = "exponential"

    @property
    def event(self) -> ExponentialChoice:
        return ExponentialChoice(self.epsilon, self.neighbors)

    def probabilities(self, scores: Scores) -> NDArray[np.float64]:
        """The law itself, to a float's accuracy: for public or made-up scores, since it is not private."""
        weights = np.exp(-(self.grid.gaps(scores) * float(self.rate)))
        out: NDArray[np.float64] = weights / weights.sum()
        return out

    def _pick(self, gaps: NDArray[np.int64], entropy: Entropy) -> int:
        return choose(gaps, self.rate, entropy=entropy)

    def _reach(self, others: int, miss: float) -> float:
        # Candidates a below the best weigh at most x = others * exp(-a) against the best's 1, and x / (1 + x) <= miss;
        # it is attained, and below the ln(count / miss) of [DR14, Theorem 3.11].
        return math.log(others) + math.log1p(-miss) - math.log(miss)


class PermuteAndFlip(Selection):
    """Try candidates in random order, and accept each with a probability that falls with its gap.

    The probability is exp(-epsilon * gap / (2 * sensitivity)).

    ``gap`` is the distance of the candidate's score below the best, which is therefore always accepted when reached.
    The coins do not depend on the order.  The first of a random order among those that would be accepted is a uniform
    one of them.  So all coins are thrown at once, and one of the heads is drawn.

    Guarantee: epsilon-DP, and never further from the best than the exponential mechanism [MS20]; with monotonic
    scores, and on the grid, by docs/proofs/selection.md.
    Assumes: no score moves by more than ``sensitivity`` between neighbours, and the candidates are public.
    Fails: its range is not bounded by epsilon, so it may not be accounted as an exponential choice.

    >>> mechanism = PermuteAndFlip(sensitivity=1, epsilon=2)
    >>> mechanism.release([0, 1, 10**6]), mechanism.event
    (2, PureLoss(epsilon=Fraction(2, 1), neighbors=<Neighbors.ADD_REMOVE: 'add-remove'>))
    """

    kind: ClassVar[str] = "permute-and-flip"

    def _pick(self, gaps: NDArray[np.int64], entropy: Entropy) -> int:
        heads = np.flatnonzero(bernoulli_exp_array(gaps, self.rate, entropy))
        return int(heads[uniform_below(heads.size, entropy)])

    def _reach(self, others: int, miss: float) -> float:
        # With B heads among those a below the best, one of them is drawn with probability at most E[B / (1 + B)]:
        # by concavity at most x / (1 + x), x = others * exp(-a), and at most x / 2, B being whole.
        return math.log(others) - math.log(miss) + min(math.log1p(-miss), -math.log(2))


class ReportNoisyMax(Selection):
    """Choose the best score after Laplace noise on the grid is added to each; the first of several.

    Guarantee: epsilon-DP [DR14, Claim 3.9], here with integer noise and ties (docs/proofs/selection.md).
    Assumes: no score moves by more than ``sensitivity`` between neighbours, and the candidates are public.
    Fails: no theorem bounds its range by epsilon, so it is not accounted as an exponential choice.

    >>> ReportNoisyMax(sensitivity=1, epsilon=2).release([0, 1, 10**6])
    2
    """

    kind: ClassVar[str] = "report-noisy-max"

    def __init__(
        self,
        sensitivity: Number,
        epsilon: Number,
        *,
        monotonic: bool = False,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        super().__init__(sensitivity, epsilon, monotonic=monotonic, neighbors=neighbors)
        checked_count(0, 1 / self.rate)

    def _pick(self, gaps: NDArray[np.int64], entropy: Entropy) -> int:
        return int(np.argmax(discrete_laplace(1 / self.rate).sample(gaps.size, entropy) - gaps))

    def _reach(self, others: int, miss: float) -> float:
        # One of the others must beat the best by noise: P(Z - Z' >= a) in closed form, for each of them.
        rate = float(self.rate)
        q, rest = math.exp(-rate), -math.expm1(-rate)

        def beaten(a: float) -> float:
            return others * math.exp(-rate * a) * (rest * (a + 1) + 2 * q * q / (1 + q) + q) / (1 + q) ** 2

        high = 1
        while beaten(high) > miss:
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if beaten(middle) * (1 + 2.0**-40) <= miss else (middle, high)
        return high * rate


@dataclass(frozen=True, init=False)
class TopK(Mechanism):
    """Choose the ``k`` best candidates, one after another.

    Each choice is by the exponential mechanism at epsilon / k.

    Guarantee: epsilon-DP.  These are k choices of bounded range epsilon / k each [DR19], which an accountant may
    compose more tightly when a delta is allowed.
    Assumes: no score moves by more than ``sensitivity`` between neighbours, and the candidates are public.

    >>> mechanism = TopK(2, sensitivity=1, epsilon=2)
    >>> mechanism.release([10**6, 0, 10**9, 1])
    [2, 0]
    >>> mechanism.event == 2 * ExponentialChoice(1)
    True
    """

    kind: ClassVar[str] = "exponential-top-k"
    k: int
    each: ExponentialMechanism

    def __init__(
        self,
        k: int,
        sensitivity: Number,
        epsilon: Number,
        *,
        monotonic: bool = False,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        count = whole(k, "k", 1)
        share = checked_epsilon(epsilon) / count
        each = ExponentialMechanism(sensitivity, share, monotonic=monotonic, neighbors=neighbors)
        set_fields(self, k=count, each=each)

    @property
    def event(self) -> Event:
        return self.k * self.each.event

    def release(self, scores: Scores, *, entropy: Entropy = SYSTEM) -> list[int]:
        """Choose candidates; return their places in the list of scores, in the order of choice."""
        grid = self.each.grid
        gaps = grid.gaps(scores)
        if gaps.size < self.k:
            raise InvalidValue(f"Cannot choose {self.k} of {gaps.size} candidates.", fix="Choose fewer.")
        plain = np.asarray(scores) if isinstance(scores, np.ndarray) else scores
        # Where none is that far below the best, none is that far below the best of the rest.
        steps = [grid.floor(score) for score in plain] if gaps.max() == FARTHEST else []
        left = np.arange(gaps.size)
        chosen: list[int] = []
        while True:
            place = choose(gaps, self.each.rate, entropy=entropy)
            chosen.append(int(left[place]))
            if len(chosen) == self.k:
                return chosen
            left, gaps = np.delete(left, place), np.delete(gaps, place)
            if steps and gaps.min() > 0 and gaps.max() == FARTHEST:  # clamped below a best that was chosen already
                gaps = _below([steps[i] for i in left.tolist()])

    def error(self, count: int, confidence: float = 0.95) -> float:
        """Bound the loss of score of every chosen candidate below the true k-th best, at least this often."""
        if whole(count, "count", 1) < self.k:
            raise InvalidParameter(f"Cannot choose {self.k} of {count} candidates.", fix="Choose fewer.")
        # Each choice is close to the best of the rest, which is at least as good as the k-th best of all.
        return self.each._error(count, (1 - checked_confidence(confidence)) / self.k)


@overload
def exponential_mechanism(scores: Mapping[_T, Any], sensitivity: Number, epsilon: Number) -> _T: ...
@overload
def exponential_mechanism(scores: Scores, sensitivity: Number, epsilon: Number, candidates: Sequence[_T]) -> _T: ...
@overload
def exponential_mechanism(scores: Scores, sensitivity: Number, epsilon: Number) -> int: ...
def exponential_mechanism(
    scores: Mapping[Any, Any] | Scores, sensitivity: Number, epsilon: Number, candidates: Sequence[Any] | None = None
) -> Any:
    """The course's function: choose a candidate h by its score s(h).

    The probability is proportional to exp(epsilon * s(h) / (2 * sensitivity)).

    Scores come as a mapping from candidates, as a list beside a list of candidates, or as a list alone.  For a list
    alone the place of the chosen one is returned.  All scores must be computed, even of very many candidates.

    Guarantee: epsilon-DP, as :class:`ExponentialMechanism`.

    >>> exponential_mechanism({"A": 3, "B": 900}, sensitivity=1, epsilon=1)
    'B'
    >>> exponential_mechanism([3, 900], 1, 1, candidates=["A", "B"]), exponential_mechanism([3, 900], 1, 1)
    ('B', 1)
    """
    return _choose(ExponentialMechanism(sensitivity, epsilon), scores, candidates)


@overload
def permute_and_flip(scores: Mapping[_T, Any], sensitivity: Number, epsilon: Number) -> _T: ...
@overload
def permute_and_flip(scores: Scores, sensitivity: Number, epsilon: Number, candidates: Sequence[_T]) -> _T: ...
@overload
def permute_and_flip(scores: Scores, sensitivity: Number, epsilon: Number) -> int: ...
def permute_and_flip(
    scores: Mapping[Any, Any] | Scores, sensitivity: Number, epsilon: Number, candidates: Sequence[Any] | None = None
) -> Any:
    """Choose a candidate of high score, as :func:`exponential_mechanism` but closer to the best.

    Guarantee: epsilon-DP, as :class:`PermuteAndFlip`.

    >>> permute_and_flip({"A": 3, "B": 900}, sensitivity=1, epsilon=1)
    'B'
    """
    return _choose(PermuteAndFlip(sensitivity, epsilon), scores, candidates)


@overload
def report_noisy_max(scores: Mapping[_T, Any], sensitivity: Number, epsilon: Number) -> _T: ...
@overload
def report_noisy_max(scores: Scores, sensitivity: Number, epsilon: Number, candidates: Sequence[_T]) -> _T: ...
@overload
def report_noisy_max(scores: Scores, sensitivity: Number, epsilon: Number) -> int: ...
def report_noisy_max(
    scores: Mapping[Any, Any] | Scores, sensitivity: Number, epsilon: Number, candidates: Sequence[Any] | None = None
) -> Any:
    """Choose a candidate of high score, the best after Laplace noise on each.

    Guarantee: epsilon-DP, as :class:`ReportNoisyMax`.

    >>> report_noisy_max({"A": 3, "B": 900}, sensitivity=1, epsilon=1)
    'B'
    """
    return _choose(ReportNoisyMax(sensitivity, epsilon), scores, candidates)


def _choose(mechanism: Selection, scores: Mapping[Any, Any] | Scores, candidates: Sequence[Any] | None) -> Any:
    if isinstance(scores, Mapping):
        if candidates is not None:
            raise InvalidParameter("The mapping already names the candidates.", fix="Leave candidates out.")
        names: Sequence[Any] = list(scores)
        return names[mechanism.release(list(scores.values()))]
    if candidates is None:
        return mechanism.release(scores)
    if len(candidates) != len(scores):
        raise InvalidValue(
            f"There are {len(candidates)} candidates but {len(scores)} scores.", fix="Give each candidate one score."
        )
    return candidates[mechanism.release(scores)]
