"""Randomizers with published or plausible faults; each claims the epsilon it was made with."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.local import KRR, OLH, OUE, SUE, Duchi, DuchiVector, Hadamard, Piecewise, SubsetSelection
from curador.local.task.draw import coins, uniform
from curador.noise import Entropy
from curador.numbers import set_fields


class NeverClears(SUE):
    """A bit that is set stays set, as in pure-ldp 1.2.0's RAPPOR client: a reported 0 excludes a value for certain."""

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint8]:
        cells = coins(self.other, self.bits, own.size * self.size, entropy).reshape(own.size, self.size)
        cells[np.arange(own.size), own] = True
        return np.packbits(cells, axis=1)


class RoundedToAccuracy(OUE):
    """The other keys' threshold rounded down, so that bits are right a little more often than epsilon allows."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_fields(self, other=self.other - 1)


class WholeEpsilonPerBit(SUE):
    """Each bit keeps epsilon, though one value changes two of them."""

    def __init__(self, keys: int, epsilon: int) -> None:
        super().__init__(keys, 2 * epsilon)
        set_fields(self, epsilon=self.epsilon / 2)


class SameForAll(KRR):
    """The own key is kept with probability p, not p - q, before any key is drawn."""

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        reports = uniform(self.size, own.size, entropy)
        keep = coins(int(self.p * (1 << self.bits)), self.bits, own.size, entropy)
        np.copyto(reports, own, where=keep, casting="unsafe")
        return reports


class FirstRowIsOnes(Hadamard):
    """Key v has row v, so the first key's row is all +1: its reports can be any column, truth or not."""

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        return super()._randomize(own - 1, entropy)


class HashOfItself(OLH):
    """The mask is the key, not a random one."""

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[Any]:
        reports = super()._randomize(own, entropy)
        reports[:, 0] = own
        return reports


class OwnKeyBesides(SubsetSelection):
    """The own key is added to a set of others of full size."""

    def _randomize(self, own: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint8]:
        cells = np.unpackbits(super()._randomize(own, entropy), axis=1, count=self.size).astype(bool)
        cells[np.arange(own.size), own] |= coins(self.inside, self.bits, own.size, entropy)
        return np.packbits(cells, axis=1)


class TooSteep(Duchi):
    """The slope one step above the steepest that keeps epsilon."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_fields(self, slope=self.slope + 1)


class AnyCellElse(Piecewise):
    """Who is not inside draws from all cells, the window's too."""

    def _randomize(self, levels: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint32]:
        near = levels + uniform(self.window, levels.size, entropy)
        far = uniform(self.cells, levels.size, entropy)
        return np.where(coins(self.inside, 32, levels.size, entropy), near, far).astype(np.uint32)


class TiesOnBothSides(DuchiVector):
    """Corners at a right angle belong to both halves, each of which is drawn from uniformly, as is often written."""

    def _orient(self, corner: NDArray[np.bool_], entropy: Entropy) -> NDArray[np.bool_]:
        towards = bool(coins(self.true, 32, 1, entropy)[0])
        corners = [np.array(c) for c in product([False, True], repeat=self.dimension)]
        agreed = [2 * int((c == corner[0]).sum()) - self.dimension for c in corners]
        half = [c for c, a in zip(corners, agreed, strict=True) if (a >= 0 if towards else a <= 0)]
        return half[int(uniform(len(half), 1, entropy)[0])][np.newaxis]


class StuckWindow(Piecewise):
    """The window never reaches the upper end: private, and biased."""

    def _randomize(self, levels: NDArray[np.int64], entropy: Entropy) -> NDArray[np.uint32]:
        return super()._randomize(np.minimum(levels, self.cells - self.window - 1), entropy)
