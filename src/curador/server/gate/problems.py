"""Every refusal as one JSON document [RFC 9457]: what happened, what to do, what it cost, under a stable code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi.responses import JSONResponse

from curador.errors import (
    BudgetExceeded,
    CollectorFailed,
    CuradorError,
    EngineFailed,
    LedgerBroken,
    LedgerFailed,
    MessageRefused,
    NotAllowed,
)
from curador.server.gate.refusals import code_of, plain

MEDIA = "application/problem+json"

_STATUS: tuple[tuple[type[CuradorError], int], ...] = (
    (NotAllowed, 403),
    (BudgetExceeded, 402),
    (EngineFailed, 500),
    (LedgerFailed, 503),
    (LedgerBroken, 503),
    (CollectorFailed, 503),
    (MessageRefused, 422),
    (CuradorError, 422),
)

_BY_CODE = {
    "not-signed-in": 401,
    "key-reused": 409,
    "budget-unknown": 404,
    "not-found": 404,
    "too-large": 413,
    "too-slow": 408,
    "too-many": 429,
    "not-json": 400,
    "method": 405,
    "server-failed": 500,
}


def status_of(error: CuradorError) -> int:
    """The status of a refusal: by its code where that says more than its class."""
    return _BY_CODE.get(error.code) or next(status for kind, status in _STATUS if isinstance(error, kind))


def document(error: CuradorError, request_id: str) -> dict[str, Any]:
    """A refusal as plain values."""
    code = code_of(error)
    return {
        "type": f"urn:curador:{code}",
        "title": type(error).__name__,
        "status": status_of(error),
        "detail": error.what,
        "code": code,
        "fix": error.fix,
        "cost": error.cost,
        "facts": {name: plain(value) for name, value in error.facts.items()},
        "request": request_id,
    }


def problem(error: CuradorError, request_id: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """A refusal as a response."""
    body = document(error, request_id)
    return JSONResponse(body, status_code=body["status"], headers=dict(headers or {}), media_type=MEDIA)
