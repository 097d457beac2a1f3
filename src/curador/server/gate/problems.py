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
    InvalidParameter,
    LedgerBroken,
    LedgerFailed,
    MessageRefused,
    NotAllowed,
)

Refusal = Callable[[MutableMapping[str, Any], CuradorError, Mapping[str, str]], Response]
"""What makes a refusal the response to a request, with more headers: a document for programs, a page for people."""

MEDIA = "application/problem+json"

UNAVAILABLE = 503

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
    "method": 405,
    "server-failed": 500,
}

PLAIN = (str, int, float, bool, type(None))


def status_of(error: CuradorError) -> int:
    """The status of a refusal: by its code where that says more than its class."""
    return _BY_CODE.get(error.code) or next(status for kind, status in _STATUS if isinstance(error, kind))


def problem(error: CuradorError, request_id: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """A refusal as a response; of a store that fails, constant words: where it is and why it fails is its holder's."""
    status, kind = status_of(error), type(error).__name__
    if status == UNAVAILABLE:
        error = CuradorError(
            "What keeps the charges or the reports is not available now.",
            fix="Try again later; if it stays so, tell the curator.",
            cost=error.cost,
            code=error.code or _named(type(error)),
        )
    code = error.code or _named(type(error))
    body = {
        "type": f"urn:curador:{code}",
        "title": kind,
        "status": status,
        "detail": error.what,
        "code": code,
        "fix": error.fix,
        "cost": error.cost,
        "facts": {name: _plain(value) for name, value in error.facts.items()},
        "request": request_id,
    }
    return JSONResponse(body, status_code=status, headers=dict(headers or {}), media_type=MEDIA)


def refused(what: str, fix: str, code: str) -> CuradorError:
    """A refusal by the server itself; it never costs anything."""
    return InvalidParameter(what, fix=fix, code=code)


def not_found() -> CuradorError:
    """The same for what is not there and for what is not yours."""
    return refused("There is nothing here that you may see.", "Check the address.", "not-found")


def _named(kind: type[CuradorError]) -> str:
    """``QuestionRefused`` is question-refused."""
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in kind.__name__).lstrip("-")


def _plain(value: object) -> Any:
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(x) for name, x in value.items()}
    return [_plain(x) for x in value] if isinstance(value, list | tuple) else str(value)
