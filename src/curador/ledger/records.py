"""The values a ledger returns: charges, balances, decisions and registrations, readable as text and in notebooks."""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, SupportsIndex, overload

from curador.accounting import filters
from curador.accounting.events import Event
from curador.accounting.filters import Filter
from curador.accounting.rules.costs import Cost, Rule
from curador.errors import InvalidParameter
from curador.ledger.entries import plain
from curador.ledger.pricing import exact_text, left
from curador.privacy import Guarantee, Neighbors, RenyiDP

if TYPE_CHECKING:
    import pandas

VerifyProgress = Callable[[float, str], None]
"""Is told the part of a stage that is done, 0 to 1, and the stage: the history, or the tables that follow from it."""

LONGEST_TEXT, LONGEST_NOTE = 500, 10_000
"""Characters of a question's text for people, and of each thing that is noted."""

EMPTY: Mapping[str, object] = MappingProxyType({})


# ---- charges -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class Charge:
    """One event bought: from which scopes, at what cost in each, and whether its answer has been stored.

    ``scopes`` lists every scope that was charged, parents before children, and ``costs`` lines up with it.  ``note``
    is free for the buyer, who finds the question there again; it never holds anything read from data.

    A ``repeated`` charge was answered before: its answer is stored, no data is to be read, and ``scopes`` are only
    those that had not paid for it yet.  ``entry`` is its place in the ledger.

    >>> from curador.ledger.stores.memory import MemoryLedger
    >>> from curador.accounting.events import PureLoss
    >>> from curador.privacy import PureDP
    >>> ledger = MemoryLedger()
    >>> _ = ledger.open("people", PureDP(1))
    >>> charge = ledger.reserve("people", PureLoss("0.25"), guarantee=PureDP(0.25))
    >>> charge
    <Charge 1: epsilon 0.25 from people, not answered>
    >>> charge.id, charge.scopes, charge.costs, charge.settled
    ('1', ('people',), ((250000000000,),), False)
    """

    id: str
    scopes: tuple[str, ...]
    costs: tuple[Cost, ...]
    event: Event
    guarantee: Guarantee | None = None
    note: Mapping[str, object] = field(default_factory=lambda: EMPTY, hash=False)
    settled: bool = False
    repeated: bool = False
    receiver: str | None = None
    at: str = ""
    entry: int = field(default=0, compare=False)

    @property
    def asked(self) -> str:
        """The question, as the buyer noted it for people under ``"text"``, or else as it stands under ``"asked"``."""
        asked = self.note.get("text", self.note.get("asked", ""))
        return asked if isinstance(asked, str) else plain(asked)

    def __str__(self) -> str:
        what = type(self.event).__name__ if self.guarantee is None else every_digit(self.guarantee)
        payers = f"from {', '.join(self.scopes)}" if self.scopes else "paid before"
        state = "repeated" if self.repeated else "answered" if self.settled else "not answered"
        return f"charge {self.id}: {what} {payers}, {state}"

    def __repr__(self) -> str:
        return f"<{str(self).replace('charge', 'Charge', 1)}>"

    def _repr_html_(self) -> str:
        return Charges((self,))._repr_html_()


class Charges(tuple[Charge, ...]):
    """Charges, oldest first: a tuple that notebooks show as a table.

    >>> Charges() == ()
    True
    """

    __slots__ = ()

    @overload
    def __getitem__(self, key: SupportsIndex, /) -> Charge: ...

    @overload
    def __getitem__(self, key: slice, /) -> Charges: ...

    def __getitem__(self, key: SupportsIndex | slice, /) -> Charge | Charges:
        return Charges(super().__getitem__(key)) if isinstance(key, slice) else super().__getitem__(key)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a row for each charge."""
        try:
            import pandas
        except ImportError:
            raise InvalidParameter(
                "pandas is not installed.", fix="Run: pip install pandas", code="library-missing"
            ) from None
        columns = {name: [row[i] for row in self._rows()] for i, name in enumerate(_COLUMNS)}
        return pandas.DataFrame({**columns, "settled": [c.settled for c in self]})

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for c in self:
            guarantee = "" if c.guarantee is None else every_digit(c.guarantee)
            yield c.id, c.at, ", ".join(c.scopes), c.receiver or "", guarantee, c.asked

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(map(_html_row, self._rows()))}</tbody></table>"


_COLUMNS = ("charge", "at", "scopes", "receiver", "guarantee", "asked")
_WIDEST = 200
"""Characters of a cell that a notebook shows."""


def _html_row(cells: tuple[str, ...]) -> str:
    short = (text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…" for text in cells)
    return f"<tr>{''.join(f'<td>{html.escape(text)}</td>' for text in short)}</tr>"


def every_digit(guarantee: Guarantee) -> str:
    """A guarantee in one line, with every digit.

    >>> from curador.privacy import ApproxDP, RenyiDP
    >>> every_digit(ApproxDP("0.1212625", 1e-6)), every_digit(RenyiDP({2: 1, 8: 2.5}))
    ('epsilon 0.1212625, delta 1e-06', 'order 2: 1, order 8: 2.5')
    """
    if isinstance(guarantee, RenyiDP):
        return ", ".join(f"order {_digits(a)}: {_digits(e)}" for a, e in guarantee.curve)
    return ", ".join(f"{name} {_digits(value)}" for name, value in guarantee.to_json().items() if name != "kind")


def _digits(value: object) -> str:
    return str(value).removesuffix(".0")


# ---- balances ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class Balance:
    """One scope at one moment.

    ``spent`` was charged to this scope; ``remaining`` can still be charged here: no more than any ancestor of the same
    currency has left, and nothing where this scope or an ancestor is closed (``revoked`` or expired).  ``parent`` is
    the balance of the scope above.

    >>> from curador.privacy import PureDP
    >>> from curador.accounting.filters import charge, open_filter
    >>> top = Balance("people", charge(open_filter(PureDP(1)), PureDP(0.2)))
    >>> top
    <Balance people: epsilon 0.2 spent of 1, 0.8 remaining>
    >>> Balance("visits", open_filter(PureDP(5)), parent=top).remaining
    PureDP(epsilon=0.8)
    """

    scope: str
    state: Filter
    parent: Balance | None = None
    closed: bool = False
    expires: datetime | None = None
    revoked: bool = False

    @property
    def mark(self) -> str:
        """What tells whether the budget was raised, given anew or revoked since it was looked at."""
        return f"{','.join(map(str, self.state.ceiling))}{' revoked' if self.revoked else ''} {self.scope}"

    @property
    def budget(self) -> Guarantee:
        return self.state.guarantee

    @property
    def neighbors(self) -> Neighbors:
        return self.state.neighbors

    @property
    def spent(self) -> Guarantee:
        return filters.spent(self.state)

    @property
    def remaining(self) -> Guarantee:
        used = tuple(c - x for c, x in zip(self.state.ceiling, self._left(), strict=True))
        return filters.remaining(replace(self.state, spent=used))

    @property
    def capped_by(self) -> Balance | None:
        """The nearest budget above that has less left, so that not all that is left here can be spent.

        >>> from curador.privacy import PureDP
        >>> from curador.accounting.filters import open_filter
        >>> top = Balance("people", open_filter(PureDP(1)))
        >>> [Balance("ana", open_filter(PureDP(x)), top).capped_by for x in (1, 2)]
        [None, <Balance people: epsilon 0 spent of 1, 1 remaining>]
        """
        above, mine = self.parent, dict(zip(_numbers(self.state), left(self.state), strict=True))
        while above is not None:
            theirs = zip(_numbers(above.state), left(above.state), strict=True)
            if Rule.RENYI_ANY not in (above.state.currency.rule, self.state.currency.rule) and any(
                x < mine.get(name, x) for name, x in theirs
            ):
                return above
            above = above.parent
        return None

    def _left(self) -> Cost:
        path: list[Balance] = [self]
        while (above := path[-1].parent) is not None:
            path.append(above)
        if any(balance.closed for balance in path):
            return tuple(min(0, c) for c in self.state.ceiling)
        rest = left(self.state)
        if self.state.currency.rule is Rule.RENYI_ANY:  # one open order is enough: a minimum over scopes bounds nothing
            return rest
        for above in path[1:]:  # number by number: after a grant of delta its epsilon is still that of budgets without
            if above.state.currency.rule is not Rule.RENYI_ANY:
                theirs = dict(zip(_numbers(above.state), left(above.state), strict=True))
                rest = tuple(min(x, theirs.get(n, x)) for n, x in zip(_numbers(self.state), rest, strict=True))
        return rest

    def _lines(self) -> Iterator[tuple[str, str, str, str, float]]:
        """For each number: its name, what is spent, the ceiling, what remains, and the share that is spent."""
        state = self.state
        for name, spent, ceiling, rest, unit in zip(
            state.currency.names, state.spent, state.ceiling, self._left(), state.currency.units, strict=True
        ):
            if ceiling >= 0:  # a renyi-any rule may have orders at which nothing can be bought
                share = min(1.0, spent / ceiling) if ceiling else 1.0
                yield name, exact_text(spent, unit), exact_text(ceiling, unit), exact_text(max(0, rest), unit), share

    def __str__(self) -> str:
        colon = ":" if self.state.currency.orders else ""
        lines = (f"{name}{colon} {spent} spent of {of}, {rest} remaining" for name, spent, of, rest, _ in self._lines())
        return f"{self.scope}: {'; '.join(lines)}{' (closed)' if self.closed else ''}"

    def __repr__(self) -> str:
        return f"<Balance {self}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{name}</td><td>{spent}</td><td>{of}</td><td>{rest}</td>"
            f'<td><progress max="1" value="{share:.3f}"></progress></td></tr>'
            for name, spent, of, rest, share in self._lines()
        )
        title = html.escape(self.scope) + (" (closed)" if self.closed else "")
        head = "".join(f"<th>{name}</th>" for name in ("", "spent", "of", "remaining", ""))
        return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _numbers(state: Filter) -> list[tuple[Rule, str]]:
    """The numbers that a budget counts, each as all budgets do that count it alike."""
    rule = state.currency.rule
    return [(Rule.APPROXIMATE if rule is Rule.PURE else rule, name) for name in state.currency.names]


# ---- decisions and registrations ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision about a budget, as opposed to a charge to it.

    ``kind`` is opened, raised, closed, renewed, redeclared or restored; ``budget`` is the scope's promise from then on,
    and ``name`` the name that was tied to the scope anew.  A restore is about all scopes, and its ``scope`` is empty.

    >>> from curador.ledger.stores.memory import MemoryLedger
    >>> from curador.privacy import PureDP
    >>> ledger = MemoryLedger()
    >>> _ = ledger.open("people", PureDP(1))
    >>> _ = ledger.grant("people", PureDP(1), because="the second wave")
    >>> [(d.kind, d.budget, d.because) for d in ledger.decisions()]
    [('opened', PureDP(epsilon=1.0), ''), ('raised', PureDP(epsilon=2.0), 'the second wave')]
    """

    at: str
    kind: str
    scope: str
    budget: Guarantee | None = None
    because: str = ""
    name: str = ""

    def to_json(self) -> dict[str, object]:
        """A plain dictionary."""
        return {
            "at": self.at,
            "decided": self.kind,
            "scope": self.scope,
            "budget": None if self.budget is None else self.budget.to_json(),
            "name": self.name,
            "because": self.because,
        }


def bounded(note: Mapping[str, object]) -> dict[str, object]:
    """The record of a purchase, no longer than a page: what is longer, as a list of very many keys, by its digest.

    The newest notes are read with every new purchase, and a question that costs next to nothing may be of any length.

    >>> bounded({"asked": {"": "how many"}, "text": "how many"})
    {'asked': {'': 'how many'}, 'text': 'how many'}
    >>> sorted(bounded({"asked": "x" * 100_000})["asked"])
    ['characters', 'sha256']
    """
    found: dict[str, object] = {}
    for name, value in note.items():
        if isinstance(value, str) and name == "text" and len(value) > LONGEST_TEXT:
            value = f"{value[: LONGEST_TEXT - 1]}…"
        if len(line := json.dumps(value, default=str)) > LONGEST_NOTE:
            value = {"sha256": hashlib.sha256(line.encode()).hexdigest(), "characters": len(line)}
        found[name] = value
    return found


@dataclass(frozen=True, slots=True)
class Registration:
    """A table's name and source, tied to data with a scope and a version.

    The version is a number that the ledger counts up, never a digest of the content: equal digests would be a fact
    about the data.  It belongs in the fingerprint of a question: an answer is repeated only for the same version.
    ``unit`` is what the table's budget protects, in the curator's words; empty where nothing was stated.

    >>> from curador.ledger.stores.memory import MemoryLedger
    >>> from curador.privacy import PureDP
    >>> ledger = MemoryLedger()
    >>> _ = ledger.open("people", PureDP(1))
    >>> first = ledger.register("visits", "visits.parquet", scope="people")
    >>> moved = ledger.register("visits", "visits-2.parquet")
    >>> moved.scope, moved.version
    ('people', 2)
    """

    table: str
    source: str
    scope: str
    version: int
    data: int
    unit: str = ""
