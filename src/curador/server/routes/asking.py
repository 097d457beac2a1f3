"""Explain, ask, how many, batches: what an analyst does.  What may read data leaves on the clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from curador import Curator, Plan, Publication, Release, within
from curador.curator.table import Asked, question_from
from curador.errors import NotPromised, QuestionRefused
from curador.server.access.auth import Caller
from curador.server.bodies import Amount, AskBody, BatchBody, PublishBody, QuestionBody, TermsBody, WantedBody, asked
from curador.server.service import Buyer, Service, Serving

router = APIRouter(prefix="/v1", tags=["asking"])


def _question(given: str | Mapping[str, Any]) -> Asked:
    return given if isinstance(given, str) else question_from(given)


def _within(wanted: WantedBody | None) -> Any:
    if wanted is None:
        return None
    return within(wanted.error, wanted.confidence, wanted.output, unit=wanted.unit)


def _price(body: QuestionBody) -> dict[str, Any]:
    limit = body.contribution
    kept: Any = None if limit is None else limit.rows if limit.groups is None else (limit.groups, limit.rows)
    return {
        "epsilon": body.epsilon,
        "delta": body.delta,
        "rho": body.rho,
        "accuracy": _within(body.accuracy),
        "noise": body.noise,
        "weights": body.weights,
        "confidence": body.confidence,
        "rows": body.rows,
        "contribution": kept,
    }


def _terms(body: TermsBody, caller: Caller) -> dict[str, Any]:
    buyer = {"because": body.because, "override": body.override, "analyst": caller.who}
    return {**buyer, "key": body.key, "fresh": body.fresh}


def _few_groups(serving: Service, plan: Plan) -> None:
    keys = plan.checked.keys
    if keys is not None and len(keys) > serving.settings.groups:
        raise QuestionRefused(
            f"The answer has {len(keys):,} groups; the most here is {serving.settings.groups:,}.",
            fix="Group by less.",
            code="too-many-groups",
        )


def remaining(serving: Service, caller: Caller) -> dict[str, Any]:
    """What remains of the caller's budget: an analyst's own, which knows what is left above it."""
    curator = serving.curator
    found = curator.budgets() if caller.who is None else (curator.budget(caller.who),)
    return {b.scope: b.remaining.to_json() for b in found}


@router.post("/explain")
async def explain(body: QuestionBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """What an answer would cost and how wrong it would be: free, and the same whatever the data is."""

    def made() -> dict[str, Any]:
        found = serving.curator.explain(
            _question(asked(body)), **_price(body), analyst=caller.who, language=body.language
        )
        _few_groups(serving, found.plan)
        return {**found.to_dict(), "text": str(found), "remaining": remaining(serving, caller)}

    return await serving.work(made)


@router.post("/how-many")
async def how_many(body: QuestionBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """How many such answers still fit into the caller's budget; null where they cost nothing."""

    def made() -> int | None:
        price = {name: x for name, x in _price(body).items() if name not in ("noise", "weights", "confidence")}
        try:
            return serving.curator.how_many(_question(asked(body)), **price, analyst=caller.who)
        except NotPromised:
            return None

    return {"fits": await serving.work(made), "remaining": await serving.work(lambda: remaining(serving, caller))}


@router.post("/ask")
async def ask(body: AskBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """Pay for a question and get the noised answer; what the same caller bought before is free.

    With a `key`, sending the request again never buys twice.  The response leaves at the next tick.
    """

    def made() -> dict[str, Any]:
        question, price = _question(asked(body)), _price(body)
        _few_groups(serving, serving.curator.plan(question, **price))
        found = serving.curator.ask(question, **price, **_terms(body, caller), language=body.language)
        return shown(found, serving, caller)

    return await serving.paid(made)


def shown(found: Release | Publication, serving: Service, caller: Caller) -> dict[str, Any]:
    """A release as a response."""
    return {**found.to_dict(), "repeated": found.repeated, "remaining": remaining(serving, caller)}


def _batch(curator: Curator, body: BatchBody, words: Mapping[str, Any] | None = None) -> Any:
    accuracies = {name: _within(wanted) for name, wanted in (body.accuracies or {}).items()}
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
        words=words,
        adjust=body.adjust,
    )


@router.post("/batch/explain")
async def explain_batch(body: BatchBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """What several answers together would cost and how wrong they would be; free."""

    def made() -> dict[str, Any]:
        batch = _batch(serving.curator, body)
        return {**batch.to_dict(), "text": batch.explain(), "remaining": remaining(serving, caller)}

    return await serving.work(made)


@router.post("/batch")
async def publish(body: PublishBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """Pay for several questions with one charge: all are answered or none."""

    def made() -> dict[str, Any]:
        batch = _batch(serving.curator, body)
        for plan in batch.plans.values():
            _few_groups(serving, plan)
        found = serving.curator.publish(batch, **_terms(body, caller), language=body.language)
        return shown(found, serving, caller)

    return await serving.paid(made)


# ---- made-up rows --------------------------------------------------------------------------------------------------

REHEARSAL = "a rehearsal on made-up rows"


def rehearse(stage: Curator, body: QuestionBody) -> Release:
    """An answer from made-up tables at the same price: free."""
    price = _price(body)
    return stage.ask(_question(asked(body)), **price, because=REHEARSAL, override=True, language=body.language)


def rehearse_batch(stage: Curator, body: BatchBody) -> Publication:
    """Several answers from made-up tables at the same price: free."""
    return stage.publish(_batch(stage, body), because=REHEARSAL, override=True, language=body.language)
