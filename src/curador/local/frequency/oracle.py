"""The base of the frequency oracles: keys in, reports out, and frequencies from support counts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from curador.errors import InvalidParameter
from curador.local.frequency.estimates import Frequencies, oracle_variance
from curador.local.task.keys import KeyDomain, LocalKey, checked_keys, checked_rest, names_of, numbered, size_of
from curador.local.task.limits import checked_miss, farthest_coins
from curador.local.task.tally import Tally, checked_counts
from curador.local.task.task import Task, check_informative, check_thresholds, checked_bits, checked_epsilon
from curador.noise import SYSTEM, Entropy
from curador.numbers import Number, above, number_of_people, rational, set_fields

CELLS = 1 << 20
"""The cells of one piece; reports are made and counted in pieces, so that memory stays bounded."""


@dataclass(frozen=True, init=False)
class KeyedTask(Task):
    """A task about one of some listed keys; ``rest`` is the key that stands for unlisted values."""

    needs: ClassVar[tuple[str, ...]] = ("keys",)
    takes: ClassVar[tuple[str, ...]] = ("rest",)

    keys: KeyDomain
    epsilon: Fraction
    rest: LocalKey | None
    bits: int

    def _begin(self, keys: int | Sequence[LocalKey], epsilon: Number, rest: LocalKey | None, bits: int) -> None:
        """Check and set the fields of every such task; called first by each constructor."""
        found = checked_keys(keys)
        set_fields(
            self,
            keys=found,
            epsilon=checked_epsilon(epsilon),
            rest=checked_rest(rest, found),
            bits=checked_bits(bits),
        )

    def _end(self) -> None:
        """Check that the thresholds keep epsilon and that reports depend on the value; called last."""
        check_informative(self, self.p, self.q)
        check_thresholds(self)

    @property
    def size(self) -> int:
        """The number of keys."""
        return size_of(self.keys)

    @property
    @abstractmethod
    def p(self) -> Fraction:
        """The probability that a report supports the person's own key."""

    @property
    @abstractmethod
    def q(self) -> Fraction:
        """The probability that a report supports any other key."""


@dataclass(frozen=True, init=False)
class Oracle(KeyedTask):
    """A task whose report supports the person's own key more often than any other."""

    @property
    def width(self) -> int:
        """The number of cells that a report takes while it is made."""
        return 1

    @abstractmethod
    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        """Draw reports for keys by number."""

    @abstractmethod
    def _support(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count the reports that support each key."""

    def randomize(self, values: Any, *, entropy: Entropy = SYSTEM) -> NDArray[Any]:
        """Draw a report for each value, from coins of its own."""
        return self._report(self.read(values), entropy)

    def read(self, values: Any) -> NDArray[np.int64]:
        """Convert values to key numbers, refused if any is not a key; nothing is drawn."""
        return numbered(values, self.keys, self.rest)

    def _report(self, own: NDArray[Any], entropy: Entropy) -> NDArray[Any]:
        piece = max(1, CELLS // self.width)
        if own.size <= piece:
            return self._randomize(own, entropy)
        return np.concatenate([self._randomize(own[i : i + piece], entropy) for i in range(0, own.size, piece)])

    def tally(self, reports: Any) -> Tally:
        """Count reports; tallies of parts add up to the tally of the whole."""
        found = self._checked(reports)
        piece = max(1, CELLS // self.width)
        parts = (self._support(found[i : i + piece]) for i in range(0, len(found), piece))
        return Tally(len(found), sum(parts, start=np.zeros(self.size, np.int64)))

    def estimate(
        self, reports: Any, candidates: Sequence[LocalKey] | None = None, *, confidence: float = 0.95
    ) -> Frequencies:
        """Estimate unbiased frequencies with variance and intervals, from reports or their :class:`Tally`."""
        tally = self._counted(reports, candidates)
        if not tally.users or tally.support.shape != (self.size,):
            raise InvalidParameter("There are no reports on these keys.", fix="Collect some for this task first.")
        checked_counts(tally.support, np.int64(tally.users))
        return Frequencies(names_of(self.keys), tally, self.p, self.q)

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """The variance of an estimated frequency before any report."""
        f = rational(frequency, "frequency")
        if not 0 <= f <= 1:
            raise InvalidParameter(f"A frequency lies in [0, 1], got {frequency}.", fix="Choose one that does.")
        return float(oracle_variance(self.p, self.q, float(f), number_of_people(users)))

    def error(self, users: int, confidence: float = 0.95) -> float:
        """The distance within which all keys' estimates lie together, at least this often, for any data.

        It falls with more users.
        """
        return self._within(self.q, self.p, users, confidence)

    def rare_error(self, users: int, confidence: float = 0.95) -> float:
        """The :meth:`error` of keys without a single holder."""
        return self._within(self.q, self.q, users, confidence)

    def _within(self, least: Fraction, most: Fraction, users: int, confidence: float) -> float:
        """The largest error of an estimate whose reports support its key with a mean chance between these."""
        n, miss = number_of_people(users), checked_miss(confidence, self.size)
        return above(farthest_coins(float(least), float(most), n, miss) / float(self.p - self.q))
