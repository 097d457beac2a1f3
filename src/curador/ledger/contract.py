"""The contract of every ledger, in memory, in a file or on a server.

Scopes form a tree.  Its root is the population whose units are protected; below it are tables, groups, analysts.  A
charge names the scopes it is about and is checked against all their ancestors, all or nothing, each scope once.  It is
spent when it is reserved, before any data is read.  Stored are the event and, for each scope, an integer cost in the
scope's own currency, rounded up; a balance never goes down.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from curador.accounting.events import Event
from curador.accounting.rules.costs import Rule
from curador.ledger.access import Access
from curador.ledger.history import PAGE
from curador.ledger.records import Balance, Charge, Charges, Decision, Registration, VerifyProgress
from curador.numbers import Number
from curador.privacy import Guarantee, Neighbors

T = TypeVar("T")

__all__ = ["PAGE", "Access", "Balance", "Charge", "Charges", "Decision", "Ledger", "Registration", "VerifyProgress"]


class Ledger(Protocol):
    """A store of scopes and charges that threads, processes and machines may share."""

    # -- scopes

    def open(
        self,
        scope: str,
        budget: Guarantee,
        *,
        parent: str | None = None,
        neighbors: Neighbors | str | None = None,
        rule: Rule | str | None = None,
        reserved_delta: Number = 0,
        orders: Iterable[float] = (),
        expires: datetime | None = None,
    ) -> Balance:
        """Make a scope with a ceiling; its currency never changes.

        A scope below another is about the same neighbours.  After ``expires`` nothing can be bought there.

        A budget for a period is a scope for that period, such as ``"visits 2026-11"``, that expires when it ends.  It
        promises for each period apart: a unit that is in the data in several periods has lost the sum of them all,
        unless the unit is the pair of an id and a period.  A scope above them all bounds that sum.

        Fails: InvalidParameter if the name is taken (code ``budget-exists``).
        """
        ...

    def grant(self, scope: str, more: Guarantee, *, because: str = "") -> Balance:
        """Raise a ceiling by ``more``, for ever.

        Guarantee: the raised budget.  If the decision to raise depends on answers, the promise is the largest budget
        that could have been granted.
        """
        ...

    def revoke(self, scope: str, *, because: str = "") -> Balance:
        """Close a scope and all below it, for ever; charges to it stay spent above it."""
        ...

    def __contains__(self, scope: str) -> bool:
        """Whether a scope's name is taken."""
        ...

    def balance(self, scope: str) -> Balance:
        """The balance of a scope: spent and remaining."""
        ...

    def scopes(self) -> tuple[str, ...]:
        """The names that are taken, in order."""
        ...

    def decisions(self) -> tuple[Decision, ...]:
        """Every decision about budgets, oldest first: opened, raised, closed, renewed, restored."""
        ...

    def ever_promised(self, scopes: Collection[str], budget: Guarantee) -> bool:
        """Whether the budget of one of these scopes was ever exactly this one."""
        ...

    # -- charges

    def reserve(
        self,
        scopes: str | Sequence[str],
        event: Event,
        *,
        guarantee: Guarantee | None = None,
        note: Mapping[str, object] = ...,
        key: str | None = None,
        fingerprint: str | None = None,
        receiver: str | None = None,
        planned: Sequence[Registration] = (),
        owner: str | None = None,
        ended: str | None = None,
    ) -> Charge:
        """Spend an event in these scopes and in all their ancestors, durably; or refuse, and spend nothing.

        ``receiver`` is the scope of the analyst or group that gets the answer; it pays too.  ``fingerprint`` identifies
        the question, its cost and the versions of its data.  If it was answered before, no data is read: the charge
        comes back as ``repeated``, and only scopes of the receiver that have not paid for this answer yet pay now.
        Where they pay, it has a number, a time and a note of its own, and the stored answer: nothing of it tells that,
        or when, another receiver bought the answer before.

        ``note`` is the record of the purchase, which is shown to its receiver alone.

        ``key`` identifies one request: sent again with the same fingerprint it gets the same answer, with another
        fingerprint it is refused.  A charge that was never settled answers nothing: asking again is a new charge.
        A key is kept with what it bought: one under which nothing was paid, as for what its receiver has, is not.

        ``planned`` are the registrations of the tables it will read.  They are compared within the transaction: a table
        that was renewed, reloaded or moved since is refused (code ``planned-for-other-data``), so that no charge falls
        on people whom the answer is not about.

        ``owner`` names the process that will answer, and asks for the question to be bought once: while another charge
        for it is being answered, this one is refused (code ``being-answered``, with that charge and its owner in the
        facts).  ``ended`` is a charge whose owner is known to have ended: it is bought again, never given for free.

        Fails: BudgetExceeded, with code ``budget-exceeded``, ``budget-closed`` or ``budget-expired``; InvalidParameter
        for a key of another question (code ``key-reused``).
        """
        ...

    def settle(self, charge: str, answer: bytes, *, planned: Sequence[Registration] = ()) -> bytes:
        """Store the noised answer of a reserved charge, once.

        Returns the bytes to release: these, or those that another charge under the same key was settled with before.
        With ``planned``, refused (code ``data-changed-while-read``) where a table was renewed or reloaded since: what
        was read may be rows of people who were not charged.
        """
        ...

    def fail(self, fingerprint: str, owner: str, *, look: bool = True) -> None:
        """Record that an owner will not answer a question, so that others need not wait; its charge stays spent.

        Nothing is written if it has no charge for it that could still be answered.  ``look``: whether it is looked for
        first, as is cheaper; not where it was interrupted, and may be in a transaction that another thread is writing.
        """
        ...

    def running(self, fingerprint: str) -> str | None:
        """The charge with which a question is being answered; None if it was answered, or nobody is at it."""
        ...

    def answer(self, charge: str) -> bytes | None:
        """The bytes that a charge was settled with; None if it never was."""
        ...

    def charge(self, charge: str, scope: str | None = None) -> Charge:
        """A charge by its id, as it was bought; with ``scope``, as it fell on that one, which may have been later.

        Fails: InvalidParameter if there is none (code ``charge-unknown``).
        """
        ...

    def history(self, scope: str | None = None, *, last: int | None = PAGE, before: Charge | None = None) -> Charges:
        """The newest charges of a scope, or of all, oldest first: ``last`` of them, or with None all there are.

        ``before`` is a charge of that history: those that stand before it, as for the page before a page that begins
        with it.  Those of a scope are in the order of their ids.  The time taken grows with ``last``, not with the
        history, and nobody waits for it.
        """
        ...

    def newest(self, scope: str) -> int:
        """The id of the newest charge of a scope, as a number; 0 where there is none."""
        ...

    def count(self, scope: str | None = None) -> int:
        """How many charges fell on a scope, or on all together."""
        ...

    # -- tables

    def register(
        self,
        table: str,
        source: str,
        *,
        scope: str | None = None,
        reloaded: bool = False,
        unit: str = "",
        alike: Sequence[str] = (),
    ) -> Registration:
        """Tie a table's name and source to a scope, or find the scope they are tied to.

        A known name with another source was reloaded, a known source with another name renamed: the budget is kept.
        The version grows with each of these, and with each ``reloaded=True``, which states that the content changed.

        ``unit`` is what the table's budget protects, in the curator's words; another one than before is refused (code
        ``unit-changed``).  ``alike`` are other addresses of the same source: a new name and source with a known one of
        these is known.  The ``scope`` of a public table, which charges nothing, is empty.
        """
        ...

    def registered(self, table: str, source: str) -> Registration | None:
        """The registration of a name, or else of a source; None if both are new.  Changes nothing.

        Its source is the one that the name stands for now, whoever asks with another.
        """
        ...

    def owners(self, sources: Collection[str]) -> Mapping[str, Registration]:
        """The registrations of those of these sources that are known."""
        ...

    def registrations(self, without: str = "") -> tuple[Registration, ...]:
        """What every name stands for now, in the order of the names; but for names that begin with ``without``."""
        ...

    def renew(self, table: str, scope: str, *, because: str, alike: Sequence[str] = ()) -> Registration:
        """Decide that a table's data is new people, under another scope from now on; the reason is kept.

        Assumes: no unit of the old data is in the new data; otherwise it has lost the sum of both.
        """
        ...

    def redeclare(self, table: str, unit: str, *, because: str) -> Registration:
        """Decide that a table's budget protects another unit from now on; the budget is kept, and so is the reason.

        Assumes: what was spent before was spent for the old unit.  A unit of the new kind may have lost more than that:
        an id that has ten rows has lost up to ten times what was spent for rows.
        """
        ...

    def scopes_of(self, table: str) -> tuple[str, ...]:
        """Every scope that a table's name was ever tied to, oldest first."""
        ...

    # -- access

    def began(self) -> str:
        """When its first entry was written, which tells it from every other ledger; empty before there is one."""
        ...

    def time(self) -> datetime:
        """The time by which things end here: that of the clock, or of the last entry if the clock was set back since.

        What is to last is counted from it: where a clock was ahead once, it would have ended before it begins.
        """
        ...

    def give_access(self, access: Access) -> Access:
        """Let whoever shows a token come in; only the token's digest is kept.

        Fails: InvalidParameter if the digest is known already.
        """
        ...

    def end_access(self, token: str, *, because: str = "") -> Access:
        """Let a token open nothing any more, for ever; one that has ended stays so."""
        ...

    def access(self, token: str) -> Access | None:
        """What the token with this digest opens; None where it is unknown."""
        ...

    def accesses(self) -> tuple[Access, ...]:
        """Every token that was given, ended ones too, in the order of their digests."""
        ...

    # -- the whole

    def seal(self, content: str) -> str:
        """A seal that only this ledger's key makes, over the content of a release; empty for a ledger in memory."""
        ...

    def at_once(self, work: Callable[[Ledger], T]) -> T:
        """Do several things in one transaction: all are written, or none is; the ledger given to ``work`` is for them.

        ``work`` may be called twice, the first time only to see whether there is anything to write.
        """
        ...

    def verify(self, progress: VerifyProgress | None = None) -> int:
        """Read everything again; the number of entries.  ``progress`` is told the part of a stage that is done.

        Fails: LedgerBroken unless everything is as it was written.
        """
        ...

    def close(self) -> None:
        """Release files and connections."""
        ...
