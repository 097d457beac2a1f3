"""Several questions planned together and bought in one charge, all or nothing: a dashboard, a publication's tables."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from curador.accounting.events import ApproxLoss, Event, compose
from curador.curator.naming import storable
from curador.curator.purchase import Bought
from curador.curator.releases.release import Release, present
from curador.engines.engine import Progress
from curador.engines.pool import EnginePool
from curador.errors import BudgetExceeded, CuradorError, InvalidParameter, NotPromised, QuestionRefused
from curador.forks import cached_property
from curador.numbers import Number, down, positive, rational, set_fields, up
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP, total
from curador.query.answer.noisy import from_bytes, not_a_measurement
from curador.query.answer.postprocess import answered_together
from curador.query.answer.together import Family, families
from curador.query.ask.public_keys import require_few_numbers
from curador.query.plan.expected import Within
from curador.query.plan.facts import Facts, expected_facts
from curador.query.plan.identity import digest
from curador.query.plan.plan import Plan
from curador.query.plan.planner import Planner
from curador.query.tables.table import Table
from curador.show.explain import explain_batch

READ_AT = "1e-6"
"""The delta of a batch's tight guarantee, unless it has one of its own."""

T = TypeVar("T")

MOST_TIGHT = 256
"""Batches whose tight epsilon is kept."""

LONGEST_WORDS = 8000
"""Characters of the words for readers that are kept with the charge."""

MOST_OUTPUTS = 16_384
"""The most outputs of a batch, over all grouping sets, as so many counts: each has an error to be worked out, free."""


@dataclass(frozen=True, repr=False)
class Batch:
    """Plans by name, bought together for one charge, with the sum of their guarantees and the tight one.

    ``guarantee`` is the sum of what the questions guarantee, in the currency they were asked in.  ``tight`` is the same
    batch accounted as a whole by its privacy-loss distribution, which is allowed because a batch is fixed in advance;
    with ``charged_tight`` that is what is charged, to budgets that count (epsilon, delta).  ``words`` are for
    readers of its publication: titles, reasons and SQL; no identity depends on them.  With ``adjust``, tables about the
    same rows are made to agree after the noise, which is free; without it, each is as it was measured.

    Guarantee: everything in it together keeps ``guarantee`` [DMNS06], and ``tight`` too [KOV15, DGKKM22].
    """

    plans: Mapping[str, Plan]
    delta: Number | None = None
    charged_tight: bool = False
    words: Mapping[str, Any] = field(default_factory=dict, compare=False)
    adjust: bool = field(default=True, compare=False)

    def __post_init__(self) -> None:
        if not self.plans:
            raise InvalidParameter("A batch has at least one question.", fix="Add questions to it.", code="board-empty")
        if not all(isinstance(name, str) and name.strip() and storable(name) for name in self.plans):
            raise InvalidParameter("The questions of a batch are named by texts.", fix="Name each of them.")
        if len({plan.neighbors for plan in self.plans.values()}) > 1:
            raise QuestionRefused(
                "The tables of this batch are about different neighbours.",
                fix="Publish them in batches of their own.",
                code="board-neighbors",
            )
        if sum(plan.checked.work for plan in self.plans.values()) > MOST_OUTPUTS:
            raise QuestionRefused(
                "These questions have too many outputs together.",
                fix="Publish them in several batches; variances and correlations count as eight outputs.",
                code="too-many-outputs",
            )
        set_fields(self, plans=MappingProxyType(dict(self.plans)))

    @property
    def tables(self) -> tuple[str, ...]:
        """The private tables it reads: each is charged for the whole batch."""
        return tuple(dict.fromkeys(name for plan in self.plans.values() for name in plan.tables))

    @property
    def optional(self) -> frozenset[str]:
        """None of its own: each of its questions has its own."""
        return frozenset()

    @property
    def neighbors(self) -> Neighbors:
        return next(iter(self.plans.values())).neighbors

    @property
    def declared(self) -> Mapping[str, Table]:
        """The declarations that it was made from; plans of several curators are refused."""
        found = next(iter(self.plans.values())).declared
        if any(plan.declared is not found for plan in self.plans.values()):
            raise InvalidParameter("These plans were made by several curators.", fix="Plan them with one curator.")
        return found

    @cached_property
    def ran(self) -> Event:
        """All that is run, as one event."""
        return compose(*(plan.event for plan in self.plans.values()))

    @cached_property
    def event(self) -> Event:
        """The event that is charged: all that is run, or what that costs as a whole."""
        if not self.charged_tight:
            return self.ran
        tight = self._charged
        return ApproxLoss(rational(tight.epsilon), rational(tight.delta), self.neighbors)

    @cached_property
    def guarantee(self) -> Guarantee:
        return self._charged if self.charged_tight else self._sum

    @property
    def _charged(self) -> ApproxDP:
        assert self.tight is not None, "refused where there is none to charge"
        return self.tight

    @cached_property
    def _sum(self) -> Guarantee:
        return total(plan.guarantee for plan in self.plans.values())

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of mechanisms it runs, for policies."""
        return frozenset(kind for plan in self.plans.values() for kind in plan.kinds)

    @property
    def parts(self) -> tuple[Plan, ...]:
        """Its questions, each of which a policy reviews by itself."""
        return tuple(self.plans.values())

    @property
    def undeclared(self) -> Sequence[Mapping[str, Any]]:
        """Values that its questions compare with and that no declaration allows, as notes that name the question."""
        return [{**note, "question": name} for name, plan in self.plans.items() for note in plan.undeclared]

    @cached_property
    def _order(self) -> list[str]:
        """The names of the questions in an order that does not depend on the names."""
        return sorted(self.plans, key=lambda name: self.plans[name].asked_code)

    @cached_property
    def identity(self) -> str | None:
        """A digest that identifies its measurements; the names of the questions are not in it.

        None where one of them is to be bought each time: so is the whole.
        """
        parts = [self.plans[name].identity for name in self._order]
        return None if None in parts else digest({"batch": parts})

    @property
    def asked_code(self) -> str:
        """A digest of what is asked, by which the same request is known again under its key."""
        return digest({"batch": [self.plans[name].asked_code for name in self._order]})

    @property
    def measured(self) -> Mapping[str, str]:
        """Digests of the exact numbers it measures, each with a label for people."""
        return {code: label for plan in self.plans.values() for code, label in plan.measured.items()}

    @property
    def contained(self) -> Sequence[str]:
        """Digests of further exact numbers that are sums of those it measures."""
        return [code for plan in self.plans.values() for code in plan.contained]

    @property
    def note(self) -> Mapping[str, object]:
        """The record kept with its charge: the questions, a text of them for people, and how they are presented."""
        title = f"{self.words['title']}; " if self.words.get("title") else ""
        text = f"{title}{len(self.plans)} questions: {', '.join(self.plans)}"
        asked = {name: plan.question.to_json() for name, plan in self.plans.items()}
        budgets = {name: plan.budget.to_json() for name, plan in self.plans.items()}
        if len({json.dumps(budget) for budget in budgets.values()}) == 1:
            budgets = {"": next(iter(budgets.values()))}
        tight = str(rational(self.delta)) if self.charged_tight and self.delta is not None else None
        shown = {"order": list(self.plans), "adjust": self.adjust, "tight": tight, "words": _short(self.words)}
        return {"asked": asked, "text": text, "budgets": budgets, "batch": shown}

    @classmethod
    def noted(cls, plans: Mapping[str, Plan], note: Mapping[str, object]) -> Batch:
        """A batch of these plans, presented as the record of its charge says."""
        shown = note.get("batch")
        kept: Mapping[str, Any] = shown if isinstance(shown, Mapping) else {}
        listed = [name for name in kept.get("order", ()) if name in plans]
        ordered = {name: plans[name] for name in dict.fromkeys((*listed, *plans))}
        tight = kept.get("tight")
        return cls(ordered, tight, tight is not None, kept.get("words", {}), kept.get("adjust", True) is True)

    def prepare(self, engines: EnginePool) -> None:
        """Open the engines and write the statements of all questions; no row is read."""
        for plan in self.plans.values():
            plan.prepare(engines)

    def run(self, engines: EnginePool, progress: Progress | None = None) -> bytes:
        """The measurements of all questions, each with its code; each question reads one snapshot."""
        plans = [self.plans[name] for name in self._order]
        made = [[plan.asked_code, json.loads(plan.run(engines, progress))] for plan in plans]
        return json.dumps({"batch": made}, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()

    def measurements(self, content: bytes) -> dict[str, bytes]:
        """Read back what :meth:`run` made, by the names of the questions; refused where one is another question's."""
        try:
            made = dict(zip(self._order, json.loads(content)["batch"], strict=True))
            if any(self.plans[name].asked_code != of for name, (of, _) in made.items()):
                raise ValueError("another question's")
            return {name: json.dumps(made[name][1], ensure_ascii=False).encode() for name in self.plans}
        except (KeyError, TypeError, ValueError):
            raise not_a_measurement() from None

    @cached_property
    def _families(self) -> tuple[list[Family], dict[str, str]]:
        return families(self.plans) if self.adjust else ([], {})

    def notes(self, name: str) -> tuple[dict[str, Any], ...]:
        """Notes on whether a question's numbers are made to agree with others', and why not."""
        found, apart = self._families
        for family in found:
            if name in family.adjusted:
                others = (n for n in family.plans if n in family.adjusted and n != name)
                return ({"code": "adjusted", "names": ", ".join(others)},)
        return ({"code": apart[name]},) if name in apart else ()

    def expected(self, name: str) -> list[dict[str, Any]]:
        """The error to expect of a question's outputs, as facts, once its numbers are made to agree with others'."""
        return list(self._expected[name])

    @cached_property
    def _expected(self) -> dict[str, list[dict[str, Any]]]:
        adjusted = {name: family for family in self._families[0] for name in family.adjusted}
        return {
            name: expected_facts(plan.expected_by(adjusted[name].laws(name, plan.laws)))
            if name in adjusted
            else plan.facts["expected"]
            for name, plan in self.plans.items()
        }

    def presented(self, bought: Bought, *, rehearsal: bool, language: str) -> dict[str, Release]:
        """The releases of its questions, from what was bought."""
        found = self.measurements(bought.measurement)
        noisy = {name: from_bytes(found[name], plan) for name, plan in self.plans.items()}
        answers = answered_together(self.plans, noisy) if self.adjust else {}
        return {
            name: present(
                plan,
                replace(bought, measurement=found[name]),
                rehearsal=rehearsal,
                language=language,
                together=answers.get(name),
                notes=self.notes(name),
            )
            for name, plan in self.plans.items()
        }

    @cached_property
    def tight(self) -> ApproxDP | None:
        """The guarantee of the whole batch at its delta, by privacy-loss distributions, rounded up; at most the sum.

        None where no accountant gives a finite number, unless that is what is to be charged: then it is refused.
        """
        delta = self.delta if self.delta is not None else _delta_of(self.plans)
        try:
            found = _tight_epsilon(self.ran, delta)
        except NotPromised:
            if self.charged_tight:
                raise
            return None
        if isinstance(self._sum, PureDP | ApproxDP) and rational(getattr(self._sum, "delta", 0)) <= rational(delta):
            found = min(found, self._sum.epsilon)  # basic composition holds, too; on a grid one may be a hair above it
        if found < math.inf:
            return ApproxDP(found, up(rational(delta)))
        if not self.charged_tight:
            return None
        raise QuestionRefused(
            f"At a delta of {float(rational(delta)):g} this batch has no finite epsilon.",
            fix="Its questions need more: choose a tight= above the sum of their deltas.",
        )

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"<Batch of {', '.join(self.plans)}: {self.guarantee!r}>"

    def explain(self, language: str = "en") -> str:
        """The share of the budget and the expected error of each question, in words; free."""
        return explain_batch(self.facts, language)

    @cached_property
    def facts(self) -> Facts:
        """The batch as plain values: its cost, the facts of each question, and notes on which tables agree."""
        found, apart = self._families
        groups = (", ".join(n for n in family.plans if n in family.adjusted) for family in found)
        return {
            "guarantee": self.guarantee.to_json(),
            "tight": None if self.tight is None else self.tight.to_json(),
            "questions": {name: self._facts(name) for name in self.plans},
            "notes": [
                *self.undeclared,
                *([{"code": "undeclared-asked"}] if self.undeclared else []),
                *({"code": "adjusted-together", "names": names} for names in groups),
                *({"code": code, "question": name} for name, code in apart.items()),
            ],
        }

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain values, for machines; a copy."""
        return deepcopy(dict(self.facts))

    def _facts(self, name: str) -> dict[str, Any]:
        facts = self.plans[name].to_dict()
        return {**facts, "expected": self.expected(name), "notes": [*facts["notes"], *self.notes(name)]}


def _short(words: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is kept of the words for readers: all, or titles alone where that would be long.

    >>> _short({"title": "Pay", "because": "asked for", "questions": {"n": {"title": "People", "sql": "x" * 9000}}})
    {'title': 'Pay', 'questions': {'n': {'title': 'People'}}}
    """
    each: Mapping[str, Mapping[str, str]] = words.get("questions", {})
    titles = {name: {"title": one["title"]} for name, one in each.items() if one.get("title")}
    title = {"title": words.get("title", "")}
    tries: tuple[Mapping[str, Any], ...] = (words, {**title, "questions": titles}, title)
    return next((one for one in tries if len(json.dumps(one)) <= LONGEST_WORDS), {})


def stated(questions: Mapping[str, object]) -> dict[str, Any]:
    """The words of questions: their SQL, where they were asked in it.

    >>> stated({"n": "SELECT COUNT(*) AS n FROM t"})
    {'questions': {'n': {'sql': 'SELECT COUNT(*) AS n FROM t'}}}
    """
    return {"questions": {name: {"sql": text} for name, text in questions.items() if isinstance(text, str)}}


@lru_cache(maxsize=MOST_TIGHT)
def _tight_epsilon(ran: Event, delta: Number) -> float:
    """The epsilon of all that is run, at a delta; kept, because pages show the same publications again and again."""
    from curador.accounting.account import epsilon

    return epsilon(ran, delta).upper


def _delta_of(plans: Mapping[str, Plan]) -> Number:
    deltas = [rational(getattr(plan.budget, "delta", 0.0)) for plan in plans.values()]
    return sum(deltas, Fraction(0)) or READ_AT


def require_named(questions: object) -> None:
    """Refuse questions without names."""
    if not isinstance(questions, Mapping):
        raise InvalidParameter("The questions of a batch have names.", fix='Write batch({"n": question}, …).')


def planners_of(questions: Mapping[str, T], planner: Callable[[T], Planner]) -> dict[str, Planner]:
    """A planner of each question; refused as soon as those that were read have too many numbers together."""
    found: dict[str, Planner] = {}
    numbers = 0
    for name, asked in questions.items():
        with _naming(name):
            found[name] = planner(asked)
            numbers += found[name].numbers
        require_few_numbers(numbers)
    return found


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Say in which question of several it is that something is refused."""
    try:
        yield
    except CuradorError as error:
        what, facts = f"In the question {name!r}: {error.what}", {**error.facts, "question": name}
        raise type(error)(what, fix=error.fix, cost=error.cost, code=error.code, facts=facts) from None


def split(
    planners: Mapping[str, Planner],
    budget: Guarantee | None,
    weights: Mapping[str, Number] | None = None,
    accuracies: Mapping[str, Within] | None = None,
) -> dict[str, Plan]:
    """A plan for every question: those with a wanted accuracy get the least that reaches it, the others share the rest.

    ``weights`` say how the rest is shared, equally by default.

    Guarantee: the plans' guarantees add up to at most the budget.
    Fails: refused where the accuracies alone cost more, or a question has neither a share nor an accuracy.
    """
    weights, accuracies = weights or {}, accuracies or {}
    if not planners or not isinstance(weights, Mapping) or not isinstance(accuracies, Mapping):
        raise InvalidParameter(
            "A batch has at least one question, and weights and accuracies by their names.",
            fix='Write batch({"n": question}, epsilon=1, weights={"n": 1}).',
        )
    for name in (*weights, *accuracies):
        if name not in planners:
            raise InvalidParameter(f"No question of the batch is called {name!r}.", fix=f"Use {', '.join(planners)}.")
    require_few_numbers(sum(planner.numbers for planner in planners.values()))
    kind = budget if budget is not None else PureDP(1)
    if accuracies and isinstance(kind, ZCDP):
        raise InvalidParameter("A wanted accuracy finds an epsilon, not a rho.", fix="Give the batch epsilon.")
    each = down(rational(getattr(kind, "delta", 0.0)) / len(planners)) or None
    found = {}
    for name, wanted in accuracies.items():
        with _naming(name):
            found[name] = planners[name].reaching(wanted, each)
    rest = [name for name in planners if name not in accuracies]
    if not rest and budget is None:
        return {name: found[name] for name in planners}
    if budget is None:
        raise InvalidParameter(f"{rest[0]!r} has no wanted accuracy and no budget to share.", fix="Give one of them.")
    left = _left(budget, [plan.budget for plan in found.values()])
    shares = {name: positive(weights.get(name, 1), "weight") for name in rest}
    all_shares = sum(shares.values(), Fraction(0))
    for name, weight in shares.items():
        part = _part(left, weight / all_shares)
        with _naming(name):
            found[name] = planners[name].plan(part)
    return {name: found[name] for name in planners}


def _left(budget: Guarantee, wanted: list[Guarantee]) -> Guarantee:
    """The budget less the cost of the wanted accuracies."""
    try:
        return budget.minus(*wanted)
    except BudgetExceeded:
        raise QuestionRefused(
            f"The accuracies wanted cost {total(wanted).label} together, of {budget.label}.",
            fix="Want less accuracy, or give the batch more.",
            code="accuracies-too-dear",
            facts={"cost": total(wanted).to_json(), "given": budget.to_json()},
        ) from None


def _part(left: Guarantee, fraction: Fraction) -> Guarantee:
    try:
        return left.share(fraction)
    except InvalidParameter:
        raise QuestionRefused(
            "The wanted accuracies leave nothing to share.", fix="Give the batch more.", code="nothing-to-share"
        ) from None
