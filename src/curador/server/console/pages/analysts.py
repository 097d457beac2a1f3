"""Analysts: budgets given, raised and closed; links and tokens; what each has done.

What is done here cannot be undone, so every form says first what it means.  A budget is raised from what the page
showed: a form that is sent twice, or from an old page, is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from threading import Lock
from typing import Annotated, Any

from fastapi import Path, Response
from markupsafe import Markup

from curador import Access, Balance, Curator, Decision
from curador.curator.naming import ANALYST, normal
from curador.errors import CuradorError, InvalidParameter
from curador.server.access.auth import Caller
from curador.server.access.passwords import signs_in
from curador.server.bodies import EndBody, GrantBody, RevokeBody, TokenBody
from curador.server.console.forms import Filled, amount, filled
from curador.server.console.genuine import page_router
from curador.server.console.pages.overview import day, share
from curador.server.console.sign import START
from curador.server.console.visit import Visit, Visiting
from curador.server.gate.problems import status_of
from curador.server.gate.refusals import not_found, refused
from curador.server.routes import people
from curador.server.service import Holder, Overseer
from curador.show.pages.gauge import gauge
from curador.show.pages.svg import tick_text

router = page_router()

NEWEST = 25
"""Charges that an analyst's page shows; the ledger's page has all."""

KINDS = ("epsilon", "approximate", "rho")
"""In what a new budget is counted."""

Handle = Annotated[str, Path(max_length=16, pattern="^[0-9a-f]+$")]

_RAISING = Lock()


@dataclass(frozen=True)
class AnalystView:
    """An analyst, or a group of analysts, as a row shows them."""

    name: str
    balance: Balance
    charges: int
    group: str
    members: int
    kind: str

    @property
    def handle(self) -> str:
        return handle(self.name)

    @property
    def ends(self) -> str:
        return day(self.balance.expires)

    @property
    def state(self) -> str:
        end = self.balance.expires
        if end is not None and datetime.now(UTC) >= end:
            return "expired"
        return "closed" if self.balance.closed else "open"


def handle(name: str) -> str:
    """What stands for a name in an address: names may have any characters, and addresses are written down.

    >>> handle("ana")
    '24d4b96f58da6d4a'
    """
    return sha256(name.encode()).hexdigest()[:16]


def _tied(curator: Curator) -> dict[str, tuple[str, str]]:
    """The scope of everybody who was given a budget, and whether that is an analyst or a group, by name."""
    found = curator.ledger.registrations()
    return {one.table.removeprefix(ANALYST): (one.scope, one.unit) for one in found if one.table.startswith(ANALYST)}


def names(curator: Curator) -> list[str]:
    """Everybody who was given a budget, in order."""
    return sorted(_tied(curator))


def _views(curator: Curator, tied: Mapping[str, tuple[str, str]]) -> list[AnalystView]:
    ledger, roots = curator.ledger, curator.scopes.roots()
    found = {name: ledger.balance(scope) for name, (scope, _) in sorted(tied.items())}
    above = Counter(balance.parent.scope for balance in found.values() if balance.parent is not None)
    return [
        AnalystView(name, balance, ledger.count(scope), _group(balance, roots), above[scope], kind)
        for name, balance in found.items()
        for scope, kind in (tied[name],)
    ]


def _group(balance: Balance, roots: Sequence[str]) -> str:
    return "" if balance.parent is None or balance.parent.scope in roots else balance.parent.scope


def _named(visit: Visit, address: str) -> AnalystView:
    """The analyst that an address stands for."""
    tied = _tied(visit.serving.curator)
    found = {name: one for name, one in tied.items() if handle(name) == address}
    if not found:
        raise not_found()
    return _views(visit.serving.curator, found)[0]


# ---- pages -----------------------------------------------------------------------------------------------------------


@router.get("/analysts", response_class=Response)
async def analysts(visit: Visiting, caller: Overseer) -> Response:
    """Everybody who has a budget, and everything that opens a door."""
    return await visit.serving.work(lambda: _all(visit, caller))


@router.get("/analysts/{handle}", response_class=Response)
async def analyst(handle: Handle, visit: Visiting, caller: Overseer) -> Response:
    """One analyst: budget, decisions, what was asked, what opens."""
    return await visit.serving.work(lambda: _one(visit, caller, handle))


def _all(
    visit: Visit, caller: Caller, form: Filled | None = None, door: Filled | None = None, status: int = 200
) -> Response:
    curator = visit.serving.curator
    found = _views(curator, _tied(curator))
    return visit.page(
        "analysts.html",
        status,
        analysts=found,
        form=form or Filled({"kind": _usual_kind(curator)}),
        door=door or Filled({"role": "analyst"}),
        kinds=_kinds(visit),
        groups=[
            ("", visit.say("analysts.no-group")),
            *((one.name, one.name) for one in found if one.kind != "analyst"),
        ],
        people=[("", visit.say("analysts.choose")), *((one.name, one.name) for one in found if one.kind != "group")],
        accesses=_doors(visit, curator.ledger.accesses(), caller),
        holder=caller.role == "curator",
    )


def _choice(none: str, names: Iterable[str]) -> list[tuple[str, str]]:
    return [("", none), *((name, name) for name in names)]


def _one(visit: Visit, caller: Caller, address: str, status: int = 200, **forms: Filled) -> Response:
    curator = visit.serving.curator
    found = _named(visit, address)
    state = found.balance.state
    spent = share(state.currency.rule, state.spent, state.ceiling)
    named = visit.say("overview.gauge", percent=tick_text(float(f"{100 * spent:.3g}")))
    return visit.page(
        "analyst.html",
        status,
        one=found,
        gauge=Markup(gauge(spent, named)),
        was=_was(found.balance),
        asks=_asked_for(found.balance),
        charges=list(reversed(curator.history(found.name, last=NEWEST))),
        decisions=[_decided(visit, one) for one in reversed(curator.decisions(found.name)) if one.scope],
        accesses=_doors(visit, [one for one in curator.ledger.accesses() if one.who == found.name], caller),
        holder=caller.role == "curator",
        raising=forms.get("raising", Filled()),
        closing=forms.get("closing", Filled()),
    )


def _decided(visit: Visit, one: Decision) -> tuple[Decision, str, str]:
    said = visit.say(f"ledger.decided-{one.kind}", scope=one.scope)
    return one, said, visit.amount(one.budget) if one.budget else ""


def _kinds(visit: Visit) -> list[tuple[str, str]]:
    return [(kind, visit.say(f"analysts.kind-{kind}")) for kind in KINDS]


def _usual_kind(curator: Curator) -> str:
    """A new budget is counted as the budget above it is, unless another kind is chosen."""
    return _asked_for(curator.budgets()[0])


def _asked_for(balance: Balance) -> str:
    names = balance.budget.to_json()
    return "rho" if "rho" in names else "approximate" if "delta" in names else "epsilon"


def _was(balance: Balance | None) -> str:
    """A budget as a form remembers it."""
    return "" if balance is None else ",".join(map(str, balance.state.ceiling))


# ---- budgets ---------------------------------------------------------------------------------------------------------


@router.post("/analysts", response_class=Response)
async def give_budget(visit: Visiting, caller: Holder) -> Response:
    """Give an analyst, or a group, a budget."""
    form = await filled(visit.request)
    try:
        await _granted(visit, caller, form, form["name"], new=True)
    except CuradorError as error:
        wrong, status = form.refused(_place(error, "name"), error), status_of(error)
        return await visit.serving.work(lambda: _all(visit, caller, form=wrong, status=status))
    return visit.to(f"/console/analysts/{handle(normal(form['name']))}")


@router.post("/analysts/{handle}/raise", response_class=Response)
async def raise_budget(handle: Handle, visit: Visiting, caller: Holder) -> Response:
    """Raise an analyst's budget from what the page showed."""
    form = await filled(visit.request)
    found = await visit.serving.work(lambda: _named(visit, handle))
    try:
        await _granted(visit, caller, form, found.name, new=False)
    except CuradorError as error:
        wrong, status = form.refused(_place(error, ""), error), status_of(error)
        return await visit.serving.work(lambda: _one(visit, caller, handle, status, raising=wrong))
    return visit.to(f"/console/analysts/{handle}")


@router.post("/analysts/{handle}/close", response_class=Response)
async def close_budget(handle: Handle, visit: Visiting, caller: Holder) -> Response:
    """Close an analyst's budget for ever."""
    form = await filled(visit.request)
    found = await visit.serving.work(lambda: _named(visit, handle))
    try:
        if not form["sure"]:
            raise _not_sure()
        if not form["because"].strip():
            raise _no_reason()
        await people.revoke(form.read(RevokeBody, scope=found.name, because=form["because"]), visit.serving, caller)
    except CuradorError as error:
        wrong, status = form.refused(_place(error, "because"), error), status_of(error)
        return await visit.serving.work(lambda: _one(visit, caller, handle, status, closing=wrong))
    return visit.to(f"/console/analysts/{handle}")


async def _granted(visit: Visit, caller: Caller, form: Filled, name: str, *, new: bool) -> None:
    """Grant what a form says, if the budget is still what its page showed."""
    kind = form["kind"] if form["kind"] in KINDS else "epsilon"
    _checked(form, kind)
    if not form["because"].strip():
        raise _no_reason()
    body = form.read(
        GrantBody,
        scope=name.strip(),
        epsilon=form["amount"] if kind != "rho" else None,
        rho=form["amount"] if kind == "rho" else None,
        delta=form["delta"] if kind != "epsilon" else None,
        because=form["because"],
        group=form["group"],
        expires=form["expires"],
    )
    await visit.serving.work(_RAISING.acquire)
    try:
        await visit.serving.work(lambda: _unchanged(visit.serving.curator, name, form["was"], new))
        await people.grant(body, visit.serving, caller)
    finally:
        _RAISING.release()


def _checked(form: Filled, kind: str) -> None:
    """The numbers of a form, each with its own refusal."""
    if form["amount"] or not (kind == "approximate" and form["delta"]):
        amount(form["amount"], "amount")
    if form["delta"] and kind != "epsilon":
        amount(form["delta"], "delta", 1)


def _unchanged(curator: Curator, name: str, was: str, new: bool) -> None:
    """Refuse to give or raise a budget that is not what the page showed: the form was sent before, or is old."""
    scope = curator.scopes.named(name)
    now = curator.ledger.balance(scope) if scope in curator.ledger else None
    if new and now is not None:
        raise refused("This analyst has a budget already.", "Raise it on the analyst's page.", "analyst-exists")
    if new and signs_in(curator.ledger, normal(name.strip())) is not None:
        raise refused("Somebody else signs in by this name.", "Choose another name.", "name-of-login")
    if not new and _was(now) != was:
        raise refused(
            "This budget was changed since the page was opened.",
            "Look at it again before you raise it.",
            "raised-since",
        )


def _place(error: CuradorError, otherwise: str) -> str:
    """The field that a refusal belongs to."""
    by_code = {"not-a-date": "expires", "no-reason": "because", "not-sure": "sure", "raised-since": ""}
    stated = error.facts.get("field")
    place = {"scope": "name", "epsilon": "amount", "rho": "amount"}.get(str(stated), str(stated))
    return place if stated else by_code.get(error.code, otherwise)


def _no_reason() -> CuradorError:
    return refused("A decision needs a reason.", "Say it in a few words: it is kept in the ledger.", "no-reason")


def _not_sure() -> CuradorError:
    return refused("This cannot be undone.", "Tick the box if you mean it.", "not-sure")


# ---- links and tokens ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AccessView:
    """A link, a token or a password as a row shows it."""

    access: Access
    state: str
    own: bool
    sessions: int

    @property
    def ends(self) -> str:
        return day(self.access.expires)


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
        if form["role"] == "analyst" and not who:
            raise InvalidParameter(
                "An analyst's link is for somebody.", fix="Choose the analyst.", facts={"field": "analyst"}
            )
        body = form.read(
            TokenBody,
            role=form["role"],
            analyst=who,
            label=form["label"],
            expires=form["expires"],
            once=form["shape"] == "link",
        )
        _later(body.expires)
        made = await people.new_token(body, visit.serving, caller)
    except CuradorError as error:
        wrong, status = form.refused(_place(error, ""), error), status_of(error)
        return await visit.serving.work(lambda: _all(visit, caller, door=wrong, status=status))
    return visit.page("secret.html", 201, **_secret(visit, form, made, who))


def _later(expires: str | None) -> None:
    end = people.end_of(expires)
    if end is not None and end <= datetime.now(UTC):
        raise InvalidParameter("This would have ended already.", fix="Choose a later day.", facts={"field": "expires"})


def _secret(visit: Visit, form: Filled, made: Mapping[str, Any], who: str | None) -> dict[str, Any]:
    """What was made, as its page shows it; a link begins where the form came from."""
    request = visit.request
    origin = request.headers.get("origin") or f"{request.url.scheme}://{request.headers['host']}"
    link = form["shape"] == "link"
    text = f"{origin}{START}#{made['token']}" if link else made["token"]
    back = "/console/analysts" if who is None else f"/console/analysts/{handle(normal(who))}"
    return {"text": text, "link": link, "who": who or visit.say(f"frame.role-{made['role']}"), "back": back}


@router.post("/analysts/doors/{id}/end", response_class=Response)
async def end_door(id: Handle, visit: Visiting, caller: Holder) -> Response:
    """Let a link, a token or a password open nothing any more."""
    form = await filled(visit.request)
    await people.end_token(id, EndBody(because=form["because"]), visit.serving, caller)
    return visit.to("/console/analysts")
