"""The console: its pages under one address, and refusals as pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from curador.errors import CuradorError
from curador.server.console import changing, described, sign, static, uploading, wizard
from curador.server.console.navigation import routers
from curador.server.console.visit import OVERVIEW, inside, visiting
from curador.server.gate.guard import CONSOLE
from curador.server.gate.problems import status_of

doors = APIRouter(include_in_schema=False)


@doors.get("/", response_class=Response)
@doors.get(CONSOLE, response_class=Response)
@doors.get(f"{CONSOLE}/", response_class=Response)
async def front() -> Response:
    """Whoever comes without an address is shown the overview."""
    return RedirectResponse(OVERVIEW, 303)


CONSOLE_ROUTERS = (
    doors,
    static.router,
    sign.router,
    wizard.router,
    changing.router,
    uploading.router,
    described.router,
    *routers().values(),
)


def _address(request: Request) -> str:
    """The path of a request with what was asked of it, as :func:`inside` reads it back; what is too long is let go."""
    asked = urlencode(request.query_params.multi_items())
    whole = f"{request.url.path}?{asked}" if asked else request.url.path
    return whole if inside(whole) == whole else request.url.path


def refusal_page(scope: Any, error: CuradorError, headers: Mapping[str, str]) -> Response:
    """A refusal as a page, or as a part of one; a stranger is sent to sign in and comes back after."""
    request = Request(scope)
    visit = visiting(request)
    if error.code == "not-signed-in":
        back = urlencode({"next": _address(request)}) if request.method == "GET" and not visit.partial else ""
        return visit.to(f"{sign.SIGN_IN}?{back}" if back else sign.SIGN_IN)
    template = "_refusal.html" if visit.partial else "refusal.html"
    return visit.page(template, status_of(error), headers=headers, error=error)
