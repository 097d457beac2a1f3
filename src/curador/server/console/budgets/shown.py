"""A budget as pages show it: the share that is spent, its last day, what is left of it and above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from curador import Balance, Guarantee
from curador.accounting import filters
from curador.accounting.rules.costs import Cost, Rule


def share(rule: Rule, spent: Sequence[int], ceiling: Cost) -> float:
    """Which part of a budget is spent: of its scarcest number, or where one of several is enough, of its best.

    >>> share(Rule.APPROXIMATE, (1, 3), (4, 4)), share(Rule.RENYI_ANY, (1, 3), (4, 4)), share(Rule.PURE, (0,), (0,))
    (0.75, 0.25, 0.0)
    """
    parts = [x / most for x, most in zip(spent, ceiling, strict=False) if most > 0]
    return (min if rule is Rule.RENYI_ANY else max)(parts, default=0.0)


def last_day(end: datetime | None) -> str:
    """The last day, UTC, on which something is open that ends at a moment; with the time, where it ends within a day.

    >>> last_day(datetime(2027, 1, 1, tzinfo=UTC)), last_day(datetime(2026, 12, 31, 15, 30, tzinfo=UTC)), last_day(None)
    ('2026-12-31', '2026-12-31 15:30', '')
    """
    if end is None:
        return ""
    last = end.astimezone(UTC) - timedelta(microseconds=1)
    return f"{last:%Y-%m-%d}" if (last.hour, last.minute) == (23, 59) else f"{end.astimezone(UTC):%Y-%m-%d %H:%M}"


def handle(name: str) -> str:
    """What stands for a budget's name in an address: names may have any characters, and addresses are written down.

    >>> handle("ana")
    '24d4b96f58da6d4a'
    """
    return sha256(name.encode()).hexdigest()[:16]


def own_left(balance: Balance) -> Guarantee:
    """What an analyst has not spent of their own budget, whether or not the budget above has as much."""
    return filters.remaining(balance.state) if not balance.closed else balance.remaining


def path(balance: Balance) -> list[Balance]:
    """A budget and those above it."""
    return [balance] if balance.parent is None else [balance, *path(balance.parent)]


def loss(guarantee: Guarantee) -> float:
    """The epsilon of a guarantee, or its rho."""
    numbers = guarantee.to_json()
    found = numbers.get("epsilon", numbers.get("rho", 0.0))
    return float(found) if isinstance(found, int | float) else 0.0


def _less(above: Balance, below: Balance) -> bool:
    """Whether a budget has less left than one below it, where both are counted in epsilon or both in rho."""
    alike = above.state.currency.names[0] == below.state.currency.names[0] in ("epsilon", "rho")
    return alike and loss(own_left(above)) < loss(own_left(below))


@dataclass(frozen=True)
class AnalystView:
    """An analyst, or a group of analysts, as a row shows them."""

    name: str
    balance: Balance
    charges: int
    group: str
    members: int
    kind: str = ""
    of_tables: bool = False
    """Whether it is no analyst's: what all tables share, or a table's own."""

    @property
    def handle(self) -> str:
        return handle(self.name)

    @property
    def last_day(self) -> str:
        return last_day(self.balance.expires)

    @property
    def left(self) -> Guarantee:
        """What is left of it, whether or not the budget above has as much."""
        return own_left(self.balance)

    @property
    def above(self) -> Guarantee | None:
        """What is left above it, where that is less: then no more can be spent now."""
        least = [b for b in path(self.balance)[1:] if _less(b, self.balance)]
        return min((own_left(b) for b in least), key=loss, default=None) if not self.balance.closed else None

    @property
    def state(self) -> str:
        end = self.balance.expires
        if end is not None and datetime.now(UTC) >= end:
            return "expired"
        return "closed" if self.balance.closed else "open"
