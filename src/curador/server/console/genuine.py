"""Refuses forms that another site's page made a browser send.

The session's cookie is not sent by other sites at all (SameSite); these are the second and the third wall.
"""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request

from curador.errors import NotAllowed
from curador.server.access.sessions import form_token
from curador.server.console.declaring.sent import sent_form
from curador.server.console.visit import Visiting
from curador.server.gate.guard import CONSOLE, UPLOAD_FORM

FIELD, HEADER = "form_token", "x-form-token"


async def genuine(request: Request, visit: Visiting) -> None:
    """Every request that may change something comes from a page of ours, and shows what only that page was told."""
    if request.method in ("GET", "HEAD"):
        return
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    ours = origin is None or _host(origin) == request.headers.get("host")
    if site not in (None, "same-origin") or not ours or visit.fresh:
        raise forged()
    shown = request.headers.get(HEADER) or await _in_form(request)
    if not isinstance(shown, str) or not hmac.compare_digest(shown.encode(), form_token(visit.cookie).encode()):
        raise forged()


def _host(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:  # no address at all
        return None


async def _in_form(request: Request) -> object:
    """The token that a form shows; of one with a file, nothing behind it is read."""
    if request.scope["path"] == UPLOAD_FORM:
        return (await sent_form(request)).fields.get(FIELD)
    return (await request.form()).get(FIELD)


def page_router() -> APIRouter:
    """A router for pages: below the console's address, and closed to forms of other sites."""
    return APIRouter(prefix=CONSOLE, dependencies=[Depends(genuine)], include_in_schema=False)


def forged() -> NotAllowed:
    """The same for a form of another site and for one that has grown old."""
    return NotAllowed("This form is not valid any more.", fix="Open the page again.", code="form-not-valid")
