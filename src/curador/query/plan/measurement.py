"""What is measured exactly before noise: each aggregate as integers, and how far one unit can move them.

A measure is one integer per group (or, for quantiles, the values themselves).  Every answer is worked out from noised
measures: a mean from a centred sum and a count, a variance from those and a sum of squares.  Answers that need the
same measure share it, so it is paid for once.

With v the value on its grid (an integer, N stands for N / 2**bits) and c the middle of its bounds:

========  =======================================================  =================
form      integer in each group                                    moved by one unit
========  =======================================================  =================
rows      rows                                                     R in a group
present   rows in which the column is not NULL                     R
units     units with at least one row                              1
sum       the sum of v (NULL counts as nothing)                    R max |v|
centred   the sum of v - c                                         R max |v - c|
squares   the sum of (v - c)**2                                    R max (v - c)**2
distinct  keys of the column that occur                            min(R, keys)
values    the values v themselves, sorted, for a choice by rank    R ranks
========  =======================================================  =================

R is the rows a unit keeps in a group, and it keeps at most G groups.  The rules of ``mechanisms.sensitivity``
make norms over all groups of this, for either kind of neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from curador.errors import QuestionRefused
from curador.mechanisms import sensitivity
from curador.mechanisms.sensitivity import Contribution, Sensitivity
from curador.privacy import Neighbors
from curador.query.aggregates.hierarchy import Hierarchy
from curador.query.ask.question import Output
from curador.query.language.expressions import Expr
from curador.query.language.types import Type
from curador.query.plan.checked import Checked
from curador.query.tables.columns import WIDEST

EXTREME = Fraction(1, 100)
"""The minimum is asked as this quantile, the maximum as 1 minus it: further out, noise alone decides."""

UNBOUNDED_BITS = 50
UNBOUNDED = 1 << UNBOUNDED_BITS
"""Where no bounds are declared, a private search for them looks this far on the grid, to both sides."""


class MeasureKind(StrEnum):
    """The kinds of measures; the table above says what each is."""

    ROWS = "rows"
    PRESENT = "present"
    UNITS = "units"
    SUM = "sum"
    CENTRED = "centred"
    SQUARES = "squares"
    DISTINCT = "distinct"
    VALUES = "values"


@dataclass(frozen=True)
class Measure:
    """One integer for each group, on a grid of 2**-bits; ``low`` and ``high`` bound what one row adds.

    ``centre`` is c of the table above; ``low``, ``high`` and ``centre`` are on the column's own grid.  ``level`` is set
    for sums of groups over the ``nodes`` of one level of a tree, which are worked out from the groups themselves.

    >>> Measure(MeasureKind.ROWS).name, Measure(MeasureKind.ROWS).bits
    ('rows', 0)
    """

    form: MeasureKind
    column: Expr | None = None
    low: int = 0
    high: int = 0
    centre: int = 0
    grid: int = 0
    keys: int = 0
    level: int | None = None
    nodes: int = 0

    @property
    def name(self) -> str:
        """A name for people and for the columns of an engine's answer."""
        if self.level is not None:
            return f"{self.leafed.name} at level {self.level}"
        if self.form is MeasureKind.VALUES:  # the same column may be searched within its bounds and for its bounds
            return f"values({self.column} from {self.low} to {self.high})"
        return self.form.value if self.column is None else f"{self.form.value}({self.column})"

    @property
    def leafed(self) -> Measure:
        """The measure in the groups themselves, which an engine works out."""
        return replace(self, level=None, nodes=0)

    @property
    def bits(self) -> int:
        """The grid of the integer itself: squares have twice the bits of what is squared."""
        return 2 * self.grid if self.form is MeasureKind.SQUARES else self.grid

    @property
    def counts(self) -> bool:
        """Whether it counts something, rather than adding values up."""
        return self.form in (MeasureKind.ROWS, MeasureKind.PRESENT, MeasureKind.UNITS, MeasureKind.DISTINCT)

    @property
    def reach(self) -> int:
        """The most one row adds, in size."""
        if self.counts or self.form is MeasureKind.VALUES:
            return 1
        furthest = max(self.high - self.centre, self.centre - self.low)
        return furthest**2 if self.form is MeasureKind.SQUARES else furthest

    def sensitivity(self, contribution: Contribution, neighbors: Neighbors, cells: int | None) -> Sensitivity:
        """How far one unit moves this measure over all groups, in steps of its grid; exact.

        ``cells`` is how many groups the answer has, None where they are selected privately.

        >>> age = Measure(MeasureKind.CENTRED, None, low=17, high=90, centre=53)
        >>> age.sensitivity(Contribution(rows=3, groups=5), Neighbors.ADD_REMOVE, 16).l1 == 5 * 3 * 37
        True
        >>> Measure(MeasureKind.UNITS).sensitivity(Contribution(rows=3, groups=5), Neighbors.ADD_REMOVE, 16).l1
        Fraction(5, 1)
        """
        if self.level is not None:
            # All groups of a unit may lie in one node.
            together = Contribution(rows=contribution.rows * contribution.groups)
            return sensitivity.count(neighbors, together, self.nodes)
        if self.form is MeasureKind.ROWS:
            return sensitivity.count(neighbors, contribution, cells)
        # NULLs and filters can drop any row of what is below, so no unit is known to be always there.
        free = Contribution(contribution.rows, contribution.groups)
        if self.form in (MeasureKind.SUM, MeasureKind.CENTRED):
            return sensitivity.bounded_sum(self.low - self.centre, self.high - self.centre, neighbors, free, cells)
        if self.form is MeasureKind.SQUARES:
            return sensitivity.bounded_sum(0, self.reach, neighbors, free, cells)
        rows = {MeasureKind.UNITS: 1, MeasureKind.DISTINCT: min(free.rows, max(self.keys, 1))}.get(self.form, free.rows)
        return sensitivity.count(neighbors, Contribution(rows, free.groups), cells)


@dataclass(frozen=True)
class Recipe:
    """How one output is worked out from measures.

    ``effect`` says how strongly the noise of each measure moves the answer, relative to the largest the answer of n
    rows could be, times n.  The n is the same for all, so it does not matter for how a budget is divided.
    """

    name: str
    function: str
    outputs: tuple[str, ...]
    measures: tuple[Measure, ...]
    effect: tuple[float, ...]
    parameters: tuple[Fraction, ...] = ()
    asked: str = ""
    tree: Hierarchy | None = None


def recipes(checked: Checked, contribution: Contribution) -> tuple[Recipe, ...]:
    """How every output of a question is worked out, where a unit keeps no more than ``contribution``.

    >>> from curador.query.aggregates.words import count, mean
    >>> from curador.query.plan.checked import check
    >>> from curador.query.ask.question import Question
    >>> from curador.query.tables.table import Table
    >>> adult = Table("a.csv", columns={"age": {"type": "integer", "bounds": [17, 90], "nullable": False}})
    >>> q = Question("adult", (Output("n", count()), Output("age", mean("age"))))
    >>> [[m.name for m in r.measures] for r in recipes(check(q, {"adult": adult}), Contribution())]
    [['rows'], ['centred(age)', 'rows']]
    """
    checked.require_bounds()
    # A sum beside a mean of the same column is the mean's centred sum and count again, so it costs nothing more.
    centred = {
        o.aggregate.column for o in checked.question.aggregates if o.aggregate.function in ("mean", "variance", "std")
    }
    pairs = zip(checked.question.aggregates, checked.columns, strict=True)
    made = [r for o, t in pairs for r in _RECIPES[o.aggregate.function](o, t, o.aggregate.column in centred)]
    if contribution.rows == 1:
        made = list(map(_units_as_rows, made))
    if checked.question.tree is not None:
        tree = Hierarchy(tuple(tuple(map(str, key)) for key in checked.keys or ()), checked.question.totals)
        made = [_over_tree(recipe, tree) for recipe in made]
    return tuple(made)


def _over_tree(recipe: Recipe, tree: Hierarchy) -> Recipe:
    """A count at every level of a tree whose nodes are not all public already; the leaves come last."""
    base = recipe.measures[0]
    if recipe.function not in ("count", "count_distinct") or base.form not in (MeasureKind.ROWS, MeasureKind.PRESENT):
        raise QuestionRefused(
            f"{recipe.name!r} is a {recipe.function}; over a tree rows are counted.",
            fix="Use count(), or ask for the rest with group_by().",
        )
    levels = [level for level in range(tree.depth) if tree.measured(level)]
    above = [replace(base, level=level, nodes=len(tree.nodes(level))) for level in levels]
    measures = (*above, base)
    return replace(recipe, function="tree", measures=measures, effect=(1.0,) * len(measures), tree=tree)


def _units_as_rows(recipe: Recipe) -> Recipe:
    """Where a unit has one row in a group, units and rows are one measure."""
    same = (Measure(MeasureKind.ROWS) if m.form is MeasureKind.UNITS else m for m in recipe.measures)
    return replace(recipe, measures=tuple(same))


def _made(output: Output, effects: Mapping[Measure, float]) -> tuple[Recipe, ...]:
    what = output.aggregate
    measures, effect = tuple(effects), tuple(effects.values())
    named = what.outputs(output.name)
    return (Recipe(output.name, what.function, named, measures, effect, what.parameters, output.name),)


def _count(output: Output, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
    return _made(output, {_present(output, t): 1.0})


def _count_distinct(output: Output, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
    if t is None:
        return _made(output, {Measure(MeasureKind.UNITS): 1.0})
    return _made(output, {Measure(MeasureKind.DISTINCT, output.aggregate.column, keys=len(t.domain or ())): 1.0})


def _sum(output: Output, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
    low, high, grid = _grid(output, t)
    most = max(abs(low), abs(high), 1)
    if centred:
        total = _centred(output, t, MeasureKind.CENTRED)
        return _made(output, {total: 1 / most, _present(output, t): abs(total.centre) / most})
    return _made(output, {Measure(MeasureKind.SUM, output.aggregate.column, low, high, 0, grid): 1 / most})


def _mean(output: Output, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
    total = _centred(output, t, MeasureKind.CENTRED)
    # (S + s) / (N + c) - S / N is near (s - m c) / N with |m| <= h; the range of a mean is 2 h.
    return _made(output, {total: 1 / (2 * max(total.reach, 1)), _present(output, t): 0.5})


def _variance(output: Output, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
    total, squares = _centred(output, t, MeasureKind.CENTRED), _centred(output, t, MeasureKind.SQUARES)
    h = max(total.reach, 1)
    # Q/N - (S/N)**2 moves by at most (q + 2 h s + h**2 c) / N; a variance is at most h**2.
    return _made(output, {total: 2 / h, squares: 1 / h**2, _present(output, t): 1.0})


def _quantiles(output: Output, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
    low, high, grid = _grid(output, t)
    return _made(output, {Measure(MeasureKind.VALUES, output.aggregate.column, low, high, 0, grid): 1.0})


def _bounds(output: Output, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
    assert t is not None
    m = Measure(MeasureKind.VALUES, output.aggregate.column, -UNBOUNDED, UNBOUNDED, 0, t.bits)
    ends = zip(("lower", "upper"), output.aggregate.outputs(output.name), strict=True)
    return tuple(Recipe(name, which, (name,), (m,), (1.0,), (), output.name) for which, name in ends)


def _top_k(output: Output, t: Type | None, centred: bool) -> tuple[Recipe, ...]:
    return _made(output, {Measure(MeasureKind.ROWS): 1.0})


_RECIPES: Mapping[str, Callable[[Output, Type | None, bool], tuple[Recipe, ...]]] = {
    "count": _count,
    "count_distinct": _count_distinct,
    "sum": _sum,
    "mean": _mean,
    "variance": _variance,
    "std": _variance,
    "quantiles": _quantiles,
    "minimum": _quantiles,
    "maximum": _quantiles,
    "bounds": _bounds,
    "top_k": _top_k,
}


def _present(output: Output, t: Type | None) -> Measure:
    """The count that goes with a column: of all rows, where the curator declares that it is never NULL."""
    if t is None or not t.nullable:
        return Measure(MeasureKind.ROWS)
    return Measure(MeasureKind.PRESENT, output.aggregate.column)


def _grid(output: Output, t: Type | None) -> tuple[int, int, int]:
    """The bounds of a column on its grid; recipes() has refused a column without."""
    assert t is not None
    ends = t.grid_bounds
    if ends is None:
        raise QuestionRefused(f"{output.name!r} needs bounds.", fix="Declare them, or ask for bounds first.")
    return *ends, t.bits


def _centred(output: Output, t: Type | None, form: MeasureKind) -> Measure:
    low, high, grid = _grid(output, t)
    made = Measure(form, output.aggregate.column, low, high, (low + high) // 2, grid)
    if made.reach > WIDEST:
        raise QuestionRefused(
            f"The squares of {output.aggregate.column} for {output.name!r} could leave 62 bits.",
            fix="Narrow its bounds, or declare a coarser step.",
        )
    return made


# ---- what a unit keeps -------------------------------------------------------------------------------------------


def declared_limits(checked: Checked) -> Contribution:
    """How many groups, and rows in each, a unit may keep, as declared with the question or for the table."""
    question, table = checked.question, checked.table
    kept = question.contribution or table.contribution
    if table.unit.id is None:
        return Contribution(rows=1, groups=1)
    if kept is None:
        raise QuestionRefused(
            f"{question.table!r} does not say how many groups and rows one {table.unit.id!r} may count in.",
            fix="Declare contribution = [groups, rows] for the table, or ask with .bounded(groups=…, rows=…).",
        )
    return Contribution(rows=kept.rows, groups=kept.groups)


def limits(checked: Checked) -> Contribution:
    """What a unit keeps of the groups of this answer: as declared, and no more groups than there are.

    >>> from curador.query.aggregates.words import count
    >>> from curador.query.plan.checked import check
    >>> from curador.query.ask.question import Question
    >>> from curador.query.tables.table import Table
    >>> visits = Table("v.csv", unit="id", columns={"id": "integer"}, contribution=(5, 3))
    >>> limits(check(Question("visits", (Output("n", count()),)), {"visits": visits}))
    Contribution(rows=3, groups=1, fewest=0)
    """
    question, kept = checked.question, declared_limits(checked)
    if checked.table.unit.id is None:
        # Under replace, a row that nothing can drop is counted whatever is put in its place.
        always = question.where is None and not question.joins and not question.group_by
        return Contribution(rows=1, groups=1, fewest=int(always))
    cells = 1 if not question.group_by else kept.groups if checked.keys is None else len(checked.keys)
    return Contribution(rows=kept.rows, groups=min(kept.groups, cells))


def public_rows(checked: Checked) -> int | None:
    """The number of rows behind the answer, where it is public: a declared size and nothing that drops rows."""
    question, table = checked.question, checked.table
    untouched = question.where is None and not question.joins and not question.group_by
    return table.size if untouched and table.unit.id is None else None
