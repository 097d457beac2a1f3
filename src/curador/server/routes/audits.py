"""Audits that make sense on a live service: of its mechanisms, as a job.  No data is read and nothing is spent."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from curador.server.bodies import MechanismBody
from curador.server.jobs.runner import Told
from curador.server.service import Overseer, Serving

router = APIRouter(prefix="/v1/audits", tags=["audits"])


@router.post("/mechanism", status_code=202)
async def mechanism(body: MechanismBody, serving: Serving, caller: Overseer) -> dict[str, Any]:
    """Look for outputs of a mechanism that are likelier on one of two neighbours than it claims, as a job."""

    def taken() -> dict[str, Any]:
        from curador.audit import audit_mechanism, named

        tested = named(body.kind, body.epsilon, "1/100" if body.delta is None else body.delta, body.sensitivity)

        def test(tell: Told) -> dict[str, Any]:
            found = audit_mechanism(tested, n=body.runs, confidence=body.confidence, progress=tell)
            return {
                "mechanism": body.kind,
                "claim": None if found.claim is None else found.claim.to_json(),
                "violated": found.violated,
                "floor": found.floor,
                "samples": found.samples,
                "text": found.sentence(),
            }

        job = serving.jobs.take(caller, "audit", body.model_dump(), test)
        return serving.jobs.one(caller, job.id)

    return await serving.work(taken)
