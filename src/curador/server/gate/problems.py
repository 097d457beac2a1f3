"""Every refusal as one JSON document [RFC 9457]: what happened, what to do, what it cost, under a stable code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

from fastapi.responses import JSONResponse, Response

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

Refusal = Callable[[MutableMapping[str, Any], CuradorError, Mapping[str, str]], Response]
"""What makes a refusal the response to a request, with more headers: a document for programs, a page for people."""

MEDIA = "application/problem+json"

UNAVAILABLE = 503

STORE_FAILED = "unavailable"
"""The code under which pages tell that what keeps charges or reports cannot be used now, whichever reason it has."""

_STATUS: tuple[tuple[type[CuradorError], int], ...] = (
    (NotAllowed, 403),
    (BudgetExceeded, 402),
    (EngineFailed, 500),
    (LedgerFailed, UNAVAILABLE),
    (LedgerBroken, UNAVAILABLE),
    (CollectorFailed, UNAVAILABLE),
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
    "two-lengths": 400,
    "method": 405,
    "server-failed": 500,
}


def status_of(error: CuradorError) -> int:
    """The status of a refusal: by its code where that says more than its class."""
    return _BY_CODE.get(error.code) or next(status for kind, status in _STATUS if isinstance(error, kind))


def public(error: CuradorError) -> CuradorError:
    """A refusal as a caller hears it: of a store that fails, constant words: where it is and why is its holder's."""
    if status_of(error) != UNAVAILABLE:
        return error
    return CuradorError(
        "What keeps the charges or the reports is not available now.",
        fix="Try again later; if it stays so, tell the curator.",
        cost=error.cost,
        code=code_of(error),
    )


def document(error: CuradorError, request_id: str) -> dict[str, Any]:
    """A refusal as plain values."""
    code, status, kind = code_of(error), status_of(error), type(error).__name__
    error = public(error)
    return {
        "type": f"urn:curador:{code}",
        "title": kind,
        "status": status,
        "detail": error.what,
        "code": code,
        "fix": error.fix,
        "cost": error.cost,
        "facts": {name: plain(value) for name, value in error.facts.items()},
        "request": request_id,
    }


def kept(said: Mapping[str, Any]) -> CuradorError:
    """The refusal that a document was made of, as far as pages tell it: of a store that failed, under one code.

    >>> kept(document(CuradorError("No.", fix="Yes.", code="no", facts={"n": 3}), "r")).facts["n"]
    3
    """
    code = STORE_FAILED if said["status"] == UNAVAILABLE else said["code"]
    return CuradorError(said["detail"], fix=said["fix"], cost=said["cost"], code=code, facts=said["facts"])


def problem(error: CuradorError, request_id: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """A refusal as a response."""
    body = document(error, request_id)
    return JSONResponse(body, status_code=body["status"], headers=dict(headers or {}), media_type=MEDIA)
