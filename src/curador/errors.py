"""Every refusal, one family; each says what happened, what to do and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

NOTHING = "nothing was drawn, nothing was spent"


class CuradorError(Exception):
    """The root of every error Curador raises on purpose.

    ``what``, ``fix`` and ``cost`` are for people and may be reworded at any time.  Programs tell refusals apart by
    their class and ``code``, and read numbers and names from ``facts``; a door (command line, server) adds its own hint
    to a code it knows.

    >>> raise CuradorError("The lamp is off.", fix="Switch it on.")
    Traceback (most recent call last):
    curador.errors.CuradorError: The lamp is off. To do: Switch it on. (Cost: nothing was drawn, nothing was spent.)
    >>> CuradorError("The lamp is off.", fix="Switch it on.", code="lamp-off", facts={"room": 3}).facts["room"]
    3
    """

    def __init__(
        self,
        what: str,
        *,
        fix: str,
        cost: str = NOTHING,
        code: str = "",
        facts: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(what, fix, cost)
        self.what, self.fix, self.cost, self.code = what, fix, cost, code
        self.facts: Mapping[str, object] = MappingProxyType(dict(facts or {}))

    def __str__(self) -> str:
        return f"{self.what} To do: {self.fix} (Cost: {self.cost}.)"

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are rebuilt from args positionally; ours are keyword-only, and must cross process borders.
        return _rebuild, (type(self), self.what, self.fix, self.cost, self.code, dict(self.facts))


def _rebuild(
    kind: type[CuradorError], what: str, fix: str, cost: str, code: str, facts: Mapping[str, object]
) -> CuradorError:
    return kind(what, fix=fix, cost=cost, code=code, facts=facts)


class InvalidParameter(CuradorError, ValueError):
    """A parameter that no mechanism or accountant could honour, such as epsilon = -1."""


class InvalidValue(CuradorError, ValueError):
    """A value handed in for release that is not what the mechanism protects, such as NaN."""


class NotPromised(CuradorError):
    """A request for a guarantee that no theorem we know supports; refused rather than guessed."""


class BudgetExceeded(CuradorError):
    """A charge that would take a budget past its ceiling; nothing was spent by asking."""


class QuestionRefused(CuradorError):
    """A question that cannot be answered privately as it stands; says which part and what to write instead."""


class EngineFailed(CuradorError):
    """The engine could not run the plan: always in the same words, because the reason may depend on the data."""


class LedgerFailed(CuradorError):
    """The ledger could not be read or written (a full disk, a server gone); nothing is released without it."""


class LedgerBroken(CuradorError):
    """The ledger is older than it once was, or was changed by other hands; nothing is bought from it."""


class CollectorFailed(CuradorError):
    """A collector's folder cannot be read or written: missing, full, in use, damaged, or for another task."""


class MessageRefused(InvalidValue):
    """A device's message that does not count; ``facts["reason"]`` is the name under which the collector counts it."""
