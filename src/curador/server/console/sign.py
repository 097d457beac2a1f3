"""Signing in and out, one's own password, and what a visitor chooses: language and theme.

A code that works once is in the part of a link that browsers never send; opening the link spends nothing, the button
does.  So no mail scanner, preview or log uses it up or keeps it.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Query, Response

from curador import Access
from curador.errors import CuradorError, InvalidParameter, NotAllowed
from curador.server.access.auth import has_curator, known
from curador.server.access.passwords import LONGEST, SHORTEST, change_password, refuse_length, set_password, signed_in
from curador.server.access.sessions import LASTS
from curador.server.console.forms import Filled, filled
from curador.server.console.genuine import page_router
from curador.server.console.visit import OVERVIEW, THEMES, Visit, Visiting, inside
from curador.server.gate.cookies import LANGUAGE, LASTING, SESSION, THEME, cookie, put
from curador.server.gate.problems import status_of
from curador.server.service import Anyone
from curador.show.words.say import LANGUAGES

router = page_router()

SIGN_IN, START, PASSWORD = "/console/sign-in", "/console/start", "/console/password"


@router.get("/sign-in", response_class=Response)
async def sign_in_page(visit: Visiting, next: Annotated[str, Query(max_length=5000)] = OVERVIEW) -> Response:
    """Where one signs in, with a name and a password or with a token."""
    if visit.caller is not None:
        return visit.to(inside(next))
    return await _sign_in_page(visit, Filled(), inside(next))


@router.post("/sign-in", response_class=Response)
async def sign_in(visit: Visiting) -> Response:
    """Begin a session."""
    form = await filled(visit.request)
    back, ledger = inside(form["next"]), visit.serving.curator.ledger
    try:
        if form["token"]:
            found = await visit.serving.work(partial(known, ledger, form["token"].strip()))
            if found is None or found.kind != "token":
                raise NotAllowed("This token opens nothing.", fix="Ask the curator for one.", code="token-unknown")
        else:
            found = await visit.serving.hashed(partial(signed_in, ledger, form["login"], form["password"]))
    except CuradorError as error:
        wrong = form.refused("token" if form["token"] else "password", error)
        return await _sign_in_page(visit, wrong, back, status_of(error))
    return await _entered(visit, found, back)


async def _sign_in_page(visit: Visit, form: Filled, back: str, status: int = 200) -> Response:
    nobody = not await visit.serving.work(partial(has_curator, visit.serving.curator.ledger))
    return visit.page("sign_in.html", status, form=form, next=back, nobody=nobody)


@router.get("/start", response_class=Response)
async def start_page(visit: Visiting) -> Response:
    """Where a link that works once leads: it is spent by the button, not by looking."""
    return visit.page("start.html", form=Filled(), least=SHORTEST, most=LONGEST)


@router.post("/start", response_class=Response)
async def start(visit: Visiting) -> Response:
    """Spend a code for a login and a password, and sign in."""
    form = await filled(visit.request)
    ledger = visit.serving.curator.ledger
    spend = partial(set_password, ledger, form["code"].strip(), form["login"], form["password"])
    try:
        if (wrong := _checked(form)).errors:
            return visit.page("start.html", 422, form=wrong, least=SHORTEST, most=LONGEST)
        found = await visit.serving.hashed(spend)
    except CuradorError as error:
        wrong = form.refused({"code-unknown": "code"}.get(error.code, "login"), error)
        return visit.page("start.html", status_of(error), form=wrong, least=SHORTEST, most=LONGEST)
    return await _entered(visit, found, OVERVIEW)


@router.get("/password", response_class=Response)
async def password_page(
    visit: Visiting, caller: Anyone, changed: Annotated[str, Query(max_length=10)] = ""
) -> Response:
    """Where one changes one's own password."""
    return visit.page("password.html", form=Filled(), least=SHORTEST, changed=bool(changed))


@router.post("/password", response_class=Response)
async def change(visit: Visiting, caller: Anyone) -> Response:
    """Change one's own password; sessions that began with the old one end, and this browser gets a new one."""
    form = await filled(visit.request)
    ledger = visit.serving.curator.ledger
    try:
        if (wrong := _checked(form)).errors:
            return visit.page("password.html", 422, form=wrong, least=SHORTEST, changed=False)
        again = partial(change_password, ledger, caller.token, form["old"], form["password"])
        found = await visit.serving.hashed(again)
    except CuradorError as error:
        wrong = form.refused("old", error)
        return visit.page("password.html", status_of(error), form=wrong, least=SHORTEST, changed=False)
    return await _entered(visit, found, f"{PASSWORD}?changed=yes")


def _checked(form: Filled) -> Filled:
    """All that is wrong with a password that was typed twice, at once."""
    try:
        refuse_length(form["password"])
    except InvalidParameter as error:
        form = form.refused("password", error)
    if form["password"] != form["again"]:
        differ = InvalidParameter("The passwords differ.", fix="Type it twice.", code="passwords-differ")
        form = form.refused("again", differ)
    return form


@router.post("/sign-out", response_class=Response)
async def sign_out(visit: Visiting) -> Response:
    """End the session."""
    held = cookie(visit.request.scope, SESSION)
    await visit.serving.work(partial(visit.serving.sessions.finish, held))
    response = visit.to(SIGN_IN)
    put(response, visit.request, SESSION, "", 0)
    return response


@router.post("/preferences", response_class=Response)
async def preferences(visit: Visiting) -> Response:
    """Remember a language or a theme."""
    form = await filled(visit.request)
    response = visit.to(inside(form["back"]))
    for name, known_ones, kept in (("language", LANGUAGES, LANGUAGE), ("theme", THEMES, THEME)):
        if form[name] in known_ones:
            put(response, visit.request, kept, form[name], LASTING)
    return response


async def _entered(visit: Visit, found: Access, path: str) -> Response:
    before = cookie(visit.request.scope, SESSION)
    begin = partial(visit.serving.sessions.begin, visit.serving.curator.ledger, found, before)
    fresh = await visit.serving.work(begin)
    response = visit.to(path)
    put(response, visit.request, SESSION, fresh, int(LASTS.total_seconds()))
    return response
