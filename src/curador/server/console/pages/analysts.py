"""Analysts: budgets given, raised and closed; links and tokens; what each has done.

What is done here cannot be undone, so every form says first what it means.  A budget is raised from what the page
showed: a form that is sent twice, or from an old page, is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Path, Query, Response
from markupsafe import Markup

from curador import ZCDP, Access, Balance, Curator, PureDP
from curador.curator.budgets import POPULATION
from curador.curator.naming import ANALYST, normal
from curador.errors import CuradorError, InvalidParameter
from curador.server.access.auth import Caller
from curador.server.bodies import EndBody, RevokeBody, TokenBody
from curador.server.console.budgets.asked import asked
from curador.server.console.budgets.decided import decided
from curador.server.console.budgets.granting import (
    KINDS,
    asked_for,
    granted,
    no_reason,
    not_sure,
    place,
    refuse_name,
    refuse_past,
    remembered,
)
from curador.server.console.budgets.shown import AnalystView, handle, last_day, loss, share
from curador.server.console.forms import Filled, filled
from curador.server.console.genuine import page_router
from curador.server.console.sign import START
from curador.server.console.visit import Visit, Visiting
from curador.server.gate.problems import status_of
from curador.server.gate.refusals import not_found
from curador.server.routes import people
from curador.server.service import Holder, Overseer
from curador.show.pages.gauge import gauge
from curador.show.pages.svg import tick_text

router = page_router()

NEWEST = 25
"""Charges that an analyst's page shows; the ledger's page has all."""

Handle = Annotated[str, Path(max_length=16, pattern="^[0-9a-f]+$")]

ROLES = ("analyst", "auditor", "reader", "curator")

Done = Annotated[str, Query(pattern="^(given|raised|closed|ended|)$")]
"""What was just done, as the address that follows it says."""


@dataclass(frozen=True)
class Tied:
    """The scope that a name is tied to, and whether the name is an analyst's or a group's."""

    scope: str
    kind: str


def _tied(curator: Curator) -> dict[str, Tied]:
    """Everybody who was given a budget, by name."""
    found = curator.ledger.registrations()
    return {
        one.table.removeprefix(ANALYST): Tied(one.scope, one.unit) for one in found if one.table.startswith(ANALYST)
    }


def names(curator: Curator) -> list[str]:
    """Everybody who was given a budget, in order."""
    return sorted(_tied(curator))


def _views(curator: Curator, tied: Mapping[str, Tied]) -> list[AnalystView]:
    ledger, roots = curator.ledger, curator.scopes.roots()
    found = {name: ledger.balance(one.scope) for name, one in sorted(tied.items())}
    above = Counter(balance.parent.scope for balance in found.values() if balance.parent is not None)
    return [
        AnalystView(name, balance, ledger.count(one.scope), _group(balance, roots), above[one.scope], one.kind)
        for name, balance in found.items()
        for one in (tied[name],)
    ]


def _roots(curator: Curator) -> list[AnalystView]:
    """What all tables share, or each table's own."""
    return [
        AnalystView(one.scope, one, curator.ledger.count(one.scope), "", 0, of_tables=True) for one in curator.budgets()
    ]


def _group(balance: Balance, roots: Sequence[str]) -> str:
    return "" if balance.parent is None or balance.parent.scope in roots else balance.parent.scope


def _named(visit: Visit, address: str) -> AnalystView:
    """The analyst that an address stands for."""
    curator = visit.serving.curator
    found = {name: one for name, one in _tied(curator).items() if handle(name) == address}
    views = _views(curator, found) or [one for one in _roots(curator) if one.handle == address]
    if not views:
        raise not_found()
    return views[0]


# ---- pages -----------------------------------------------------------------------------------------------------------


@router.get("/analysts", response_class=Response)
async def analysts(visit: Visiting, caller: Overseer, done: Done = "") -> Response:
    """Everybody who has a budget, and everything that opens a door."""
    return await visit.serving.work(lambda: _all(visit, caller, done=done))


@router.get("/analysts/{handle}", response_class=Response)
async def analyst(handle: Handle, visit: Visiting, caller: Overseer, done: Done = "") -> Response:
    """One analyst, or what all tables share: budget, decisions, what was asked, what opens."""
    return await visit.serving.work(lambda: _one(visit, caller, handle, done=done))


def _all(
    visit: Visit,
    caller: Caller,
    form: Filled | None = None,
    door: Filled | None = None,
    status: int = 200,
    done: str = "",
) -> Response:
    curator = visit.serving.curator
    found, roots = _views(curator, _tied(curator)), _roots(curator)
    return visit.page(
        "analysts.html",
        status,
        analysts=found,
        roots=roots,
        given=_given(visit, found, roots),
        done=done,
        form=form or Filled({"kind": _usual_kind(curator)}),
        door=door or Filled({"role": "analyst"}),
        kinds=_kinds(visit),
        usual=_usual_kind(curator),
        role_choices=[(role, visit.say(f"frame.role-{role}")) for role in ROLES],
        groups=[
            ("", visit.say("analysts.no-group")),
            *((one.name, one.name) for one in found if one.kind != "analyst"),
        ],
        people=[("", visit.say("analysts.choose")), *((one.name, one.name) for one in found if one.kind != "group")],
        accesses=_doors(visit, curator.ledger.accesses(), caller),
        holder=caller.role == "curator",
    )


def _one(visit: Visit, caller: Caller, address: str, status: int = 200, done: str = "", **forms: Filled) -> Response:
    curator = visit.serving.curator
    found = _named(visit, address)
    state = found.balance.state
    spent = share(state.currency.rule, state.spent, state.ceiling)
    named = visit.say("overview.gauge", percent=tick_text(float(f"{100 * spent:.3g}")))
    return visit.page(
        "analyst.html",
        status,
        one=found,
        title=_title(visit, found),
        done=done,
        gauge=Markup(gauge(spent, named)),
        was=remembered(found.balance),
        asks=asked_for(found.balance),
        asked=asked,
        charges=list(reversed(curator.history(found.name, last=NEWEST))),
        decisions=[decided(visit, one) for one in reversed(curator.decisions(found.name)) if one.scope],
        accesses=_doors(visit, [one for one in curator.ledger.accesses() if one.who == found.name], caller),
        holder=caller.role == "curator",
        raising=forms.get("raising", Filled()),
        closing=forms.get("closing", Filled()),
    )


def _title(visit: Visit, found: AnalystView) -> str:
    if not found.of_tables:
        return found.name
    return visit.say("overview.all-tables" if found.name == POPULATION else "overview.budget", scope=found.name)


def _given(visit: Visit, found: Sequence[AnalystView], roots: Sequence[AnalystView]) -> dict[str, str] | None:
    """What analysts may still spend together and what is left for all, where that is less."""
    if len(roots) != 1 or (name := roots[0].balance.state.currency.names[0]) not in ("epsilon", "rho"):
        return None
    own = [
        one for one in found if not one.group and one.state == "open" and one.balance.state.currency.names[0] == name
    ]
    together, left = sum(loss(one.left) for one in own), roots[0].left
    kind = PureDP if name == "epsilon" else ZCDP
    if together <= loss(left):
        return None
    return {"given": visit.amount(kind(together)), "left": visit.amount(left, down=True)}


def _kinds(visit: Visit) -> list[tuple[str, str]]:
    return [(kind, visit.say(f"analysts.kind-{kind}")) for kind in KINDS]


def _usual_kind(curator: Curator) -> str:
    """A new budget is counted as the budget above it is, unless another kind is chosen."""
    return next(map(asked_for, curator.budgets()), KINDS[0])


# ---- budgets ---------------------------------------------------------------------------------------------------------


@router.post("/analysts", response_class=Response)
async def give_budget(visit: Visiting, caller: Holder) -> Response:
    """Give an analyst, or a group, a budget."""
    form = await filled(visit.request)
    try:
        refuse_name(form["name"].strip())
        await granted(visit, form, form["name"], new=True)
    except CuradorError as error:
        wrong, status = form.refused(place(error, "name"), error), status_of(error)
        return await visit.serving.work(lambda: _all(visit, caller, form=wrong, status=status))
    name = normal(form["name"].strip())
    if form["shape"] != "link":
        return visit.to(f"/console/analysts/{handle(name)}?done=given")
    made = await people.new_token(TokenBody(role="analyst", analyst=name, once=True), visit.serving, caller)
    return visit.page("secret.html", 201, **_secret(visit, form, made, name))


@router.post("/analysts/{handle}/raise", response_class=Response)
async def raise_budget(handle: Handle, visit: Visiting, caller: Holder) -> Response:
    """Raise an analyst's budget from what the page showed."""
    form = await filled(visit.request)
    found = await visit.serving.work(lambda: _named(visit, handle))
    try:
        await granted(visit, form, found.name, new=False)
    except CuradorError as error:
        wrong, status = form.refused(place(error, ""), error), status_of(error)
        return await visit.serving.work(lambda: _one(visit, caller, handle, status, raising=wrong))
    return visit.to(f"/console/analysts/{handle}?done=raised")


@router.post("/analysts/{handle}/close", response_class=Response)
async def close_budget(handle: Handle, visit: Visiting, caller: Holder) -> Response:
    """Close an analyst's budget for ever."""
    form = await filled(visit.request)
    found = await visit.serving.work(lambda: _named(visit, handle))
    try:
        if not form["sure"]:
            raise not_sure()
        if not form["because"].strip():
            raise no_reason()
        await people.revoke(form.read(RevokeBody, scope=found.name, because=form["because"]), visit.serving, caller)
    except CuradorError as error:
        wrong, status = form.refused(place(error, "because"), error), status_of(error)
        return await visit.serving.work(lambda: _one(visit, caller, handle, status, closing=wrong))
    return visit.to(f"/console/analysts/{handle}?done=closed")


# ---- links and tokens ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AccessView:
    """A link, a token or a password as a row shows it."""

    access: Access
    state: str
    own: bool
    sessions: int

    @property
    def last_day(self) -> str:
        return last_day(self.access.expires)


def _doors(visit: Visit, found: Sequence[Access], caller: Caller) -> list[AccessView]:
    """What opens, or once did: what is open first; sessions are counted with what began them."""
    now = datetime.now(UTC)
    begun = visit.serving.sessions.open_at(now)

    def states() -> Iterator[AccessView]:
        for one in found:
            if one.kind in ("token", "code", "password"):
                state = "ended" if one.ended else "open" if one.open_at(now) else "expired"
                yield AccessView(one, state, one.token == caller.token, begun[one.token])

    return sorted(states(), key=lambda d: (d.state != "open", d.access.role, d.access.who, d.access.kind, d.access.id))


@router.post("/analysts/doors", response_class=Response)
async def new_door(visit: Visiting, caller: Holder) -> Response:
    """Make a link that works once, or a token; it is shown on this page and never again."""
    form = await filled(visit.request)
    who = form["analyst"] if form["role"] == "analyst" else None
    try:
        if form["role"] not in ROLES:
            raise _wrong("role", "There is no such role.", "Choose one of the list.", "role-unknown")
        tied = await visit.serving.work(lambda: _tied(visit.serving.curator))
        if form["role"] == "analyst" and (who not in tied or tied[who].kind == "group"):
            raise _wrong("analyst", "An analyst's link is for somebody.", "Choose the analyst.", "door-for-nobody")
        body = form.read(
            TokenBody,
            role=form["role"],
            analyst=who,
            label=form["label"],
            expires=form["expires"],
            once=form["shape"] == "link",
        )
        refuse_past(form["expires"])
        made = await people.new_token(body, visit.serving, caller)
    except CuradorError as error:
        wrong, status = form.refused(place(error, ""), error), status_of(error)
        return await visit.serving.work(lambda: _all(visit, caller, door=wrong, status=status))
    return visit.page("secret.html", 201, **_secret(visit, form, made, who, last_day(people.end_of(body.expires))))


def _wrong(field: str, what: str, fix: str, code: str) -> CuradorError:
    return InvalidParameter(what, fix=fix, code=code, facts={"field": field})


def _secret(visit: Visit, form: Filled, made: Mapping[str, Any], who: str | None, until: str = "") -> dict[str, Any]:
    """What was made, as its page shows it; a link begins where the form came from."""
    request = visit.request
    origin = request.headers.get("origin") or f"{request.url.scheme}://{request.headers['host']}"
    link = form["shape"] == "link"
    text = f"{origin}{START}#{made['token']}" if link else made["token"]
    back = "/console/analysts" if who is None else f"/console/analysts/{handle(normal(who))}"
    whose = who or visit.say(f"frame.role-{made['role']}")
    return {"text": text, "link": link, "who": whose, "back": back, "until": until}


@router.post("/analysts/doors/{id}/end", response_class=Response)
async def end_door(id: Handle, visit: Visiting, caller: Holder) -> Response:
    """Let a link, a token or a password open nothing any more."""
    form = await filled(visit.request)
    await people.end_token(id, form.read(EndBody, because=form["because"]), visit.serving, caller)
    back = f"/{form['back']}" if re.fullmatch("[0-9a-f]{16}", form["back"]) else ""
    return visit.to(f"/console/analysts{back}?done=ended")
