"""Divides a budget over mechanisms: every item gets its share, and the noise that the share buys.

A question's budget is for the whole question.  Its kind says what may be bought:

* pure epsilon: integer Laplace noise and choices, whose epsilons add up;
* (epsilon, delta): the same, or continuous Gaussian noise, all measures being one Gaussian mechanism, whichever gives
  less error; delta pays for Gaussian noise and for groups that are selected privately;
* rho: integer Gaussian noise and choices, whose rho add up; a delta with it pays for groups selected privately.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import singledispatch

from curador.errors import InvalidParameter, QuestionRefused
from curador.numbers import rational
from curador.privacy import ZCDP, ApproxDP, Guarantee, Neighbors, PureDP
from curador.query.plan.items import GaussianItem, Item, KeysItem, NoiseItem, RankItem, TopItem, root_down
from curador.query.plan.split import INVERSE, INVERSE_SQUARE, shares
from curador.query.plan.steps import Selected, Step

KEYS_SHARE = Fraction(1, 4)
"""The share of the selection of groups, where no count of units is asked for that selects them on the way."""

NOISES = ("laplace", "gaussian")


@dataclass(frozen=True)
class Wanted:
    """The items that a question pays for, and the groups of a unit over which keys are selected, if they are.

    ``keyless`` names what is grouped by that has no public keys.
    """

    items: tuple[NoiseItem | RankItem | TopItem, ...]
    keys: int | None
    neighbors: Neighbors
    noise: str | None = None
    keyless: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.noise not in (None, *NOISES):
            raise InvalidParameter(f"No noise is called {self.noise!r}.", fix=f"Use one of {', '.join(NOISES)}.")

    def selection(self, delta: Fraction) -> KeysItem | None:
        return None if self.keys is None else KeysItem(self.keys, delta, self.neighbors)


@dataclass(frozen=True)
class Allocation:
    """The steps bought, what they guarantee together, and the objective that the split made least."""

    steps: tuple[Step, ...]
    guarantee: Guarantee
    objective: float


@singledispatch
def allocate(budget: Guarantee, wanted: Wanted) -> Allocation:
    """Divide a budget over what there is to pay for.

    Guarantee: the events of the steps keep ``guarantee``, which is at most the budget.

    >>> allocate(PureDP(1), Wanted((), None, Neighbors.ADD_REMOVE)).steps
    ()
    """
    raise InvalidParameter(
        f"A question is not paid in {type(budget).__name__}.",
        fix="Ask with epsilon, with epsilon and delta, or rho.",
        code="price-needed",
    )


@allocate.register
def _(budget: PureDP, wanted: Wanted) -> Allocation:
    if wanted.noise == "gaussian":
        raise InvalidParameter(
            "Gaussian noise is not pure.", fix="Give a delta with epsilon, or give rho.", code="gaussian-not-pure"
        )
    if wanted.keys is not None:
        raise _needs_delta("epsilon", wanted)
    steps, objective = _spent(_epsilon(rational(budget.epsilon)), wanted.items, None)
    return Allocation(steps, budget, objective)


@allocate.register
def _(budget: ApproxDP, wanted: Wanted) -> Allocation:
    epsilon, delta = rational(budget.epsilon), rational(budget.delta)
    if wanted.keys is not None and not delta:
        raise _needs_delta("epsilon", wanted)
    noisy = tuple(n for n in wanted.items if isinstance(n, NoiseItem))
    if wanted.noise == "gaussian" and not (noisy and delta):
        raise InvalidParameter(
            "Gaussian noise needs a delta and something to add it to.", fix="Leave noise out.", code="gaussian-nothing"
        )
    found = []
    if wanted.noise != "gaussian":
        steps, objective = _spent(_epsilon(epsilon), wanted.items, wanted.selection(delta))
        used = budget.delta if wanted.keys is not None else 0.0
        found.append(Allocation(steps, ApproxDP(budget.epsilon, used), objective))
    if wanted.noise != "laplace" and noisy and delta:
        # Half of delta each, where both need one.
        halved = delta / 2 if wanted.keys is not None else delta
        others = tuple(n for n in wanted.items if not isinstance(n, NoiseItem))
        together = GaussianItem(noisy, epsilon, halved)
        steps, objective = _spent(_epsilon(epsilon), (together, *others), wanted.selection(halved))
        found.append(Allocation(steps, budget, objective))
    return min(found, key=lambda a: a.objective)


@allocate.register
def _(budget: ZCDP, wanted: Wanted) -> Allocation:
    rho, delta = rational(budget.rho), rational(budget.delta)
    if wanted.keys is not None and not delta:
        raise _needs_delta("rho", wanted)
    shop = _laplace_rho(rho) if wanted.noise == "laplace" else _rho(rho)
    steps, objective = _spent(shop, wanted.items, wanted.selection(delta))
    return Allocation(steps, replace(budget, delta=budget.delta if wanted.keys is not None else 0.0), objective)


def _needs_delta(currency: str, wanted: Wanted) -> QuestionRefused:
    groups = ", ".join(wanted.keyless)
    return QuestionRefused(
        f"Groups by {groups} have no public keys: they are selected privately, which needs a delta.",
        fix=f"Give delta with {currency} (far below 1 / number of people), or list the keys of {groups}.",
        code="needs-delta",
        facts={"groups": groups},
    )


# ---- the currencies ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Currency:
    """A currency: the amount there is, how fast error falls with it, and what it buys."""

    total: Fraction
    power: float
    size: Callable[[Item], float]
    buy: Callable[[Item, Fraction], tuple[Step, ...]]
    select: Callable[[KeysItem, Fraction], Selected]
    both: Callable[[KeysItem, NoiseItem, Fraction], tuple[Step, ...]] | None


def _epsilon(total: Fraction) -> _Currency:
    return _Currency(
        total,
        INVERSE_SQUARE,
        lambda item: item.spread,
        lambda item, epsilon: item.by_epsilon(epsilon),
        KeysItem.by_epsilon,
        KeysItem.with_count_by_epsilon,
    )


def _rho(total: Fraction) -> _Currency:
    return _Currency(total, INVERSE, _deviation_by_rho, _by_rho, KeysItem.by_rho, KeysItem.with_count_by_rho)


def _laplace_rho(total: Fraction) -> _Currency:
    """Laplace noise paid in rho: epsilon**2 / 2 is at least the rho of an epsilon [BS16]."""

    def size(item: Item) -> float:
        return item.spread / 2**0.5 if isinstance(item, NoiseItem) else _deviation_by_rho(item)

    def buy(item: Item, rho: Fraction) -> tuple[Step, ...]:
        return item.by_epsilon(root_down(2 * rho)) if isinstance(item, NoiseItem) else _by_rho(item, rho)

    return _Currency(total, INVERSE, size, buy, KeysItem.by_rho, None)


def _deviation_by_rho(item: Item) -> float:
    assert not isinstance(item, GaussianItem)
    return item.spread_rho


def _by_rho(item: Item, rho: Fraction) -> tuple[Step, ...]:
    assert not isinstance(item, GaussianItem)
    return item.by_rho(rho)


def _spent(money: _Currency, items: Sequence[Item], keys: KeysItem | None) -> tuple[tuple[Step, ...], float]:
    """The steps that all of the money buys, divided by the importance of each item; and the objective reached."""
    counted = next((n for n in items if isinstance(n, NoiseItem) and n.counts_units), None)
    one_noise = money.both if counted is not None else None
    free = Fraction(1) if keys is None or one_noise is not None else 1 - KEYS_SHARE
    sizes = [n.weight * money.size(n) ** 2 for n in items]
    steps: list[Step] = []
    if keys is not None and one_noise is None:
        steps.append(replace(money.select(keys, money.total * KEYS_SHARE), share=KEYS_SHARE))
    objective = 0.0
    for item, size, part in zip(items, sizes, shares(sizes, money.power), strict=True):
        share = free * part
        if keys is not None and one_noise is not None and item is counted:
            bought = one_noise(keys, item, money.total * share)
        else:
            bought = money.buy(item, money.total * share)
        steps += (replace(step, share=share * (step.share or 1)) for step in bought)
        objective += size / float(money.total * share) ** (2 if money.power == INVERSE_SQUARE else 1)
    return tuple(steps), objective
