"""The base of every mechanism, the list of their codes, and checks of released values."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from curador.accounting.events import Event
from curador.accounting.events.base import check_loss
from curador.errors import InvalidParameter, InvalidValue
from curador.noise import SYSTEM, DiscreteGaussian, DiscreteLaplace, Entropy
from curador.numbers import positive, rational

LARGEST = 1 << 61
"""Integer arrays are clamped to plus or minus this before the noise and after it.  Clamping never moves two values
further apart.  Noise beyond 2**62 ends at the clamp, so that a machine word never wraps."""


LARGEST_EPSILON = 1 << 64
"""The largest epsilon; a larger one is taken for a mistake, and machine floats would overflow."""

Exact = dict[int, Fraction]
"""The numbers of a flattened array that are not doubles, by place."""

KINDS = frozenset(
    {
        "exponential",
        "exponential-quantiles",
        "exponential-top-k",
        "gaussian",
        "integer-gaussian",
        "integer-laplace",
        "laplace",
        "optimal-keys",
        "permute-and-flip",
        "randomized-response",
        "report-noisy-max",
        "sparse-vector",
        "thresholded-gaussian",
        "thresholded-laplace",
        "tree-gaussian",
        "tree-laplace",
    }
)
"""The code of every mechanism.  Policies and stored measurements name mechanisms by these codes.  New codes may be
added, but none may change its meaning, and a name outside this set is refused."""


class Mechanism(ABC):
    """A randomised computation on private data, with its event and its kind.

    Accountants read the event, policies the kind.
    """

    @property
    @abstractmethod
    def kind(self) -> str:
        """The stable code of this mechanism, one of :data:`KINDS`.

        A class with a single code states it as a constant.
        """

    @property
    @abstractmethod
    def event(self) -> Event:
        """The event of a release, from which any accountant can bound its privacy loss."""


class AdditiveNoise(Mechanism):
    """A mechanism that adds independent noise to each coordinate."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of the noise on each coordinate."""

    def error(self, confidence: float = 0.95) -> float:
        """The bound that the noise on a coordinate keeps in size, at least this often."""
        return self.reach(1 - checked_confidence(confidence))

    @abstractmethod
    def reach(self, miss: float) -> float:
        """The bound that the noise on a coordinate exceeds with probability at most ``miss``, however small."""

    @abstractmethod
    def release(self, value: Any, *, entropy: Entropy = SYSTEM) -> Any:
        """Add noise to the value, or to each coordinate; bad values are refused before anything is drawn."""

    def interval(self, released: float, confidence: float = 0.95) -> tuple[float, float]:
        """The interval of the protected value, given the released one; both ends are rounded outwards.

        A double may stand for a number half a unit in its last place away, which can be more than the noise.
        """
        middle = real_scalar(released)
        spacing = 0.0 if isinstance(released, Integral) else math.ulp(float(released)) / 2
        reach = Fraction(self.error(confidence)) + Fraction(spacing)
        return _outwards(middle - reach, -math.inf), _outwards(middle + reach, math.inf)


class RealNoise(AdditiveNoise):
    """Noise on real numbers, at most ``coordinates`` of them, each put on a grid first."""

    coordinates: int

    @abstractmethod
    def _noised(self, value: Fraction, entropy: Entropy) -> float: ...

    @abstractmethod
    def _noised_array(self, values: NDArray[np.float64], exact: Exact, entropy: Entropy) -> NDArray[np.float64]: ...

    @overload
    def release(self, value: float | Fraction, *, entropy: Entropy = ...) -> float: ...
    @overload
    def release(self, value: Sequence[float] | NDArray[Any], *, entropy: Entropy = ...) -> NDArray[np.float64]: ...
    def release(self, value: Any, *, entropy: Entropy = SYSTEM) -> Any:
        """Add noise to the value, or to each coordinate of the vector."""
        if is_scalar(value):
            return self._noised(real_scalar(value), entropy)
        return self._noised_array(*real_array(value, self.coordinates), entropy)


class IntegerNoise(AdditiveNoise):
    """Integer noise on integers."""

    @abstractmethod
    def _sampler(self, count: int) -> DiscreteLaplace | DiscreteGaussian:
        """The law of the noise on each of ``count`` coordinates; refused if the mechanism was made for fewer."""

    @overload
    def release(self, value: int | np.integer[Any], *, entropy: Entropy = ...) -> int: ...
    @overload
    def release(self, value: Sequence[int] | NDArray[Any], *, entropy: Entropy = ...) -> NDArray[np.int64]: ...
    def release(self, value: Any, *, entropy: Entropy = SYSTEM) -> Any:
        """Add noise to an integer of any size, or to each of an array, clamped to plus or minus 2**61."""
        if is_scalar(value):
            return integer_scalar(value) + self._sampler(1).draw(entropy)
        values = integer_array(value)
        out = self._sampler(values.size).sample(values.size, entropy).reshape(values.shape)
        out += values  # in place: a new array of a million numbers costs as much as drawing them
        return clamp(out)


def checked_confidence(confidence: object) -> float:
    """Check a confidence strictly between 0 and 1, which a double must separate from both.

    >>> checked_confidence("0.95")
    0.95
    """
    value = rational(confidence, "confidence")
    if not 0 < value < 1:
        raise InvalidParameter(f"A confidence lies strictly between 0 and 1, got {confidence}.", fix="Try 0.95.")
    found = float(value)
    if not 0 < 1 - found < 1:  # the chance of a miss would round to 0 or 1
        raise InvalidParameter("No double tells this confidence from 0 or from 1.", fix="Try 0.95.")
    return found


def checked_epsilon(epsilon: object) -> Fraction:
    """Check an epsilon above 0 and of a size that floats can hold."""
    value = positive(epsilon, "epsilon")
    if value > LARGEST_EPSILON:
        raise InvalidParameter("An epsilon above 2**64 promises nothing.", fix="Choose epsilon <= 10.")
    check_loss(value)
    return value


def as_variance(x: Fraction) -> float:
    """Convert a variance to a float, or to infinity where it exceeds all doubles."""
    return float(x) if x < sys.float_info.max else math.inf


def check_event(mechanism: Mechanism) -> None:
    """Refuse a mechanism that no accountant knows before it can release anything: it could not be charged."""
    _ = mechanism.event


def exactly_one(given: dict[str, object]) -> str:
    """The name of the only parameter given; refuse none and several."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        raise InvalidParameter(
            f"Give exactly one of {', '.join(given)}; got {', '.join(names) or 'none'}.", fix="Choose one of them."
        )
    return names[0]


def is_scalar(value: object) -> bool:
    return isinstance(value, Real) or (isinstance(value, np.ndarray) and value.ndim == 0)


def real_scalar(value: object) -> Fraction:
    """Convert a finite real number of any type to an exact fraction.

    >>> real_scalar(2**62 + 1), real_scalar(0.5)
    (Fraction(4611686018427387905, 1), Fraction(1, 2))
    """
    if isinstance(value, np.ndarray):
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InvalidValue(f"Expected a number, got {type(value).__name__}.", fix="Pass an int or a float.")
    if isinstance(value, Integral):
        return Fraction(int(value))  # Fraction would use the word of a NumPy integer, which wraps around
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if not isinstance(value, float | np.floating):  # as a double it could be further from its neighbour
        raise InvalidValue(
            f"Expected a number that is known exactly, got {type(value).__name__}.",
            fix="Pass an int, Fraction or float.",
        )
    if not np.isfinite(value):
        raise InvalidValue(f"Expected a finite number, got {value}.", fix="Clip or drop it before the release.")
    return Fraction(*value.as_integer_ratio())


def real_array(value: Any, coordinates: int) -> tuple[NDArray[np.float64], Exact]:
    """Convert finite real numbers to doubles; return the values that are not doubles exactly, by place.

    There may be at most ``coordinates`` of them.  Rounding to doubles before the noise would move two neighbours apart
    by more than the sensitivity: from 2**53 on, not every integer is a double.

    >>> values, exact = real_array([2**62 + 1, 0.5], 2)
    >>> values[1], exact
    (np.float64(0.5), {0: Fraction(4611686018427387905, 1)})
    """
    found = _array(value)
    if isinstance(value, Sequence) and found.dtype.kind == "f":  # NumPy made doubles of mixed numbers already
        found = _unless_doubles(np.array(value, object), found)
    if found.dtype.kind not in "iufO":
        raise InvalidValue(f"Expected numbers, got {found.dtype}.", fix="Pass an array of ints or floats.")
    if found.size > coordinates:
        raise InvalidValue(
            f"This mechanism was made for at most {coordinates} coordinates, got {found.size}.",
            fix=f"Make it with coordinates={found.size}; the sensitivity must be that of the whole vector.",
        )
    if found.dtype.kind == "O":
        numbers = [real_scalar(x) for x in found.flat]
        doubles = [_double(x) for x in numbers]
        exact = {i: x for i, (x, near) in enumerate(zip(numbers, doubles, strict=True)) if x != near}
        return np.array(doubles).reshape(found.shape), exact
    if not np.isfinite(found).all():
        raise InvalidValue("Expected finite numbers, got NaN or infinity.", fix="Clip or drop them before the release.")
    with np.errstate(over="ignore"):
        out = found.astype(np.float64)
    if found.dtype.kind == "f" and found.dtype.itemsize <= 8:
        return out, {}
    doubtful = np.flatnonzero(np.abs(out) >= 2.0**53 if found.dtype.kind in "iu" else out != found)
    return out, {int(i): real_scalar(found.flat[i]) for i in doubtful}


def _unless_doubles(objects: NDArray[Any], found: NDArray[Any]) -> NDArray[Any]:
    return found if all(type(x) in (float, np.float64) for x in objects.flat) else objects


def _outwards(x: Fraction, side: float) -> float:
    near = _double(x)
    return math.nextafter(near, side) if (near < x if side > 0 else near > x) else near


def _double(x: Fraction) -> float:
    """Round to the nearest double, at most the largest."""
    try:
        return float(x)
    except OverflowError:
        return sys.float_info.max if x > 0 else -sys.float_info.max


def coordinates_of(value: Any) -> int:
    """The number of numbers in a value."""
    return 1 if is_scalar(value) else _array(value).size


def integer_scalar(value: object) -> int:
    """Read an integer of any size."""
    if isinstance(value, np.ndarray):
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise InvalidValue(
            f"This mechanism protects integers, got {value!r}.", fix="Round first, or use the real-valued mechanism."
        )
    return int(value)


def integer_array(value: Any) -> NDArray[np.int64]:
    """Convert integers to 64-bit words, clamped to plus or minus 2**61."""
    found = _array(value)
    if not found.size:
        return np.empty(found.shape, np.int64)
    if isinstance(value, Sequence) and found.dtype.kind == "f":  # NumPy made doubles of mixed integers
        found = np.array(value, object)
    if found.dtype.kind == "O" and all(isinstance(x, Integral) for x in found.flat):
        found = np.array([max(-LARGEST, min(LARGEST, int(x))) for x in found.flat], np.int64).reshape(found.shape)
    if found.dtype.kind not in "iu":
        raise InvalidValue(
            f"This mechanism protects integers, got {found.dtype}.",
            fix="Round first, or use the real-valued mechanism.",
        )
    return clamp(found)


def clamp(x: NDArray[Any]) -> NDArray[np.int64]:
    """Clamp integers to plus or minus 2**61; return the array itself if that changes nothing."""
    if x.dtype.kind == "u" and x.dtype.itemsize == 8:
        x = np.minimum(x, np.uint64(LARGEST))
    words = x.astype(np.int64, copy=False)
    if words.size and (words.max() > LARGEST or words.min() < -LARGEST):
        return np.clip(words, -LARGEST, LARGEST)
    return words


def _array(value: Any) -> NDArray[Any]:
    try:
        found = np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        raise InvalidValue("Expected an array of numbers.", fix="Pass a list or array of one shape.") from None
    refuse_hidden(value, found.ndim)
    return found


def hides(value: object) -> bool:
    """Whether this array has a mask that hides some of its numbers; NumPy reads them all the same."""
    return isinstance(value, np.ndarray) and type(value) is not np.ndarray and bool(np.ma.is_masked(value))


def refuse_hidden(value: object, dimensions: int = 1) -> None:
    """Refuse an array that hides numbers, or rows that do: hidden numbers would be released."""
    rows = value if dimensions > 1 and isinstance(value, Sequence) else ()
    if hides(value) or any(map(hides, rows)):
        raise InvalidValue(
            "A mask hides some of these numbers.", fix="Leave them out with .compressed(), or say what they are."
        )
