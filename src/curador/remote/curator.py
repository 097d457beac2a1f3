"""The remote curator: plans and rehearses here, from the declarations; pays and reads there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Never, cast

from curador.accounting.events import event_from_json
from curador.curator.curator import Curator
from curador.curator.purchase import Request
from curador.curator.purchases.batch import Batch
from curador.curator.releases.explanation import Explanation
from curador.curator.releases.publication import Publication
from curador.curator.releases.release import Release
from curador.curator.study.quality import Quality
from curador.curator.study.tables import read_table
from curador.curator.table import Asked, CuratorTable, refuse_unknown
from curador.errors import InvalidParameter
from curador.forks import cached_property
from curador.ledger.contract import Charge, Charges
from curador.mechanisms.sensitivity import Contribution
from curador.numbers import Number, set_fields
from curador.privacy import guarantee_from_json
from curador.query.plan.expected import Within
from curador.query.plan.plan import Plan
from curador.query.tables.table import Table
from curador.remote.balance import RemoteBalance
from curador.remote.connection import Connection
from curador.remote.models import RemoteModels
from curador.remote.sent import (
    asked_there,
    built,
    here,
    plain,
    priced,
    refuse_elsewhere,
    terms_of,
    told_readers,
    wanted,
)
from curador.show.describe import Description

NOWHERE = "elsewhere-{}.parquet"
"""The source of a table whose rows are with the server, one for each; it is never opened."""


@dataclass(frozen=True)
class RemoteBatch(Batch):
    """A batch that was planned here, with the request by which the server plans the same."""

    request: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, repr=False)
class RemoteQuality(Quality):
    """The quality of a table, planned here, with the request by which the server plans the same."""

    request: Mapping[str, Any] = field(default_factory=dict, compare=False)


def connect(url: str, token: str, *, timeout: float = 120.0) -> RemoteCurator:
    """The curator that a server holds, for an analyst with a token; the interface is that of :class:`Curator`.

    Questions are planned, explained and rehearsed here, from the public declarations; ``ask`` and ``publish`` are
    bought there.  A request that is sent again, because the connection broke, is bought once: it carries a key.

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
    def _planner(self) -> Curator:
        """A curator over the same declarations; it has nothing to read and is asked for nothing but plans."""
        return Curator(self.tables, budget=self.budget().budget, language=self.language)

    def table(self, name: str) -> CuratorTable:
        """A table to ask, step by step."""
        return CuratorTable.held(name, cast(Curator, self))

    def plan(self, question: Asked, **how: Any) -> Plan:
        """Plan a question here: free, and the same as the server plans it.  The options are those of Curator.plan."""
        return self._planner.plan(here(question, self.tables), **how)

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
        plan = self.plan(
            question,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            accuracy=accuracy,
            noise=noise,
            weights=weights,
            confidence=confidence,
            rows=rows,
            contribution=contribution,
        )
        return Explanation(plan, shared=tuple(found["shared"]), language=language or self.language)

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
        """Plan several questions together; free.  The options are those of Curator.batch."""
        made = self._planner.batch({name: here(asked, self.tables) for name, asked in questions.items()}, **how)
        sent: dict[str, Any] = {name: plain(how[name]) for name in how if name not in ("accuracies", "words")}
        if how.get("accuracies"):
            sent["accuracies"] = {name: wanted(one) for name, one in how["accuracies"].items()}
        words = how.get("words") or {}
        if words.get("title"):
            sent["title"] = words["title"]
        told = {name: told_readers(one) for name, one in words.get("questions", {}).items() if name in questions}
        if any(told.values()):
            sent["entries"] = told
        named = {
            name: asked if isinstance(asked, str) else built(asked, self.tables) for name, asked in questions.items()
        }
        return RemoteBatch(
            made.plans, made.delta, made.charged_tight, made.words, made.adjust, request={"questions": named, **sent}
        )

    def publish(
        self,
        batch: Batch,
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
        if isinstance(batch, RemoteQuality):
            raise InvalidParameter("This is the quality of a table.", fix="Use buy_quality().")
        request = _sent(batch)
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
        named = list(columns)
        price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "rho": rho, "confidence": confidence}
        made = self._planner.quality(table, named, **price)
        said = {name: plain(value) for name, value in price.items() if value is not None}
        request = {"table": table, "columns": named, **said}
        return RemoteQuality(made.plans, held=made.held, words=made.words, request=request)

    def buy_quality(self, asked: Quality, request: Request, language: str | None = None) -> Release:
        """Buy the question, and show one row for each column."""
        refuse_elsewhere(request.analyst)
        asked_for = (request.because, request.override, request.key, request.fresh, request.anyway)
        terms = terms_of(*asked_for, language or self.language)
        return _release(self._connection.post("/v1/quality", {**_sent(asked), **terms}, again=not request.fresh))

    def how_many(self, question: Asked | Batch, **how: Any) -> int | None:
        """How many such answers, or batches, still fit into the budget; None where they cost nothing."""
        refuse_elsewhere(how.pop("analyst", None))
        if isinstance(question, Batch):
            path = "/v1/quality/explain" if isinstance(question, RemoteQuality) else "/v1/batch/explain"
            found = self._connection.post(path, _sent(question), again=True)["fits"]
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
        return self._planner.rehearse(rows, seed)

    def describe(self) -> Description:
        """Its tables and the budget: public, and free."""
        return replace(self._planner.describe(), budgets=tuple(map(str, self.budgets())))

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def __repr__(self) -> str:
        return f"<RemoteCurator of {', '.join(self.tables)}>"


# ---- what comes back ------------------------------------------------------------------------------------------------


def _sent(batch: Batch) -> Mapping[str, Any]:
    if not isinstance(batch, RemoteBatch | RemoteQuality):
        raise InvalidParameter("This batch was planned elsewhere.", fix="Plan it with this curator.")
    return batch.request


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
