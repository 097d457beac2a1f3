"""Ask: a question as SQL or built by pointing, its price and its error before it is paid, and then the answer.

Only the button that says so pays, and the form holds a key: sent twice, it buys once.  Everything else is free.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Annotated, Any

from fastapi import Query, Response
from markupsafe import Markup

from curador.errors import CuradorError
from curador.server.access.auth import Caller
from curador.server.bodies import AskBody, QuestionBody
from curador.server.console.forms import Filled, filled, read_as
from curador.server.console.genuine import page_router
from curador.server.console.questions.built import (
    COMPARISONS,
    FILTERS,
    FUNCTIONS,
    GROUPS,
    MEASURES,
    TESTS,
    Built,
    built_of,
    fitting,
    in_ranges,
    listed_values,
    read_parts,
)
from curador.server.console.questions.code import EXAMPLES, code_of
from curador.server.console.questions.owned import owned
from curador.server.console.questions.pricing import CONFIDENCES, affordable, left_of, place_of, priced
from curador.server.console.questions.ranges import ranged
from curador.server.console.questions.stage import drawable, drawn, rehearsed, rows_of
from curador.server.console.visit import Visit, Visiting
from curador.server.gate.problems import status_of
from curador.server.routes import asking
from curador.server.service import Buyer, sent
from curador.show.report.estimate import estimated, left_text

router = page_router()

USUAL = {"confidence": "0.95", "by": "epsilon"}
MANY_GROUPS = 50
"""So many groups are worth a word: each of them has the whole error."""
LARGEST = 1.0
"""The largest epsilon of the slider; more can be typed, with a reason."""
NO_LIST = ("group-by-real", "needs-delta", "delta-not-granted")
"""Refusals of groups that no list of values is public for."""
VAGUE = ("nothing-learned", "nothing-learned-in")
"""Notes that say that an answer says next to nothing."""
CHANGED = {"HX-Trigger": "question-changed"}
"""Tells the estimate that there is another question now."""


@router.get("/ask", response_class=Response)
async def ask(
    visit: Visiting,
    caller: Buyer,
    table: Annotated[str, Query(max_length=200)] = "",
    sql: Annotated[str, Query(max_length=20_000)] = "",
    epsilon: Annotated[str, Query(max_length=60)] = "",
    delta: Annotated[str, Query(max_length=60)] = "",
    confidence: Annotated[str, Query(max_length=60)] = "",
) -> Response:
    """An empty form, or one that a link filled in."""
    tables = visit.serving.curator.tables
    private = [name for name, one in tables.items() if not one.public]
    chosen = table if table in tables else next(iter(private), "")
    built: Built | None = Built(chosen) if chosen else None
    if sql:
        built = await _read(visit, caller, sql)
    text = sql or (built.sql(tables) if built else "")
    left = await visit.serving.work(lambda: visit.serving.remaining(caller))
    given = {"epsilon": epsilon or affordable(left), "delta": delta, "confidence": confidence}
    form = Filled({**USUAL, "sql": text, "table": chosen} | {name: x for name, x in given.items() if x})
    return await _page(visit, caller, form, built)


@router.post("/ask", response_class=Response)
async def pay(visit: Visiting, caller: Buyer) -> Response:
    """Pay for the question and show its release; or do one of the free things that other buttons of the form say."""
    form = await filled(visit.request)
    if form["do"] in ("build", "restart") or (form["do"] != "read" and _chosen_since(visit, form)):
        return await build(visit, caller)
    if form["do"] in ("read", "estimate"):
        return await _page(visit, caller, form, await _read(visit, caller, form["sql"]))
    terms = {"because": form["because"], "override": form["override"] == "yes", "key": form["key"]}
    terms["anyway"] = form["do"] == "anyway"
    try:
        body = priced(form, AskBody, visit.language, **terms)
        found = sent(await asking.ask(body, visit.serving, caller))
    except CuradorError as error:
        built = await _read(visit, caller, form["sql"])
        return await _page(visit, caller, form.refused(place_of(error), error), built, status_of(error))
    shown = "" if body.confidence == 0.95 else f"&confidence={body.confidence:g}"
    return visit.to(f"/console/releases/{found['charge']}?bought={'again' if found['repeated'] else 'now'}{shown}")


@router.post("/ask/build", response_class=Response)
async def build(visit: Visiting, caller: Buyer) -> Response:
    """The parts of the builder as SQL; without what is still missing there is none, and nothing to pay for."""
    form, tables = await filled(visit.request), visit.serving.curator.tables
    parts = read_parts(form.values).within(tables)
    if form["do"] == "restart":
        parts = Built(next((name for name, one in tables.items() if not one.public), ""))
    try:
        form = Filled({**form.values, "sql": parts.sql(tables)})
    except CuradorError as error:
        form = Filled({**form.values, "sql": ""}).refused(place_of(error), error)
    if visit.partial:
        return visit.page("_ask_question.html", headers=CHANGED, **_question(visit, form, parts))
    return await _page(visit, caller, form, parts)


@router.post("/ask/read", response_class=Response)
async def read(visit: Visiting, caller: Buyer) -> Response:
    """The SQL as parts of the builder, where it fits."""
    form = await filled(visit.request)
    parts = await _read(visit, caller, form["sql"])
    return visit.page("_ask_builder.html", **_question(visit, form, parts))


@router.post("/ask/estimate", response_class=Response)
async def estimate(visit: Visiting, caller: Buyer) -> Response:
    """What the answer would cost and how wrong it would be; free."""
    form = await filled(visit.request)
    return visit.page("_ask_estimate.html", **await _estimate(visit, caller, form))


@router.post("/ask/rehearsal", response_class=Response)
async def rehearsal(visit: Visiting, caller: Buyer) -> Response:
    """What such an answer looks like, on made-up rows; free."""
    form = await filled(visit.request)
    return visit.page("_ask_rehearsal.html", **await _rehearsal(visit, caller, form))


# ---- parts of the page -----------------------------------------------------------------------------------------------


async def _page(visit: Visit, caller: Caller, form: Filled, built: Built | None, status: int = 200) -> Response:
    found = await _estimate(visit, caller, form)
    tried = await _rehearsal(visit, caller, form) if form["do"] == "estimate" else {"rehearsal": None, "vague": ""}
    names, left = visit.serving.curator.tables, left_of(found["remaining"])
    words = json.dumps(
        {
            "tables": {name: list(table.columns) for name, table in names.items()},
            "functions": sorted({text.partition("(")[0] for text in FUNCTIONS.values()}),
            "keywords": [
                "SELECT",
                "FROM",
                "WHERE",
                "GROUP BY",
                "ORDER BY",
                "HAVING",
                "AND",
                "OR",
                "NOT",
                "AS",
                "LIMIT",
            ],
        }
    )
    return visit.page(
        "ask.html",
        status,
        **{**_question(visit, form, built), **found, **tried},
        key=visit.key(),
        words=words,
        confidences=CONFIDENCES,
        slider=_slider(left),
    )


def _slider(left: float) -> dict[str, Any] | None:
    """The ends of the slider, which is logarithmic: a hundredth of a reach to all of it, or to what remains.

    None where nothing remains.
    """
    most = min(left, LARGEST)
    if not most > 0:
        return None
    high = math.floor(100 * math.log10(most))
    return {
        "low": high - 200,
        "high": high,
        "least": f"{Decimal(f'{10 ** (high / 100 - 2):.1g}'):f}",
        "most": left_text(most),
        "exact": left_text(most, 9),
        "all": left <= LARGEST,
    }


def _over(visit: Visit, caller: Caller, left: float) -> str:
    """Why nothing can be bought any more, if that is so: the budget was closed, or it is spent."""
    if caller.who is not None and visit.serving.curator.budget(caller.who).closed:
        return "closed"
    return "" if left > 0 else "spent"


def _question(visit: Visit, form: Filled, built: Built | None) -> dict[str, Any]:
    tables = visit.serving.curator.tables
    table = tables.get(built.table) if built else None
    return {
        "form": form,
        "built": built,
        "shown": _written(built, visit) if built else "",
        "tables": [name for name, one in tables.items() if not one.public],
        "columns": list(table.columns) if table else [],
        "ranged": [name for name in table.columns if ranged(name, table)] if table else [],
        "fit": [fitting(m.function, table) for m in built.measures] if built and table else [],
        "listed": [listed_values(f.column, table) for f in built.filters] if built and table else [],
        "functions": list(FUNCTIONS),
        "examples": EXAMPLES,
        "comparisons": (*COMPARISONS, *TESTS),
        "places": {"where": range(FILTERS), "by": range(GROUPS), "measure": range(MEASURES)},
    }


def _written(parts: Built, visit: Visit) -> str:
    """The parts as SQL; nothing where some are missing."""
    try:
        return parts.sql(visit.serving.curator.tables)
    except CuradorError:
        return ""


def _chosen_since(visit: Visit, form: Filled) -> bool:
    """Whether a choice was changed and is not in the SQL yet: what would be priced or paid is not what is seen."""
    if "shown" not in form.values:
        return False
    now = _written(read_parts(form.values).within(visit.serving.curator.tables), visit)
    return now != form["shown"].replace("\r\n", "\n")


async def _read(visit: Visit, caller: Caller, sql: str) -> Built | None:
    """The parts of a text; None where it does not fit, cannot be read or takes too long: then the estimate says why."""
    try:
        return await visit.serving.plan(caller, lambda: built_of(sql, visit.serving.curator.tables))
    except CuradorError:
        return None


def _explained(visit: Visit, caller: Caller, body: QuestionBody) -> dict[str, Any]:
    found = asking.explained(body, visit.serving, caller).to_dict()
    return {**found, "remaining": visit.serving.remaining(caller)}


async def _ranges(visit: Visit, caller: Caller, sql: str, refused: CuradorError) -> str:
    """A question whose groups have no public list, by ranges that have one; nothing where there is no such question."""
    if refused.code not in NO_LIST:
        return ""
    try:
        return await visit.serving.plan(caller, lambda: in_ranges(sql, visit.serving.curator.tables))
    except CuradorError:
        return ""


async def _estimate(visit: Visit, caller: Caller, form: Filled) -> dict[str, Any]:
    serving = visit.serving
    left = await serving.work(lambda: serving.remaining(caller))
    over = await serving.work(lambda: _over(visit, caller, left_of(left)))
    always = {"form": form, "remaining": left, "over": over}
    try:
        body = priced(form, QuestionBody, visit.language)
        found = await serving.plan(caller, lambda: _explained(visit, caller, body))
        fits = sent(await asking.how_many(body, serving, caller))["fits"]
        made = await serving.plan(caller, lambda: estimated(found, fits, visit.language))
        theirs = await serving.plan(caller, lambda: owned(visit, caller, body, found))
    except CuradorError as error:
        nothing: dict[str, Any] = {
            "estimate": None,
            "code": None,
            "odds": "",
            "payable": False,
            "many": 0,
            "owned": [],
        }
        ranges = await _ranges(visit, caller, form["sql"], error)
        return {**always, **nothing, "refused": error, "ranges": ranges, "vague": ""}
    return {
        **always,
        "estimate": made,
        "odds": Markup(made.odds),
        "payable": made.free or fits != 0,
        "many": found["keys"] if (found["keys"] or 0) >= MANY_GROUPS else 0,
        "refused": None,
        "owned": theirs,
        "code": code_of(body, str(visit.request.base_url).rstrip("/"), form["because"], anyway=bool(made.undeclared)),
        "read_as": read_as(form["error"]) if form["by"] == "error" else "",
    }


async def _rehearsal(visit: Visit, caller: Caller, form: Filled) -> dict[str, Any]:
    serving = visit.serving
    nothing = {"rehearsal": Markup(""), "rows": "", "each": "", "vague": ""}
    try:
        body = priced(form, QuestionBody, visit.language)
        found = await serving.plan(caller, lambda: _explained(visit, caller, body))
        if not drawable([found]):
            return nothing
        groups = max(found["keys"] or 1, 1)
        rows = rows_of(serving.curator, body.rows and body.rows * groups)
        made = await serving.rehearse(
            lambda: rehearsed(serving.curator, rows, lambda stage: asking.rehearse(stage, body))
        )
        shown = await serving.work(lambda: drawn(made, visit.language))
    except CuradorError:
        return nothing
    each = f"{rows // groups:,}" if groups > 1 else ""
    table = serving.curator.tables[found["question"]["table"]]
    known = body.rows * groups if body.rows else table.size if table.unit.id is None else None
    says_little = any(note["code"] in VAGUE for note in made.remarks)
    # Made-up rows that are fewer than the real ones say nothing of these.
    vague = f"{known // groups:,}" if known is not None and known <= rows and says_little else ""
    return {"rehearsal": Markup(shown), "rows": f"{rows:,}", "each": each, "vague": vague}
