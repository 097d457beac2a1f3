"""A plan for a question: what will be computed, what it costs, and how wrong the answer will be.

A plan is made from public declarations alone.  It is fixed before any data is read, and the same question with the
same budget makes an equal plan, whichever door the question came through.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from curador.accounting.events import Event, compose
from curador.errors import InvalidParameter, QuestionRefused
from curador.forks import cached_property
from curador.mechanisms.sensitivity import Contribution
from curador.privacy import Guarantee, Neighbors
from curador.query.aggregates.base import Recipe
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.answer.fitted import laws_of_sets
from curador.query.answer.noise import Found, noise
from curador.query.answer.noisy import NoisyCounts, from_bytes, to_bytes
from curador.query.ask.question import Question
from curador.query.language.expressions import Name
from curador.query.language.rows import needed
from curador.query.plan.checked import Checked
from curador.query.plan.expected import Expected, Laws, computed, expected
from curador.query.plan.facts import Facts, facts_of
from curador.query.plan.identity import contained_codes, measure_codes, plan_digest, text_of
from curador.query.plan.measurement import declared_limits
from curador.query.plan.steps import Noised, Ranked, Selected, Step
from curador.query.tables.sources import EngineTable
from curador.query.tables.table import Table

if TYPE_CHECKING:
    from curador.query.sql_plan.exact import Exact
    from curador.query.sql_plan.prepared import Prepared


LARGEST_KEPT = 1 << 16
"""Bytes of a measurement that is kept with its plan, for whoever presents it."""


class Runs(Protocol):
    """An engine, as a plan sees it: it runs the exact half."""

    def run(self, exact: Exact, progress: Callable[[float], None] | None = None) -> Found: ...


class Engines(Protocol):
    """Finds the engine that tables live in."""

    def of(self, used: Collection[str]) -> Runs: ...


@dataclass(frozen=True, repr=False)
class Plan:
    """Everything that answering a question will do; a purchase that a curator can make.

    ``guarantee`` is what everything in it keeps together, at most the ``budget``; ``event`` is what is run, for any
    accountant.  ``rows`` is the number of rows behind the answer where it is known without looking: the asker's
    word, or the size that is declared for the table (``sized``).  ``prepared`` is the copy of the table it reads, with
    the rows of each unit chosen beforehand, where there is one.
    """

    checked: Checked
    contribution: Contribution
    recipes: tuple[Recipe, ...]
    steps: tuple[Step, ...]
    budget: Guarantee
    guarantee: Guarantee
    confidence: float = 0.95
    rows: int | None = None
    prepared: Prepared | None = None
    sized: bool = False

    def __post_init__(self) -> None:
        selects = any(isinstance(step, Selected) for step in self.steps)
        noised = {step.measure for step in self.steps if isinstance(step, Noised)}
        noised |= {step.ranks.measure for step in self.steps if isinstance(step, Ranked)}
        if self.question.sets:  # margins are measured instead of cells, or besides
            noised |= {m.of_groups for m in noised}
        needed = {m for recipe in self.recipes for m in recipe.measures}
        needed |= {recipe.around for recipe in self.recipes if recipe.around is not None}
        if (self.checked.keys is None and not selects) or not needed <= noised:
            raise InvalidParameter("This plan leaves out a step that its answer needs.", fix="Let a Planner make it.")

    @property
    def question(self) -> Question:
        return self.checked.question

    @property
    def neighbors(self) -> Neighbors:
        return self.checked.table.neighbors

    @property
    def declared(self) -> Mapping[str, Table]:
        """The declarations that it was made from."""
        return self.checked.tables

    @property
    def tables(self) -> tuple[str, ...]:
        """The private tables it reads: each is charged."""
        return tuple(name for name in self.question.reads if not self.checked.tables[name].public)

    @property
    def groups(self) -> int | None:
        """How many groups the answer has, where they are public."""
        return None if self.checked.keys is None else len(self.checked.keys)

    @property
    def optional(self) -> frozenset[str]:
        """The private tables that a unit may be missing from and still count."""
        return frozenset(self.tables) - needed(self.question.rows)

    @property
    def reads(self) -> frozenset[str]:
        """All tables it reads, public ones too."""
        return frozenset(self.question.reads)

    @cached_property
    def event(self) -> Event:
        """All that is run on the data, as one event."""
        return compose(*(step.event for step in self.steps))

    @property
    def ran(self) -> Event:
        """The event that is run: the same as the one that is charged."""
        return self.event

    @property
    def parts(self) -> tuple[Plan, ...]:
        """Empty: a plan is a single purchase."""
        return ()

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of mechanisms it runs, for policies."""
        return frozenset(step.mechanism.kind for step in self.steps if step.mechanism is not None)

    @property
    def undeclared(self) -> Sequence[Mapping[str, Any]]:
        """Values that it compares with and that no declaration allows, as notes."""
        return self.checked.undeclared

    @cached_property
    def identity(self) -> str | None:
        """A digest of its measurement: the same for every way of presenting it.

        None where it reads a public table of a database, whose content nothing tells apart: it is bought each time.
        """
        live = any(isinstance(self.declared[name].source, EngineTable) for name in self.reads - set(self.tables))
        return None if live else self.asked_code

    @cached_property
    def asked_code(self) -> str:
        """A digest of what is asked, by which the same request is known again under its key."""
        return plan_digest(self)

    @cached_property
    def expected(self) -> tuple[Expected, ...]:
        """The error of every output that is shown, before anything is spent."""
        return self.expected_by(self.laws)

    @property
    def laws(self) -> list[Laws]:
        """The noise of each measure in one group: of each grouping set, where there are several."""
        if self.question.sets:
            return laws_of_sets(self)
        return [{s.measure: s for s in self.steps if isinstance(s, Noised)}]

    def expected_by(self, laws: Sequence[Laws]) -> tuple[Expected, ...]:
        """The error of every output that is shown, for such noise in each grouping set."""
        if not self.question.sets:
            shared = not all(isinstance(law, Noised) for law in laws[0].values())  # by several groups: no law of totals
            keys = None if shared else self.checked.keys
            return self._expected(laws[0], None if keys is None else len(keys))
        each = zip(self.question.sets, laws, strict=True)
        found = [replace(e, by=by) for by, one in each for e in self._expected(one, None)]
        return tuple(sorted(found, key=lambda e: self.question.outputs.index(e.output)))

    def _expected(self, laws: Laws, groups: int | None) -> tuple[Expected, ...]:
        found = expected(self.recipes, self.steps, laws, self._rows_of, self.confidence)
        if self.question.derived:
            again = {d.expr: d.name for d in self.question.derived}
            found += tuple(replace(e, output=again[Name(e.output)]) for e in found if Name(e.output) in again)
            found += computed(self.question, self.recipes, laws, self._rows_of, self.confidence, groups)
        shown = self.question.outputs
        return tuple(sorted((e for e in found if e.output in shown), key=lambda e: shown.index(e.output)))

    def _rows_of(self, recipe: Recipe) -> int | None:
        """A size says how many rows there are, and not how many of them have a value."""
        some = any(m.kind is MeasureKind.PRESENT for m in recipe.measures)
        return None if self.sized and some else self.rows

    @cached_property
    def note(self) -> Mapping[str, object]:
        """The record kept with its charge: the question, what it was planned with, and a text of it for people."""
        asked = {"": self.question.to_json()}
        return {"asked": asked, "text": self.question.summary, "budgets": {"": self.budget.to_json()}}

    def prepare(self, engines: Engines) -> None:
        """Open the engine and write the statements, which may be refused; no row is read."""
        engines.of(self.reads)
        _ = self.exact

    def run(self, engines: Engines, progress: Callable[[float], None] | None = None) -> bytes:
        """Read the data, add the noise, and return the measurement as a ledger keeps it.

        Guarantee: the plan's event; exact integers do not leave this function.
        """
        found = engines.of(self.reads).run(self.exact, progress)
        noisy = noise(self, found)
        content = to_bytes(noisy, self)
        if len(content) <= LARGEST_KEPT:
            self.__dict__["_ran"] = content, noisy
        return content

    def read_back(self, content: bytes) -> NoisyCounts:
        """The measurement that a ledger kept; what this plan ran last need not be read from its text again."""
        ran: tuple[bytes, NoisyCounts] | None = self.__dict__.pop("_ran", None)
        return ran[1] if ran is not None and ran[0] == content else from_bytes(content, self)

    @cached_property
    def measured(self) -> Mapping[str, str]:
        """Digests of the exact numbers it measures, each with a label for people."""
        made, key = self.checked.made, ("measured", self.measures, self.contribution)
        if key not in made or len(self.tables) < len(self.reads):  # what a public table holds is part of the codes
            made[key] = {code: m.label for code, m in measure_codes(self).items()}
        found: dict[str, str] = made[key]
        return found

    @cached_property
    def contained(self) -> Sequence[str]:
        """Digests of further exact numbers that are sums of those it measures."""
        return contained_codes(self)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The exact integers it needs of every group; the count of units too, where that selects the groups.

        What no unit can move is not among them: it is known, and nothing is read for it.
        """
        known = {s.measure for s in self.steps if isinstance(s, Noised) and s.mechanism is None}
        found = dict.fromkeys(m.of_groups for r in self.recipes for m in r.measures if m not in known)
        if any(isinstance(step, Selected) for step in self.steps):
            found |= {self.units: None}
        return tuple(found)

    @cached_property
    def exact(self) -> Exact:
        """The exact half: statements for an engine, in the neutral language."""
        made, key = self.checked.made, ("exact", self.measures, self.contribution, self.prepared)
        if key not in made:
            made[key] = self._lowered()
        found: Exact = made[key]
        return found

    def _lowered(self) -> Exact:
        from curador.query.sql_plan.lower import lower  # writes SQL trees: loaded when a plan is run or shown

        if self.prepared is None:
            found = lower(self.checked, self._in_order, self.contribution)
            if not {scan.table for scan in found.scans} <= self.reads:  # what is not charged is not read
                raise QuestionRefused(
                    "This question would read a table that it does not pay for.", fix="Report this.", code="plan-defect"
                )
            return found
        return lower(self.checked, self._in_order, declared_limits(self.checked), self.prepared)

    @property
    def _in_order(self) -> list[Measure]:
        """The measures in an order of their codes: which rows a unit keeps depends on it, not on the outputs."""
        return sorted(self.measures, key=lambda m: text_of(m.code))

    @property
    def units(self) -> Measure:
        """The measure that counts the units of a group."""
        return Measure(MeasureKind.ROWS) if self.contribution.rows == 1 else Measure(MeasureKind.UNITS)

    @cached_property
    def facts(self) -> Facts:
        """The plan as plain values: what it costs, how that is split, with what noise, and how wrong it will be."""
        return facts_of(self)

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain values, for machines; a copy, since a plan may be kept for whoever asks next."""
        return deepcopy(dict(self.facts))

    def explain(self, language: str = "en") -> str:
        """The plan in words: cost, split, mechanisms, expected error.  Free, and from public declarations alone."""
        from curador.show.explain import explain

        return explain(self.facts, language)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"<Plan of {', '.join(self.question.outputs)} from {', '.join(self.tables)}: {self.guarantee!r}>"
