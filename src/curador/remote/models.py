"""Models from afar: planned here, learned and scored there as jobs, which are waited for."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import sleep
from typing import TYPE_CHECKING, Any

from curador.curator.purchase import Bought, Purchase, Request
from curador.curator.purchases.plain import plain_features, plain_rows
from curador.curator.purchases.training import AnyModel, Model, Scorable, Score, TrainingRun
from curador.errors import InvalidParameter
from curador.ledger.contract import Charge
from curador.mechanisms.sensitivity import Contribution
from curador.numbers import Number
from curador.query.ask.builder import Condition, TableQuery
from curador.query.tables.table import Table
from curador.remote.connection import FIRST_PAUSE, Connection, refusal
from curador.remote.sent import plain, refuse_elsewhere, terms_of

if TYPE_CHECKING:
    from curador.curator.curator import Curator

LONGEST_PAUSE = 2.0
"""Seconds between two looks at a job."""


class RemoteModels:
    """The part of a remote curator that learns models; the interface is that of :class:`ModelHolder`."""

    tables: Mapping[str, Table]
    _connection: Connection

    if TYPE_CHECKING:

        @property
        def _stage(self) -> Curator: ...

    def training(
        self,
        model: Model,
        table: str | TableQuery,
        *,
        features: Sequence[str] | Mapping[str, Condition],
        label: str | None = None,
        contribution: Contribution | tuple[int, int] | int | None = None,
    ) -> TrainingRun:
        """What :meth:`fit` would do and cost; planned here, free."""
        if any(getattr(model, name, None) is not None for name in ("curator", "table")):
            raise InvalidParameter("This model has a curator of its own.", fix="Leave curator and table out of it.")
        rows = self._planned_here(table)
        if plain_rows(rows) is None:
            raise _not_plain()
        return self._stage.training(model, rows, features=features, label=label, contribution=contribution)

    def fit(
        self,
        model: AnyModel,
        table: str | TableQuery,
        *,
        features: Sequence[str] | Mapping[str, Condition],
        label: str | None = None,
        contribution: Contribution | tuple[int, int] | int | None = None,
        because: str = "",
        override: bool = False,
        analyst: str | None = None,
        key: str | None = None,
        fresh: bool = False,
        progress: object = False,
        anyway: bool = False,
    ) -> AnyModel:
        """Pay, and let a model learn from a table there; the same again is free, and gives the same model.

        As Curator.fit, from rows of one table, all or those that a condition chooses.  It is a job of the server's, and
        waited for.
        """
        run = self.training(model, table, features=features, label=label, contribution=contribution)
        return model.take(run, self.buy(run, Request(because, override, analyst, key, fresh, anyway=anyway)))

    def buy(self, purchase: Purchase, request: Request | None = None) -> Bought:
        """Buy a training run; questions and batches are bought by ``ask`` and ``publish``."""
        terms = request or Request()
        refuse_elsewhere(terms.analyst)
        if not isinstance(purchase, TrainingRun) or purchase.declared is not self._stage.tables:
            raise InvalidParameter(
                "A server sells what it plans itself: questions, batches and models.",
                fix="Use ask(), publish() or fit() of this curator.",
            )
        if not purchase.recipe:
            raise _not_plain()
        said = {name: plain(value) for name, value in purchase.recipe.items() if value is not None}
        body = {**said, **terms_of(terms.because, terms.override, terms.key, terms.fresh, terms.anyway, None)}
        sold = self._job("/v1/fit", body, again=not terms.fresh)
        found = self._connection.get(f"/v1/models/{sold['charge']}")
        return _bought(purchase, b64decode(found["measurement"]), sold, terms.because)

    def scoring(
        self,
        model: Scorable[Any],
        table: str | TableQuery,
        *,
        label: str,
        features: Mapping[str, Condition] | None = None,
        epsilon: Number,
        contribution: Contribution | tuple[int, int] | int | None = None,
    ) -> TrainingRun:
        """What :meth:`score` would do and cost; planned here, free."""
        chosen: dict[str, Any] = {"label": label, "features": features, "contribution": contribution}
        return self._stage.scoring(model, self._planned_here(table), epsilon=epsilon, **chosen)

    def score(
        self,
        model: Scorable[Score],
        table: str | TableQuery,
        *,
        label: str,
        features: Mapping[str, Condition] | None = None,
        epsilon: Number,
        contribution: Contribution | tuple[int, int] | int | None = None,
        because: str = "",
        override: bool = False,
        analyst: str | None = None,
        key: str | None = None,
        fresh: bool = False,
        progress: object = False,
        anyway: bool = False,
    ) -> Score:
        """Pay, and learn how often a model that was bought there is right on a table; two noised counts."""
        refuse_elsewhere(analyst)
        chosen: dict[str, Any] = {"label": label, "features": features, "contribution": contribution}
        run = self.scoring(model, table, epsilon=epsilon, **chosen)
        charge, rows = getattr(getattr(model, "privacy_", None), "charge", None), plain_rows(table)
        if charge is None:
            raise InvalidParameter("A server scores the models that it sold.", fix="Fit the model with this curator.")
        if rows is None or not isinstance(contribution, int | None):
            raise _not_plain()
        said = {"model": charge, "epsilon": plain(epsilon), **rows, "label": label}
        said |= {"features": plain_features(features), "rows_per_unit": contribution}
        body = {name: value for name, value in said.items() if value is not None}
        sold = self._job(
            "/v1/score", {**body, **terms_of(because, override, key, fresh, anyway, None)}, again=not fresh
        )
        counts = json.dumps({"right": int(sold["right"]), "wrong": int(sold["wrong"])}).encode()
        return model.scored(run, _bought(run, counts, sold, because))

    def _planned_here(self, table: str | TableQuery) -> str | TableQuery:
        """The same rows of the curator that plans here."""
        if isinstance(table, str):
            return table
        if table.tables is not self.tables:
            raise InvalidParameter("These rows are another curator's.", fix="Start from this curator's table().")
        return replace(table, tables=self._stage.tables)

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


def _bought(run: TrainingRun, measurement: bytes, sold: Mapping[str, Any], because: str) -> Bought:
    """What was measured there, and the charge as far as the server tells it."""
    charge = Charge(str(sold["charge"]), (), (), run.event, run.guarantee, {}, True, bool(sold["repeated"]))
    return Bought(measurement, charge, charge.repeated, because)


def _not_plain() -> InvalidParameter:
    return InvalidParameter(
        "To a server one can say the rows of one table, a condition on them, and settings in plain values.",
        fix="Learn from such rows; what is joined or computed is learned where the data is.",
        code="not-plain",
    )
