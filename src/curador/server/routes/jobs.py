"""Jobs: how far long work is, and how it ended.  An analyst sees only that it waits or is done."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from curador.server.service import Member, Serving

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

JobId = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]


@router.get("")
async def jobs(serving: Serving, caller: Member) -> dict[str, Any]:
    """The jobs of a day that are the caller's own; a curator sees all, and how far they are."""
    return {"jobs": await serving.work(lambda: serving.jobs.seen(caller))}


@router.get("/{job}")
async def job(job: JobId, serving: Serving, caller: Member) -> dict[str, Any]:
    """A job: waiting or done, with its result or its error."""
    return await serving.work(lambda: serving.jobs.one(caller, job))


@router.post("/{job}/cancel")
async def cancel(job: JobId, serving: Serving, caller: Member) -> dict[str, Any]:
    """Cancel a job that has not begun, at no cost; one that has begun is done to its end.  Leaves at the next tick."""
    return await serving.paid(lambda: serving.jobs.cancel(caller, job))
