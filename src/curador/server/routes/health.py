"""Whether the server lives and is ready, and counts of requests without data."""

from __future__ import annotations

from fastapi import APIRouter, Response

from curador.server.gate.refusals import not_found
from curador.server.service import Overseer, Serving

router = APIRouter(tags=["health"])


@router.get("/health")
async def health() -> dict[str, str]:
    """Whether the process lives."""
    return {"status": "alive"}


@router.get("/ready")
async def ready(serving: Serving) -> dict[str, str]:
    """Whether the ledger answers; until it does, nothing can be bought."""
    await serving.for_strangers(lambda: serving.curator.budgets())
    return {"status": "ready"}


@router.get("/metrics", response_class=Response)
async def metrics(serving: Serving, caller: Overseer) -> Response:
    """Counts of requests by route, role and status, as Prometheus reads them."""
    if not serving.settings.statistics:
        raise not_found()
    return Response(serving.metrics.text(), media_type="text/plain; version=0.0.4")
