"""What was bought, shown again from the ledger; and public links to it."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import JSONResponse
from pydantic import Field

from curador import Access, Charge, Curator, Publication, Release
from curador.curator.releases.recall import recall
from curador.errors import InvalidParameter
from curador.server.access.auth import Caller, digest, give
from curador.server.bodies import Body, example
from curador.server.gate.refusals import not_found
from curador.server.service import Anyone, Holder, Member, Serving
from curador.server.shown import charge

router = APIRouter(prefix="/v1", tags=["releases"])

Id = Annotated[str, Path(max_length=20, pattern="^[0-9]+$")]


class LinkBody(Body):
    """A public link to a release, with a label for whoever made it."""

    model_config = example(label="for the newspaper")

    label: Annotated[str, Field(max_length=200)] = ""


@router.get("/releases")
async def releases(serving: Serving, caller: Member) -> dict[str, Any]:
    """The newest purchases that have an answer; an analyst's own."""
    found = await serving.settled(caller, lambda: serving.curator.received(caller.who, last=200))
    return {"releases": [charge(one, caller.who is not None) for one in found if one.settled]}


@router.get("/releases/{id}")
async def release(id: Id, serving: Serving, caller: Anyone) -> dict[str, Any]:
    """A release again, from its measurement: free; an analyst's own, a reader's if it is public."""

    def made() -> Any:
        return JSONResponse(seen(serving.curator, caller, id).to_dict())

    found: dict[str, Any] = await serving.settled(caller, made)
    return found


@router.post("/releases/{id}/link", status_code=201)
async def link(id: Id, body: LinkBody, serving: Serving, caller: Holder) -> dict[str, Any]:
    """Make a release public: whoever has the link reads it, without a token."""

    def made() -> str:
        _recalled(serving.curator, id)
        return give(serving.curator.ledger, Access("", "reader", label=body.label, charge=id))

    return {"link": f"/v1/public/{await serving.work(made)}"}


@router.get("/public")
async def published(serving: Serving, caller: Anyone) -> dict[str, Any]:
    """The ids of releases that were made public."""
    found = await serving.work(lambda: public_ids(serving.curator))
    return {"releases": sorted(found, key=int)}


@router.get("/public/{link}")
async def public(link: Annotated[str, Path(max_length=100)], serving: Serving) -> dict[str, Any]:
    """A release that was made public."""

    def made() -> Any:
        return JSONResponse(opened(serving.curator, link).to_dict())

    found: dict[str, Any] = await serving.for_strangers(made)
    return found


def seen(curator: Curator, caller: Caller, id: str, **how: Any) -> Release | Publication:
    """A release that this caller may see: an analyst's own, and what is public; shown as ``recall`` can."""
    if caller.role == "reader" and id not in public_ids(curator):
        raise not_found()
    own = recall(curator, id, caller.who, **how)
    if own is None and caller.role == "analyst" and id in public_ids(curator):
        return _recalled(curator, id, **how)  # as whoever has its link
    if own is None:
        raise not_found()
    return own


def opened(curator: Curator, link: str, **how: Any) -> Release | Publication:
    """The release that a public link is for."""
    known = curator.ledger.access(digest(link))
    if known is None or known.ended or not known.charge:
        raise not_found()
    try:
        return _recalled(curator, known.charge, **how)
    except InvalidParameter as error:
        if error.code != "not-recalled":
            raise
    raise InvalidParameter(  # whoever reads it cannot ask, so what asking costs is not theirs to hear
        "What this link is for cannot be shown any more.",
        fix="Ask whoever gave it to you for its report.",
        code="not-shown",
    )


def public_charges(curator: Curator) -> list[Charge]:
    """The charges whose releases were made public, oldest first.

    Of a ledger that was restored, without those that it has forgotten: it knows their links, by its anchor.
    """
    found: dict[int, Charge] = {}
    for one in curator.ledger.accesses():
        if one.charge and not one.ended:
            with suppress(InvalidParameter):
                found[int(one.charge)] = curator.ledger.charge(one.charge)
    return [found[number] for number in sorted(found)]


def public_ids(curator: Curator) -> set[str]:
    """The ids of these charges."""
    return {one.id for one in public_charges(curator)}


def _recalled(curator: Curator, id: str, analyst: str | None = None, **how: Any) -> Release | Publication:
    found = recall(curator, id, analyst, **how)
    if found is None:
        raise not_found()
    return found
