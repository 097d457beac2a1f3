"""The rules that every purchase must pass, whatever is left of the budget: on public numbers, before any charge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import singledispatch
from typing import Any, Protocol

from curador.accounting.convert import zcdp_epsilon
from curador.errors import InvalidParameter, QuestionRefused
from curador.mechanisms.base import KINDS
from curador.numbers import Number, positive, rational, set_fields, shown_down, shown_up
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from curador.query.tables.names import suggestion
from curador.query.tables.table import Table

JUSTIFIED_ABOVE = 1
"""A question that costs more epsilon than this is answered only with a recorded reason."""

OVERRIDDEN_FROM = 10
"""From this epsilon on a promise means next to nothing: it needs an explicit override, which the release shows."""

READ_AT = Fraction(1, 10**6)
"""The delta at which a rho is read as an epsilon, where it has none of its own."""


class Reviewed(Protocol):
    """The properties of a purchase that a policy reads."""

    @property
    def tables(self) -> tuple[str, ...]: ...

    @property
    def optional(self) -> frozenset[str]: ...

    @property
    def declared(self) -> Mapping[str, Table]: ...

    @property
    def guarantee(self) -> Guarantee: ...

    @property
    def kinds(self) -> frozenset[str]: ...

    @property
    def undeclared(self) -> Sequence[Mapping[str, Any]]: ...

    @property
    def parts(self) -> tuple[Reviewed, ...]:
        """The questions of a batch, each of which is reviewed by itself; empty for a single question."""
        ...


@dataclass(frozen=True)
class Policy:
    """A curator's own rules, in addition to those that always hold.

    Always: delta is below 1 / n where the size n of a table is declared public; an epsilon above 1 needs a reason that
    is recorded with the charge; an epsilon of 10 or more needs an explicit override, which the release shows.
    ``mechanisms`` are kinds of mechanisms (see :data:`curador.mechanisms.base.KINDS`), all of them unless listed; a
    mechanism of a kind that is not listed, or not known, is refused.

    >>> Policy(largest_epsilon=0.5).largest_epsilon
    Fraction(1, 2)
    >>> Policy(mechanisms=("magic",))
    Traceback (most recent call last):
    curador.errors.InvalidParameter: No mechanism is of the kind 'magic'. ...
    """

    largest_epsilon: Number | None = None
    largest_delta: Number | None = None
    mechanisms: tuple[str, ...] = tuple(sorted(KINDS))

    def __post_init__(self) -> None:
        for name in ("largest_epsilon", "largest_delta"):
            if getattr(self, name) is not None:
                set_fields(self, **{name: positive(getattr(self, name), name)})
        if isinstance(self.mechanisms, str) or not isinstance(self.mechanisms, Iterable):
            raise InvalidParameter("The policy's mechanisms are a list of kinds.", fix='Write ["integer-laplace"].')
        for name in self.mechanisms:
            if name not in KINDS:
                raise InvalidParameter(
                    f"No mechanism is of the kind {name!r}.", fix=suggestion(str(name), sorted(KINDS))
                )
        set_fields(self, mechanisms=tuple(self.mechanisms))

    @classmethod
    def from_dict(cls, stated: Mapping[str, Any]) -> Policy:
        """The ``[policy]`` of a study file."""
        known = [f.name for f in fields(cls)]
        for name in stated:
            if name not in known:
                raise InvalidParameter(f"A policy has no {name!r}.", fix=f"It has {', '.join(known)}.")
        return cls(**stated)

    def review(self, purchase: Reviewed, because: str = "", override: bool = False) -> None:
        """Refuse a purchase that the rules do not allow.

        Guarantee: reads declarations and the purchase, never data; nothing has been charged when it refuses.
        """
        for kind in sorted(purchase.kinds):
            if kind not in KINDS or kind not in self.mechanisms:
                raise QuestionRefused(
                    f"The policy does not allow the mechanism {kind!r}.",
                    fix=f"It allows {', '.join(self.mechanisms)}.",
                    code="mechanism-not-allowed",
                    facts={"kind": kind},
                )
        for part in purchase.parts or (purchase,):
            self.small_enough(part.guarantee, {name: part.declared[name] for name in part.tables})
        self.small_delta(as_epsilon_delta(purchase.guarantee)[1], {n: purchase.declared[n] for n in purchase.tables})
        require_reason(purchase.guarantee, because, override)

    def small_enough(self, guarantee: Guarantee, tables: Mapping[str, Table]) -> None:
        """Refuse a guarantee that is larger than the policy allows, or a delta too large to promise anything."""
        epsilon, delta = as_epsilon_delta(guarantee)
        if self.largest_epsilon is not None and epsilon > rational(self.largest_epsilon):
            raise QuestionRefused(
                f"The policy allows epsilon {shown_down(rational(self.largest_epsilon))} for one question, "
                f"and this costs {shown_up(epsilon)}.",
                fix="Ask with less.",
                code="policy-epsilon",
                facts={"most": shown_down(rational(self.largest_epsilon)), "cost": shown_up(epsilon)},
            )
        self.small_delta(delta, tables)

    def small_delta(self, delta: Fraction, tables: Mapping[str, Table]) -> None:
        """Refuse a delta that is larger than the policy allows, or too large to promise anything."""
        if self.largest_delta is not None and delta > rational(self.largest_delta):
            raise QuestionRefused(
                f"The policy allows delta {float(rational(self.largest_delta)):g}, and this needs {float(delta):g}.",
                fix="Ask with a smaller delta.",
                code="policy-delta",
                facts={"most": f"{float(rational(self.largest_delta)):g}", "cost": f"{float(delta):g}"},
            )
        for name, table in tables.items():
            size = table.size
            if size and delta * size >= 1:
                raise QuestionRefused(
                    f"A delta of {float(delta):g} is not below 1 / {size:,}, the public size of {name!r}: it would "
                    "allow publishing somebody's row as it is.",
                    fix=f"Choose delta far below {1 / size:.1g}, such as {0.01 / size:.1g}.",
                    code="delta-of-size",
                    facts={"delta": f"{float(delta):g}", "size": size, "table": name, "better": f"{0.01 / size:.1g}"},
                )


def require_reason(guarantee: Guarantee, because: str = "", override: bool = False) -> None:
    """Refuse a large epsilon without a reason, or one that promises next to nothing without an override."""
    epsilon, _ = as_epsilon_delta(guarantee)
    shown = shown_up(epsilon)
    if epsilon > JUSTIFIED_ABOVE and not because.strip():
        raise QuestionRefused(
            f"Epsilon {shown} is above {JUSTIFIED_ABOVE}, which needs a reason.",
            fix="Give one (because); it is recorded. Or ask with less.",
            code="reason-needed",
        )
    if epsilon >= OVERRIDDEN_FROM and not override:
        raise QuestionRefused(
            f"Epsilon {shown} promises next to nothing: what is believed at even odds may become almost certain.",
            fix="Ask with less, or override this, which the release will show.",
            code="override-needed",
        )


def refuse_undeclared(purchase: Reviewed) -> None:
    """Refuse a purchase that compares with values that no declaration allows: its answer would be noise alone."""
    if not purchase.undeclared:
        return
    first = purchase.undeclared[0]
    place = f"{first['question']}: " if "question" in first else ""
    raise QuestionRefused(
        f"{place}{_never(first)}: an answer about it is noise alone.",
        fix=f"{_meant(first)} To buy it as it stands, ask with anyway=True.",
        code=str(first["code"]),
        facts={**{name: x for name, x in first.items() if name != "code"}, "place": place},
    )


def _never(note: Mapping[str, Any]) -> str:
    if "range" in note:
        return f"By what is declared, {note['column']} is {note['range']}, so no row has {note['value']}"
    return f"{note['column']} has no declared value {note['value']!r}, so probably no row has it"


def _meant(note: Mapping[str, Any]) -> str:
    return f"Did you mean {note['near']!r}?" if "near" in note else "Use a declared value."


def required_notes(guarantee: Guarantee, because: str = "") -> tuple[dict[str, Any], ...]:
    """Notes that a release must show of how its cost was allowed, as codes.

    >>> required_notes(PureDP(0.5))
    ()
    >>> required_notes(PureDP(3), because="pilot, agreed with the board")
    ({'code': 'reason', 'epsilon': '3', 'limit': '1', 'because': 'pilot, agreed with the board'},)
    """
    epsilon, _ = as_epsilon_delta(guarantee)
    shown = shown_up(epsilon)
    found: list[dict[str, Any]] = []
    if epsilon > JUSTIFIED_ABOVE:
        found.append({"code": "reason", "epsilon": shown, "limit": str(JUSTIFIED_ABOVE), "because": because.strip()})
    if epsilon >= OVERRIDDEN_FROM:
        found.append({"code": "override", "epsilon": shown})
    return tuple(found)


@singledispatch
def as_epsilon_delta(guarantee: Guarantee) -> tuple[Fraction, Fraction]:
    """The epsilon and delta that rules are read against; a rho is read at one in a million, or a smaller delta.

    >>> as_epsilon_delta(PureDP(0.5))
    (Fraction(1, 2), Fraction(0, 1))
    """
    raise InvalidParameter(
        f"No rule reads a {type(guarantee).__name__}.", fix="Ask with epsilon, (epsilon, delta) or rho."
    )


@as_epsilon_delta.register
def _(guarantee: PureDP) -> tuple[Fraction, Fraction]:
    return rational(guarantee.epsilon), Fraction(0)


@as_epsilon_delta.register
def _(guarantee: ApproxDP) -> tuple[Fraction, Fraction]:
    return rational(guarantee.epsilon), rational(guarantee.delta)


@as_epsilon_delta.register
def _(guarantee: ZCDP) -> tuple[Fraction, Fraction]:
    delta = rational(guarantee.delta)
    if not guarantee.rho:
        return Fraction(0), delta
    # At a large delta any rho would look small.
    return rational(zcdp_epsilon(rational(guarantee.rho), min(delta or READ_AT, READ_AT)).value), delta


def require_whole_units(purchase: Reviewed, root_of: Callable[[str], str]) -> None:
    """Refuse a question of tables with budgets of their own, of which one alone changes what a unit adds to it.

    A budget of one table promises that all rows of a unit there may come or go, or under replace that another unit
    takes its place there.  Where a unit then still counts, by its rows in another table, what it adds may change by
    twice as much as a unit that comes or goes adds: more than is charged.  Of two units that change places it is both.
    ``root_of`` finds the root of the budget that a table charges.

    Guarantee: docs/proofs/per-unit.md, section 4.
    """
    for part in purchase.parts or (purchase,):
        open_to = sorted(part.optional)
        roots = {name: root_of(name) for name in part.tables} if open_to else {}
        if len(set(roots.values())) < 2:
            continue
        whole = {root for name, root in roots.items() if name not in part.optional}
        for name in open_to:
            if roots[name] not in whole:
                raise QuestionRefused(
                    f"{name!r} has a budget of its own, and a unit that is not in it would still count here, by its "
                    "rows in another table: it could change by more than is charged.",
                    fix="Keep only units that are in both (JOIN, or WHERE id IN (SELECT id …)); or protect them by one "
                    "budget for all tables.",
                    code="budgets-apart",
                    facts={"table": name},
                )
