"""The budgets of analysts and groups, in addition to those of the tables: given, raised, and charged per receiver."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from curador.curator.budgets import POPULATION, Budget, TableScopes, root_of
from curador.curator.naming import (
    ANALYST,
    RENEWED,
    ConfusableName,
    first,
    no_tables_yet,
    normal,
    refuse_reserved,
    skeleton,
)
from curador.errors import InvalidParameter
from curador.ledger.contract import Balance, Decision, Ledger, Registration
from curador.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from curador.query.tables.table import Table

if TYPE_CHECKING:
    from curador.curator.study.file import Analyst


class Scopes(TableScopes):
    """All budgets of a study: of its tables, and of its analysts and groups.

    Analysts and groups have scopes of their own, below the population where there is one: what they get is charged to
    them and to the population.
    """

    def __init__(
        self,
        ledger: Ledger,
        tables: Mapping[str, Table],
        budget: Budget | None,
        analysts: Mapping[str, Analyst] = MappingProxyType({}),
    ) -> None:
        super().__init__(ledger, tables, budget)
        for name in analysts:
            refuse_reserved(normal(name))

        def open_all(book: Ledger) -> tuple[Mapping[str, Registration], dict[str, str], list[str]]:
            view, twins = self._over(book), list[str]()
            looks = {skeleton(first(scope)): scope for scope in book.scopes()}
            view._open_tables()
            view._opening = ()
            for name, who in analysts.items() if tables else ():
                view._analyst(normal(name), who.budget, who.group, who.expires, "", looks, twins, who.kind)
            return view.registered, view._addresses, twins

        self.registered, self._addresses, twins = ledger.at_once(open_all)
        _warn(twins)

    def analyst(
        self,
        name: str,
        budget: Guarantee,
        group: str | None = None,
        expires: datetime | None = None,
        because: str = "",
    ) -> Balance:
        """Give an analyst, or a group of them, a budget of their own; found again if the ledger knows it."""

        def open_one(book: Ledger) -> tuple[Balance, list[str]]:
            view, twins = self._over(book), list[str]()
            looks = {skeleton(first(scope)): scope for scope in book.scopes()}
            return view._analyst(normal(name), budget, group, expires, because, looks, twins), twins

        found, twins = self.ledger.at_once(open_one)
        _warn(twins)
        return found

    def _analyst(
        self,
        name: str,
        budget: Guarantee,
        group: str | None,
        expires: datetime | None,
        because: str,
        looks: dict[str, str],
        twins: list[str],
        kind: str = "",
    ) -> Balance:
        refuse_reserved(name)
        if not self._kinds:
            raise no_tables_yet()
        group = None if group is None else normal(group)
        known = self.ledger.registered(ANALYST + name, ANALYST + name)
        tied = None if known is None else known.scope
        if name in self._private or name == POPULATION or (tied is None and self._was_table(name)):
            raise InvalidParameter(
                f"{name!r} is a table, not an analyst.",
                fix="Choose another name.",
                code="name-of-table",
                facts={"name": name},
            )
        if known is not None and kind not in ("", known.unit):
            self.state_kind(name, kind)
        if group is not None:
            self.state_kind(group, "group")
        kinds = self._kinds
        if len(kinds) > 1:
            raise InvalidParameter(
                "The tables are about different neighbours.",
                fix="Give analysts a study of their own.",
                code="neighbors-apart",
            )
        scope, parent = tied or name, self._above(group)
        if scope not in self.ledger and (other := looks.setdefault(skeleton(name), name)) != name:
            twins.append(f"{name!r} looks like {other!r}, and is another analyst with another budget.")
        if parent is not None and scope not in self.ledger and self._retired(parent):
            raise InvalidParameter(
                f"{name!r} would have a budget below {parent!r}, and no table is about those people any more.",
                fix=f"Say below which budget instead, as its group: {', '.join(map(repr, self.roots()))}.",
                code="people-gone",
                facts={"name": name},
            )
        how: dict[str, Any] = {"parent": parent} if parent else {"neighbors": next(iter(kinds))}

        def accepts(above: str | None) -> bool:
            """Below an older scope of the group, or an older population."""
            if above is None or group is not None:
                return above is not None and first(above) == group
            return self.shared and self._of_tables(above)

        found = self._open(scope, budget, names=ANALYST + name, accepts_parent=accepts, **how, expires=expires)
        if expires is not None and found.expires != expires:
            raise InvalidParameter(
                f"The budget of {name!r} has another end in the ledger.",
                fix="State the same end; give a new analyst a new name.",
                code="end-stays",
                facts={"name": name},
            )
        if known is None:
            self.ledger.register(ANALYST + name, ANALYST + name, scope=scope, unit=kind)
            if because:
                self.ledger.renew(ANALYST + name, scope, because=because)
        return found

    def state_kind(self, name: str, kind: str) -> None:
        """Record that a name is an analyst's or a group's, for ever; refused where it was stated to be the other's.

        Whoever is a group sees what its members spend, and pays for it.
        """
        key = ANALYST + normal(name)
        known = self.ledger.registered(key, key)
        if known is None or known.unit == kind:  # None: a budget of tables, below which analysts may stand, too
            return
        if known.unit:
            said = "an analyst, and no group" if known.unit == "analyst" else "a group, and no analyst"
            raise InvalidParameter(
                f"{name!r} is {said}: a name belongs to one kind for ever.",
                fix="Choose another name.",
                code="name-of-another-kind",
                facts={"name": name, "kind": known.unit},
            )
        self.ledger.register(key, known.source, unit=kind)

    def _above(self, group: str | None) -> str | None:
        """The scope that a new analyst's is below."""
        if group is not None:
            return self._tied(group) or group
        if not self.shared:
            return None
        roots = self._all_roots()
        return roots[0] if len(roots) == 1 else POPULATION

    def _anew(
        self, name: str, scope: str, budget: Guarantee, because: str, expires: datetime | None, seen: str | None
    ) -> Balance:
        """Give an analyst whose budget is below people no longer asked about a budget below the new people.

        It ends when the old one did, unless another end is stated; what was closed stays closed.
        """
        old = self.ledger.balance(scope)
        _require_open(name, old, expires)
        parent, end = old.parent, expires or old.expires
        group = first(parent.scope) if parent is not None and not self._of_tables(parent.scope) else None
        above = self._above(group)
        if above is None or self._retired(above):
            raise InvalidParameter(
                f"{name!r} has a budget for people that no table is about any more.",
                fix=f"Give the group a new one first: {group!r}." if group else "Give a new analyst a new name.",
                code="people-gone",
                facts={"name": name},
            )

        def open_anew(book: Ledger) -> Balance:
            view, now = self._over(book), book.balance(scope)
            if view._tied(name) != scope or seen not in (None, now.mark) or view._retired(above):
                raise _raised_since(name)
            _require_open(name, now, expires)
            fresh = view._unused(name)
            book.open(fresh, budget, parent=above, expires=end)
            book.renew(ANALYST + name, fresh, because=because or "new people")
            return book.balance(fresh)

        return self.ledger.at_once(open_anew)

    def _retired(self, scope: str) -> bool:
        """Whether a scope is below people that no table is about any more."""
        if self._opening is not None and scope in self._opening:  # a root of the tables that were just opened
            return False
        root = root_of(self.ledger.balance(scope))
        return self._of_tables(root) and root not in self._all_roots()

    def receiver(self, name: str, tables: Iterable[str]) -> str:
        """The scope of an analyst who asks about tables; refused where it is below other people than theirs.

        Otherwise the charge would go to people whom the answer is not about.
        """
        name = normal(name)
        tied = self._tied(name)
        scope = tied or name
        root = root_of(self.ledger.balance(scope))
        if tied is None and self._of_tables(scope):
            raise InvalidParameter(
                f"{name!r} is not an analyst.",
                fix="Name an analyst, or a group.",
                code="not-an-analyst",
                facts={"name": name},
            )
        if self._of_tables(root) and root not in (roots := self.roots(tables)):
            raise InvalidParameter(
                f"{name!r} has a budget below {root!r}, and this is about {roots[0]!r}.",
                fix="Ask the holder of the budget for one there.",
                code="analyst-of-other-people",
            )
        return scope

    def grant(
        self,
        name: str,
        more: Guarantee,
        because: str = "",
        group: str | None = None,
        expires: datetime | None = None,
        seen: str | None = None,
    ) -> Balance:
        """Raise a budget, or give an analyst one.  Where tables share the population's, theirs are raised before it.

        ``seen`` is the mark of the balance that it was decided on, empty for none: refused where it is another by now.
        """
        scope = self.named(name)
        name = name if name in self._private else normal(name)
        if expires is not None and expires <= self.ledger.time():
            raise InvalidParameter(
                "This budget would have ended already.", fix="Let it end on a later day.", code="already-ended"
            )
        if scope not in self.ledger:
            if isinstance(more, ApproxDP) and not more.epsilon:
                raise InvalidParameter(
                    f"{name!r} has no budget yet, and a delta alone is none.",
                    fix="Grant epsilon.",
                    code="epsilon-first",
                    facts={"name": name},
                )
            if seen:
                raise _raised_since(name)
            return self.analyst(name, more, group, expires, because)
        if seen == "":
            raise InvalidParameter(
                f"{name!r} has a budget already.",
                fix="Look at it, and raise it.",
                code="analyst-exists",
                facts={"name": name},
            )
        anew = self._tied(name) is not None and self._retired(scope)
        if group is not None or (expires is not None and not anew):
            raise InvalidParameter(
                f"{name!r} has a budget already, whose group and end stay as they are.",
                fix="Raise it without them, or give a new analyst a new name.",
                code="group-and-end-stay",
                facts={"name": name},
            )
        more = _alike(more, self.ledger.balance(scope).budget, name)
        sharing = [s for s in self.of(self._private) if not RENEWED.fullmatch(s)] if self.shared else []
        if scope in sharing:
            raise InvalidParameter(
                f"{name!r} shares the budget of all tables.",
                fix=f"Raise {POPULATION!r}.",
                code="shares-all",
                facts={"name": name},
            )
        if anew:
            return self._anew(name, scope, more, because, expires, seen)

        def raise_all(book: Ledger) -> Balance:
            if seen is not None and book.balance(scope).mark != seen:
                raise _raised_since(name)
            for below in _sharing(book) if scope == POPULATION else ():
                book.grant(below, more, because=because)
            return book.grant(scope, more, because=because)

        return self.ledger.at_once(raise_all)

    def named(self, name: str) -> str:
        """The scope of a table, an analyst or a group as it stands now; any other scope by its own name."""
        if name in self._private:
            return self.of([name])[0]
        return self._tied(normal(name)) or normal(name)

    def ever(self, name: str) -> tuple[str, ...]:
        """The scopes that a table, an analyst or a group has had, oldest first."""
        scope = self.named(name)
        if not RENEWED.fullmatch(scope) or scope == name:
            return (scope,)
        return self.ledger.scopes_of(name if name in self._private else ANALYST + normal(name))

    def decisions(self) -> tuple[Decision, ...]:
        """The decisions about budgets; the reason for an analyst's budget is recorded with its opening."""
        found: list[Decision] = []
        opened: dict[str, int] = {}
        for decision in self.ledger.decisions():
            if decision.name.startswith(ANALYST) and decision.scope in opened:
                number = opened[decision.scope]
                found[number] = replace(found[number], because=decision.because)
                continue
            if decision.kind == "opened":
                opened[decision.scope] = len(found)
            found.append(decision)
        return tuple(found)


def _warn(twins: list[str]) -> None:
    for text in twins:
        warnings.warn(text, ConfusableName, stacklevel=5)


def _alike(more: Guarantee, budget: Guarantee, name: str) -> Guarantee:
    """The amount granted, in the kind of the budget that it raises."""
    if isinstance(more, PureDP) and isinstance(budget, ApproxDP):
        return ApproxDP(more.epsilon, 0)
    if isinstance(more, ApproxDP) and isinstance(budget, PureDP):
        return more  # from now on it promises (epsilon, delta)
    if isinstance(more, ApproxDP) and isinstance(budget, ZCDP) and not more.epsilon:
        return ZCDP(0, more.delta)
    if type(more) is not type(budget):
        counts = " and ".join(f.name for f in fields(budget))  # type: ignore[arg-type]
        raise InvalidParameter(
            f"The budget of {name!r} counts {counts}.",
            fix=f"Grant {counts}.",
            code="budget-counts-otherwise",
            facts={"name": name},
        )
    return more


def _require_open(name: str, balance: Balance, expires: datetime | None) -> None:
    if balance.revoked or (balance.closed and expires is None):
        raise InvalidParameter(
            f"The budget of {name!r} has ended.",
            fix="State another end; or give a new analyst a new name.",
            code="analyst-ended",
            facts={"name": name},
        )


def _raised_since(name: str) -> InvalidParameter:
    return InvalidParameter(
        f"The budget of {name!r} was changed since it was looked at.",
        fix="Look at it again before you raise it.",
        code="raised-since",
        facts={"name": name},
    )


def _sharing(book: Ledger) -> list[str]:
    """The tables that share the population's budget, also those that only other studies declare."""
    scopes = sorted({one.scope for one in book.registrations(without=ANALYST) if not RENEWED.fullmatch(one.scope)})
    found = [book.balance(scope) for scope in scopes if scope in book]
    return [one.scope for one in found if not one.closed and one.parent and one.parent.scope == POPULATION]
