"""The remote curator: plans and rehearses here, from the declarations; pays and reads there."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import sleep
from types import MappingProxyType
from typing import Any, Never, cast

from curador.accounting.events import event_from_json
from curador.curator.curator import Curator
from curador.curator.purchase import Bought
from curador.curator.purchases.batch import Batch
from curador.curator.purchases.training import AnyModel, Model, TrainingRun
from curador.curator.releases.explanation import Explanation
from curador.curator.releases.publication import Publication
from curador.curator.releases.release import Release
from curador.curator.study.tables import read_table
from curador.curator.table import Asked, CuratorTable, question_of, refuse_unknown
from curador.errors import InvalidParameter
from curador.ledger.contract import Charge, Charges
from curador.mechanisms.sensitivity import Contribution
from curador.numbers import Number, set_fields
from curador.privacy import guarantee_from_json
from curador.query.plan.expected import Within
from curador.query.plan.plan import Plan
from curador.query.tables.table import Table, contribution_of
from curador.remote.balance import RemoteBalance
from curador.remote.connection import FIRST_PAUSE, Connection, new_key, refusal
from curador.show.describe import Description

NOWHERE = "elsewhere.parquet"
"""The source of a table whose rows are with the server; it is never opened."""

LONGEST_PAUSE = 2.0
"""Seconds between two looks at a job."""


@dataclass(frozen=True)
class RemoteBatch(Batch):
    """A batch that was planned here, with the request by which the server plans the same."""

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


class RemoteCurator:
    """A curator behind a connection; see :func:`connect`."""

    def __init__(self, connection: Connection, language: str = "en") -> None:
        self._connection, self.language = connection, language
        try:
            stated = connection.get("/v1/tables")["tables"]
        except BaseException:
            connection.close()
            raise
        self.tables: Mapping[str, Table] = MappingProxyType(
            {name: read_table(name, {"source": NOWHERE, **settings}) for name, settings in stated.items()}
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
        return self._planner.plan(_here(question, self.tables), **how)

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
        _refuse_elsewhere(analyst, prepared, sql)
        price = _price(epsilon, delta, rho, accuracy, noise, weights, confidence, rows, contribution)
        found = self._connection.post("/v1/explain", {**_asked(question, self.tables), **price}, again=True)
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
        language: str | None = None,
        **unknown: Never,
    ) -> Release:
        """Pay, and get the noised answer; what was bought before is free.  The options are those of Curator.ask."""
        refuse_unknown(unknown, Curator.ask)
        _refuse_elsewhere(analyst, prepared)
        price = _price(epsilon, delta, rho, accuracy, noise, weights, confidence, rows, contribution)
        terms = _terms(because, override, key, fresh, language)
        body = {**_asked(question, self.tables), **price, **terms}
        return _release(self._connection.post("/v1/ask", body, again=not fresh))

    sql = ask

    def batch(self, questions: Mapping[str, Asked], **how: Any) -> RemoteBatch:
        """Plan several questions together; free.  The options are those of Curator.batch."""
        made = self._planner.batch({name: _here(asked, self.tables) for name, asked in questions.items()}, **how)
        sent: dict[str, Any] = {name: _json(how[name]) for name in how if name not in ("accuracies", "words")}
        if how.get("accuracies"):
            sent["accuracies"] = {name: _wanted(one) for name, one in how["accuracies"].items()}
        words = how.get("words") or {}
        if words.get("title"):
            sent["title"] = words["title"]
        told = {name: _entry(one) for name, one in words.get("questions", {}).items() if name in questions}
        if any(told.values()):
            sent["entries"] = told
        named = {
            name: asked if isinstance(asked, str) else _built(asked, self.tables) for name, asked in questions.items()
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
        language: str | None = None,
    ) -> Publication:
        """Buy a batch for one charge."""
        request = _sent(batch)
        _refuse_elsewhere(analyst)
        body = {**request, **_terms(because, override, key, fresh, language)}
        found = self._connection.post("/v1/batch", body, again=not fresh)
        made = Publication.from_dict(found)
        set_fields(made, repeated=bool(found["repeated"]))
        return made

    def training(
        self,
        model: Model,
        table: str,
        *,
        features: Sequence[str] | Mapping[str, str],
        label: str | None = None,
        where: str | None = None,
        rows_per_unit: int | None = None,
    ) -> TrainingRun:
        """What :meth:`fit` would do and cost; planned here, free."""
        rows = self._planner.table(table)
        rows = rows if where is None else rows.where(where)
        return self._planner.training(model, rows, features=features, label=label, contribution=rows_per_unit)

    def fit(
        self,
        model: AnyModel,
        table: str,
        *,
        features: Sequence[str] | Mapping[str, str],
        label: str | None = None,
        where: str | None = None,
        rows_per_unit: int | None = None,
        because: str = "",
        override: bool = False,
        key: str | None = None,
        fresh: bool = False,
    ) -> AnyModel:
        """Pay, and let a model learn from a table there; the same again is free, and gives the same model.

        As Curator.fit, with a condition on the rows as a text.  It is a job of the server's, and waited for.
        """
        chosen: dict[str, Any] = {"features": features, "label": label, "where": where, "rows_per_unit": rows_per_unit}
        run = self.training(model, table, **chosen)
        recipe = {"model": type(model).__name__, "table": table, "settings": _settings(model), **chosen}
        stated = {name: _json(value) for name, value in recipe.items() if value is not None}
        body = {**stated, **_terms(because, override, key, fresh, None)}
        bought = self._job("/v1/fit", body, again=not fresh)
        found = self._connection.get(f"/v1/models/{bought['charge']}")
        charge = Charge(str(bought["charge"]), (), (), run.event, run.guarantee, {}, True, bool(bought["repeated"]))
        return model.take(run, Bought(b64decode(found["measurement"]), charge, charge.repeated, because))

    def _job(self, path: str, body: Mapping[str, Any], *, again: bool) -> dict[str, Any]:
        """The result of a job, once it is done.  One that its server lost is asked for again, where that is safe."""
        job = self._connection.post(path, body, again=again)
        pause = FIRST_PAUSE
        while job["state"] == "waiting" or job["state"] == "running":
            sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            try:
                job = self._connection.get(f"/v1/jobs/{job['job']}")
            except InvalidParameter as error:
                if error.code != "not-found" or not again:
                    raise
                job = self._connection.post(path, body, again=True)  # its key finds what was bought
        if job["error"] is not None:
            raise refusal(job["error"])
        if job["result"] is None:
            raise InvalidParameter("The job was cancelled.", fix="Ask again.", code="job-cancelled")
        return dict(job["result"])

    def how_many(self, question: Asked | Batch, **how: Any) -> int | None:
        """How many such answers, or batches, still fit into the budget; None where they cost nothing."""
        if isinstance(question, Batch):
            found = self._connection.post("/v1/batch/explain", _sent(question), again=True)["fits"]
            return None if found is None else int(found)
        price = {name: _json(value) for name, value in how.items() if value is not None and name != "accuracy"}
        if how.get("accuracy") is not None:
            price["accuracy"] = _wanted(how["accuracy"])
        found = self._connection.post("/v1/how-many", {**_asked(question, self.tables), **price}, again=True)["fits"]
        return None if found is None else int(found)

    def who(self) -> str | None:
        """The analyst whose token this is; None for another role."""
        found = self._connection.get("/v1/me")["analyst"]
        return None if found is None else str(found)

    def budget(self) -> RemoteBalance:
        """The budget of this token: spent and remaining."""
        return self.budgets()[0]

    def budgets(self) -> tuple[RemoteBalance, ...]:
        """The budgets that this token may see."""
        return tuple(RemoteBalance.read(one) for one in self._connection.get("/v1/budget")["budgets"])

    def history(self, *, last: int = 100) -> Charges:
        """The newest charges, oldest first."""
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


# ---- what is sent ---------------------------------------------------------------------------------------------------


def _here(asked: Asked, tables: Mapping[str, Table]) -> Asked:
    return asked if isinstance(asked, str) else question_of(asked, tables, None)


def _built(asked: Asked, tables: Mapping[str, Table]) -> dict[str, object]:
    return question_of(asked, tables, None).to_json()


def _asked(asked: Asked, tables: Mapping[str, Table]) -> dict[str, Any]:
    return {"sql": asked} if isinstance(asked, str) else {"question": _built(asked, tables)}


def _sent(batch: Batch) -> Mapping[str, Any]:
    if not isinstance(batch, RemoteBatch):
        raise InvalidParameter("This batch was planned elsewhere.", fix="Make it with this curator's batch().")
    return batch.request


def _json(value: object) -> object:
    """A number, exactly: fractions and decimals as texts."""
    if isinstance(value, Mapping):
        return {name: _json(x) for name, x in value.items()}
    if isinstance(value, list | tuple):
        return [_json(x) for x in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _settings(model: Model) -> dict[str, object]:
    """The settings of a model that are stated; they go as a recipe has them."""
    read = getattr(model, "get_params", None)
    found = {} if read is None else read(deep=False)
    if any(found.get(name) is not None for name in ("curator", "table")):
        raise InvalidParameter("This model has a curator of its own.", fix="Leave curator and table out of it.")
    return {name: _json(value) for name, value in found.items() if value is not None}


def _entry(words: Mapping[str, Any]) -> dict[str, Any]:
    """What readers are told of a question, but for its SQL, which is sent with it."""
    return {name: words[name] for name in ("title", "why") if words.get(name)}


def _wanted(accuracy: Within) -> dict[str, object]:
    return {
        "error": str(accuracy.error),
        "confidence": accuracy.confidence,
        "output": accuracy.output,
        "unit": accuracy.unit,
    }


def _price(
    epsilon: Number | None,
    delta: Number | None,
    rho: Number | None,
    accuracy: Within | None,
    noise: str | None,
    weights: Mapping[str, Number] | None,
    confidence: float,
    rows: int | None,
    contribution: Contribution | tuple[int, int] | int | None,
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "epsilon": _json(epsilon),
        "delta": _json(delta),
        "rho": _json(rho),
        "accuracy": None if accuracy is None else _wanted(accuracy),
        "noise": noise,
        "weights": _json(weights),
        "confidence": confidence,
        "rows": rows,
    }
    if contribution is not None:
        kept = contribution_of(contribution)
        found["contribution"] = {"groups": kept.groups, "rows": kept.most if kept.groups is None else kept.rows}
    return {name: value for name, value in found.items() if value is not None}


def _terms(because: str, override: bool, key: str | None, fresh: bool, language: str | None) -> dict[str, Any]:
    name = key if key is not None or fresh else new_key()
    found = {"because": because, "override": override, "key": name, "fresh": fresh, "language": language}
    return {name: value for name, value in found.items() if value is not None}


def _refuse_elsewhere(analyst: str | None, prepared: bool | None = None, sql: bool = False) -> None:
    if analyst is not None:
        raise InvalidParameter("A token is its analyst's: it names no other.", fix="Leave analyst out.")
    if prepared is not None or sql:
        raise InvalidParameter("The server decides how it reads its tables.", fix="Leave prepared and sql out.")


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
