"""Releases: what was bought, shown again for free with charts, guarantee and receipt; files of it; and public links."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import Path, Query, Response
from markupsafe import Markup

from curador import Curator, Publication, Release
from curador.curator.releases.reporting import publication_report, release_report
from curador.curator.releases.titles import question_title
from curador.curator.table import question_from
from curador.errors import CuradorError, InvalidParameter
from curador.server.access.auth import Caller
from curador.server.access.people import end
from curador.server.console.budgets.asked import asked
from curador.server.console.forms import filled
from curador.server.console.genuine import page_router
from curador.server.console.questions.built import parts_of
from curador.server.console.questions.pricing import CONFIDENCES
from curador.server.console.questions.showing import Showing, budget_of_charge, showing
from curador.server.console.visit import HEADERS, Visit, Visiting
from curador.server.routes import releases as api
from curador.server.routes.releases import Id, LinkBody, opened, public_charges, seen
from curador.server.service import Anyone, Holder
from curador.show.explain import guarantee_text
from curador.show.report.document import ReportPage
from curador.show.report.estimate import left
from curador.show.report.fragments import fragment, shared_notes
from curador.show.report.odds import odds_parts
from curador.show.tables import Cell

router = page_router()

NEWEST = 200
File = Literal["report", "json", "csv", "parquet"]
KINDS = {
    "report": ("html", "text/html; charset=utf-8"),
    "json": ("json", "application/json"),
    "csv": ("csv", "text/csv; charset=utf-8"),
    "parquet": ("parquet", "application/vnd.apache.parquet"),
}
Secret = Annotated[str, Path(max_length=100)]
Chosen = Annotated[str, Query(max_length=200)]


@router.get("/releases", response_class=Response)
async def releases(visit: Visiting, caller: Anyone) -> Response:
    """The newest releases that the caller may see: an analyst's own, a reader's those that are public."""
    return await visit.serving.settled(caller, lambda: _listed(visit, caller))


@router.get("/releases/{id}", response_class=Response)
async def release(id: Id, visit: Visiting, caller: Anyone, bought: Chosen = "") -> Response:
    """One release, from its measurement: sorted, named and with the confidence that the address says; free."""
    shown = await visit.serving.settled(
        caller, lambda: showing(visit, lambda **how: seen(visit.serving.curator, caller, id, **how))
    )
    return await _page(visit, caller, id, shown, bought=bought)


@router.get("/releases/{id}/{kind}", response_class=Response)
async def file(id: Id, kind: File, visit: Visiting, caller: Anyone, name: Chosen = "") -> Response:
    """A release as a file, in the same way."""

    def made() -> Response:
        shown = showing(visit, lambda **how: seen(visit.serving.curator, caller, id, **how))
        if shown.refused is not None:
            raise shown.refused
        return _file(shown.found, visit.serving.curator, kind, name)

    return await visit.serving.settled(caller, made)


@router.post("/releases/{id}/link", response_class=Response)
async def link(id: Id, visit: Visiting, caller: Holder) -> Response:
    """Make a release public; the link is shown once."""
    form = await filled(visit.request)
    made = await api.link(id, LinkBody(label=form["label"][:200]), visit.serving, caller)
    secret = made["link"].rpartition("/")[2]
    shown = await visit.serving.work(
        lambda: showing(visit, lambda **how: seen(visit.serving.curator, caller, id, **how))
    )
    address = f"{str(visit.request.base_url).rstrip('/')}/console/public/{secret}"
    return await _page(visit, caller, id, shown, link=address)


@router.post("/releases/{id}/end", response_class=Response)
async def end_link(id: Id, visit: Visiting, caller: Holder) -> Response:
    """End a public link."""
    form = await filled(visit.request)
    curator = visit.serving.curator

    def ended() -> None:
        if form["link"] in {one.id for one in curator.ledger.accesses() if one.charge == id}:
            end(curator, form["link"], "ended on the page of the release")

    await visit.serving.work(ended)
    return visit.to(f"/console/releases/{id}")


@router.get("/public/{secret}", response_class=Response)
async def public(secret: Secret, visit: Visiting) -> Response:
    """A release for whoever has its link, without signing in."""

    def made() -> Response:
        found = opened(visit.serving.curator, secret, language=visit.language)
        shown, base = _shown(visit, found, found), f"/console/public/{secret}"
        return visit.page("public.html", **shown, base=base, query="", showing=None)

    return await visit.serving.for_strangers(made)


@router.get("/public/{secret}/{kind}", response_class=Response)
async def public_file(secret: Secret, kind: File, visit: Visiting, name: Chosen = "") -> Response:
    """A public release as a file."""
    curator = visit.serving.curator
    return await visit.serving.for_strangers(
        lambda: _file(opened(curator, secret, language=visit.language), curator, kind, name)
    )


# ---- the list --------------------------------------------------------------------------------------------------------


def _listed(visit: Visit, caller: Caller) -> Response:
    curator = visit.serving.curator
    public = public_charges(curator)
    open_ones = {one.id for one in public}
    others = set[str]()
    if caller.role == "reader":
        charges = public
    else:
        found = curator.received(caller.who, last=NEWEST)
        charges = [one for one in found if one.settled and "training" not in one.note]  # models have pages of their own
        others = open_ones - {one.id for one in found} if caller.role == "analyst" else set()
        charges = sorted([*charges, *map(curator.ledger.charge, others)], key=lambda one: int(one.id))
    rows: list[dict[str, Cell]] = [
        {
            "id": one.id,
            "asked": asked(one, visit.language),
            "at": one.at[:16].replace("T", " "),
            "who": one.receiver or visit.say("releases.holder"),
            "cost": "" if one.guarantee is None else guarantee_text(one.guarantee, visit.language),
            "public": one.id in open_ones,
            "others": one.id in others,
        }
        for one in reversed(charges)
    ]
    return visit.page(
        "releases.html",
        rows=rows,
        whose=caller.role in ("curator", "auditor"),
        links_shown=caller.role in ("curator", "auditor"),
        reader=caller.role == "reader",
    )


# ---- one release -----------------------------------------------------------------------------------------------------


async def _page(visit: Visit, caller: Caller, id: str, shown: Showing, *, link: str = "", bought: str = "") -> Response:
    curator, found = visit.serving.curator, shown.found
    buys = caller.role in ("curator", "analyst")

    def made() -> Response:
        links = [one for one in curator.ledger.accesses() if one.charge == id and not one.ended]
        return visit.page(
            "release.html",
            **_shown(visit, found, shown.plain),
            base=f"/console/releases/{id}",
            query=shown.query,
            showing=shown,
            again=(_again(found, curator) or _again(shown.plain, curator)) if buys else "",
            may_link=caller.role == "curator",
            public_links=[(one.id, one.label) for one in links] if caller.role == "curator" else [],
            link=link,
            bought=bought if bought in ("now", "again") and buys else "",
            paid=guarantee_text(found.guarantee, visit.language),
            remaining=left(visit.serving.remaining(caller), visit.language) if bought and buys else (),
            confidences=CONFIDENCES,
        )

    return await visit.serving.work(made)


def _shown(visit: Visit, found: Release | Publication, plain: Release | Publication) -> dict[str, Any]:
    """The parts of a release that any page of it shows; ``plain`` is the same as it was asked."""
    several = found if isinstance(found, Publication) else None
    parts = (
        [("", found)] if isinstance(found, Release) else [(found.title(n), one) for n, one in found.releases.items()]
    )
    protects = list(dict.fromkeys((one.unit, one.neighbors) for _, one in parts))
    title = "" if several is None else str(several.words.get("title", ""))
    tight = None if several is None else several.tight
    question = _question(plain) if isinstance(plain, Release) else None
    renamed = _question(found) if isinstance(found, Release) else None
    known = shared_notes([one for _, one in parts])
    pieces = [(heading, fragment(one)) for heading, one in parts]
    beside = {text for _, one in pieces for text in one.notes} - set(known)
    promise, attack = odds_parts(found.guarantee, tight, protects, visit.language)
    named = question_title(question, visit.language) if question else visit.say("releases.one", id=found.charge)
    read = (x for _, one in parts if (each := _question(one)) is not None for x in each.reads)
    return {
        "found": found,
        "single": several is None,
        "title": title or named,
        "parts_shown": [(heading, Markup(one.answer(known))) for heading, one in pieces],
        "names": [] if several is None else list(several.releases),
        "confidence": f"{parts[0][1].confidence:g}",
        "notes": [x for x in dict.fromkeys(text for _, one in parts for text in one.notes) if x not in beside],
        "promise": Markup(promise),
        "attack": Markup(attack),
        "statement": found.statement(),
        "asked": _sql((renamed, question), visit.serving.curator) if question else "",
        "at": parts[0][1].at[:16].replace("T", " "),
        "sources": list(dict.fromkeys(read)),
    }


def _question(found: Release) -> Any:
    """The question of a release; how well a table's rows fit is several, and says below what it is."""
    return None if not found.question or "quality" in found.question else question_from(found.question)


def _sql(questions: Iterable[Any], curator: Curator) -> str:
    """The first of these questions that has an SQL that is certain, as SQL; else the last in our own words.

    A group that got another name has none, and is then shown as it was asked.
    """
    asked = None
    for asked in questions:
        try:
            plain = asked if asked.limit is not None else replace(asked, order_by=())  # sorted here, for free
            parts = parts_of(plain.to_json(), curator.tables)
            if parts is not None:
                return parts.sql(curator.tables)
        except (CuradorError, KeyError, TypeError, ValueError):
            continue
    return "" if asked is None else str(asked.summary)


def _again(found: Release | Publication, curator: Curator) -> str:
    """The address that asks the same again in another form; nothing where the question has no SQL that is certain."""
    if not isinstance(found, Release):
        return ""
    try:
        asked = replace(question_from(found.question), order_by=(), limit=None)
        parts = parts_of(asked.to_json(), curator.tables)
        if parts is None:
            return ""
        paid = budget_of_charge(curator, found.charge)
        how = {"sql": parts.sql(curator.tables), **paid, "confidence": f"{found.confidence:g}"}
        return f"/console/ask?{urlencode(how)}"
    except (CuradorError, KeyError, TypeError, ValueError):
        return ""


# ---- files -----------------------------------------------------------------------------------------------------------


def _file(found: Release | Publication, curator: Curator, kind: str, name: str) -> Response:
    one: Release | Publication = found
    if isinstance(found, Publication) and kind in ("csv", "parquet"):
        one = found[name] if name in found.releases else found[next(iter(found))]
    writers: dict[str, Callable[[], bytes]] = {
        "report": lambda: _report(found, curator).html.encode(),
        "json": lambda: (one.to_json() + "\n").encode(),
        "csv": lambda: one.to_csv().encode() if isinstance(one, Release) else b"",
        "parquet": lambda: _parquet(one) if isinstance(one, Release) else b"",
    }
    ending, media = KINDS[kind]
    part = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") if one is not found else ""
    shown = f"release-{found.charge}" + (f"-{part}" if part else "")
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{shown}.{ending}"'}
    return Response(writers[kind](), media_type=media, headers=headers)


def _report(found: Release | Publication, curator: Curator) -> ReportPage:
    """The report, which calls the JSON file as this page does, and shows the question as SQL where it can."""
    file = f"release-{found.charge}.json"
    if isinstance(found, Publication):
        return publication_report(found, file=file)
    asked = _sql([question_from(found.question)], curator) if found.question else ""
    return release_report(found, file=file, asked=asked)


def _parquet(found: Release) -> bytes:
    try:
        write = import_module("pyarrow.parquet").write_table
    except ImportError:
        raise InvalidParameter(
            "pyarrow is not installed on the server, which writes Parquet.", fix="Take CSV or JSON.", code="no-parquet"
        ) from None
    out = io.BytesIO()
    write(found.to_arrow(), out)
    return out.getvalue()
