"""Every error that Curador raises on purpose: one family, each with what happened, what to do and what it cost."""

from __future__ import annotations

import os
from collections.abc import Mapping
from traceback import extract_tb
from types import MappingProxyType

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep

NOTHING = "nothing was drawn, nothing was spent"


def install(extra: str) -> str:
    """What to do where an optional part of Curador is not installed; no package index has Curador itself.

    >>> install("learn")
    "Run, in a clone of Curador: pip install '.[learn]'"
    """
    return f"Run, in a clone of Curador: pip install '.[{extra}]'"


class CuradorError(Exception):
    """The root of every error Curador raises on purpose.

    ``what``, ``fix`` and ``cost`` are for people and may be reworded at any time.  Programs distinguish errors by class
    and ``code``, and read numbers and names from ``facts``; an interface (command line, server) may add its own hint to
    a code it knows.

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

    def _render_traceback_(self) -> list[str]:
        """What notebooks show: the line that asked and the message, without the frames inside the library.

        >>> CuradorError("The lamp is off.", fix="Switch it on.")._render_traceback_()[0]
        'CuradorError: The lamp is off.'
        """
        frames = [f for f in extract_tb(self.__traceback__) if not f.filename.startswith(_HERE)]
        asked = [f"---> {frames[-1].lineno} {frames[-1].line}", ""] if frames and frames[-1].line else []
        return [*asked, f"{type(self).__name__}: {self.what}", f"  To do: {self.fix}", f"  Cost: {self.cost}."]

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions are rebuilt from args positionally; ours are keyword-only, and must cross process borders.
        return _rebuild, (type(self), self.what, self.fix, self.cost, self.code, dict(self.facts))


def _rebuild(
    kind: type[CuradorError], what: str, fix: str, cost: str, code: str, facts: Mapping[str, object]
) -> CuradorError:
    return kind(what, fix=fix, cost=cost, code=code, facts=facts)


class InvalidParameter(CuradorError, ValueError):
    """A parameter outside its domain, such as epsilon = -1."""


class InvalidValue(CuradorError, ValueError):
    """A value that the mechanism cannot release, such as NaN or a fraction for integer noise."""


class NotPromised(CuradorError):
    """A guarantee that no known theorem supports; refused rather than guessed."""


class BudgetExceeded(CuradorError):
    """A charge that would exceed a budget; asking spent nothing."""


class QuestionRefused(CuradorError):
    """A question that cannot be answered privately as it stands; names the part and what to write instead."""


class EngineFailed(CuradorError):
    """The engine could not run the plan.  The message is always the same, because the reason may depend on the data."""


class LedgerFailed(CuradorError):
    """The ledger could not be read or written (disk full, database unreachable); nothing is released without it."""


class LedgerBroken(CuradorError):
    """The ledger was rolled back to an older state or tampered with; nothing can be bought from it."""


class NotAllowed(CuradorError):
    """A caller of a server without a token that opens this; never which of the reasons it was."""


class ServerFailed(CuradorError):
    """A server that a remote curator asks did not answer, or what answered is not a Curador server."""


class CollectorFailed(CuradorError):
    """A collector's folder cannot be read or written: missing, full, in use, damaged, or for another task."""


class MessageRefused(InvalidValue):
    """A device's message that does not count; ``facts["reason"]`` is the name under which the collector counts it."""
