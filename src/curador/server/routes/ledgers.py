"""What was spent and decided, for those who may see it; and copies of tables that answer faster."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from curador.curator.prepared import prepare_stored
from curador.server.bodies import PrepareBody
from curador.server.jobs.runner import Told
from curador.server.service import Holder, Member, Overseer, Serving
from curador.server.shown import charge

router = APIRouter(prefix="/v1", tags=["ledger"])


@router.get("/history")
async def history(
    serving: Serving,
    caller: Member,
    last: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """The newest charges, oldest first; an analyst's own."""
    found = await serving.settled(caller, lambda: serving.curator.received(caller.who, last=last))
    return {"charges": [charge(one, caller.who is not None) for one in found]}


@router.get("/decisions")
async def decisions(serving: Serving, caller: Overseer) -> dict[str, Any]:
    """Every decision about budgets, and its reason."""
    found = await serving.work(lambda: serving.curator.decisions())
    return {"decisions": [one.to_json() for one in found]}


@router.post("/ledger/verify", status_code=202)
async def verify(serving: Serving, caller: Overseer) -> dict[str, Any]:
    """Read the whole ledger again, as a job; its error says if anything is not as it was written."""

    def check(tell: Told) -> dict[str, Any]:
        return {"entries": serving.curator.ledger.verify(tell)}

    def taken() -> dict[str, Any]:
        return serving.jobs.one(caller, serving.jobs.take(caller, "verify", {}, check).id)

    return await serving.work(taken)


@router.post("/prepared", status_code=202)
async def prepare(body: PrepareBody, serving: Serving, caller: Holder) -> dict[str, Any]:
    """Make a copy of a table that answers questions about some groups faster, as a job."""

    def copy(tell: Told) -> dict[str, Any]:
        if serving.curator.copies is None:
            serving.curator.prepare(body.table, body.group_by, progress=tell)
        else:
            prepare_stored(serving.curator, body.table, body.group_by, tell)
        return {"table": body.table, "group_by": body.group_by}

    def taken() -> dict[str, Any]:
        return serving.jobs.one(caller, serving.jobs.take(caller, "prepare", body.model_dump(), copy).id)

    return await serving.work(taken)
