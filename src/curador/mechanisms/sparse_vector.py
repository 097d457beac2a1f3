"""The sparse vector technique: the questions whose values lie above a threshold, paid only for those."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import ClassVar

from curador.accounting.events import PureLoss
from curador.errors import InvalidParameter, InvalidValue, NotPromised
from curador.forks import OneProcess
from curador.mechanisms.base import Mechanism, checked_confidence, checked_epsilon, is_scalar
from curador.mechanisms.selection import ScoreGrid
from curador.noise import SYSTEM, Entropy
from curador.noise.laplace import discrete_laplace
from curador.numbers import Number, above, positive, rational, set_fields, times, up, whole
from curador.privacy import Neighbors

ALREADY = "the whole epsilon was spent when it was opened; nothing was drawn and nothing more was spent"


@dataclass(frozen=True, init=False)
class AboveThreshold(Mechanism):
    """Ask questions one by one whether their values are above a threshold.

    Up to ``cutoff`` answers may be "above".

    The threshold gets Laplace noise once and keeps it.  Every question gets new Laplace noise ``cutoff`` times as wide.
    Answers below are free, so the whole epsilon is spent at opening, whatever is asked later.  A question with its own
    threshold t is asked as its value minus t, with the threshold 0.

    Guarantee: epsilon-DP, also for questions chosen on the way [LSL17, Algorithm 7], here on integer steps
    (docs/proofs/selection.md).  Epsilon is split as 1 : (2 cutoff)**(2/3), or 1 : cutoff**(2/3) if monotonic.
    Assumes: each value moves by at most ``sensitivity`` between neighbours; ``monotonic``: all move the same way.
    Fails: nothing is answered after ``cutoff`` answers above, since the promise depends on it.

    >>> mechanism = AboveThreshold(threshold=1000, epsilon=1, sensitivity=1, cutoff=2)
    >>> watch = mechanism.open()
    >>> watch.ask(-10**6), watch.ask(10**6), watch.left
    (False, True, 1)
    >>> mechanism.release([0, 10**6, 0, 10**6, 0])  # stops after the second
    [False, True, False, True]
    >>> mechanism.event.epsilon, round(mechanism.error(count=100, confidence=0.95), 1)
    (Fraction(1, 1), 41.4)
    """

    kind: ClassVar[str] = "sparse-vector"
    threshold: Fraction
    epsilon: Fraction
    sensitivity: Fraction
    cutoff: int
    monotonic: bool
    neighbors: Neighbors
    threshold_scale: Fraction
    question_scale: Fraction

    def __init__(
        self,
        threshold: Number,
        epsilon: Number,
        sensitivity: Number,
        *,
        cutoff: int = 1,
        monotonic: bool = False,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
    ) -> None:
        set_fields(
            self,
            threshold=rational(threshold, "threshold"),
            epsilon=checked_epsilon(epsilon),
            sensitivity=positive(sensitivity, "sensitivity"),
            cutoff=whole(cutoff, "cutoff", 1),
            monotonic=bool(monotonic),
            neighbors=Neighbors(neighbors),
        )
        if self.cutoff >= 1 << 40:
            raise InvalidParameter("A cutoff of 2**40 answers or more is not meant.", fix="Choose a smaller cutoff.")
        moves = self.cutoff * (1 if self.monotonic else 2)
        # Any split keeps the promise; this one minimises the noise of a comparison [LSL17, Section 4.2].
        ratio = Fraction(moves ** (2 / 3)).limit_denominator(1 << 20)
        first = self.epsilon / (1 + ratio)
        steps = self.grid.steps
        set_fields(self, threshold_scale=steps / first, question_scale=moves * steps / (self.epsilon - first))

    @property
    def grid(self) -> ScoreGrid:
        """The grid to which values and threshold are rounded down."""
        return ScoreGrid.of(self.sensitivity)

    @property
    def event(self) -> PureLoss:
        return PureLoss(self.epsilon, self.neighbors)

    def open(self, *, entropy: Entropy = SYSTEM) -> Watch:
        """Start answering; the event is the same for any questions."""
        return Watch(self, entropy)

    def release(self, values: Iterable[float | Fraction], *, entropy: Entropy = SYSTEM) -> list[bool]:
        """Answer questions known in advance, up to the one that reaches the cutoff."""
        if not isinstance(values, Iterable) or is_scalar(values):
            raise InvalidValue("Values come one per question.", fix="Pass a list; open() asks one after another.")
        steps = [self.grid.floor(x) for x in values]
        watch = self.open(entropy=entropy)
        answers: list[bool] = []
        for x in steps:
            if not watch.left:
                break
            answers.append(watch._answer(x))
        return answers

    def error(self, count: int, confidence: float = 0.95) -> float:
        """The distance from the threshold beyond which all of ``count`` answers are right.

        They are right at least this often.
        """
        # The noise of a question, less that of the threshold, must not carry any value across.
        miss = (1 - checked_confidence(confidence)) / times(whole(count, "count", 1))
        reach = Fraction(above(_crossing(float(self.question_scale / self.threshold_scale), miss)))
        # Integer noise is within a step of continuous noise (docs/proofs/noise.md), and rounding down costs one more.
        return up((reach * self.threshold_scale + 4) * self.grid.step)


def _crossing(wide: float, miss: float) -> float:
    """Find an x with P(A + B >= x) <= miss.

    A and B are independent Laplace noises of scale ``wide`` >= 1 and of scale 1.
    """

    def tail(x: float) -> float:
        if wide < 1.001:  # as if both had the wider scale, which is more
            return math.exp(-x / wide) * (0.5 + x / (4 * wide))
        return (wide**2 * math.exp(-x / wide) - math.exp(-x)) / (2 * (wide**2 - 1))

    low, high = 0.0, wide
    while tail(high) > miss:
        low, high = high, 2 * high
    while high - low > 2.0**-40 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if tail(middle) <= miss else (middle, high)
    return high


class Watch(OneProcess):
    """An open :class:`AboveThreshold`, with its noisy threshold.

    Do not show it to an analyst.

    Guarantee: all its answers are one event of its mechanism; threads may share it, forked children and copies not.

    >>> watch = AboveThreshold(0, epsilon=1, sensitivity=1).open()
    >>> watch.ask(10**6)
    True
    >>> watch.ask(10**6)
    Traceback (most recent call last):
    curador.errors.NotPromised: All 1 answers above the threshold have been given. To do: ...
    """

    __slots__ = ("_against", "_entropy", "_left", "_lock", "_mechanism")

    def __init__(self, mechanism: AboveThreshold, entropy: Entropy) -> None:
        super().__init__()
        self._mechanism, self._entropy, self._lock = mechanism, entropy, Lock()
        self._left = mechanism.cutoff
        noise = discrete_laplace(mechanism.threshold_scale).draw(entropy)
        self._against = mechanism.grid.floor(mechanism.threshold) + noise

    @property
    def left(self) -> int:
        """The number of answers above the threshold that may still be given."""
        return self._left

    def ask(self, value: float | Fraction) -> bool:
        """Whether a value is above the threshold, both with noise."""
        return self._answer(self._mechanism.grid.floor(value))

    def _answer(self, steps: int) -> bool:
        self.require_home()
        with self._lock:
            if not self._left:
                raise NotPromised(
                    f"All {self._mechanism.cutoff} answers above the threshold have been given.",
                    fix="Open a new one, which is paid for again, with a larger cutoff if more are expected.",
                    cost=ALREADY,
                )
            noise = discrete_laplace(self._mechanism.question_scale).draw(self._entropy)
            found = steps + noise >= self._against
            self._left -= found
            return found
