"""What a browser brings back: its session, its visit before signing in, and its choices of language and theme.

Where the connection is encrypted, cookies have names that browsers bind to it and to this host (``__Host-``).  Browsers
share cookies among all ports of a host: what belongs to one study has a name that ends in its mark, so that two studies
that one machine serves do not sign each other's visitors out.
"""

from __future__ import annotations

import hashlib
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from starlette.requests import HTTPConnection, cookie_parser
from starlette.responses import Response

SESSION, VISIT, LANGUAGE, THEME = "curador-session", "curador-visit", "curador-language", "curador-theme"

OF_ONE_STUDY = (SESSION, VISIT)

LASTING = 365 * 24 * 3600
"""Seconds that a choice is remembered."""


def mark_of(study: Path | None) -> str:
    """A few digits that stand for a study file, the same in all processes that serve it; none without a file."""
    return "" if study is None else hashlib.sha256(str(study.resolve()).encode()).hexdigest()[:8]


def marked(name: str, mark: str) -> str:
    """The name of a cookie for the study with a mark.

    >>> marked(SESSION, "3f0c9a1b"), marked(THEME, "3f0c9a1b")
    ('curador-session-3f0c9a1b', 'curador-theme')
    """
    return f"{name}-{mark}" if mark and name in OF_ONE_STUDY else name


def cookie(scope: MutableMapping[str, Any], name: str) -> str:
    """The value of a cookie; empty where there is none."""
    said = [value.decode("latin-1") for header, value in scope["headers"] if header == b"cookie"]
    return cookie_parser("; ".join(said)).get(_full(scope, name), "")


def session_cookie(scope: MutableMapping[str, Any]) -> str:
    return cookie(scope, SESSION)


def put(response: Response, request: HTTPConnection, name: str, value: str, seconds: int | None = None) -> None:
    """Let the browser keep a cookie: no script reads it, and no other site's page sends it."""
    response.set_cookie(
        _full(request.scope, name),
        value,
        max_age=seconds,
        path="/",
        secure=request.scope["scheme"] == "https",
        httponly=True,
        samesite="strict",
    )


def _full(scope: MutableMapping[str, Any], name: str) -> str:
    own = marked(name, scope["app"].state.mark)
    return f"__Host-{own}" if scope["scheme"] == "https" else own
