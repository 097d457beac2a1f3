"""One analyst's side of a curator: all that is asked here is asked in their name and paid from their budget.

The curator is at hand, or behind a server whose token is the analyst's.  Either way an answer leaves on the clock: at
hand on that of the study's own section ``[server]``, since an agent can tell the time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from curador import Balance, Charge, Curator, Publication, Release
from curador.curator.naming import normal
from curador.curator.releases.explanation import Explanation
from curador.curator.releases.recall import recall
from curador.curator.study.tables import settings_of
from curador.errors import InvalidParameter, NotPromised
from curador.remote.balance import RemoteBalance
from curador.remote.curator import RemoteCurator
from curador.server.access.auth import new_name
from curador.server.access.people import known_analyst
from curador.server.gate.clock import TickClock
from curador.server.gate.cpu import bounded
from curador.server.gate.refusals import not_found, refuse_many_groups
from curador.server.gate.settings import Settings

NOT_COUNTED = ("confidence",)
"""What a question may say that does not change how many fit."""


@dataclass
class Desk:
    """A curator, and the analyst who asks it.

    Guarantee: nothing here can name another analyst, and what is asked twice in one session is bought once.
    """

    curator: Curator | RemoteCurator
    analyst: str
    settings: Settings
    language: str = "en"

    def __post_init__(self) -> None:
        self._session = new_name()
        if isinstance(self.curator, Curator):
            self.analyst = known_analyst(self.curator, self.analyst)
            self.curator.paced(self.settings.threads, self.clock)
        elif self.curator.who() != normal(self.analyst):
            raise InvalidParameter(
                f"The token is not that of the analyst {self.analyst!r}.",
                fix="Use the token of the agent's own analyst; the curator gives one.",
                code="token-of-another",
            )

    @property
    def clock(self) -> TickClock:
        """When an answer leaves; a server has a clock of its own."""
        return TickClock(self.settings.tick if isinstance(self.curator, Curator) else 0.0)

    def declarations(self) -> dict[str, Any]:
        """Every table as a study file states it, but for where its rows are."""
        return {name: settings_of(table) for name, table in self.curator.tables.items()}

    def explain(self, sql: str, price: Mapping[str, Any]) -> Explanation:
        """What an answer would cost and how wrong it would be; free."""
        if isinstance(self.curator, RemoteCurator):
            return self.curator.explain(sql, **price, language=self.language)
        found = self.curator.explain(sql, **price, analyst=self.analyst, language=self.language)
        refuse_many_groups(found.plan, self.settings.groups)
        return found

    def fits(self, sql: str, price: Mapping[str, Any]) -> int | None:
        """How many such answers the budget still covers; None where they cost nothing."""
        counted = {name: value for name, value in price.items() if name not in NOT_COUNTED}
        if isinstance(self.curator, RemoteCurator):
            return self.curator.how_many(sql, **counted)
        try:
            return self.curator.how_many(sql, **counted, analyst=self.analyst)
        except NotPromised:
            return None

    def ask(
        self, sql: str, price: Mapping[str, Any], because: str, key: str | None = None, *, anyway: bool = False
    ) -> Release:
        """Pay, and get the answer.  Without a key of the agent's, the same request of one session has the same one."""
        if key is not None:
            return self._ask(sql, price, because, key, anyway)
        try:
            return self._ask(sql, price, because, self._key(sql, price), anyway)
        except InvalidParameter as error:
            if error.code != "key-reused":
                raise
        self._session = new_name()  # the rows are others now, and so is the question
        return self._ask(sql, price, because, self._key(sql, price), anyway)

    def _ask(self, sql: str, price: Mapping[str, Any], because: str, key: str, anyway: bool) -> Release:
        terms: dict[str, Any] = {"because": because, "key": key, "anyway": anyway, "language": self.language}
        if isinstance(self.curator, RemoteCurator):
            return self.curator.ask(sql, **price, **terms)
        planned = bounded(partial(self.curator.plan, sql, **price), self.settings.planning)
        refuse_many_groups(planned, self.settings.groups)
        return self.curator.ask(sql, **price, **terms, analyst=self.analyst)

    def _key(self, sql: str, price: Mapping[str, Any]) -> str:
        said = json.dumps([self._session, sql, {name: str(price[name]) for name in sorted(price)}])
        return hashlib.sha256(said.encode()).hexdigest()

    def release(self, charge: str) -> Release | Publication:
        """What a charge of this analyst's bought, again; free."""
        if isinstance(self.curator, RemoteCurator):
            return self.curator.release(charge)
        found = recall(self.curator, charge, self.analyst)
        if found is None:
            raise not_found()
        return found

    def balance(self) -> Balance | RemoteBalance:
        """The analyst's own budget."""
        return self.curator.budget() if isinstance(self.curator, RemoteCurator) else self.curator.budget(self.analyst)

    def history(self, last: int) -> tuple[Charge, ...]:
        """The analyst's newest charges, oldest first."""
        if isinstance(self.curator, RemoteCurator):
            return tuple(self.curator.history(last=last))
        return tuple(self.curator.received(self.analyst, last=last))
