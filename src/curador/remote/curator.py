"""The remote curator: sends questions, and shows what their server plans, sells and keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Never, cast

from curador.accounting.events import event_from_json
from curador.curator.curator import Curator
from curador.curator.purchase import Request
from curador.curator.purchases.batch import require_named
from curador.curator.releases.explanation import Explanation
from curador.curator.releases.publication import Publication
from curador.curator.releases.release import Release
from curador.curator.study.tables import read_table
from curador.curator.table import Asked, CuratorTable, described, refuse_unknown
from curador.errors import InvalidParameter
from curador.forks import cached_property
from curador.ledger.contract import Charge, Charges
from curador.mechanisms.sensitivity import Contribution
from curador.numbers import Number, set_fields
from curador.privacy import guarantee_from_json
from curador.query.plan.expected import Within
from curador.query.tables.table import Table
from curador.remote.balance import RemoteBalance
from curador.remote.connection import Connection
from curador.remote.models import RemoteModels
from curador.remote.plans import RemoteBatch, RemotePlan, RemoteQuality, facts_in, request_of
from curador.remote.sent import asked_there, plain, priced, refuse_elsewhere, said, terms_of, told_readers, wanted
from curador.show.describe import Description
from curador.show.explain import checked_language

NOWHERE = "elsewhere-{}.parquet"
"""The source of a table whose rows are with the server, one for each; it is never opened."""


def connect(url: str, token: str, *, timeout: float = 120.0) -> RemoteCurator:
    """The curator that a server holds, for an analyst with a token; the interface is that of :class:`Curator`.

    Questions are planned, explained and bought there; models are planned, and questions rehearsed, here, from the
    public declarations.  A request that is sent again, because the connection broke, is bought once: it carries a key.

    >>> connect("http://example.org", "cur_…")
    Traceback (most recent call last):
    curador.errors.InvalidParameter: A token would go over the network unencrypted. ...
    """
    return RemoteCurator(Connection(url, token, timeout=timeout))


class RemoteCurator(RemoteModels):
    """A curator behind a connection; see :func:`connect`."""

    def __init__(self, connection: Connection, language: str = "en") -> None:
        self._connection, self.language = connection, language
        try:
            stated = connection.get("/v1/tables")["tables"]
        except BaseException:
            connection.close()
            raise
        self.tables: Mapping[str, Table] = MappingProxyType(
            {
                name: read_table(name, {"source": NOWHERE.format(number), **settings})
                for number, (name, settings) in enumerate(stated.items(), 1)
            }
        )

    @cached_property
    def _stage(self) -> Curator:
        """A curator over the same declarations and no rows: models are planned there, and rehearsals begin there."""
        return Curator(self.tables, budget=self.budget().budget, language=self.language)

    def table(self, name: str) -> CuratorTable:
        """A table to ask, step by step."""
        return CuratorTable.held(name, cast(Curator, self))

    def plan(self, question: Asked, **how: Any) -> RemotePlan:
        """Have a question planned there: free.  The options are those of Curator.plan."""
        return cast(RemotePlan, self.explain(question, **how).plan)

    def explain(
        self,
        question: Asked,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        accuracy: Within | None = None,
        noise: str | None = None,
        weights: Mapping[str, Number] | None = None,
        confidence: float = 0.95,
        rows: int | None = None,
        prepared: bool | None = None,
        contribution: Contribution | tuple[int, int] | int | None = None,
        sql: bool = False,
        analyst: str | None = None,
        language: str | None = None,
        **unknown: Never,
    ) -> Explanation:
        """The plan in words, with what was bought before: free.  The options are those of Curator.explain."""
        refuse_unknown(unknown, Curator.ask)
        refuse_elsewhere(analyst, prepared, sql)
        price = priced(epsilon, delta, rho, accuracy, noise, weights, confidence, rows, contribution)
        found = self._connection.post("/v1/explain", {**asked_there(question, self.tables), **price}, again=True)
        plan, shared = RemotePlan(facts_in(found)), tuple(found["shared"])
        return Explanation(plan, shared=shared, language=checked_language(language or self.language))

    def ask(
        self,
        question: Asked,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        accuracy: Within | None = None,
        noise: str | None = None,
        weights: Mapping[str, Number] | None = None,
        confidence: float = 0.95,
        rows: int | None = None,
        prepared: bool | None = None,
        contribution: Contribution | tuple[int, int] | int | None = None,
        because: str = "",
        override: bool = False,
        analyst: str | None = None,
        key: str | None = None,
        fresh: bool = False,
        progress: object = False,
        anyway: bool = False,
        language: str | None = None,
        **unknown: Never,
    ) -> Release:
        """Pay, and get the noised answer; what was bought before is free.  The options are those of Curator.ask."""
        refuse_unknown(unknown, Curator.ask)
        refuse_elsewhere(analyst, prepared)
        price = priced(epsilon, delta, rho, accuracy, noise, weights, confidence, rows, contribution)
        terms = terms_of(because, override, key, fresh, anyway, language)
        body = {**asked_there(question, self.tables), **price, **terms}
        return _release(self._connection.post("/v1/ask", body, again=not fresh))

    sql = ask

    def batch(self, questions: Mapping[str, Asked], **how: Any) -> RemoteBatch:
        """Have several questions planned together; free.  The options are those of Curator.batch."""
        require_named(questions)
        refuse_unknown({name: x for name, x in how.items() if name not in Curator.batch.__annotations__}, Curator.batch)
        sent: dict[str, Any] = {name: plain(how[name]) for name in how if name not in ("accuracies", "words")}
        if how.get("accuracies"):
            sent["accuracies"] = {name: wanted(one) for name, one in how["accuracies"].items()}
        words = how.get("words") or {}
        if words.get("title"):
            sent["title"] = words["title"]
        told = {name: told_readers(one) for name, one in words.get("questions", {}).items() if name in questions}
        if any(told.values()):
            sent["entries"] = told
        request = {"questions": {name: said(asked, self.tables) for name, asked in questions.items()}, **sent}
        return RemoteBatch(self._explained(RemoteBatch, request), request)

    def _explained(self, kind: type[RemoteBatch], request: Mapping[str, Any]) -> dict[str, Any]:
        return facts_in(self._connection.post(kind.explained_at, request, again=True))

    def publish(
        self,
        batch: RemoteBatch,
        *,
        because: str = "",
        override: bool = False,
        analyst: str | None = None,
        key: str | None = None,
        fresh: bool = False,
        progress: object = False,
        anyway: bool = False,
        language: str | None = None,
    ) -> Publication:
        """Buy a batch for one charge."""
        request = request_of(batch, RemoteBatch)
        refuse_elsewhere(analyst)
        body = {**request, **terms_of(because, override, key, fresh, anyway, language)}
        found = self._connection.post("/v1/batch", body, again=not fresh)
        made = Publication.from_dict(found)
        set_fields(made, repeated=bool(found["repeated"]))
        return made

    def quality(
        self,
        table: str,
        columns: Iterable[str] = (),
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        confidence: float = 0.95,
    ) -> RemoteQuality:
        """Plan how well the rows of a table fit its declarations; free.  The options are those of Curator.quality."""
        price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "rho": rho, "confidence": confidence}
        amounts = {name: plain(value) for name, value in price.items() if value is not None}
        request = {"table": table, "columns": list(columns), **amounts}
        return RemoteQuality(self._explained(RemoteQuality, request), request)

    def buy_quality(self, asked: RemoteQuality, request: Request, language: str | None = None) -> Release:
        """Buy the question, and show one row for each column."""
        refuse_elsewhere(request.analyst)
        asked_for = (request.because, request.override, request.key, request.fresh, request.anyway)
        body = {**request_of(asked, RemoteQuality), **terms_of(*asked_for, language or self.language)}
        return _release(self._connection.post("/v1/quality", body, again=not request.fresh))

    def how_many(self, question: Asked | RemoteBatch, **how: Any) -> int | None:
        """How many such answers, or batches, still fit into the budget; None where they cost nothing."""
        refuse_elsewhere(how.pop("analyst", None))
        if isinstance(question, RemoteBatch):
            found = self._connection.post(question.explained_at, question.request, again=True)["fits"]
            return None if found is None else int(found)
        price = {name: plain(value) for name, value in how.items() if value is not None and name != "accuracy"}
        if how.get("accuracy") is not None:
            price["accuracy"] = wanted(how["accuracy"])
        body = {**asked_there(question, self.tables), **price}
        found = self._connection.post("/v1/how-many", body, again=True)["fits"]
        return None if found is None else int(found)

    def who(self) -> str | None:
        """The analyst whose token this is; None for another role."""
        found = self._connection.get("/v1/me")["analyst"]
        return None if found is None else str(found)

    def budget(self, scope: str | None = None) -> RemoteBalance:
        """The budget of this token, or one of those that it may see: spent and remaining."""
        found = [one for one in self.budgets() if scope in (None, one.scope)]
        if not found:
            raise InvalidParameter(f"This token sees no budget {scope!r}.", fix="Leave the name out.")
        return found[0]

    def budgets(self) -> tuple[RemoteBalance, ...]:
        """The budgets that this token may see."""
        return tuple(RemoteBalance.read(one) for one in self._connection.get("/v1/budget")["budgets"])

    def history(self, *, last: int = 100) -> Charges:
        """The newest charges, oldest first: at most 1,000."""
        return Charges(map(_charge, self._connection.get("/v1/history", last=last)["charges"]))

    def release(self, charge: str) -> Release | Publication:
        """What a charge bought, again; free."""
        found = self._connection.get(f"/v1/releases/{charge}")
        return Publication.from_dict(found) if "releases" in found else Release.from_dict(found)

    def rehearse(self, rows: int | None = None, seed: int = 0) -> Curator:
        """A curator over made-up tables with these declarations, to try questions on; the server is not asked."""
        return self._stage.rehearse(rows, seed)

    def describe(self) -> Description:
        """Its tables and the budget: public, and free."""
        tables = {name: described(table, self.language) for name, table in self.tables.items()}
        return Description(tables, tuple(map(str, self.budgets())), self.language)

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def __repr__(self) -> str:
        return f"<RemoteCurator of {', '.join(self.tables)}>"


# ---- what comes back ------------------------------------------------------------------------------------------------


def _release(data: Mapping[str, Any]) -> Release:
    made = Release.from_dict(data)
    set_fields(made, repeated=bool(data["repeated"]))
    return made


def _charge(data: Mapping[str, Any]) -> Charge:
    guarantee = data["guarantee"]
    return Charge(
        str(data["id"]),
        tuple(data["scopes"]),
        (),
        event_from_json(data["event"]),
        None if guarantee is None else guarantee_from_json(guarantee),
        MappingProxyType({"text": data["asked"], "because": data["because"]}),
        bool(data["settled"]),
        bool(data["repeated"]),
        data["receiver"],
        str(data["at"]),
    )
