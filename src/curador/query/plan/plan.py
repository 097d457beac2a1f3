"""A question and a budget become a plan: what will be computed, what it costs, how wrong it will be.

A plan is made from public declarations alone.  It is fixed before any data is read, and the same question with the
same budget makes an equal plan, whichever door the question came through.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from curador.accounting.events import Event, compose
from curador.errors import InvalidParameter, QuestionRefused
from curador.mechanisms.base import checked_confidence
from curador.mechanisms.sensitivity import Contribution
from curador.numbers import Number, positive, rational, up, whole
from curador.privacy import ApproxDP, Guarantee, Neighbors, PureDP
from curador.query.aggregates.words import bounds
from curador.query.ask.question import Output, Question
from curador.query.plan.allocate import Wanted, allocate
from curador.query.plan.budget import least_epsilon
from curador.query.plan.checked import Checked, check
from curador.query.plan.expected import Expected, Within, expected, reached
from curador.query.plan.items import NoiseItem, RankItem, TopItem
from curador.query.plan.measurement import (
    EXTREME,
    Measure,
    MeasureKind,
    Recipe,
    declared_limits,
    limits,
    public_rows,
    recipes,
)
from curador.query.plan.steps import Noised, Selected, Step

if TYPE_CHECKING:
    from curador.query.sql_plan.exact import Exact
    from curador.query.sql_plan.prepared import Prepared

MOST_GROUPS = 1 << 30
"""How many privately selected groups Gaussian noise is prepared for."""

RANKED = ("quantiles", "minimum", "maximum", "lower", "upper")

LEAST_WEIGHT = Fraction(1, 10**12)

OFFERED_EPSILON = 0.1
"""At what price learning missing bounds is offered."""


@dataclass(frozen=True, repr=False)
class Plan:
    """What answering a question will do.

    ``promise`` is what everything in it keeps together, at most the ``budget``; ``event`` says what is run, for any
    accountant.  ``rows`` is the number of rows behind the answer where it is known without looking.  ``prepared`` is
    the copy of the table it reads, with the rows of each unit chosen beforehand, where there is one.
    """

    checked: Checked
    contribution: Contribution
    recipes: tuple[Recipe, ...]
    steps: tuple[Step, ...]
    budget: Guarantee
    promise: Guarantee
    confidence: float = 0.95
    rows: int | None = None
    prepared: Prepared | None = None
    objective: float = field(default=0.0, compare=False)

    @property
    def question(self) -> Question:
        return self.checked.question

    @property
    def neighbors(self) -> Neighbors:
        return self.checked.table.neighbors

    @property
    def tables(self) -> tuple[str, ...]:
        """The private tables it reads: each is charged."""
        joined = (j.table for j in self.question.joins if not self.checked.tables[j.table].public)
        return (self.question.table, *joined)

    @cached_property
    def event(self) -> Event:
        """All that is run on the data, as one event."""
        return compose(*(step.event for step in self.steps))

    @property
    def guarantee(self) -> Guarantee:
        """What the release promises."""
        return self.promise

    @cached_property
    def expected(self) -> tuple[Expected, ...]:
        """The error of every output, before anything is spent."""
        return expected(self.recipes, self.steps, self.rows, self.confidence)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The exact integers it needs of every group; the count of units too, where that selects the groups."""
        found = dict.fromkeys(m.leafed for r in self.recipes for m in r.measures)
        if any(isinstance(step, Selected) for step in self.steps):
            found |= {self.units: None}
        if len({m.name for m in found}) < len(found):
            # Engines answer by name: two measures of one name would swap their sensitivities.
            raise QuestionRefused(
                "A column is named like an expression of this question.", fix="Rename the column in the declaration."
            )
        return tuple(found)

    @cached_property
    def exact(self) -> Exact:
        """The exact half: statements for an engine, in the neutral language."""
        from curador.query.sql_plan.lower import (  # writes SQL trees: loaded when a plan is run or its SQL is shown
            lower,
        )

        if self.prepared is None:
            return lower(self.checked, self.measures, self.contribution)
        return lower(self.checked, self.measures, declared_limits(self.checked), self.prepared)

    @property
    def units(self) -> Measure:
        """What counts the units of a group."""
        return Measure(MeasureKind.ROWS) if self.contribution.rows == 1 else Measure(MeasureKind.UNITS)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"<Plan of {', '.join(self.question.outputs)} from {', '.join(self.tables)}: {self.promise!r}>"

    def explain(self) -> str:
        """The plan in words: cost, split, mechanisms, expected error.  Free, and from public declarations alone."""
        from curador.query.plan.explain import explain  # explain.py reads plans

        return explain(self)

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values, for machines."""
        from curador.query.plan.explain import to_dict

        return to_dict(self)


def plan(
    checked: Checked,
    budget: Guarantee,
    *,
    noise: str | None = None,
    weights: Mapping[str, Number] | None = None,
    confidence: float = 0.95,
    rows: int | None = None,
) -> Plan:
    """The plan that answers a question within a budget, with the least error.

    ``noise`` is "laplace" or "gaussian", by default the better one.  ``weights`` say how much an output's error counts
    against the others'.  ``rows`` is a number of rows that the asker knows or has paid for; it serves only to say what
    error to expect.

    Guarantee: releasing what the plan says keeps ``plan.promise``, at most the budget, for one unit of the table.

    >>> from curador.query.aggregates.words import count, mean
    >>> from curador.query.plan.checked import check
    >>> from curador.query.ask.question import Output
    >>> from curador.query.tables.table import Table
    >>> adult = Table("a.csv", columns={"age": {"type": "integer", "bounds": [17, 90], "nullable": False}}, size=30_000)
    >>> q = Question("adult", (Output("n", count()), Output("age", mean("age"))))
    >>> made = plan(check(q, {"adult": adult}), PureDP(0.2))
    >>> [(step.label, str(step.share)) for step in made.steps]
    [('rows', '631/1000'), ('centred(age)', '369/1000')]
    >>> made.expected[1].text
    '± 0.05968'
    """
    return Planner(checked, noise, weights, confidence, rows).plan(budget)


@dataclass(frozen=True)
class Planner:
    """What is the same for every budget: worked out once, so that a budget can be searched for."""

    checked: Checked
    noise: str | None = None
    weights: Mapping[str, Number] | None = None
    confidence: float = 0.95
    rows: int | None = None
    prepared: Prepared | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "confidence", checked_confidence(self.confidence))
        if not isinstance(self.weights or {}, Mapping):
            raise InvalidParameter("Weights are given by the names of outputs.", fix='Write weights={"n": 2}.')
        for name in self.weights or {}:
            if name not in [r.asked for r in self.recipes]:
                raise InvalidParameter(
                    f"A weight is given for {name!r}, which is not asked for.",
                    fix=f"Weigh one of {', '.join(dict.fromkeys(r.asked for r in self.recipes))}.",
                )

    def plan(self, budget: Guarantee) -> Plan:
        bought = allocate(budget, self._wanted)
        free = tuple(Noised(m, m.sensitivity(*self._reach), None) for m in self._public)
        return Plan(
            self.checked,
            self.contribution,
            self.recipes,
            (*bought.steps, *free),
            budget,
            bought.promise if bought.steps else 0 * budget,
            self.confidence,
            self._known_rows,
            self.prepared,
            bought.objective,
        )

    def reaching(self, wanted: Within, delta: Number | None = None) -> Plan:
        """The plan of least epsilon, to three digits, whose expected error is within what is wanted.

        Fails: refused where the error depends on a number of rows that is not known, or no epsilon reaches it.
        """
        if not isinstance(wanted, Within):
            raise InvalidParameter("A wanted accuracy is made by within().", fix="Write accuracy=within(10).")
        if wanted.output is not None and wanted.output not in self.checked.question.outputs:
            raise InvalidParameter(
                f"No output is called {wanted.output!r}.", fix=f"Use one of {', '.join(self.checked.question.outputs)}."
            )
        at = replace(self, confidence=wanted.confidence)

        def good(epsilon: Fraction) -> bool:
            made = at.plan(PureDP(up(epsilon)) if delta is None else ApproxDP(up(epsilon), up(rational(delta))))
            found = reached(made.expected, wanted)
            if isinstance(found, str):
                raise _unknown_rows(found)
            return found

        epsilon = least_epsilon(good)
        return at.plan(PureDP(up(epsilon)) if delta is None else ApproxDP(up(epsilon), up(rational(delta))))

    @cached_property
    def contribution(self) -> Contribution:
        if self.prepared is None:
            return limits(self.checked)
        return self.prepared.left(self.checked, declared_limits(self.checked))

    @cached_property
    def recipes(self) -> tuple[Recipe, ...]:
        try:
            self.checked.require_bounds()
        except QuestionRefused as refusal:
            raise QuestionRefused(refusal.what, fix=f"{refusal.fix} {self._offer()}") from None
        return recipes(self.checked, self.contribution)

    def _offer(self) -> str:
        """What learning a missing bound privately would cost, and how well it would do."""
        question = self.checked.question
        asked = zip(question.aggregates, self.checked.columns, strict=True)
        column = next(o.aggregate.column for o, t in asked if t is not None and t.bounds is None)
        assert column is not None
        search = Question(
            question.table,
            (Output("found", bounds(column)),),
            joins=question.joins,
            where=question.where,
            contribution=question.contribution,
        )
        ranks = plan(check(search, self.checked.tables), PureDP(OFFERED_EPSILON)).expected[0].value
        return (
            f"For epsilon {OFFERED_EPSILON:g} it finds powers of two around 98 % of the rows, within {ranks:.0f} ranks."
        )

    @property
    def _known_rows(self) -> int | None:
        return public_rows(self.checked) if self.rows is None else whole(self.rows, "rows", 1)

    @property
    def _cells(self) -> int | None:
        if self.checked.keys is None:
            return None
        return len(self.checked.keys)

    @property
    def _reach(self) -> tuple[Contribution, Neighbors, int | None]:
        return self.contribution, self.checked.table.neighbors, self._cells

    @cached_property
    def _additive(self) -> dict[Measure, float]:
        """The measures to be noised, and how much the variance of each counts."""
        found: dict[Measure, float] = {}
        for recipe in self.recipes:
            if recipe.function not in (*RANKED, "top_k"):
                for m, effect in zip(recipe.measures, recipe.effect, strict=True):
                    found[m] = found.get(m, 0.0) + self._weight(recipe) * effect**2
        return found

    @cached_property
    def _public(self) -> tuple[Measure, ...]:
        """Measures that no unit can move: they need no noise."""
        return tuple(m for m in self._additive if m.sensitivity(*self._reach).l1 == 0)

    def _weight(self, recipe: Recipe) -> float:
        weight = positive((self.weights or {}).get(recipe.asked, 1), "weight")
        if not LEAST_WEIGHT <= weight <= 1 / LEAST_WEIGHT:
            raise InvalidParameter(f"The weight of {recipe.asked!r} is beyond all measure.", fix="Choose one near 1.")
        return float(weight)

    @cached_property
    def _wanted(self) -> Wanted:
        neighbors, kept = self.checked.table.neighbors, self.contribution
        private = self.checked.keys is None
        needs: list[NoiseItem | RankItem | TopItem] = []
        for m, weight in self._additive.items():
            if m not in self._public:
                counts_units = m.form is MeasureKind.UNITS or (m.form is MeasureKind.ROWS and kept.rows == 1)
                size = MOST_GROUPS if private else len(self.checked.keys or ())
                needs.append(NoiseItem(m, m.sensitivity(*self._reach), weight, size, counts_units))
        for recipe in self.recipes:
            if recipe.function in RANKED:
                needs.append(self._ranks(recipe))
            elif recipe.function == "top_k":
                needs += self._top(recipe)
        return Wanted(tuple(needs), kept.groups if private else None, neighbors, self.noise)

    def _ranks(self, recipe: Recipe) -> RankItem:
        neighbors, groups = self.checked.table.neighbors, self.contribution.groups
        if neighbors is Neighbors.REPLACE and self.checked.question.group_by:
            groups *= 2  # those the unit leaves, and those it joins
        low, high = (EXTREME,), (1 - EXTREME,)
        ends = {"minimum": low, "lower": low, "maximum": high, "upper": high}
        wanted = ends.get(recipe.function, recipe.parameters)
        return RankItem(recipe, wanted, self.contribution.rows, groups, neighbors, self._weight(recipe))

    def _top(self, recipe: Recipe) -> tuple[TopItem, NoiseItem]:
        """The choice, and the counts of those chosen: a unit is in no more of them than in all."""
        neighbors, kept = self.checked.table.neighbors, self.contribution
        chosen = TopItem(recipe, kept.rows, len(self.checked.keys or ()), neighbors, self._weight(recipe))
        m = recipe.measures[0]
        among = Contribution(kept.rows, min(kept.groups, chosen.k))
        size = m.sensitivity(among, neighbors, chosen.k)
        return chosen, NoiseItem(m, size, self._weight(recipe), chosen.k)


def _unknown_rows(output: str) -> QuestionRefused:
    return QuestionRefused(
        f"The error of {output!r} depends on how many rows are behind it, which is not public.",
        fix="Pass rows=… if you know or have paid for their number, declare the table's public size, or give epsilon.",
    )
