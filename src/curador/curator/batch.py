"""Several questions planned together and bought in one charge, all or nothing: a dashboard, a publication's tables."""

from __future__ import annotations

import hmac
import html
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

from curador.accounting.events import ApproxLoss, Event, compose
from curador.curator.purchase import storable
from curador.curator.release import Note, Release, sealed_part
from curador.engines.engine import Progress
from curador.engines.pool import EnginePool
from curador.errors import BudgetExceeded, InvalidParameter, NotPromised, QuestionRefused
from curador.ledger.contract import Ledger
from curador.numbers import Number, down, positive, rational, set_fields, up
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP, guarantee_from_json, total
from curador.query.answer.noisy import not_a_measurement
from curador.query.plan.expected import Within
from curador.query.plan.identity import digest
from curador.query.plan.plan import Plan
from curador.query.plan.planner import Planner
from curador.query.tables.table import Table
from curador.show.explain import error_text, has_texts, is_worded, note_text
from curador.show.release import publication_statement

LEDGER_DIGITS = 16
"""The digits of a seal that name its ledger."""

READ_AT = "1e-6"
"""The delta of a batch's tight guarantee, unless it has one of its own."""


@dataclass(frozen=True, repr=False)
class Batch:
    """Plans by name, bought together for one charge, with the sum of their guarantees and the tight one.

    ``guarantee`` is the sum of what the questions guarantee, in the currency they were asked in.  ``tight`` is the same
    batch accounted as a whole by its privacy-loss distribution, which is allowed because a batch is fixed in advance;
    with ``charged_tight`` that is what is charged, to budgets that count (epsilon, delta).  ``words`` are for
    readers of its publication: titles, reasons and SQL; no identity depends on them.

    Guarantee: everything in it together keeps ``guarantee`` [DMNS06], and ``tight`` too [KOV15, DGKKM22].
    """

    plans: Mapping[str, Plan]
    delta: Number | None = None
    charged_tight: bool = False
    words: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if not self.plans:
            raise InvalidParameter("A batch has at least one question.", fix="Add questions to it.")
        if not all(isinstance(name, str) and name.strip() and storable(name) for name in self.plans):
            raise InvalidParameter("The questions of a batch are named by texts.", fix="Name each of them.")
        if len({plan.neighbors for plan in self.plans.values()}) > 1:
            raise QuestionRefused(
                "The tables of this batch are about different neighbours.", fix="Publish them in batches of their own."
            )
        set_fields(self, plans=MappingProxyType(dict(self.plans)))

    @property
    def tables(self) -> tuple[str, ...]:
        """The private tables it reads: each is charged for the whole batch."""
        return tuple(dict.fromkeys(name for plan in self.plans.values() for name in plan.tables))

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

    @cached_property
    def _order(self) -> list[str]:
        """The names of the questions in an order that does not depend on the names."""
        return sorted(self.plans, key=lambda name: self.plans[name].identity or "")

    @cached_property
    def identity(self) -> str | None:
        """A digest that identifies its measurements; the names of the questions are not in it.

        None where one of them is to be bought each time: so is the whole.
        """
        parts = [self.plans[name].identity for name in self._order]
        return None if None in parts else digest({"batch": parts})

    @property
    def measured(self) -> Mapping[str, str]:
        """Digests of the exact numbers it measures, each with a label for people."""
        return {code: label for plan in self.plans.values() for code, label in plan.measured.items()}

    @property
    def note(self) -> Mapping[str, object]:
        """The record kept with its charge: the questions, and a text of them for people."""
        text = f"{len(self.plans)} questions: {', '.join(self.plans)}"
        return {"asked": {name: plan.question.to_json() for name, plan in self.plans.items()}, "text": text}

    def prepare(self, engines: EnginePool) -> None:
        """Open the engines and write the statements of all questions; no row is read."""
        for plan in self.plans.values():
            plan.prepare(engines)

    def run(self, engines: EnginePool, progress: Progress | None = None) -> bytes:
        """The measurements of all questions, each with its identity; each question reads one snapshot."""
        plans = [self.plans[name] for name in self._order]
        made = [[plan.identity, json.loads(plan.run(engines, progress))] for plan in plans]
        return json.dumps({"batch": made}, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()

    def measurements(self, content: bytes) -> dict[str, bytes]:
        """Read back what :meth:`run` made, by the names of the questions; refused where one is another question's."""
        try:
            made = dict(zip(self._order, json.loads(content)["batch"], strict=True))
            if any(self.plans[name].identity != of for name, (of, _) in made.items()):
                raise ValueError("another question's")
            return {name: json.dumps(made[name][1], ensure_ascii=False).encode() for name in self.plans}
        except (KeyError, TypeError, ValueError):
            raise not_a_measurement() from None

    @cached_property
    def tight(self) -> ApproxDP | None:
        """The guarantee of the whole batch at its delta, by privacy-loss distributions, rounded up; at most the sum.

        None where no accountant gives a finite number, unless that is what is to be charged: then it is refused.
        """
        from curador.accounting.account import epsilon

        delta = self.delta if self.delta is not None else _delta_of(self.plans)
        try:
            found = epsilon(self.ran, delta).upper
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

    @property
    def saves(self) -> bool:
        """Whether it is worth a word that the batch as a whole costs less than the sum."""
        return self.tight is not None and self.tight.epsilon < getattr(self._sum, "epsilon", math.inf)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"<Batch of {', '.join(self.plans)}: {self.guarantee!r}>"

    def explain(self) -> str:
        """The share of the budget and the expected error of each question, in words; free."""
        lines = [f"costs      {self.guarantee.label}, once, for all or nothing"]
        if not self.charged_tight and self.saves:
            assert self.tight is not None
            lines.append(f"tightly    {self.tight.label}: for reports; budgets are charged the line above")
        for name, plan in self.plans.items():
            errors = ", ".join(f"{e['output']} {error_text(e)}" for e in plan.facts["expected"])
            lines.append(f"{name:<10} {plan.guarantee.label}; expected error {errors}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The batch as plain values."""
        return {
            "guarantee": self.guarantee.to_json(),
            "tight": None if self.tight is None else self.tight.to_json(),
            "questions": {name: plan.to_dict() for name, plan in self.plans.items()},
        }


def stated(questions: Mapping[str, object]) -> dict[str, Any]:
    """The words of questions: their SQL, where they were asked in it.

    >>> stated({"n": "SELECT COUNT(*) AS n FROM t"})
    {'questions': {'n': {'sql': 'SELECT COUNT(*) AS n FROM t'}}}
    """
    return {"questions": {name: {"sql": text} for name, text in questions.items() if isinstance(text, str)}}


def _delta_of(plans: Mapping[str, Plan]) -> Number:
    deltas = [rational(getattr(plan.budget, "delta", 0.0)) for plan in plans.values()]
    return sum(deltas, Fraction(0)) or READ_AT


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
    kind = budget if budget is not None else PureDP(1)
    if accuracies and isinstance(kind, ZCDP):
        raise InvalidParameter("A wanted accuracy finds an epsilon, not a rho.", fix="Give the batch epsilon.")
    each = down(rational(getattr(kind, "delta", 0.0)) / len(planners)) or None
    found = {name: planners[name].reaching(wanted, each) for name, wanted in accuracies.items()}
    rest = [name for name in planners if name not in accuracies]
    if not rest and budget is None:
        return {name: found[name] for name in planners}
    if budget is None:
        raise InvalidParameter(f"{rest[0]!r} has no wanted accuracy and no budget to share.", fix="Give one of them.")
    left = _left(budget, [plan.budget for plan in found.values()])
    shares = {name: positive(weights.get(name, 1), "weight") for name in rest}
    all_shares = sum(shares.values(), Fraction(0))
    found |= {name: planners[name].plan(_part(left, w / all_shares)) for name, w in shares.items()}
    return {name: found[name] for name in planners}


def _left(budget: Guarantee, wanted: list[Guarantee]) -> Guarantee:
    """The budget less the cost of the wanted accuracies."""
    try:
        return budget.minus(*wanted)
    except BudgetExceeded:
        raise QuestionRefused(
            f"The accuracies wanted cost {total(wanted).label} together, of {budget.label}.",
            fix="Want less accuracy, or give the batch more.",
        ) from None


def _part(left: Guarantee, fraction: Fraction) -> Guarantee:
    try:
        return left.share(fraction)
    except InvalidParameter:
        raise QuestionRefused("The wanted accuracies leave nothing to share.", fix="Give the batch more.") from None


@dataclass(frozen=True, repr=False)
class Publication:
    """The releases of a batch by name, with the one charge that paid for them and what they guarantee together.

    ``words`` are its title and reason, and the title, reason and SQL of each question, where they were stated.
    """

    releases: Mapping[str, Release]
    guarantee: Guarantee
    tight: ApproxDP | None
    charge: str
    remarks: tuple[Note, ...] = ()
    language: str = "en"
    words: Mapping[str, Any] = field(default_factory=dict)
    repeated: bool = field(default=False, compare=False)
    seal: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        set_fields(self, releases=MappingProxyType(dict(self.releases)))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the charge for the reader, in the publication's language."""
        return tuple(note_text(note, self.language) for note in self.remarks)

    def __getitem__(self, name: str) -> Release:
        if name not in self.releases:
            raise InvalidParameter(f"Nothing here is called {name!r}.", fix=f"There is {', '.join(self.releases)}.")
        return self.releases[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    def title(self, name: str) -> str:
        """The title of a question, or its name where it has none."""
        return str(self.words.get("questions", {}).get(name, {}).get("title") or name)

    def statement(self) -> str:
        """The guarantee of all releases together, in one line."""
        return publication_statement(self.guarantee, self.tight, self.charge, self.language)

    def __str__(self) -> str:
        parts = [f"{self.title(name)}\n{release}" for name, release in self.releases.items()]
        return "\n\n".join([*([self.words["title"]] if self.words.get("title") else []), *parts, self.statement()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = [f"<h3>{html.escape(self.title(n))}</h3>{r._repr_html_()}" for n, r in self.releases.items()]
        return "".join(parts) + f"<p>{html.escape(self.statement())}</p>"

    def to_dict(self) -> dict[str, Any]:
        """The publication as plain values, which :meth:`from_dict` reads back."""
        return {
            "releases": {name: release.to_dict() for name, release in self.releases.items()},
            "guarantee": self.guarantee.to_json(),
            "tight": None if self.tight is None else self.tight.to_json(),
            "charge": self.charge,
            "notes": [{**note, "text": text} for note, text in zip(self.remarks, self.notes, strict=True)],
            "language": self.language,
            "words": dict(self.words),
            "seal": self.seal,
        }

    @property
    def content(self) -> str:
        """All that is sealed: the sealed parts of its releases, and what they guarantee together."""
        return _content(self.to_dict())

    def to_json(self) -> str:
        """One line of JSON; equal publications make equal text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Publication:
        """Read back what :meth:`to_dict` wrote."""
        try:
            tight = None if data["tight"] is None else guarantee_from_json(data["tight"])
            if not isinstance(tight, ApproxDP | None):
                raise TypeError
            return cls(
                {name: Release.from_dict(found) for name, found in data["releases"].items()},
                guarantee_from_json(data["guarantee"]),
                tight,
                data["charge"],
                tuple({k: v for k, v in note.items() if k != "text"} for note in data["notes"]),
                data["language"],
                dict(data["words"]),
                seal=str(data.get("seal", "")),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidParameter(
                "These are not the values of a publication.", fix="Pass what to_dict() made."
            ) from None


def verify_release(ledger: Ledger, given: Release | Publication | Mapping[str, Any]) -> Release | Publication:
    """The release or publication, if it is as this ledger's curator made it; the data is not needed.

    Guarantee: a value, interval, column, note, guarantee or charge that was changed is refused (code
    ``release-changed``), and so is a release of another ledger (``release-of-another-ledger``), one without a seal
    (``release-unsealed``), and one whose charge this copy of the ledger has not answered (``release-unknown``).
    Words are not sealed; plain values whose notes say what no language says of their codes are refused
    (``release-worded-otherwise``).
    """
    if isinstance(given, Release | Publication):
        found, content = given, given.content
    else:
        found = Publication.from_dict(given) if "releases" in given else Release.from_dict(given)
        content = _content(given)  # of all that stands there, also of what is not read
    own = ledger.seal("")
    if not found.seal or not own:
        raise InvalidParameter(
            "This has no seal, or the ledger makes none.",
            fix="Verify what a durable ledger's curator released.",
            code="release-unsealed",
        )
    if found.seal[:LEDGER_DIGITS] != own[:LEDGER_DIGITS]:
        raise InvalidParameter(
            "This was released from another ledger.", fix="Verify it there.", code="release-of-another-ledger"
        )
    if not hmac.compare_digest(found.seal.encode(errors="replace"), ledger.seal(content).encode()):
        raise _changed(found.charge)
    if ledger.answer(found.charge) is None:
        raise InvalidParameter(
            "This ledger has not answered that charge.",
            fix="It may be an older copy; verify the release with the ledger in use.",
            code="release-unknown",
            facts={"charge": found.charge},
        )
    if isinstance(found, Publication):
        _require_inner_seals(ledger, given if isinstance(given, Mapping) else found.to_dict())
    inner = found.releases.values() if isinstance(found, Publication) else ()
    languages = [found.language, *(release.language for release in inner)]
    if not all(map(has_texts, languages)) or not (found is given or all(map(is_worded, _notes(given)))):
        raise InvalidParameter(
            "The notes of this are worded otherwise than their codes.",
            fix="Read the codes; or verify it with the version that wrote it.",
            code="release-worded-otherwise",
        )
    return found


def _require_inner_seals(ledger: Ledger, data: Mapping[str, Any]) -> None:
    """Refuse a publication in which the seal of a release is another: it would not verify when taken out."""
    for release in data["releases"].values():
        if release.get("seal") != ledger.seal(sealed_part(release)):
            raise _changed(data["charge"])


def _changed(charge: str) -> InvalidParameter:
    return InvalidParameter(
        "This is not as it was released: something in it was changed.",
        fix="Trust nothing in it; ask for it again.",
        code="release-changed",
        facts={"charge": charge},
    )


def _content(data: Mapping[str, Any]) -> str:
    """All of a release or a publication that is sealed, from its plain values."""
    try:
        if "releases" in data:
            data = {**data, "releases": {name: sealed_part(found) for name, found in data["releases"].items()}}
        return sealed_part(data)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise InvalidParameter("These are not the values of a release.", fix="Pass what to_dict() made.") from None


def _notes(data: Any) -> list[Mapping[str, Any]]:
    return [note for part in (data, *data.get("releases", {}).values()) for note in part["notes"]]
