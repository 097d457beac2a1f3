"""The declarations of tables: public, and free."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from curador.curator.study.tables import settings_of
from curador.server.gate.refusals import not_found
from curador.server.service import Member, Serving

router = APIRouter(prefix="/v1/tables", tags=["tables"])


@router.get("")
async def tables(serving: Serving, caller: Member) -> dict[str, Any]:
    """Every table with its declarations, as a study file states them, but for where its rows are."""
    found = {name: settings_of(table) for name, table in serving.curator.tables.items()}
    return {"tables": found}


@router.get("/{name}")
async def table(name: str, serving: Serving, caller: Member) -> dict[str, Any]:
    """One table's declarations."""
    known = serving.curator.tables.get(name)
    if known is None:
        raise not_found()
    return settings_of(known)
