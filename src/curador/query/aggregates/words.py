"""The words for what is measured: count, sum, mean and the rest, each a small immutable value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from curador.errors import QuestionRefused
from curador.numbers import Number, probability, rational, whole
from curador.query.language.expressions import Expr, Name
from curador.query.language.trees import expr_from_json, number_from_text
from curador.query.tables.names import suggestion

MOST_QUANTILES = 100

FUNCTIONS = (
    "count",
    "count_distinct",
    "sum",
    "mean",
    "variance",
    "std",
    "quantiles",
    "minimum",
    "maximum",
    "bounds",
    "histogram",
    "top_k",
)


@dataclass(frozen=True)
class Aggregate:
    """One thing to measure in every group.

    ``parameters`` are fractions: the probabilities of quantiles, the edges of a histogram, k of top_k, and for
    variance and std what is taken off the count in the divisor (1: of a sample, 0: of a population).

    >>> mean("age")
    Aggregate(function='mean', column=Name(column='age', table=None), parameters=())
    """

    function: str
    column: Expr | None = None
    parameters: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS:
            raise QuestionRefused(
                f"No aggregate is called {self.function!r}.", fix=suggestion(self.function, FUNCTIONS)
            )
        if self.column is None and self.function not in ("count", "count_distinct", "top_k"):
            raise QuestionRefused(f"{self.function} needs a column.", fix=f"Write {self.function}('column').")
        object.__setattr__(self, "parameters", tuple(rational(x, "a parameter") for x in self.parameters))

    def outputs(self, name: str) -> tuple[str, ...]:
        """The names of the columns this makes in the answer.

        >>> quantiles("age", [0.25, 0.75]).outputs("age"), bounds("age").outputs("age"), count().outputs("n")
        (('age_p25', 'age_p75'), ('age_lower', 'age_upper'), ('n',))
        """
        if self.function == "bounds":
            return f"{name}_lower", f"{name}_upper"
        if self.function == "quantiles" and len(self.parameters) > 1:
            return tuple(f"{name}_p{float(100 * p):g}" for p in self.parameters)
        return (name,)

    def to_json(self) -> dict[str, object]:
        column = None if self.column is None else self.column.to_json()
        return {"function": self.function, "column": column, "parameters": [str(p) for p in self.parameters]}


def aggregate_from_json(data: Mapping[str, object]) -> Aggregate:
    """Read back what :meth:`Aggregate.to_json` wrote.

    >>> aggregate_from_json(median("age").to_json()) == median("age")
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


def count(what: str | Expr | None = None) -> Aggregate:
    """The number of rows, or of rows in which a column is not NULL.

    >>> count().column is None
    True
    """
    return Aggregate("count", None if what is None else column(what))


def count_distinct(what: str | Expr | None = None) -> Aggregate:
    """The number of units (no column), or of a keyed column's keys that occur.

    >>> count_distinct("town").function
    'count_distinct'
    """
    return Aggregate("count_distinct", None if what is None else column(what))


def sum_(what: str | Expr) -> Aggregate:
    """The sum of a bounded column, NULL counting as nothing.

    >>> sum_("pay").function
    'sum'
    """
    return Aggregate("sum", column(what))


def mean(what: str | Expr) -> Aggregate:
    """The mean of a bounded column over rows in which it is not NULL.

    >>> mean("pay").function
    'mean'
    """
    return Aggregate("mean", column(what))


def variance(what: str | Expr, *, population: bool = False) -> Aggregate:
    """The variance of a bounded column; of a sample (n - 1) unless said otherwise.

    >>> variance("pay").parameters, variance("pay", population=True).parameters
    ((Fraction(1, 1),), (Fraction(0, 1),))
    """
    return Aggregate("variance", column(what), (Fraction(not population),))


def std(what: str | Expr, *, population: bool = False) -> Aggregate:
    """The standard deviation of a bounded column.

    >>> std("pay").function
    'std'
    """
    return Aggregate("std", column(what), (Fraction(not population),))


def quantiles(what: str | Expr, probabilities: Iterable[Number]) -> Aggregate:
    """Several quantiles of a bounded column at once, cheaper than one by one.

    >>> quantiles("age", [0.25, 0.5]).parameters
    (Fraction(1, 4), Fraction(1, 2))
    """
    if not isinstance(probabilities, Iterable):
        raise QuestionRefused("Quantiles are a list of probabilities.", fix="Write quantiles(column, [0.25, 0.75]).")
    wanted = tuple(probability(p, "a quantile") for p in probabilities)
    if not 1 <= len(wanted) <= MOST_QUANTILES or len(set(wanted)) != len(wanted):
        raise QuestionRefused(f"Quantiles are 1 to {MOST_QUANTILES} different probabilities.", fix="List each once.")
    return Aggregate("quantiles", column(what), tuple(sorted(wanted)))


def median(what: str | Expr) -> Aggregate:
    """The middle value of a bounded column.

    >>> median("age") == quantiles("age", [0.5])
    True
    """
    return quantiles(what, ["1/2"])


def minimum(what: str | Expr) -> Aggregate:
    """A low quantile, privately near the least value.

    >>> minimum("age").function
    'minimum'
    """
    return Aggregate("minimum", column(what))


def maximum(what: str | Expr) -> Aggregate:
    """A high quantile, privately near the largest value.

    >>> maximum("age").function
    'maximum'
    """
    return Aggregate("maximum", column(what))


def bounds(what: str | Expr) -> Aggregate:
    """Bounds learned privately for a column that has none declared.

    >>> bounds("pay").function
    'bounds'
    """
    return Aggregate("bounds", column(what))


def histogram(what: str | Expr, edges: Iterable[Number]) -> Aggregate:
    """The number of rows in each bin; bins are those of :class:`curador.query.language.expressions.Bin`.

    >>> histogram("age", [0, 18, 65, 120]).function
    'histogram'
    """
    return Aggregate("histogram", column(what), tuple(rational(x, "an edge") for x in edges))


def top_k(k: int) -> Aggregate:
    """The k largest groups with their counts, chosen privately among public keys.

    >>> top_k(5).parameters
    (Fraction(5, 1),)
    """
    return Aggregate("top_k", None, (Fraction(whole(k, "k", 1)),))
