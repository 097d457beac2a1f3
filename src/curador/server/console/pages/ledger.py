"""The ledger: charges by filter and page, one charge in detail, decisions, verification, export."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Path, Query, Response

from curador import Charge, Curator
from curador.errors import CuradorError, InvalidParameter
from curador.server.console.budgets.asked import asked
from curador.server.console.budgets.decided import decided, whose
from curador.server.console.forms import Filled
from curador.server.console.genuine import page_router
from curador.server.console.navigation import routers
from curador.server.console.pages.analysts import names
from curador.server.console.visit import HEADERS, Visit, Visiting
from curador.server.gate.problems import kept, status_of
from curador.server.gate.refusals import not_found
from curador.server.routes import jobs, ledgers
from curador.server.service import Overseer
from curador.server.shown import charge as plain
from curador.show.tables import csv_text

router = page_router()

PAGE = 1000
"""Charges that are read at a time."""

SHOWN = 50
"""Charges on a page."""

EXPORTED = 100_000
"""Charges of one file."""

LOOKED = 50 * PAGE
"""Charges that are looked through for one page; what lies further back is a click away."""

Id = Annotated[str, Path(max_length=18, pattern="^[0-9]+$")]
Short = Annotated[str, Query(max_length=200)]
Day = Annotated[str, Query(max_length=10)]
Place = Annotated[str, Query(max_length=60, pattern=r"^(\d{1,18}\.\d{1,18}\.\d{1,4})?$")]


@dataclass(frozen=True)
class ChargeFilter:
    """Which charges are shown: of an analyst, about a table, between two days."""

    who: str = ""
    table: str = ""
    since: str = ""
    until: str = ""

    @property
    def scope(self) -> str | None:
        return self.who or self.table or None

    def address(self, **more: str) -> str:
        """The same wish as the end of an address."""
        stated = {name: value for name, value in {**self.__dict__, **more}.items() if value}
        return f"?{urlencode(stated)}" if stated else ""

    def checked(self, curator: Curator) -> ChargeFilter:
        """Refused, with the field, where a name or a day is none."""
        if self.who and curator.scopes.named(self.who) not in curator.ledger:
            raise _wrong("who", "Nobody of this name has a budget.", "Choose a name of the list.")
        if self.table and (self.table not in curator.tables or curator.tables[self.table].public):
            raise _wrong("table", "No private table has this name.", "Choose one of the list.")
        for field in ("since", "until"):
            if (given := getattr(self, field)) and not _is_day(given):
                raise _wrong(field, "This is not a day.", "Write it as 2026-12-31.")
        return self


def _is_day(text: str) -> bool:
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", text)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _wrong(field: str, what: str, fix: str) -> CuradorError:
    return InvalidParameter(what, fix=fix, code=f"filter-{field}", facts={"field": field})


# ---- what is found ---------------------------------------------------------------------------------------------------


def charges(curator: Curator, wanted: ChargeFilter, before: Charge | None = None) -> Iterator[Charge | None]:
    """The charges that are wanted, newest first; at the end None if there may be more further back."""
    about = set(curator.scopes.ever(wanted.table)) if wanted.who and wanted.table else None
    for _ in range(LOOKED // PAGE):
        page = curator.history(wanted.scope, last=PAGE, before=before)
        for one in reversed(page):
            day = one.at[:10]
            if wanted.since and day < wanted.since:
                return
            if (not wanted.until or day <= wanted.until) and (about is None or not about.isdisjoint(one.scopes)):
                yield one
        if len(page) < PAGE:
            return
        before = page[0]
    yield None


def _place(curator: Curator, wanted: ChargeFilter, one: Charge) -> str:
    """Where a page ends, so that the next begins there."""
    ever = () if wanted.scope is None else curator.scopes.ever(wanted.scope)
    number = next((k for k, scope in enumerate(ever) if scope in one.scopes), 0)
    return f"{one.id}.{one.entry}.{number}"


def _after(curator: Curator, wanted: ChargeFilter, place: str) -> Charge | None:
    if not place:
        return None
    id, entry, number = place.split(".")
    found = replace(curator.ledger.charge(id), entry=int(entry))
    if wanted.scope is None:
        return found
    ever = curator.scopes.ever(wanted.scope)
    return replace(found, scopes=(ever[min(int(number), len(ever) - 1)],))


# ---- pages -----------------------------------------------------------------------------------------------------------


@router.get("/ledger", response_class=Response)
async def ledger(
    visit: Visiting,
    caller: Overseer,
    who: Short = "",
    table: Short = "",
    since: Day = "",
    until: Day = "",
    before: Place = "",
) -> Response:
    """Charges, newest first, as they are wanted."""
    wanted = ChargeFilter(who.strip(), table, since, until)
    return await visit.serving.work(lambda: _listed(visit, wanted, before))


def _listed(visit: Visit, wanted: ChargeFilter, before: str, found_job: Mapping[str, Any] | None = None) -> Response:
    curator = visit.serving.curator
    form, found, status, more = Filled(wanted.__dict__), list[Charge](), 200, ""
    try:
        wanted.checked(curator)
        start = _after(curator, wanted, before)
        for one in charges(curator, wanted, start):
            if one is None or len(found) == SHOWN:
                more = _place(curator, wanted, found[-1]) if found else ""
                break
            found.append(one)
    except CuradorError as error:
        form, status = form.refused(str(error.facts.get("field", "")), error), status_of(error)
    return visit.page(
        "ledger.html",
        status,
        form=form,
        wanted=wanted,
        asked=asked,
        charges=found,
        older=wanted.address(before=more) if more else "",
        newest=wanted.address() if before else "",
        first=not before,
        count=curator.charge_count(),
        people=names(curator),
        pairs=[(name, name) for name, table in curator.tables.items() if not table.public],
        decisions=[decided(visit, one) for one in reversed(curator.decisions()[-SHOWN:])],
        verified=found_job,
        failure=_failure(found_job),
    )


@router.post("/ledger/verify", response_class=Response)
async def verify(visit: Visiting, caller: Overseer) -> Response:
    """Let the whole ledger be read again, as a job."""
    job = (await ledgers.verify(visit.serving, caller))["job"]
    return visit.to(f"/console/ledger/verified/{job}")


@router.get("/ledger/verified/{job}", response_class=Response)
async def verified(job: jobs.JobId, visit: Visiting, caller: Overseer) -> Response:
    """How far the verification is, and what it found; with htmx only that."""
    found = await jobs.job(job, visit.serving, caller)
    if found["kind"] != "verify":
        raise not_found()
    if visit.partial:
        return visit.page("_verified.html", verified=found, failure=_failure(found))
    return await visit.serving.work(lambda: _listed(visit, ChargeFilter(), "", found))


def _failure(found: Mapping[str, Any] | None) -> CuradorError | None:
    """The refusal with which a job ended, from the document that is kept of it."""
    said = None if found is None else found["error"]
    return None if said is None else kept(said)


@router.get("/ledger/export", response_class=Response)
async def export(
    visit: Visiting,
    caller: Overseer,
    who: Short = "",
    table: Short = "",
    since: Day = "",
    until: Day = "",
    form: Annotated[str, Query(pattern="^(csv|json)$")] = "csv",
) -> Response:
    """The wanted charges as a file; a text that a spreadsheet would run as a formula is made inert."""
    wanted = ChargeFilter(who, table, since, until)

    def made() -> str:
        curator = visit.serving.curator
        wanted.checked(curator)
        found = [one for one, _ in zip(charges(curator, wanted), range(EXPORTED), strict=False) if one is not None]
        return _csv(found) if form == "csv" else json.dumps([plain(one, own=False) for one in found], indent=1)

    content = await visit.serving.work(made)
    kept = {**HEADERS, "Content-Disposition": f'attachment; filename="ledger.{form}"'}
    media = "text/csv; charset=utf-8" if form == "csv" else "application/json"
    return Response(content, media_type=media, headers=kept)


def _csv(found: list[Charge]) -> str:
    columns: dict[str, list[Any]] = {
        "charge": [int(one.id) for one in found],
        "at": [one.at for one in found],
        "receiver": [one.receiver or "" for one in found],
        "scopes": [", ".join(one.scopes) for one in found],
        "guarantee": ["" if one.guarantee is None else one.guarantee.label for one in found],
        "asked": [one.asked for one in found],
        "because": [str(one.note.get("because", "")) for one in found],
        "answered": [one.settled for one in found],
        "repeated": [one.repeated for one in found],
        "event": [json.dumps(one.event.to_json()) for one in found],
    }
    return csv_text(columns)


@router.get("/ledger/{id}", response_class=Response)
async def charge(id: Id, visit: Visiting, caller: Overseer) -> Response:
    """One charge: what was asked and why, the event, and what it cost in each scope."""

    def made() -> Response:
        curator = visit.serving.curator
        try:
            found = curator.ledger.charge(id)
        except InvalidParameter as error:
            raise not_found() if error.code == "charge-unknown" else error from None
        return visit.page(
            "charge.html",
            asked=asked,
            one=found,
            because=found.note.get("because", ""),
            costs=[
                (whose(visit, scope), _cost(visit, scope, cost))
                for scope, cost in zip(found.scopes, found.costs, strict=True)
            ],
            event=json.dumps(found.event.to_json(), indent=2),
            place="models" if "training" in found.note else "releases",
            release=found.settled and "releases" in routers(),
        )

    return await visit.serving.work(made)


def _cost(visit: Visit, scope: str, cost: tuple[int, ...]) -> str:
    """What a scope was charged, in its own currency, with every digit."""
    currency = visit.serving.curator.ledger.balance(scope).state.currency
    numbers = zip(currency.names, cost, currency.units, strict=False)
    return ", ".join(f"{_number(visit, name)} {_exact(x, unit)}" for name, x, unit in numbers if x or name != "delta")


def _number(visit: Visit, name: str) -> str:
    """What a number of a currency is called: epsilon, delta, rho, or a Rényi order."""
    order = name.removeprefix("order ")
    return visit.say(name) if order == name else visit.say("ledger.order", order=order)


def _exact(amount: int, unit: int) -> str:
    """Every digit of a cost, which is a whole number of a decimal unit: so many make 1.

    >>> _exact(50_000_000_000, 10**12), _exact(2 * 10**12, 10**12), _exact(10**12, 10**18)
    ('0.05', '2', '1e-6')
    """
    found = (Decimal(amount) / Decimal(unit)).normalize()
    return f"{found:f}" if found == 0 or found >= Decimal("0.0001") else f"{found:e}"
