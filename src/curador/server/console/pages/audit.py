"""Audit: mechanisms of this server tested as black boxes.  No data is read, and nothing is spent."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from curador.audit.tester.named import KINDS
from curador.errors import CuradorError
from curador.server.bodies import MechanismBody
from curador.server.console.forms import Filled, amount, filled, number_text
from curador.server.console.genuine import page_router
from curador.server.console.visit import Visit, Visiting
from curador.server.gate.problems import status_of
from curador.server.gate.refusals import not_found
from curador.server.routes import audits, jobs
from curador.server.service import Overseer
from curador.show.explain import stated_text

router = page_router()

RUNS = (3_000, 30_000, 300_000)
"""How many runs a form offers."""


@router.get("/audit", response_class=Response)
async def audit(visit: Visiting, caller: Overseer) -> Response:
    """The audits of a day, and a form for another."""
    form = Filled({"kind": "integer-laplace", "epsilon": "1", "runs": str(RUNS[1])})
    return _page(visit, form, await jobs.jobs(visit.serving, caller))


def _page(visit: Visit, form: Filled, found: dict[str, Any], status: int = 200) -> Response:
    own = [(one, _claim(visit, one)) for one in reversed(found["jobs"]) if one["kind"] == "audit"]
    runs = [(str(n), f"{n:,}") for n in RUNS]
    kinds = [(kind, visit.say(f"audit.of-{kind}")) for kind in KINDS]
    return visit.page("audit.html", status, form=form, kinds=kinds, runs=runs, found=own)


def _claim(visit: Visit, one: dict[str, Any]) -> str:
    """What a mechanism claims, in the visitor's language."""
    stated = (one["result"] or {}).get("claim")
    return "" if stated is None else stated_text(stated, visit.language)


@router.post("/audit", response_class=Response)
async def begin(visit: Visiting, caller: Overseer) -> Response:
    """Let a mechanism be tested, as a job."""
    form = await filled(visit.request)
    try:
        amount(form["epsilon"], "epsilon")
        epsilon, delta = (number_text(form[name]) for name in ("epsilon", "delta"))
        runs = int(form["runs"]) if form["runs"] in map(str, RUNS) else 0
        body = form.read(MechanismBody, kind=form["kind"], epsilon=epsilon, delta=delta, runs=runs)
        made = await audits.mechanism(body, visit.serving, caller)
    except CuradorError as error:
        place = str(error.facts.get("field", "kind"))
        return _page(visit, form.refused(place, error), await jobs.jobs(visit.serving, caller), status_of(error))
    return visit.to(f"/console/audit/{made['job']}")


@router.get("/audit/{job}", response_class=Response)
async def one(job: jobs.JobId, visit: Visiting, caller: Overseer) -> Response:
    """How far an audit is, and what it found; with htmx only that."""
    found = await jobs.job(job, visit.serving, caller)
    if found["kind"] != "audit":
        raise not_found()
    return visit.page("_audit.html" if visit.partial else "audited.html", one=found, claim=_claim(visit, found))
