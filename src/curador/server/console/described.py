"""The HTTP interface as a page at `/docs`, for anybody: made of the description that programs read."""

from __future__ import annotations

import re

from fastapi import APIRouter, Response
from markupsafe import Markup, escape

from curador.server.console.visit import Visiting
from curador.server.reference import Listed, answers, sections

router = APIRouter(include_in_schema=False)


@router.get("/docs", response_class=Response)
async def docs(visit: Visiting) -> Response:
    """Every route, what it takes and what it answers."""
    described = visit.request.app.openapi()
    lead = described["info"]["description"].split("\n\n")[:-1]  # the last one says where this page is
    shown = {"at": visit.request.app.openapi_url, "lead": lead, "coded": coded, "cells": cells}
    return visit.page("docs.html", sections=sections(described), answers=answers(described), **shown)


def cells(fields: Listed) -> list[list[str]]:
    """The rows of a table of fields, without the marks of code."""
    return [[cell.replace("`", "") for cell in row] for row in fields.rows]


def coded(text: str) -> Markup:
    """A text of the description, with what stands between backticks as code.

    >>> coded("With `a<b`: free.")
    Markup('With <code>a&lt;b</code>: free.')
    """
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))
