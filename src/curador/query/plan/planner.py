"""From a question and a budget to the plan with the least error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import fsum
from typing import TYPE_CHECKING

from curador.errors import InvalidParameter, QuestionRefused
from curador.forks import cached_property
from curador.mechanisms.base import checked_confidence
from curador.mechanisms.sensitivity import Contribution
from curador.numbers import Number, positive, rational, set_fields, up, whole
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP
from curador.query.aggregates.base import Recipe
from curador.query.aggregates.consistent import KeyTable, worth_measuring
from curador.query.aggregates.measure import Measure, MeasureKind, RankSearch
from curador.query.aggregates.pairs.pairs import PairType
from curador.query.aggregates.quantiles.around import around, cell_effect, most_cells
from curador.query.aggregates.quantiles.ranks import bounds
from curador.query.ask.public_keys import require_few_numbers
from curador.query.ask.question import Output, Question
from curador.query.language.trees import names
from curador.query.plan.allocate import Wanted, allocate
from curador.query.plan.budget import least_epsilon
from curador.query.plan.checked import Checked, check
from curador.query.plan.expected import Within, reached
from curador.query.plan.identity import text_of
from curador.query.plan.items import NoiseItem, RankItem, TopItem
from curador.query.plan.measurement import constant, declared_limits, limits, public_rows, recipes
from curador.query.plan.plan import Plan
from curador.query.plan.split import INVERSE, INVERSE_SQUARE
from curador.query.plan.steps import Noised, Ranked, Step

if TYPE_CHECKING:
    from curador.query.sql_plan.exact import Exact
    from curador.query.sql_plan.prepared import Prepared

LEAST_CONFIDENCE, MOST_CONFIDENCE = 1e-6, 1 - 1e-9
"""What a question may ask for: corrected for a choice among a million groups, and divided, doubles still hold it."""

MOST_GROUPS = 1 << 30
"""How many privately selected groups Gaussian noise is prepared for."""

MOST_CONFIDENCE_CHOSEN = 1 - 1e-6
"""The most where HAVING or LIMIT choose among privately selected groups: how many there are is known after the charge
alone, so that as many as there can be must be held."""

QUANTILE_NUMBERS = 50
"""A quantile counts as so many numbers: it is searched for in each group by itself."""

LEAST_WEIGHT = Fraction(1, 10**12)

OFFERED_EPSILON = 0.1
"""The price at which learning missing bounds is offered."""


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

    Guarantee: releasing what the plan says keeps ``plan.guarantee``, at most the budget, for one unit of the table.

    >>> from curador.query.aggregates.counts import count
    >>> from curador.query.aggregates.moments import mean
    >>> from curador.query.plan.checked import check
    >>> from curador.query.ask.question import Output
    >>> from curador.query.tables.table import Table
    >>> adult = Table("a.csv", columns={"age": {"type": "integer", "bounds": [17, 90], "nullable": False}}, size=30_000)
    >>> q = Question("adult", (Output("n", count()), Output("age", mean("age"))))
    >>> made = plan(check(q, {"adult": adult}), PureDP(0.2))
    >>> [(step.measure.label, str(step.share)) for step in made.steps]
    [('rows', '631/1000'), ('centred(age)', '369/1000')]
    >>> round(made.expected[1].value, 5)
    0.05907
    """
    return Planner(checked, noise, weights, confidence, rows).plan(budget)


@dataclass(frozen=True)
class ExactHalf:
    """The exact half of a plan alone: neither an event nor a purchase."""

    checked: Checked
    contribution: Contribution
    measures: tuple[Measure, ...]

    @property
    def reads(self) -> frozenset[str]:
        """All tables it reads."""
        return frozenset(self.checked.question.reads)

    @property
    def exact(self) -> Exact:
        """Statements for an engine."""
        from curador.query.sql_plan.lower import lower

        return lower(self.checked, self.measures, self.contribution)


@dataclass(frozen=True)
class Planner:
    """The part of planning that is the same for every budget, done once so that a budget can be searched for."""

    checked: Checked
    noise: str | None = None
    weights: Mapping[str, Number] | None = None
    confidence: float = 0.95
    rows: int | None = None
    prepared: Prepared | None = None

    def __post_init__(self) -> None:
        set_fields(self, confidence=checked_confidence(self.confidence))
        question = self.checked.question
        chooses = self.checked.keys is None and (question.having is not None or question.limit is not None)
        most = MOST_CONFIDENCE_CHOSEN if chooses else MOST_CONFIDENCE
        if not LEAST_CONFIDENCE <= self.confidence <= most:
            raise InvalidParameter(
                f"Intervals have a confidence from {LEAST_CONFIDENCE} to {most} here, got {self.confidence}.",
                fix="Try 0.95.",
                code="confidence-range",
                facts={"least": LEAST_CONFIDENCE, "most": most},
            )
        if not isinstance(self.weights or {}, Mapping):
            raise InvalidParameter("Weights are given by the names of outputs.", fix='Write weights={"n": 2}.')
        for name in self.weights or {}:
            if name not in self._parts:
                raise InvalidParameter(
                    f"A weight is given for {name!r}, which is not asked for.",
                    fix=f"Weigh one of {', '.join(self._parts)}.",
                )

    def plan(self, budget: Guarantee) -> Plan:
        """The plan that a budget buys; the last one is kept, with what was worked out about it."""
        kept: Plan | None = self.__dict__.get("_kept")
        if kept is None or kept.budget != budget:
            kept = self.__dict__["_kept"] = self._planned(budget)
        return kept

    def _planned(self, budget: Guarantee) -> Plan:
        require_few_numbers(self.numbers)
        bought = allocate(budget, self._wanted_in(budget))
        free = tuple(Noised(m, m.sensitivity(*self._reach), None, constant=n) for m, n in self._public.items())
        return Plan(
            self.checked,
            self.contribution,
            self.recipes,
            (*sorted(bought.steps, key=self._place), *free),
            budget,
            bought.guarantee if bought.steps else 0 * budget,
            self.confidence,
            self._known_rows,
            self.prepared,
            self.rows is None,
        )

    @cached_property
    def numbers(self) -> int:
        """How many numbers answering takes, from declarations alone; of groups that are selected, those of one."""
        question, keys = self.checked.question, self.checked.keys
        rows = 1 if keys is None else len(keys)
        for one in question.sets:
            sizes = (self._table.sizes[i] for i, g in enumerate(question.group_by) if g.name in one)
            rows += min(len(keys or ()), math.prod(sizes))
        measures = {m for recipe in self.recipes for m in recipe.measures}
        searches = {recipe.ranks for recipe in self.recipes if recipe.ranks is not None}
        sought = sum(len(ranks.quantiles) for ranks in searches)
        return rows * (len(question.columns) + len(measures) + QUANTILE_NUMBERS * sought)

    def exact_half(self) -> ExactHalf:
        """The exact half alone, without noise or price, for a count that is noised elsewhere; it cannot be bought."""
        measures = tuple(dict.fromkeys(m.of_groups for recipe in self.recipes for m in recipe.measures))
        return ExactHalf(self.checked, self.contribution, measures)

    def reaching(self, wanted: Within, delta: Number | None = None) -> Plan:
        """The plan of least epsilon, to three digits, whose expected error is within what is wanted.

        Fails: refused where the error depends on a number of rows that is not known, or no epsilon reaches it.
        """
        if not isinstance(wanted, Within):
            raise InvalidParameter("A wanted accuracy is made by within().", fix="Write accuracy=within(10).")
        if wanted.output is not None and wanted.output not in self.checked.question.outputs:
            raise InvalidParameter(
                f"No output is called {wanted.output!r}.",
                fix=f"Use one of {', '.join(self.checked.question.outputs)}.",
                code="no-such-output",
                facts={"output": wanted.output},
            )
        at = replace(self, confidence=wanted.confidence)

        def good(epsilon: Fraction) -> bool:
            made = at.plan(PureDP(up(epsilon)) if delta is None else ApproxDP(up(epsilon), up(rational(delta))))
            wanted.check(made.expected)
            found = reached(made.expected, wanted)
            if isinstance(found, str):
                depends = next(e for e in made.expected if e.output == found)
                raise _unknown_rows(found) if depends.by_rows else _unknown_answers(found)
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
            offered = f"{refusal.fix} {self._offer()}".rstrip()
            raise QuestionRefused(refusal.what, fix=offered, code=refusal.code, facts=refusal.facts) from None
        return recipes(self.checked, self.contribution)

    def _offer(self) -> str:
        """The cost of learning a missing bound privately, and how well it would do."""
        question = self.checked.question
        asked = zip(question.aggregates, self.checked.columns, strict=True)
        column, t = next((o.aggregate.column, t) for o, t in asked if t is not None and t.bounds is None)
        if isinstance(t, PairType):  # which of the two it is, the refusal says
            return ""
        assert column is not None
        search = Question(
            question.table,
            (Output("found", bounds(column)),),
            joins=question.joins,
            where=question.where,
            contribution=question.contribution,
            source=question.source,
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
        found: dict[Measure, list[float]] = {}
        for recipe in self.recipes:
            if recipe.around is not None and recipe.ranks is not None:
                strength = cell_effect(recipe.around, recipe.ranks.quantiles)
                found.setdefault(recipe.around, []).append(self._weight(recipe) * strength**2)
            elif recipe.ranks is None and recipe.top is None:
                for m, effect in zip(recipe.measures, recipe.effect, strict=True):
                    found.setdefault(m, []).append(self._weight(recipe) * effect**2)
        return {m: fsum(parts) for m, parts in found.items()}  # the same in whatever order outputs are written

    @cached_property
    def _public(self) -> dict[Measure, int]:
        """Measures that no unit can move, each with the constant that it is: they need neither noise nor rows."""
        fixed = [m for m in self._additive if m.sensitivity(*self._reach).l1 == 0]
        return {m: constant(m, self.checked) for m in fixed}

    @cached_property
    def _parts(self) -> dict[str, frozenset[str]]:
        """What may be weighed, and the columns it is made of: aggregates, and what is derived from them."""
        found = {r.asked: frozenset([r.asked, *r.outputs]) for r in self.recipes}
        return found | {d.name: frozenset(n.column for n in names(d.expr)) for d in self.checked.question.derived}

    def _weight(self, recipe: Recipe) -> float:
        given = [w for name, w in (self.weights or {}).items() if self._parts[name] & {recipe.asked, *recipe.outputs}]
        weight = max((positive(w, "weight") for w in given), default=1)
        if not LEAST_WEIGHT <= weight <= 1 / LEAST_WEIGHT:
            raise InvalidParameter(f"The weight of {recipe.asked!r} is out of range.", fix="Choose one near 1.")
        return float(weight)

    def _wanted_in(self, budget: Guarantee) -> Wanted:
        """What is paid for; over grouping sets, which margins are measured depends on how noise falls with money."""
        if not self._cube:
            return self._wanted
        gaussian = isinstance(budget, ZCDP) and self.noise != "laplace"
        items = [item for noised in self._wanted.items for item in self._margins(noised, gaussian)]
        return replace(self._wanted, items=tuple(items))

    def _margins(self, item: NoiseItem | RankItem | TopItem, gaussian: bool) -> list[NoiseItem | RankItem | TopItem]:
        """The margins of a measure that are worth measuring, in place of its cells alone."""
        cells, groups = self._table, self.checked.question.group_by
        if not isinstance(item, NoiseItem) or not cells.full:
            return [item]
        shown = [tuple(i for i, g in enumerate(groups) if g.name in one) for one in self.checked.question.sets]
        made = {cells.axes: item}
        for axes in shown:
            if axes not in made:
                kept = tuple(sorted((groups[i].expr for i in axes), key=text_of))
                m = replace(item.measure, level=kept, nodes=math.prod(cells.sizes[i] for i in axes))
                made[axes] = replace(
                    item, measure=m, sensitivity=m.sensitivity(*self._reach), coordinates=m.nodes, counts_units=False
                )
        spreads = {axes: one.spread_rho if gaussian else one.spread for axes, one in made.items()}
        power = INVERSE if gaussian else INVERSE_SQUARE
        found = worth_measuring(cells.sizes, shown, spreads, power)
        return [replace(made[axes], weight=item.weight * weight) for axes, weight in found.items()]

    @cached_property
    def _table(self) -> KeyTable:
        return KeyTable(self.checked.keys or ((),))

    @cached_property
    def _wanted(self) -> Wanted:
        neighbors, kept = self.checked.table.neighbors, self.contribution
        private = self.checked.keys is None
        items: list[NoiseItem | RankItem | TopItem] = []
        for m, weight in self._additive.items():
            if m not in self._public:
                counts_units = m.kind is MeasureKind.UNITS or (m.kind is MeasureKind.ROWS and kept.rows == 1)
                size = MOST_GROUPS if private else len(self.checked.keys or ())
                size *= self._cells_around(m)
                items.append(NoiseItem(m, m.sensitivity(*self._reach), weight, size, counts_units))
        ranked: dict[RankSearch, list[float]] = {}
        for recipe in self.recipes:
            if recipe.ranks is not None:
                ranked.setdefault(recipe.ranks, []).append(self._weight(recipe))
            elif recipe.top is not None:
                items += self._top(recipe, recipe.top)
        items += (self._ranks(ranks, fsum(weights)) for ranks, weights in ranked.items())
        # In an order that does not depend on how the outputs were written, so that neither do the shares.
        items.sort(key=lambda item: text_of(item.code))
        keyless = self.checked.keyless if private else ()
        return Wanted(tuple(items), kept.groups if private else None, neighbors, self.noise, keyless)

    def _cells_around(self, m: Measure) -> int:
        """How many numbers a measure has in one group, at most."""
        chosen = sum(len(r.ranks.quantiles) for r in self.recipes if r.ranks is not None and around(r.measures[0]) == m)
        return most_cells(m, chosen) if m.kind is MeasureKind.AROUND else 1

    def _place(self, step: Step) -> int:
        """The place of a step in an explanation: the choice of groups first, then as the outputs were written."""
        if isinstance(step, Noised) and step.measure.kind is MeasureKind.AROUND:
            return 1 + len(self._measured) + len(self.recipes) + [r.around for r in self.recipes].index(step.measure)
        if isinstance(step, Noised):
            return 1 + list(self._measured).index(step.measure.of_groups if self._cube else step.measure)
        if isinstance(step, Ranked):
            return 1 + len(self._measured) + [r.ranks for r in self.recipes].index(step.ranks)
        return 0

    @property
    def _cube(self) -> bool:
        return bool(self.checked.question.sets)

    @cached_property
    def _measured(self) -> dict[Measure, None]:
        return dict.fromkeys(m for recipe in self.recipes for m in recipe.measures)

    def _ranks(self, ranks: RankSearch, weight: float) -> RankItem:
        neighbors, groups = self.checked.table.neighbors, self.contribution.groups
        if neighbors is Neighbors.REPLACE and self.checked.question.group_by:
            groups *= 2  # those the unit leaves, and those it joins
        return RankItem(ranks, self.contribution.rows, groups, neighbors, weight)

    def _top(self, recipe: Recipe, k: int) -> tuple[TopItem, NoiseItem]:
        """The choice, and the counts of those chosen: a unit is in no more of them than in all."""
        neighbors, kept, m = self.checked.table.neighbors, self.contribution, recipe.measures[0]
        chosen = TopItem(m, k, kept.rows, len(self.checked.keys or ()), neighbors, self._weight(recipe))
        among = Contribution(kept.rows, min(kept.groups, chosen.k), total=kept.total)
        size = m.sensitivity(among, neighbors, chosen.k)
        return chosen, NoiseItem(m, size, self._weight(recipe), chosen.k)


def _unknown_rows(output: str) -> QuestionRefused:
    return QuestionRefused(
        f"The error of {output!r} depends on how many rows with a value are behind it, which is not public.",
        fix="Pass rows=… if you know or have paid for their number, declare the table's public size (and the column "
        "nullable = false), or give epsilon.",
        code="error-needs-rows",
        facts={"output": output},
    )


def _unknown_answers(output: str) -> QuestionRefused:
    return QuestionRefused(
        f"The error of {output!r} depends on the answers it is computed from.",
        fix="Want the accuracy of one of the aggregates it is made of, released by itself; or give epsilon.",
        code="error-of-computed",
        facts={"output": output},
    )
