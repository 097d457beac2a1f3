"""What a browser brings back: its session, its visit before signing in, and its choices of language and theme.

Where the connection is encrypted, cookies have names that browsers bind to it and to this host (``__Host-``).
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from starlette.requests import HTTPConnection, cookie_parser
from starlette.responses import Response

SESSION, VISIT, LANGUAGE, THEME = "curador-session", "curador-visit", "curador-language", "curador-theme"

LASTING = 365 * 24 * 3600
"""Seconds that a choice is remembered."""


def cookie(scope: MutableMapping[str, Any], name: str) -> str:
    """The value of a cookie; empty where there is none."""
    said = [value.decode("latin-1") for header, value in scope["headers"] if header == b"cookie"]
    return cookie_parser("; ".join(said)).get(_full(scope["scheme"], name), "")


def session_cookie(scope: MutableMapping[str, Any]) -> str:
    return cookie(scope, SESSION)


def put(response: Response, request: HTTPConnection, name: str, value: str, seconds: int | None = None) -> None:
    """Let the browser keep a cookie: no script reads it, and no other site's page sends it."""
    scheme = request.scope["scheme"]
    response.set_cookie(
        _full(scheme, name),
        value,
        max_age=seconds,
        path="/",
        secure=scheme == "https",
        httponly=True,
        samesite="strict",
    )


def _full(scheme: str, name: str) -> str:
    return f"__Host-{name}" if scheme == "https" else name
