"""Mechanisms with finitely many inputs and outputs as matrices of probabilities, with exact privacy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from curador.accounting.precise import dec, digits, float_above
from curador.accounting.rules.divergences import hockey_stick, law, renyi_divergence
from curador.errors import InvalidParameter
from curador.numbers import Number, probability, rational, set_fields, whole

Probabilities = tuple[Fraction, ...]


@dataclass(frozen=True)
class FiniteMechanism:
    """A probability matrix: one row per input, one column per output, and neighbouring inputs.

    By default every two rows are ``neighbors``.  A pair counts in both directions.

    >>> coin = FiniteMechanism([[0.75, 0.25], [0.25, 0.75]])
    >>> coin.worst_ratio, round(coin.epsilon, 6), coin.delta(0)
    (Fraction(3, 1), 1.098612, 0.5)
    """

    matrix: tuple[Probabilities, ...]
    neighbors: tuple[tuple[int, int], ...]

    def __init__(self, matrix: Iterable[Sequence[Number]], neighbors: Iterable[tuple[int, int]] | None = None) -> None:
        rows = tuple(tuple(law(row).values()) for row in matrix)
        if len({len(row) for row in rows}) != 1:
            raise InvalidParameter(
                "Every input needs a probability for every output.",
                fix="Give rows of one length, with zeros if need be.",
            )
        pairs = combinations(range(len(rows)), 2) if neighbors is None else neighbors
        set_fields(self, matrix=rows, neighbors=tuple(_pair(pair, len(rows)) for pair in pairs))

    def _ordered_pairs(self) -> Iterator[tuple[Probabilities, Probabilities]]:
        for i, j in self.neighbors:
            yield self.matrix[i], self.matrix[j]
            yield self.matrix[j], self.matrix[i]

    # ---- the course's definitions ----

    @property
    def additive_p(self) -> Fraction:
        """The p of the first tentative definition: the largest change of an output's probability.

        >>> FiniteMechanism([[1, 0], [0.99, 0.01]]).additive_p  # small, yet the second output gives row 2 away
        Fraction(1, 100)
        """
        return max(
            (abs(a - b) for p, q in self._ordered_pairs() for a, b in zip(p, q, strict=True)), default=Fraction(0)
        )

    @property
    def worst_ratio(self) -> Fraction | float:
        """The p of the second tentative definition: the largest ratio of an output's probabilities.

        It is e**epsilon.

        >>> FiniteMechanism([[1, 0], [0.99, 0.01]]).worst_ratio
        inf
        """
        pairs = [(a, b) for p, q in self._ordered_pairs() for a, b in zip(p, q, strict=True) if a]
        if any(b == 0 for _, b in pairs):
            return math.inf
        return max((a / b for a, b in pairs), default=Fraction(1))

    @property
    def epsilon(self) -> float:
        """The smallest epsilon for which the mechanism is epsilon-DP, rounded up; infinite if there is none."""
        ratio = self.worst_ratio
        if ratio in (1, math.inf):
            return 0.0 if ratio == 1 else math.inf
        with digits():
            return float_above(dec(Fraction(ratio)).ln())

    def delta(self, epsilon: Number) -> float:
        """The smallest delta for which the mechanism is (epsilon, delta)-DP, rounded up.

        >>> FiniteMechanism([[1, 0], [0.99, 0.01]]).delta(1)
        0.01
        """
        return max((hockey_stick(p, q, epsilon) for p, q in self._ordered_pairs()), default=0.0)

    def renyi(self, alpha: Number) -> float:
        """The smallest bound on the Rényi divergence of order alpha >= 1 between neighbours, rounded up.

        >>> round(FiniteMechanism([[0.75, 0.25], [0.25, 0.75]]).renyi(2), 6)
        0.847298
        """
        if alpha != math.inf and rational(alpha, "alpha") < 1:
            raise InvalidParameter(f"Privacy uses orders of at least 1, got {alpha}.", fix="Choose alpha >= 1.")
        return max((renyi_divergence(p, q, alpha) for p, q in self._ordered_pairs()), default=0.0)

    # ---- the decision game ----

    def posterior(self, first: int, second: int, output: int, prior: Number = Fraction(1, 2)) -> Fraction:
        """The probability, given an output, that the input was ``first`` and not ``second``.

        >>> FiniteMechanism([[0.75, 0.25], [0.25, 0.75]]).posterior(0, 1, output=0)
        Fraction(3, 4)
        """
        before = probability(prior, "prior")
        yes, no = before * self.matrix[first][output], (1 - before) * self.matrix[second][output]
        if yes + no == 0:
            raise InvalidParameter(f"Output {output} never happens for these inputs.", fix="Choose another output.")
        return yes / (yes + no)

    def adversary_error(self, prior: Number = Fraction(1, 2)) -> Fraction:
        """The error rate of the best guesser (maximum a posteriori) about the easiest pair of neighbours.

        >>> FiniteMechanism([[0.75, 0.25], [0.25, 0.75]]).adversary_error()
        Fraction(1, 4)
        """
        before = probability(prior, "prior")
        errors = (
            sum((min(before * a, (1 - before) * b) for a, b in zip(p, q, strict=True)), start=Fraction(0))
            for p, q in self._ordered_pairs()
        )
        return min(errors, default=min(before, 1 - before))

    # ---- mechanisms made of mechanisms ----

    def then(self, kernel: Sequence[Sequence[Number]]) -> FiniteMechanism:
        """Follow the mechanism by a random map of its outputs: post-processing.

        >>> FiniteMechanism([[0.75, 0.25], [0.25, 0.75]]).then([[1], [1]]).epsilon
        0.0
        """
        steps = [tuple(law(row).values()) for row in kernel]
        if len(steps) != len(self.matrix[0]) or len({len(step) for step in steps}) != 1:
            raise InvalidParameter("The map needs one law per output.", fix="Give it as many rows as columns here.")
        columns = list(zip(*steps, strict=True))
        rows = [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in self.matrix]
        return FiniteMechanism(rows, self.neighbors)

    def beside(self, other: FiniteMechanism) -> FiniteMechanism:
        """Run both mechanisms independently on the same input: composition.

        >>> coin = FiniteMechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> coin.beside(coin).worst_ratio
        Fraction(9, 1)
        """
        if len(self.matrix) != len(other.matrix) or set(self.neighbors) != set(other.neighbors):
            raise InvalidParameter("The two mechanisms have different inputs.", fix="Use the same rows and neighbours.")
        rows = [[a * b for a in p for b in q] for p, q in zip(self.matrix, other.matrix, strict=True)]
        return FiniteMechanism(rows, self.neighbors)


def _pair(pair: tuple[int, int], rows: int) -> tuple[int, int]:
    i, j = (whole(k, "row") for k in pair)
    if not (i < rows and j < rows and i != j):
        raise InvalidParameter(f"Rows {i} and {j} are not two different inputs.", fix=f"Use rows 0 to {rows - 1}.")
    return min(i, j), max(i, j)
