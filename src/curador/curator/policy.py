"""What a curator lets pass at all, whatever is left of the budget: rules on public numbers, read before any charge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import singledispatch
from typing import Any

from curador.accounting.convert import zcdp_epsilon
from curador.errors import InvalidParameter, QuestionRefused
from curador.numbers import Number, positive, rational
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from curador.query.plan.explain import described
from curador.query.plan.plan import Plan
from curador.query.tables.table import Table

JUSTIFIED_ABOVE = 1
"""A question that costs more epsilon than this is answered only with a recorded reason."""

OVERRIDDEN_FROM = 10
"""From this epsilon on a promise says next to nothing: it must be wanted in so many words, and the release says so."""

READ_AT = Fraction(1, 10**6)
"""At what delta a rho is read as an epsilon, where none stands beside it."""

MECHANISMS = (
    "integer Laplace",
    "Gaussian",
    "integer Gaussian",
    "exponential",
    "optimal selection",
    "threshold on a noisy count",
)
"""The mechanisms of plans, as explain() names them."""


@dataclass(frozen=True)
class Policy:
    """A curator's own rules, beside those that always hold.

    Always: delta is below 1 / n where the size n of a table is declared public; an epsilon above 1 needs a reason that
    is recorded with the charge; an epsilon of 10 or more needs an explicit override, which the release shows.

    >>> Policy(largest_epsilon=0.5).largest_epsilon
    Fraction(1, 2)
    >>> Policy(mechanisms=("magic",))
    Traceback (most recent call last):
    curador.errors.InvalidParameter: No mechanism is called 'magic'. ...
    """

    largest_epsilon: Number | None = None
    largest_delta: Number | None = None
    mechanisms: tuple[str, ...] = MECHANISMS

    def __post_init__(self) -> None:
        for name in ("largest_epsilon", "largest_delta"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, positive(getattr(self, name), name))
        if isinstance(self.mechanisms, str) or not isinstance(self.mechanisms, Iterable):
            raise InvalidParameter("The policy's mechanisms are a list of names.", fix='Write ["Gaussian"].')
        for name in self.mechanisms:
            if name not in MECHANISMS:
                raise InvalidParameter(f"No mechanism is called {name!r}.", fix=f"Use {', '.join(MECHANISMS)}.")
        object.__setattr__(self, "mechanisms", tuple(self.mechanisms))

    @classmethod
    def from_dict(cls, stated: Mapping[str, Any]) -> Policy:
        """The ``[policy]`` of a study file."""
        known = [f.name for f in fields(cls)]
        for name in stated:
            if name not in known:
                raise InvalidParameter(f"A policy has no {name!r}.", fix=f"It has {', '.join(known)}.")
        return cls(**stated)

    def review(self, plan: Plan, *, because: str = "", override: bool = False) -> tuple[str, ...]:
        """Refuse a plan, or say what its release must show.

        Guarantee: reads declarations and the plan, never data; nothing has been charged when it refuses.
        """
        for step in plan.steps:
            self.allowed(described(step)[0])
        self.small_enough(plan.promise, {name: plan.checked.tables[name] for name in plan.tables})
        return required_notes(plan.promise, because, override)

    def allowed(self, mechanism: str) -> None:
        """Refuse a mechanism that the policy does not allow."""
        if mechanism in MECHANISMS and mechanism not in self.mechanisms:
            raise QuestionRefused(
                f"The policy does not allow {mechanism} noise.", fix=f"It allows {', '.join(self.mechanisms)}."
            )

    def small_enough(self, promise: Guarantee, tables: Mapping[str, Table]) -> None:
        """Refuse a promise about these tables that is larger than the policy allows, or a delta that is no promise."""
        epsilon, delta = as_epsilon_delta(promise)
        if self.largest_epsilon is not None and epsilon > rational(self.largest_epsilon):
            raise QuestionRefused(
                f"The policy allows epsilon {float(rational(self.largest_epsilon)):g} for one question, "
                f"and this costs {float(epsilon):g}.",
                fix="Ask with less.",
            )
        self.small_delta(delta, tables)

    def small_delta(self, delta: Fraction, tables: Mapping[str, Table]) -> None:
        """Refuse a delta that is larger than the policy allows, or no promise at all."""
        if self.largest_delta is not None and delta > rational(self.largest_delta):
            raise QuestionRefused(
                f"The policy allows delta {float(rational(self.largest_delta)):g}, and this needs {float(delta):g}.",
                fix="Ask with a smaller delta.",
            )
        for name, table in tables.items():
            size = table.size
            if size and delta * size >= 1:
                raise QuestionRefused(
                    f"A delta of {float(delta):g} is no less than 1 / {size:,}, the public size of {name!r}: it would "
                    "allow publishing somebody's row as it is.",
                    fix=f"Choose delta far below {1 / size:.1g}, such as {0.01 / size:.1g}.",
                )


def required_notes(promise: Guarantee, because: str = "", override: bool = False) -> tuple[str, ...]:
    """What a release must show of how its cost was allowed, or a refusal.

    >>> required_notes(PureDP(0.5))
    ()
    >>> required_notes(PureDP(3), because="pilot, agreed with the board")
    ('Epsilon 3 is above 1; the reason given: pilot, agreed with the board',)
    """
    epsilon, _ = as_epsilon_delta(promise)
    shown = f"{float(epsilon):g}"
    if epsilon > JUSTIFIED_ABOVE and not because.strip():
        raise QuestionRefused(
            f"Epsilon {shown} is above {JUSTIFIED_ABOVE}, which needs a reason.",
            fix='Give one, as because="…" (in a shell --because "…"); it is recorded. Or ask with less.',
        )
    if epsilon >= OVERRIDDEN_FROM and not override:
        raise QuestionRefused(
            f"Epsilon {shown} promises next to nothing: what is believed at even odds may become almost certain.",
            fix="Ask with less; or say override=True (in a shell --override), which the release will show.",
        )
    said = []
    if epsilon > JUSTIFIED_ABOVE:
        said.append(f"Epsilon {shown} is above {JUSTIFIED_ABOVE}; the reason given: {because.strip()}")
    if epsilon >= OVERRIDDEN_FROM:
        said.append(f"OVERRIDE: epsilon {shown} was allowed although it promises next to nothing.")
    return tuple(said)


@singledispatch
def as_epsilon_delta(promise: Guarantee) -> tuple[Fraction, Fraction]:
    """The epsilon and delta that rules are read against; a rho is read at one in a million, or a smaller delta.

    >>> as_epsilon_delta(PureDP(0.5))
    (Fraction(1, 2), Fraction(0, 1))
    """
    raise InvalidParameter(
        f"No rule reads a {type(promise).__name__}.", fix="Ask with epsilon, (epsilon, delta) or rho."
    )


@as_epsilon_delta.register
def _(promise: PureDP) -> tuple[Fraction, Fraction]:
    return rational(promise.epsilon), Fraction(0)


@as_epsilon_delta.register
def _(promise: ApproxDP) -> tuple[Fraction, Fraction]:
    return rational(promise.epsilon), rational(promise.delta)


@as_epsilon_delta.register
def _(promise: ZCDP) -> tuple[Fraction, Fraction]:
    delta = rational(promise.delta)
    if not promise.rho:
        return Fraction(0), delta
    # At a large delta any rho would look small.
    return rational(zcdp_epsilon(rational(promise.rho), min(delta or READ_AT, READ_AT)).value), delta
