"""Tables: what is declared about each, in words; public, and free to read."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from curador.curator.table import described, missing_files
from curador.server.console.genuine import page_router
from curador.server.console.visit import Visit, Visiting
from curador.server.service import Member
from curador.show.describe import Description

router = page_router()


@router.get("/tables", response_class=Response)
async def tables(visit: Visiting, caller: Member) -> Response:
    """Every table's declaration."""
    return await visit.serving.work(lambda: _made(visit, caller.role))


def _made(visit: Visit, role: str) -> Response:
    known = visit.serving.curator.tables
    whole = Description({name: described(table, visit.language) for name, table in known.items()}, (), visit.language)
    gone = missing_files(known)
    shown = [
        {**_table(visit, name, about, whole), "missing": gone.get(name, "")} for name, about in whole.tables.items()
    ]
    may_ask, may_bring = role in ("curator", "analyst"), role == "curator"
    return visit.page("tables.html", tables=shown, may_ask=may_ask, may_bring=may_bring)


def _table(visit: Visit, name: str, about: Any, whole: Description) -> dict[str, Any]:
    said = "tables.public" if about["public"] else f"tables.{about['neighbors']}"
    unit = visit.say("tables.unit-row") if about["unit"] is None else visit.say("tables.unit-id", unit=about["unit"])
    limits = about["contribution"]
    lines = [visit.say(said, unit=unit)]
    if about["size"] is not None:
        lines.append(visit.say("tables.size", n=f"{about['size']:,}"))
    if limits is not None:
        code = "tables.kept" if limits["groups"] is None else "tables.kept-groups"
        lines.append(visit.say(code, rows=limits["rows"], groups=limits["groups"]))
    elif about["unit"] is not None and not about["public"]:
        lines.append(visit.say("tables.kept-none"))
    rows = [(c["name"], visit.say(f"tables.type-{c['type']}"), c["values"]) for c in about["columns"]]
    return {"name": name, "public": about["public"], "lines": lines, "rows": rows}
