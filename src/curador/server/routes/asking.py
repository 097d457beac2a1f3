"""Explain, ask, how many, batches: what an analyst does.  What may read data leaves on the clock."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response

from curador import Curator, Explanation, Plan, Publication, Release
from curador.curator.purchase import Request
from curador.curator.purchases.batch import Batch, stated
from curador.curator.releases.explanation import Planned
from curador.curator.study.quality import Quality
from curador.curator.table import Asked, question_from
from curador.errors import NotPromised
from curador.server.access.auth import Caller
from curador.server.bodies import (
    Amount,
    AskBody,
    BatchBody,
    PaidQualityBody,
    PublishBody,
    QualityBody,
    QuestionBody,
    TermsBody,
    asked,
    wanted,
)
from curador.server.gate.refusals import refuse_many_groups
from curador.server.service import Buyer, Service, Serving

router = APIRouter(prefix="/v1", tags=["asking"])


def _question(given: str | Mapping[str, Any]) -> Asked:
    return given if isinstance(given, str) else question_from(given)


def _request(body: TermsBody, caller: Caller) -> Request:
    return Request(body.because, body.override, caller.who, body.key, body.fresh, anyway=body.anyway)


class Written:
    """Explanations as JSON, kept while their plan is: what they say follows from it, and from no data."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, str, str], tuple[Planned, str]] = {}

    def of(self, found: Explanation) -> str:
        key = id(found.plan), found.language, repr(found.shared)
        kept = self._kept.pop(key, None)
        if kept is None or kept[0] is not found.plan:
            kept = found.plan, json.dumps({**found.to_dict(), "text": str(found)}, allow_nan=False)
        if len(kept[1]) <= LONGEST_KEPT:
            self._kept[key] = kept  # the newest last
        for old in list(self._kept)[:-MOST_KEPT]:  # listed at once: other threads explain, too
            self._kept.pop(old, None)
        return kept[1]


WRITTEN = Written()
MOST_KEPT, LONGEST_KEPT = 64, 100_000


@router.post("/explain")
async def explain(body: QuestionBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """What an answer would cost and how wrong it would be: free, and the same whatever the data is."""

    def made() -> Any:
        found = explained(body, serving, caller)
        left = json.dumps(serving.remaining(caller))
        return Response(f'{WRITTEN.of(found)[:-1]}, "remaining": {left}}}', media_type="application/json")

    return await serving.plan(caller, made)


def explained(body: QuestionBody, serving: Service, caller: Caller) -> Explanation:
    """The same as an object, for pages; it may plan for a while."""
    question = _question(asked(body))
    found = serving.curator.explain(question, **body.price(), analyst=caller.who, language=body.language)
    refuse_many_groups(found.plan, serving.settings.groups)
    return found


@router.post("/how-many")
async def how_many(body: QuestionBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """How many such answers still fit into the caller's budget; null where they cost nothing."""

    def made() -> int | None:
        price = {name: x for name, x in body.price().items() if name not in ("noise", "weights", "confidence")}
        try:
            return serving.curator.how_many(_question(asked(body)), **price, analyst=caller.who)
        except NotPromised:
            return None

    fits = await serving.plan(caller, made)
    return {"fits": fits, "remaining": await serving.work(lambda: serving.remaining(caller))}


@router.post("/ask")
async def ask(body: AskBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """Pay for a question and get the noised answer; what the same caller bought before is free.

    With a `key`, sending the request again never buys twice.  The answer leaves at the next tick; one that the caller
    bought before, and a refusal that asks neither the data nor a budget, at once.
    """
    request = _request(body, caller)

    def planned() -> Plan:
        found = serving.curator.plan(_question(asked(body)), **body.price())
        refuse_many_groups(found, serving.settings.groups)
        return found

    def made(plan: Plan) -> dict[str, Any]:
        return shown(serving.curator.release(plan, request, language=body.language))

    return await serving.bought(caller, request, planned, made)


def shown(found: Release | Publication) -> dict[str, Any]:
    """A release as a response."""
    return {**found.to_dict(), "repeated": found.repeated}


def _words(body: BatchBody, because: str) -> dict[str, Any] | None:
    """What a dashboard tells its readers; None where nothing was written for them."""
    if not body.title and not body.entries:
        return None
    said = {name: one.model_dump() for name, one in (body.entries or {}).items() if name in body.questions}
    asked = stated(body.questions)["questions"]
    each = {name: {**said.get(name, {}), **asked.get(name, {})} for name in body.questions}
    return {"title": body.title, "because": because, "questions": each}


def _batch(curator: Curator, body: BatchBody, because: str = "") -> Batch:
    accuracies = {name: wanted(one) for name, one in (body.accuracies or {}).items()}
    weights: Mapping[str, Amount] | None = body.weights
    return curator.batch(
        {name: _question(given) for name, given in body.questions.items()},
        epsilon=body.epsilon,
        delta=body.delta,
        rho=body.rho,
        weights=weights,
        accuracies=accuracies or None,
        confidence=body.confidence,
        rows=body.rows,
        tight=body.tight,
        words=_words(body, because),
        adjust=body.adjust,
    )


@router.post("/batch/explain")
async def explain_batch(body: BatchBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """What several answers together would cost and how wrong they would be; free."""

    def made() -> dict[str, Any]:
        told = _told(_batch(serving.curator, body), body.language, serving, caller)
        return {**told, "remaining": serving.remaining(caller)}

    return await serving.plan(caller, made)


def _told(batch: Batch, language: str | None, serving: Service, caller: Caller) -> dict[str, Any]:
    """A batch as it is explained, with how many such still fit."""
    try:
        fits = serving.curator.how_many(batch, analyst=caller.who)
    except NotPromised:
        fits = None
    return {**batch.to_dict(), "text": batch.explain(language or serving.curator.language), "fits": fits}


@router.post("/batch")
async def publish(body: PublishBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """Pay for several questions with one charge: all are answered or none."""
    request = _request(body, caller)

    def planned() -> Batch:
        found = _batch(serving.curator, body, body.because)
        for plan in found.plans.values():
            refuse_many_groups(plan, serving.settings.groups)
        return found

    def made(batch: Batch) -> dict[str, Any]:
        terms = vars(request)
        return shown(serving.curator.publish(batch, **terms, language=body.language))

    return await serving.bought(caller, request, planned, made)


# ---- the quality of a table -----------------------------------------------------------------------------------------


@router.post("/quality/explain")
async def explain_quality(body: QualityBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """What it would cost to learn how many rows fit no key, are missing or are clipped, and how wrong it would be."""

    def made() -> dict[str, Any]:
        asked = serving.curator.quality(body.table, body.columns, **body.price())
        return {**_told(asked, body.language, serving, caller), "remaining": serving.remaining(caller)}

    return await serving.plan(caller, made)


@router.post("/quality")
async def quality(body: PaidQualityBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """Pay to learn how many rows fit no key, are missing or are clipped: noised, and as any other question."""
    request = _request(body, caller)

    def planned() -> Quality:
        return serving.curator.quality(body.table, body.columns, **body.price())

    def made(asked: Quality) -> dict[str, Any]:
        return shown(serving.curator.buy_quality(asked, request, body.language))

    return await serving.bought(caller, request, planned, made)


# ---- made-up rows --------------------------------------------------------------------------------------------------

REHEARSAL = "a rehearsal on made-up rows"


def rehearse(stage: Curator, body: QuestionBody) -> Release:
    """An answer from made-up tables at the same price: free."""
    price = body.price()
    return stage.ask(
        _question(asked(body)), **price, because=REHEARSAL, override=True, anyway=True, language=body.language
    )


def rehearse_batch(stage: Curator, body: BatchBody) -> Publication:
    """Several answers from made-up tables at the same price: free."""
    return stage.publish(_batch(stage, body), because=REHEARSAL, override=True, anyway=True, language=body.language)
