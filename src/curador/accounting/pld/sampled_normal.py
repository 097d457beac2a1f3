"""Gaussian noise on a sample of the units, the law behind private gradient descent, by quadrature.

Let z be normal, l = mu z - mu**2/2 and A(z) = 1 - q + q exp(l).  The loss is log A under A(z) phi(z) dz if the unit is
in the first of two databases, and -log A under phi(z) dz if it is in the second.  Every moment is an integral of phi(z)
A(z)**r with a complex power r.  It is analytic in a strip, so the trapezoidal rule converges exponentially [TW14].

The loss has a tail so long that its moments do not show the losses that matter.  So z is also asked "are you beyond c,
or below -c, roughly?", and answers no with probability Phi((c - z)/w) Phi((c + z)/w).  A yes counts as an infinite
loss.  The rest keeps its losses, and stays analytic (docs/proofs/pld.md, 6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from curador.accounting.pld.cells import Atoms, Cells, Floats, diluted, sampled, swapped
from curador.accounting.pld.noise_pairs import Normal, log_ndtr, reach
from curador.accounting.pld.pairs import Ends, Pair

_SURE = 40.0  # -log of the mass that the rule and its ends may leave out
_SOFT = 0.02  # w
_MOST = 2**20  # nodes
_ROOT_TAU = math.sqrt(2 * math.pi)


@dataclass(frozen=True)
class SampledNormal(Pair):
    """(1 - rate) N(0, 1) + rate N(mu, 1) against N(0, 1), or with ``added`` the other way round."""

    mu: float
    rate: Fraction
    added: bool

    @property
    def closed(self) -> bool:
        return False

    def ends(self) -> Ends:
        return Ends(-math.log(1 - self.rate) if self.added else math.inf, 0.0, 0.0)

    def extent(self, theta: float) -> float:
        return Normal(self.mu).extent(theta)

    def cells(self, count: int, tail: float) -> Cells:
        cells = sampled(Normal(self.mu).cells(count, tail), self.rate)
        return swapped(cells) if self.added else cells

    def _power(self, theta: float) -> float:
        """The real part of the power of A in the moment at theta."""
        return -theta if self.added else 1 + theta

    def _rule(self, most: float, omega: float, tail: float, finest: float = 1.0) -> tuple[float, float] | None:
        """The last node and the step of the trapezoidal rule.

        It serves powers of real part up to ``most`` and imaginary part up to ``omega``.
        """
        mu, w, q = self.mu, _SOFT, float(self.rate)
        a = min(2 * w, 2 / (mu * math.sqrt(max(1.0, most))))  # half the width of the strip; A has no zero in it
        # Beyond c the integrand grows by at most ``grow`` a unit against the Gaussian fall of the soft cut.
        grow = w * w * (most * mu + omega * mu * math.tan(mu * a / 2) / 2)
        end = self._cut(tail) + grow + math.sqrt(grow * grow + 2 * w * w * (_SURE + 5))
        shown = q * math.exp(min(700.0, mu * end - mu * mu / 2))
        turn = math.atan2(shown * math.sin(mu * a), float(1 - self.rate) + shown * math.cos(mu * a))
        lost = _SURE + a * a / 2 + a * a / (w * w) - most * math.log(math.cos(mu * a / 2)) + omega * turn
        h = min(finest, 2 * math.pi * a / lost)
        return (end, h) if 2 * end / h <= _MOST else None

    def exact(self, tilts: Sequence[float], omega: float, tail: float) -> bool:
        return self._rule(self._most(tilts), omega, tail) is not None

    def _most(self, tilts: Sequence[float]) -> float:
        return max(abs(self._power(t)) for t in tilts)

    def _cut(self, tail: float) -> float:
        """The c that N(0, 1) exceeds, roughly, with probability ``tail``."""
        return math.hypot(1, _SOFT) * reach(tail)

    def _laws(self, z: Floats, tail: float) -> tuple[Floats, Floats, Floats]:
        """The values of log A, the log-density of P, and the log-probability of the answer no."""
        c = self._cut(tail)
        log_a = diluted(self.mu * z - self.mu**2 / 2, self.rate)
        log_no = log_ndtr((c - z) / _SOFT) + log_ndtr((c + z) / _SOFT)
        return log_a, (0 if self.added else log_a) - z * z / 2, log_no

    def nodes(self, tilts: Sequence[float], omega: float, tail: float) -> Atoms | None:
        rule = self._rule(self._most(tilts), omega, tail)
        return self._atoms(*rule, tail) if rule else None

    def sketch(self, tail: float) -> Atoms | None:
        return self._atoms(self._cut(tail) + 1, 0.04, tail)

    def _atoms(self, end: float, h: float, tail: float) -> Atoms:
        z = _nodes(end, h)
        log_a, log_p, log_no = self._laws(z, tail)
        mass = np.exp(log_p + log_no) * (h / _ROOT_TAU)
        losses, keep = -log_a if self.added else log_a, mass > 0
        # z plus w times a normal number is normal; beyond c the unit's presence shows, below -c nearly nothing does.
        c, spread = self._cut(tail), math.hypot(1, _SOFT)
        out, shown = (math.erfc(y / spread / math.sqrt(2)) / 2 for y in (c, c - self.mu))
        if self.added:
            return Atoms(losses[keep], mass[keep], 0.0, lost=2 * out)
        infinite = float(self.rate) * shown + float(1 - self.rate) * out
        return Atoms(losses[keep], mass[keep], infinite, out, lost=out)

    def log_decay(self, theta: float, omega: Floats, tail: float) -> Floats:
        # Where the density of the tilted loss is at least f on an interval of length x, the law is a mixture of the
        # uniform one there, with weight f x and a transform below 2 / (omega x), and of a rest.
        power = self._power(theta)
        rule = self._rule(abs(power), 0.0, tail, finest=0.02)
        if rule is None:
            return np.zeros_like(omega)
        z, h = _nodes(*rule), rule[1]
        log_a, log_p, log_no = self._laws(z, tail)
        loss = self.mu * z - self.mu**2 / 2
        log_w = log_p + log_no + theta * (-log_a if self.added else log_a)
        log_w -= log_w.max() + math.log(np.exp(log_w - log_w.max()).sum() * h)
        log_f = log_w + log_a - loss - math.log(self.mu * self.rate)
        log_f[log_no < -1e-3] = -math.inf  # where it is steep
        best = np.zeros_like(omega)
        for top, drop in product((int(np.argmax(log_f)), int(np.argmax(log_w))), (0.5, 1.0, 2.0)):
            low = log_f < log_f[top] - drop
            first = int(np.max(np.flatnonzero(low[:top]), initial=-1)) + 1
            last = top + int(np.argmax(np.append(low[top:], True))) - 1
            slope = max(abs(z[first]), abs(z[last])) + (abs(power) + 2) * self.mu + 4
            length = abs(float(log_a[last] - log_a[first]))
            weight = min(1.0, length * math.exp(min(700.0, float(log_f[first : last + 1].min()) - h * slope)))
            if length > 0:
                best = np.minimum(best, np.log1p(-weight * np.maximum(0.0, 1 - 2 / (omega * length)) * (1 - 1e-9)))
        return best


def _nodes(end: float, h: float) -> Floats:
    n = math.ceil(end / h)
    return np.arange(-n, n + 1.0) * h
