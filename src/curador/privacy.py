"""Privacy guarantees and their terms: the protected unit, neighbouring databases, and guarantees with their algebra."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from numbers import Integral
from typing import Any, ClassVar, Self

from curador.errors import BudgetExceeded, InvalidParameter
from curador.numbers import Number, down, probability, rational, set_fields, shown_down, shown_up, up


class Neighbors(StrEnum):
    """How two neighbouring databases differ.

    ``ADD_REMOVE`` (unbounded, the default): one has a unit the other lacks.
    ``REPLACE`` (bounded): same number of units, one of them changed.

    >>> Neighbors("replace") is Neighbors.REPLACE
    True
    """

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"

    @classmethod
    def _missing_(cls, value: object) -> Neighbors:
        raise InvalidParameter(
            f"Neighbours are 'add-remove' or 'replace', got {value!r}.", fix="Choose one of the two."
        )


@dataclass(frozen=True, slots=True)
class Unit:
    """The protected unit: one row, or all rows that share an id.

    >>> Unit.row(), Unit.of("patient")
    (Unit(id=None), Unit(id='patient'))
    """

    id: str | None = None

    @classmethod
    def row(cls) -> Unit:
        return cls(None)

    @classmethod
    def of(cls, column: str) -> Unit:
        return cls(column)


class Guarantee:
    """A bound on the privacy loss of a release: a few numbers, each weaker the larger it is.

    Guarantees of one kind add up, repeat and compare: ``a + b`` is both released about the same data, ``n * a`` is n
    such releases, and ``a <= b`` says that ``a`` implies ``b``.  A budget is a guarantee used as a ceiling.

    Guarantee: sums are rounded up, shares and remainders down, each number once.
    """

    __slots__ = ()
    kind: ClassVar[str]

    def __add__(self, other: object) -> Self:
        return self._plus([self._same_kind(other)])

    def __rmul__(self, n: int) -> Self:
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 0:
            raise InvalidParameter(f"A guarantee repeats a whole number of times, got {n!r}.", fix="Pass n >= 0.")
        times = int(n)
        return self._with({name: _times(times, x, up) for name, x in self._numbers().items()})

    __mul__ = __rmul__

    def __le__(self, other: object) -> bool:
        mine, theirs = self._numbers(), self._same_kind(other)._numbers()
        return all(name in mine and mine[name] <= x for name, x in theirs.items())

    def __ge__(self, other: object) -> bool:
        return self._same_kind(other) <= self

    def share(self, fraction: Number) -> Self:
        """This fraction of the guarantee, rounded down, so that shares whose fractions sum to 1 fit into the whole.

        Fails: refused where the share would be 0, as of a budget of 0.

        >>> PureDP(1).share("1/4"), ApproxDP(1, 1e-6).share(0.5)
        (PureDP(epsilon=0.25), ApproxDP(epsilon=0.5, delta=5e-07))
        """
        part = probability(fraction, "fraction")
        numbers = {name: _times(part, x, down) for name, x in self._numbers().items()}
        if all(x == 0 for name, x in numbers.items() if name != "delta"):
            raise InvalidParameter(
                f"A share of {fraction} of {self.label} is 0.", fix="Share a larger budget.", code="share-is-zero"
            )
        return self._with(numbers)

    def minus(self, *spent: Guarantee) -> Self:
        """The remainder of this budget after everything spent, rounded down: spent and remainder fit into the budget.

        Fails: refused with :class:`~curador.errors.BudgetExceeded` where more was spent than the budget has.

        >>> ApproxDP(1, 1e-6).minus(PureDP(0.1), PureDP(0.2))
        ApproxDP(epsilon=0.7, delta=1e-06)
        """
        if not spent:
            return self
        paid = [self._lifted(g)._numbers() for g in spent]
        # At a Rényi order that is not stated nothing is promised: the loss may be infinite.
        left = {name: _left(x, [p.get(name, math.inf) for p in paid]) for name, x in self._numbers().items()}
        if any(x < 0 for x in left.values()):
            raise BudgetExceeded(
                f"More than {self.label} was spent.", fix="Spend less, or raise the budget.", code="overspent"
            )
        return self._with(left)

    @property
    def label(self) -> str:
        """The guarantee in a few words; its numbers are shown to six digits, rounded up.

        >>> PureDP(0.5).label, ApproxDP(1, 1e-6).label, ZCDP(0.1).label
        ('epsilon 0.5', 'epsilon 1, delta 1e-06', 'rho 0.1')
        """
        return self._text(shown_up)

    @property
    def label_down(self) -> str:
        """The same rounded down: for what remains of a budget, which must not look larger than it is.

        >>> PureDP("0.1212625").label, PureDP("0.1212625").label_down
        ('epsilon 0.121263', 'epsilon 0.121262')
        """
        return self._text(shown_down)

    def _text(self, shown: Callable[[Number], str]) -> str:
        usual = {f.name: f.default for f in fields(self)}  # type: ignore[arg-type]
        return ", ".join(f"{name} {shown(x)}" for name, x in self._numbers().items() if x != usual[name])

    def to_json(self) -> dict[str, object]:
        """A plain dictionary that :func:`guarantee_from_json` reads back."""
        return {"kind": self.kind, **{name: _plain(x) for name, x in self._numbers().items()}}

    # ---- the numbers of a guarantee, which the algebra above works on ----

    def _numbers(self) -> dict[Any, float]:
        """Every number of the guarantee, by its name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def _with(self, numbers: dict[Any, float]) -> Self:
        """A guarantee of this kind with other numbers; a delta is a probability, and 1 already promises nothing."""
        return type(self)(**{name: min(1.0, x) if name == "delta" else x for name, x in numbers.items()})

    def _same_kind(self, other: object) -> Self:
        if type(other) is not type(self):
            raise InvalidParameter(
                f"Cannot combine {self!r} with {other!r}.",
                fix="Convert both to one kind of guarantee first (curador.accounting).",
            )
        return other

    def _lifted(self, other: Guarantee) -> Self:
        """Another guarantee as one of this kind, where it is one by definition."""
        return self._same_kind(other)

    def _plus(self, others: Sequence[Self]) -> Self:
        numbers = [g._numbers() for g in (self, *others)]
        shared = [name for name in numbers[0] if all(name in other for other in numbers)]
        if not shared:
            raise InvalidParameter("These Rényi curves share no order.", fix="State both at the same orders.")
        return self._with({name: _sum([other[name] for other in numbers]) for name in shared})


def total(guarantees: Iterable[Guarantee]) -> Guarantee:
    """The sum of guarantees about the same data, rounded up once; added one by one, thirds would exceed the whole.

    Pure guarantees may stand among approximate ones, as their delta is 0.

    >>> total([PureDP(0.1), ApproxDP(0.2, 1e-6)])
    ApproxDP(epsilon=0.3, delta=1e-06)
    """
    parts = list(guarantees)
    if not parts:
        raise InvalidParameter("There is nothing to add up.", fix="Pass at least one guarantee.")
    wide = next((g for g in parts if isinstance(g, ApproxDP)), parts[0])
    same = [wide._lifted(g) for g in parts]
    return same[0]._plus(same[1:])


def _sum(xs: list[float]) -> float:
    return math.inf if math.inf in xs else up(sum(map(rational, xs), Fraction(0)))


def _left(x: float, spent: list[float]) -> float:
    if math.inf in (x, *spent):
        return math.inf if x == math.inf else -math.inf
    return down(rational(x) - sum(map(rational, spent), Fraction(0)))


def _times(n: int | Fraction, x: float, rounded: Callable[[Fraction], float]) -> float:
    return 0.0 if n == 0 else math.inf if x == math.inf else rounded(n * rational(x))


def _plain(x: float) -> float | str:
    return "inf" if x == math.inf else x


def _checked(x: object, name: str, most: float = math.inf) -> float:
    """A float in [0, most]; infinity only where ``most`` allows it, NaN never."""
    if most == math.inf and (x == "inf" or (isinstance(x, float) and x == math.inf)):  # JSON has no infinity
        return math.inf
    value = rational(x, name)
    if not 0 <= value <= rational(most) if most < math.inf else value < 0:
        raise InvalidParameter(f"{name} must lie in [0, {most:g}], got {x}.", fix=f"Choose a {name} in that range.")
    return up(value)


@dataclass(frozen=True, slots=True)
class PureDP(Guarantee):
    """Every output's probability changes by a factor of at most e**epsilon.

    Guarantee: epsilon-differential privacy [DMNS06].

    >>> 10 * PureDP(0.1)
    PureDP(epsilon=1.0)
    >>> PureDP(0.5) <= PureDP(1)
    True
    """

    epsilon: float
    kind: ClassVar[str] = "pure"

    def __post_init__(self) -> None:
        set_fields(self, epsilon=_checked(self.epsilon, "epsilon"))


@dataclass(frozen=True, slots=True)
class ApproxDP(Guarantee):
    """As pure, up to an additive delta on the probability of any set of outputs.

    Guarantee: (epsilon, delta)-differential privacy [DKMMN06].

    >>> ApproxDP(1, 1e-6) + ApproxDP(0.5, 0)
    ApproxDP(epsilon=1.5, delta=1e-06)
    """

    epsilon: float
    delta: float
    kind: ClassVar[str] = "approximate"

    def __post_init__(self) -> None:
        set_fields(self, epsilon=_checked(self.epsilon, "epsilon"), delta=_checked(self.delta, "delta", most=1))

    def _lifted(self, other: Guarantee) -> ApproxDP:
        return ApproxDP(other.epsilon, 0.0) if isinstance(other, PureDP) else self._same_kind(other)


@dataclass(frozen=True, slots=True)
class ZCDP(Guarantee):
    """Rényi divergence of order a is at most rho * a for every a > 1, up to an additive delta.

    Guarantee: delta-approximate rho-zero-concentrated differential privacy [BS16].

    >>> 4 * ZCDP(0.125)
    ZCDP(rho=0.5, delta=0.0)
    """

    rho: float
    delta: float = 0.0
    kind: ClassVar[str] = "zcdp"

    def __post_init__(self) -> None:
        set_fields(self, rho=_checked(self.rho, "rho"), delta=_checked(self.delta, "delta", most=1))


@dataclass(frozen=True, slots=True)
class RenyiDP(Guarantee):
    """Rényi divergence of each listed order is at most the epsilon beside it.

    Guarantee: (order, epsilon)-Rényi differential privacy at every listed order [Mir17].

    >>> 2 * RenyiDP({2: 0.5, 8: 1})
    RenyiDP(curve=((2.0, 1.0), (8.0, 2.0)))
    """

    curve: tuple[tuple[float, float], ...]
    kind: ClassVar[str] = "renyi"

    def __init__(self, curve: Mapping[Any, Number] | Iterable[Sequence[Number]]) -> None:
        try:
            pairs = [(a, e) for a, e in (curve.items() if isinstance(curve, Mapping) else curve)]
        except (TypeError, ValueError):
            raise InvalidParameter(
                f"A Rényi curve is pairs of an order and its epsilon, got {curve!r}.", fix="Pass {order: epsilon, ...}."
            ) from None
        checked = sorted((_order(a), _checked(e, "epsilon")) for a, e in pairs)
        if not checked or len({a for a, _ in checked}) != len(checked):
            raise InvalidParameter("A Rényi curve needs distinct orders.", fix="Give each order above 1 once.")
        set_fields(self, curve=tuple(checked))

    def _numbers(self) -> dict[Any, float]:
        return dict(self.curve)

    def _with(self, numbers: dict[Any, float]) -> RenyiDP:
        return RenyiDP(numbers)

    @property
    def label(self) -> str:
        """The guarantee at its lowest and at its highest order; orders are shown rounded down.

        >>> RenyiDP({2: 0.5}).label, RenyiDP({2: 0.5, 4: 1, 8: 3}).label
        ('epsilon 0.5 at order 2', 'epsilon 0.5 at order 2 … epsilon 3 at order 8')
        """
        ends = dict.fromkeys([self.curve[0], self.curve[-1]])
        return " … ".join(f"epsilon {shown_up(e)} at order {shown_down(a)}" for a, e in ends)

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "curve": [[_plain(a), _plain(e)] for a, e in self.curve]}


def _order(a: object) -> float:
    if a in (math.inf, "inf"):
        return math.inf
    order = down(rational(a, "order"))  # divergence grows with its order: rounding the order up would understate
    if order <= 1:
        raise InvalidParameter(f"A Rényi order must be above 1, got {a}.", fix="Choose orders such as 2, 4, 8, 32.")
    return order


def guarantee_from_json(data: Mapping[str, object]) -> Guarantee:
    """Read back what :meth:`Guarantee.to_json` wrote.

    >>> guarantee_from_json(ApproxDP(1, 1e-6).to_json())
    ApproxDP(epsilon=1.0, delta=1e-06)
    """
    kinds = {c.kind: c for c in (PureDP, ApproxDP, ZCDP, RenyiDP)}
    body = dict(data)
    name = body.pop("kind", None)
    if not isinstance(name, str) or name not in kinds:
        raise InvalidParameter(f"No guarantee is called {name!r}.", fix=f"Use one of {sorted(kinds)}.")
    try:
        return kinds[name](**body)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidParameter(f"Not the fields of a {name} guarantee: {sorted(body)}.", fix="Use to_json().") from None
