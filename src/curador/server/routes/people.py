"""Tokens, grants, revocations and budgets."""

from __future__ import annotations

from datetime import date, datetime
from functools import partial
from typing import Any

from fastapi import APIRouter

from curador import Balance
from curador.curator.study.file import end_of as end_of_budget
from curador.errors import InvalidParameter
from curador.server.access.auth import exchange
from curador.server.access.people import end, issue, plain
from curador.server.bodies import EndBody, ExchangeBody, GrantBody, RevokeBody, TokenBody
from curador.server.service import Anyone, Holder, Member, Overseer, Serving
from curador.server.shown import balance

router = APIRouter(prefix="/v1", tags=["people"])


def end_of(text: str | None) -> datetime | None:
    """A moment, or the end of a day, UTC."""
    if text is None:
        return None
    try:
        return end_of_budget(date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        raise InvalidParameter("This is not a date.", fix="Write expires as 2026-12-31.", code="not-a-date") from None


@router.get("/me")
async def me(caller: Anyone) -> dict[str, Any]:
    """Whose token this is: its role, its analyst, and the first digits of its hash."""
    return {"role": caller.role, "analyst": caller.who, "token": caller.id}


@router.get("/budget")
async def budget(serving: Serving, caller: Member) -> dict[str, Any]:
    """The caller's budget; of a curator or an auditor, every root budget and every analyst's."""

    def made() -> list[Balance]:
        if caller.who is not None:
            return [serving.curator.budget(caller.who)]
        ledger = serving.curator.ledger
        return [ledger.balance(scope) for scope in ledger.scopes()]

    return {"budgets": [balance(found) for found in await serving.work(made)]}


@router.post("/grants")
async def grant(body: GrantBody, serving: Serving, caller: Holder) -> dict[str, Any]:
    """Raise a budget, or give an analyst one; recorded with its reason."""
    end = end_of(body.expires)
    price: dict[str, Any] = {"epsilon": body.epsilon, "delta": body.delta, "rho": body.rho}
    terms: dict[str, Any] = {"because": body.because, "group": body.group, "expires": end}
    found = await serving.work(lambda: serving.curator.grant(body.scope, **price, **terms))
    return balance(found)


@router.post("/revocations")
async def revoke(body: RevokeBody, serving: Serving, caller: Holder) -> dict[str, Any]:
    """Close a budget for ever; what was spent stays spent."""
    return balance(await serving.work(lambda: serving.curator.revoke(body.scope, because=body.because)))


@router.post("/tokens", status_code=201)
async def new_token(body: TokenBody, serving: Serving, caller: Holder) -> dict[str, Any]:
    """Make a token; it is shown here and never again."""
    until = end_of(body.expires)
    issued = partial(issue, serving.curator, body.role, body.analyst, body.label, until, body.once)
    return {"token": await serving.work(issued), "role": body.role, "analyst": body.analyst}


@router.get("/tokens")
async def tokens(serving: Serving, caller: Overseer) -> dict[str, Any]:
    """Every token that was given, by the first digits of its hash."""
    found = await serving.work(lambda: serving.curator.ledger.accesses())
    return {"tokens": [plain(one) for one in found]}


@router.post("/tokens/{id}/end")
async def end_token(id: str, body: EndBody, serving: Serving, caller: Holder) -> dict[str, Any]:
    """Let a token open nothing any more."""

    return plain(await serving.work(lambda: end(serving.curator, id, body.because)))


@router.post("/session", status_code=201)
async def session(body: ExchangeBody, serving: Serving) -> dict[str, Any]:
    """Exchange a code that is used once, such as that of the first start, for a token."""
    return {"token": await serving.work(lambda: exchange(serving.curator.ledger, body.code))}
