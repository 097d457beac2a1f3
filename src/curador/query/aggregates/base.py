"""The base of all aggregates: an aggregate, its recipe from measures, and the function that computes it.

Every aggregate is one :class:`Function`, in one file with its public word: which measures it needs, how an answer
comes from noised measures, and how wrong that will be.  To add one, write such a file and name it in ``FILES``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from curador.errors import QuestionRefused
from curador.mechanisms.intervals import Noise
from curador.numbers import rational, set_fields
from curador.query.aggregates.measure import Measure, MeasureKind, RankSearch
from curador.query.language.bounds import typecheck
from curador.query.language.expressions import Expr, Name, ValuePair
from curador.query.language.trees import expr_from_json, number_from_text
from curador.query.language.types import Scope, Type
from curador.query.tables.names import suggestion

if TYPE_CHECKING:
    from curador.query.aggregates.tree import Hierarchy  # tree.py reads recipes

FILES = ("counts", "sums", "moments", "pairs.pairs", "quantiles.ranks", "top", "tree")
"""The files of this folder that register functions, loaded when the first aggregate is made."""

Array = NDArray[np.float64]


# ---- what is asked ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Aggregate:
    """One thing to measure in every group.

    ``parameters`` are fractions: the probabilities of quantiles, the edges of a histogram, k of top_k, and for
    variance and std what is subtracted from the count in the divisor (1: of a sample, 0: of a population).

    >>> Aggregate("mean", Name("age"))
    Aggregate(function='mean', column=Name(column='age', table=None), parameters=())
    """

    function: str
    column: Expr | None = None
    parameters: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        if function_named(self.function).needs_column and self.column is None:
            raise QuestionRefused(
                f"{self.function} needs a column.",
                fix=f"Write {self.function}('column').",
                code="needs-column",
                facts={"function": self.function},
            )
        if self.column is not None and function_named(self.function).pairs != isinstance(self.column, ValuePair):
            raise QuestionRefused(f"{self.function} is of one column, or of two.", fix="Give it as many as it needs.")
        set_fields(self, parameters=tuple(rational(x, "a parameter") for x in self.parameters))
        if not function_named(self.function).takes(self.parameters):
            raise QuestionRefused(
                f"{self.function} has parameters that it does not take.", fix="Build it by its function, or in SQL."
            )

    def outputs(self, name: str) -> tuple[str, ...]:
        """The names of the columns this makes in the answer.

        >>> from curador.query.aggregates.quantiles.ranks import bounds, quantiles
        >>> quantiles("age", [0.25, 0.75]).outputs("age"), bounds("age").outputs("age")
        (('age_p25', 'age_p75'), ('age_lower', 'age_upper'))
        """
        return function_named(self.function).outputs(self, name)

    def to_json(self) -> dict[str, object]:
        column = None if self.column is None else self.column.to_json()
        return {"function": self.function, "column": column, "parameters": [str(p) for p in self.parameters]}


def aggregate_from_json(data: Mapping[str, object]) -> Aggregate:
    """Read back what :meth:`Aggregate.to_json` wrote.

    >>> aggregate_from_json(Aggregate("mean", Name("age")).to_json()) == Aggregate("mean", Name("age"))
    True
    """
    function, what, parameters = data["function"], data["column"], data["parameters"]
    if not isinstance(function, str) or not isinstance(parameters, list):
        raise TypeError
    numbers = tuple(number_from_text(x) for x in parameters)
    return Aggregate(function, None if what is None else expr_from_json(what), numbers)


def column(what: str | Expr) -> Expr:
    """A column by its name, or an expression as it is.

    >>> column("age") == Name("age")
    True
    """
    return what if isinstance(what, Expr) else Name(what)


# ---- what it is made of ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recipe:
    """The recipe of one output: how it is computed from measures.

    ``effect`` is how strongly the noise of each measure moves the answer, relative to the largest the answer of n
    rows could be, times n.  The n is the same for all, so it does not matter for how a budget is divided.
    ``ranks`` is set where values are chosen by rank, ``around`` where their intervals are bought with them, ``top``
    where the largest groups are chosen; ``asked`` is the aggregate's name in the question.
    """

    name: str
    function: str
    outputs: tuple[str, ...]
    measures: tuple[Measure, ...]
    effect: tuple[float, ...]
    parameters: tuple[Fraction, ...] = ()
    asked: str = ""
    ranks: RankSearch | None = None
    around: Measure | None = None
    top: int | None = None
    tree: Hierarchy | None = None


class NoisyMeasure(Protocol):
    """A measure with the noise that a plan adds to it; None is a measure that no unit can move."""

    @property
    def measure(self) -> Measure: ...

    @property
    def mechanism(self) -> Noise | None: ...

    def error(self, confidence: float = 0.95) -> float:
        """The bound on one group's noise, on the measure's grid, holding with probability at least ``confidence``."""
        ...

    @property
    def selects(self) -> bool:
        """Whether a group is shown by this noised number, which then no longer has the mechanism's own law."""
        ...

    def ends(self, values: NDArray[Any], confidence: float = 0.95) -> tuple[Array, Array]:
        """Where each protected integer lies, given that its group is shown, with probability ``confidence`` or more."""
        ...


Part = tuple[NDArray[Any], NoisyMeasure]
"""The noised integers of a measure, one per group, and their noise."""


@dataclass(frozen=True)
class Estimate:
    """One column of the answer: a value per group, None where there is none, and where the protected statistic lies.

    ``ranks`` is set for quantiles without an interval: the value is within that many rows of the one asked for.
    """

    name: str
    values: tuple[Any, ...]
    lower: tuple[float, ...] | None = None
    upper: tuple[float, ...] | None = None
    ranks: float | None = None


# ---- the functions ---------------------------------------------------------------------------------------------------


class Function(ABC):
    """An aggregate's mathematics: its measures, its estimate, its error.

    ``by_rows`` marks an error that depends on how many rows are behind the answer, ``centres`` a function that
    measures centred sums (so that a sum of the same column shares them), ``alone`` one that stands alone in a question.
    ``keeps_kind`` marks one whose answers are values of the column, so that those of dates are dates, ``pairs`` one of
    two columns, ``by_answers`` an error that depends on the answers: none is expected.  ``work`` is how long its error
    takes to work out, beside that of a count.
    """

    name: ClassVar[str]
    needs_column: ClassVar[bool] = True
    numeric: ClassVar[bool] = False
    needs_bounds: ClassVar[bool] = False
    by_rows: ClassVar[bool] = False
    centres: ClassVar[bool] = False
    alone: ClassVar[bool] = False
    keeps_kind: ClassVar[bool] = False
    pairs: ClassVar[bool] = False
    by_answers: ClassVar[bool] = False
    work: ClassVar[int] = 1

    def takes(self, parameters: tuple[Fraction, ...]) -> bool:
        """Whether these are parameters that it has; questions come as JSON too, from whoever writes it."""
        return not parameters

    def outputs(self, aggregate: Aggregate, name: str) -> tuple[str, ...]:
        """The names of the columns it makes in the answer."""
        return (name,)

    def typed(self, what: Expr, scope: Scope) -> Type:
        """The type of what it measures."""
        return typecheck(what, scope)

    def refuse(self, name: str, aggregate: Aggregate, t: Type) -> None:
        """Refuse a column of a type that this function cannot measure, beyond what the class attributes say."""
        return

    @abstractmethod
    def recipes(self, name: str, aggregate: Aggregate, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
        """How the outputs are made of measures; ``centred`` where another output centres the same column."""

    def weights(self, recipe: Recipe) -> tuple[float, ...] | None:
        """What each measure counts for, where an answer is their weighted sum; None where it is not."""
        return None

    @abstractmethod
    def estimate(self, recipe: Recipe, parts: Sequence[Part], confidence: float) -> Estimate:
        """The answer from noised measures, with intervals.

        Guarantee: post-processing of what was noised [DR14]; each interval covers with probability at least
            ``confidence``.
        """

    @abstractmethod
    def error(self, recipe: Recipe, parts: Sequence[NoisyMeasure], rows: int, confidence: float) -> float:
        """The error bound of an answer over ``rows`` rows, holding with probability at least ``confidence``."""

    def allowed(self, recipe: Recipe) -> tuple[float, float] | None:
        """The least and the largest answer that the declarations allow; None where they set no such ends."""
        return None

    def assumes(self, recipe: Recipe) -> float | None:
        """The least standard deviation of the values for which that error bound holds; None if it holds for all."""
        return None


_functions: dict[str, Function] = {}


def register(function: Function) -> None:
    """Make an aggregate known under its name."""
    _functions[function.name] = function


def function_named(name: str) -> Function:
    """The function of an aggregate, or a refusal that suggests another.

    >>> function_named("maen")
    Traceback (most recent call last):
    curador.errors.QuestionRefused: No aggregate is called 'maen'. To do: Did you mean 'mean'? ...
    """
    if name not in _functions:
        for file in FILES:
            import_module(f"curador.query.aggregates.{file}")
    if name not in _functions:
        raise QuestionRefused(
            f"No aggregate is called {name!r}.",
            fix=suggestion(name, _functions),
            code="no-such-function",
            facts={"word": name},
        )
    return _functions[name]


# ---- what several functions share ------------------------------------------------------------------------------------


def is_yes_or_no(parameters: tuple[Fraction, ...]) -> bool:
    """Whether there is one parameter, 0 or 1.

    >>> is_yes_or_no((Fraction(1),)), is_yes_or_no(()), is_yes_or_no((Fraction(2),))
    (True, False, False)
    """
    return len(parameters) == 1 and parameters[0] in (0, 1)


def recipe_of(name: str, aggregate: Aggregate, effects: Mapping[Measure, float]) -> Recipe:
    """A recipe of one output per column of the aggregate, with the effect of each measure."""
    made = aggregate.outputs(name)
    return Recipe(name, aggregate.function, made, tuple(effects), tuple(effects.values()), aggregate.parameters, name)


def count_beside(aggregate: Aggregate, t: Type | None) -> Measure:
    """The count that goes with a column: of all rows, where the curator declares that it is never NULL."""
    if t is None or not t.nullable:
        return Measure(MeasureKind.ROWS)
    return Measure(MeasureKind.PRESENT, aggregate.column)


def on_grid(name: str, t: Type | None) -> tuple[int, int, int]:
    """The bounds of a column on its grid, and the grid; a plan has refused a column without bounds."""
    assert t is not None
    ends = t.grid_bounds
    if ends is None:
        raise QuestionRefused(
            f"{name!r} needs bounds.",
            fix="Declare them, or ask for bounds first.",
            code="needs-bounds",
            facts={"name": name},
        )
    return *ends, t.bits


def estimate_of(name: str, values: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> Estimate:
    """An estimate from arrays."""
    return Estimate(name, tuple(values.tolist()), tuple(low.tolist()), tuple(high.tolist()))


def as_reals(x: NDArray[Any]) -> Array:
    """Integers of any size as doubles."""
    return x.astype(np.float64)
