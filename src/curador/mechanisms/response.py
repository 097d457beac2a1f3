"""Randomized response: each reported answer is the true one with a known probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from curador.accounting import events
from curador.errors import InvalidParameter, InvalidValue
from curador.mechanisms.base import Mechanism, exactly_one, integer_array, integer_scalar, is_scalar
from curador.noise import SYSTEM, Entropy, bernoulli, bernoulli_array, uniform_below, uniform_below_array
from curador.noise.decide import exp_minus
from curador.numbers import Number, positive, probability, set_fields, up, whole
from curador.privacy import Neighbors

PRECISION = 64

MOST_ESTIMATED = 10**7
"""The most categories estimated at once: each takes memory, even without a report."""


@dataclass(frozen=True, init=False)
class RandomizedResponse(Mechanism):
    """Report one of ``categories`` answers: the true one with probability ``truth``, else another.

    The other answers are uniform.

    ``epsilon`` gives the largest truth probability that a 64-bit fraction can promise, rounded towards privacy.  The
    course's coin has two categories and truth gamma; two fair coins give gamma = 3/4.

    Guarantee: epsilon-local DP with epsilon = |ln(truth (k-1) / (1 - truth))| [War65], [KBR16].

    >>> coin = RandomizedResponse(truth=0.75)
    >>> round(coin.epsilon, 6)  # ln 3
    1.098612
    >>> RandomizedResponse(categories=5, epsilon=1000).release([0, 1, 2, 3, 4])  # hardly any lies
    array([0, 1, 2, 3, 4])
    """

    kind: ClassVar[str] = "randomized-response"
    categories: int
    truth: Fraction

    def __init__(self, epsilon: Number | None = None, *, truth: Number | None = None, categories: int = 2) -> None:
        k = whole(categories, "categories", 2)
        if exactly_one({"epsilon": epsilon, "truth": truth}) == "epsilon":
            # truth / other = 1 / exp(-epsilon): the upper end of the enclosure makes the ratio at most exp(epsilon).
            # For the least epsilons that end is above 1, where lies would be likelier than the truth: a loss again.
            shrink = min(Fraction(1), Fraction(exp_minus(positive(epsilon, "epsilon"), PRECISION)[1], 1 << PRECISION))
            p = 1 / (1 + (k - 1) * shrink)
        else:
            p = probability(truth, "truth")
        if p in (0, 1):
            raise InvalidParameter(
                f"With a truth probability of {p} the answer gives everything away.", fix="Choose it inside (0, 1)."
            )
        set_fields(self, categories=k, truth=p)

    @property
    def event(self) -> events.RandomizedAnswer:
        return events.RandomizedAnswer(self.categories, self.truth, Neighbors.REPLACE)

    @property
    def other(self) -> Fraction:
        """The probability of each answer that is not the true one."""
        return (1 - self.truth) / (self.categories - 1)

    @property
    def epsilon(self) -> float:
        """The privacy loss, rounded up."""
        from curador.accounting.rules.profiles import log_above

        ratio = self.truth / self.other
        return up(log_above(max(ratio, 1 / ratio)))

    @overload
    def release(self, value: int | np.integer[Any], *, entropy: Entropy = ...) -> int: ...
    @overload
    def release(self, value: Sequence[int] | NDArray[Any], *, entropy: Entropy = ...) -> NDArray[np.int64]: ...
    def release(self, value: Any, *, entropy: Entropy = SYSTEM) -> Any:
        """Report a category, or one for each person."""
        k = self.categories
        if is_scalar(value):
            answer = integer_scalar(value)
            self._check(0 <= answer < k)
            if bernoulli(self.truth, entropy):
                return answer
            return (answer + 1 + uniform_below(k - 1, entropy)) % k
        answers = integer_array(value)
        self._check(bool(((answers >= 0) & (answers < k)).all()))
        shift = 1 + uniform_below_array(k - 1, answers.size, entropy)
        shift[bernoulli_array(self.truth, answers.size, entropy)] = 0
        return (answers + shift.reshape(answers.shape)) % k

    def _check(self, fits: bool) -> None:
        if not fits:
            raise InvalidValue(
                f"Answers are numbered 0 to {self.categories - 1}.",
                fix="Number the categories, or add one for the rest.",
            )

    def estimate(self, reports: Sequence[int] | NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Estimate unbiased frequencies of the true answers, with standard errors, from reports.

        >>> frequencies, errors = RandomizedResponse(truth=0.75).estimate([0, 0, 0, 1])
        >>> frequencies
        array([1., 0.])
        """
        found = integer_array(reports)
        self._check(bool(((found >= 0) & (found < self.categories)).all()))
        if self.truth == self.other or not found.size:
            raise InvalidParameter(
                "These reports say nothing about the answers.", fix="Collect reports, with truth unlike 1/categories."
            )
        if self.categories > MOST_ESTIMATED:
            raise InvalidParameter(
                f"There are more than {MOST_ESTIMATED:,} categories to estimate.",
                fix="Use a protocol of curador.local.",
            )
        seen = np.bincount(found.reshape(-1), minlength=self.categories) / found.size
        lift = float(self.truth - self.other)
        return (seen - float(self.other)) / lift, np.sqrt(seen * (1 - seen) / found.size) / abs(lift)


@overload
def randomized_response(
    value: int | np.integer[Any], *, truth: Number | None = ..., epsilon: Number | None = ...
) -> int: ...
@overload
def randomized_response(
    value: Sequence[int] | NDArray[Any], *, truth: Number | None = ..., epsilon: Number | None = ...
) -> NDArray[np.int64]: ...
def randomized_response(value: Any, *, truth: Number | None = None, epsilon: Number | None = None) -> Any:
    """The course's coin: report a bit as it is with probability ``truth``, else flipped.

    An array of bits is also accepted.

    Guarantee: epsilon-local DP, as :class:`RandomizedResponse`.

    >>> randomized_response([0, 1, 1], epsilon=1000)
    array([0, 1, 1])
    """
    return RandomizedResponse(epsilon, truth=truth).release(value)
