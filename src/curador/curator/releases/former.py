"""The declarations that something was bought under: what was bought is planned again by them, and nothing is sold."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from curador.curator.purchase import AnyPurchase, Bought, Purchase, Request
from curador.curator.purchases.kept import MadeUnder
from curador.curator.purchases.training import ModelHolder
from curador.curator.study.quality import QualityHolder
from curador.curator.table import CuratorTable
from curador.errors import CuradorError, InvalidParameter
from curador.privacy import Guarantee
from curador.query.ask.public_keys import unread
from curador.query.ask.question import Question
from curador.query.plan.checked import check
from curador.query.plan.plan import Plan
from curador.query.plan.planner import Planner
from curador.query.tables.columns import Key, Keys

if TYPE_CHECKING:
    from curador.curator.curator import Curator
    from curador.query.sql_plan.prepared import Prepared


class FormerDeclarations(ModelHolder, QualityHolder):
    """Tables as they were declared when something was bought.

    Guarantee: it has no engine and no ledger; what it plans serves to read the measurement that was kept.
    """

    def __init__(self, under: MadeUnder) -> None:
        self.tables = MappingProxyType(dict(under.tables))
        self._under, self._buyer = under, cast(Any, self)

    def planned(self, purchase: AnyPurchase) -> AnyPurchase:
        """The same purchase: what its budgets promise was looked at when it was bought."""
        return purchase

    def buy(self, purchase: Purchase, request: Request | None = None) -> Bought:
        raise InvalidParameter("Nothing is sold under former declarations.", fix="Ask the curator.")

    def table(self, name: str) -> CuratorTable:
        """A table as it was."""
        return CuratorTable.held(name, cast("Curator", self))

    def plan(self, asked: Question, budget: Guarantee, noise: str | None, confidence: float) -> Plan:
        """The plan of a question among what was bought."""
        for part in self._under.parts:
            with suppress(CuradorError):  # it is another question's
                made = self._planned(asked, part.keys_for(asked), part.copy, budget, noise, confidence)
                if made.asked_code == part.code:
                    return made
        return self._planned(asked, [], None, budget, noise, confidence)

    def _planned(
        self,
        asked: Question,
        known: Sequence[Keys | None],
        copy: Prepared | None,
        budget: Guarantee,
        noise: str | None,
        confidence: float,
    ) -> Plan:
        checked = check(asked, self.tables, unread, known)
        return Planner(checked, noise, None, confidence, prepared=copy).plan(budget)

    def _public_rows(self, table: str, columns: Sequence[str]) -> Sequence[tuple[Key, ...]]:
        return cast("Sequence[tuple[Key, ...]]", unread(table, columns))
