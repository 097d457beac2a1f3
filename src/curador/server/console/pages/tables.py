"""Tables: what is declared about each, in words, public and free to read; how many rows fit it, for a price."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query, Response

from curador import Table
from curador.curator.releases.recall import bought_by, declarations
from curador.curator.study.quality import checkable
from curador.curator.table import described, missing_files
from curador.errors import CuradorError, InvalidParameter
from curador.server.access.auth import Caller
from curador.server.bodies import PaidQualityBody, QualityBody
from curador.server.console.declaring.fit import affordable, chosen, fits, is_fit, modest, price_of
from curador.server.console.forms import Filled, filled
from curador.server.console.genuine import page_router
from curador.server.console.visit import Visit, Visiting
from curador.server.gate.problems import status_of
from curador.server.gate.refusals import not_found
from curador.server.routes import asking
from curador.server.routes.releases import seen
from curador.server.service import Buyer, Member, sent
from curador.show.describe import Description
from curador.show.explain import stated_text

router = page_router()

NEWEST = 200
"""Charges among which earlier checks are looked for."""

Name = Annotated[str, Query(max_length=200)]


@router.get("/tables", response_class=Response)
async def tables(visit: Visiting, caller: Member, withdrawn: Name = "") -> Response:
    """Every table's declaration."""
    return await visit.serving.work(lambda: _made(visit, caller.role, withdrawn))


def _made(visit: Visit, role: str, withdrawn: str) -> Response:
    known = visit.serving.curator.tables
    whole = Description({name: described(table, visit.language) for name, table in known.items()}, (), visit.language)
    gone = missing_files(known)
    shown = [{**_table(visit, name, about), "missing": gone.get(name, "")} for name, about in whole.tables.items()]
    may_ask, may_bring = role in ("curator", "analyst"), role == "curator"
    return visit.page(
        "tables.html",
        tables=shown,
        may_ask=may_ask,
        may_bring=may_bring,
        withdrawn="" if withdrawn in known else withdrawn,
    )


def _table(visit: Visit, name: str, about: Any) -> dict[str, Any]:
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


# ---- how many rows fit -----------------------------------------------------------------------------------------------


@router.get("/tables/fit", response_class=Response)
async def fit(visit: Visiting, caller: Buyer, table: Name = "", charge: Name = "") -> Response:
    """What it would cost to learn how many rows fit; or what was bought, by its charge."""
    declared, columns = _private(visit, table), _columns(visit, table)
    if charge:
        return await visit.serving.settled(caller, lambda: _found(visit, caller, table, charge))
    left = await visit.serving.work(lambda: visit.serving.remaining(caller))
    able = await visit.serving.work(lambda: checkable(declared))
    ticked = {f"column-{i}": "yes" for i, name in enumerate(columns) if name in able}
    return await _priced(visit, caller, Filled({**ticked, "table": table, "epsilon": modest(left)}))


@router.post("/tables/fit", response_class=Response)
async def pay_fit(visit: Visiting, caller: Buyer) -> Response:
    """Say the price; or pay for it, where the button says so."""
    form = await filled(visit.request)
    if form["do"] != "pay":
        return await _priced(visit, caller, form)
    try:
        asked = {"table": form["table"], "columns": chosen(form, _columns(visit, form["table"]))}
        terms = {"because": form["because"], "override": form["override"] == "yes", "key": form["key"]}
        body = form.read(PaidQualityBody, **asked, **terms, epsilon=price_of(form), language=visit.language)
        found = sent(await asking.quality(body, visit.serving, caller))
    except CuradorError as error:
        return await _priced(visit, caller, form.refused(_place(error), error), status_of(error))
    return visit.to(f"/console/tables/fit?{urlencode({'table': form['table'], 'charge': found['charge']})}")


async def _priced(visit: Visit, caller: Caller, form: Filled, status: int = 200) -> Response:
    """The form with what it would cost; only that, where a part of the page is asked for."""
    columns, price = _columns(visit, form["table"]), None
    try:
        asked = chosen(form, columns)
        if not asked:
            raise InvalidParameter(
                "Nothing is ticked.", fix="Tick a column.", code="field-columns", facts={"field": ""}
            )
        body = form.read(QualityBody, table=form["table"], columns=asked, epsilon=price_of(form))
        told = await asking.explain_quality(body, visit.serving, caller)
        errors = [one["error"] for part in told["questions"].values() for one in part["expected"]]
        price = {
            "cost": stated_text(told["guarantee"], visit.language),
            "error": f"{max(errors):,.0f}",
            "too_much": not affordable(told["guarantee"], told["remaining"]),
            "left": [stated_text(one, visit.language, down=True) for one in told["remaining"].values()],
        }
    except CuradorError as error:
        if not form.errors:
            form, status = form.refused(_place(error), error), status_of(error)
    partial = visit.partial
    before = [] if partial else await visit.serving.settled(caller, lambda: _before(visit, caller, form["table"]))
    return visit.page(
        "_fit_price.html" if partial else "fit.html",
        200 if partial else status,
        form=form,
        table_name=form["table"],
        columns=list(enumerate(columns)),
        price=price,
        before=before,
        key=form["key"] or visit.key(),
    )


def _before(visit: Visit, caller: Caller, table: str) -> list[tuple[str, str, str]]:
    """The newest checks of this table that were bought, which are free to look at."""
    found = [one for one in visit.serving.curator.history(caller.who, last=NEWEST) if one.settled]
    kept = [one for one in reversed(found) if one.note.get("quality") == table and one.guarantee is not None]
    return [(one.id, one.at[:16].replace("T", " "), visit.amount(one.guarantee)) for one in kept if one.guarantee][:5]


def _place(error: CuradorError) -> str:
    named = {"reason-needed": "because", "override-needed": "because"}.get(error.code, "")
    return str(error.facts.get("field", named or ("epsilon" if "budget" in error.code else "")))


def _found(visit: Visit, caller: Caller, table: str, charge: str) -> Response:
    found = is_fit(seen(visit.serving.curator, caller, charge, language=visit.language) if charge.isdecimal() else None)
    declared = _checked_table(visit, caller, table, charge)
    rows = fits(visit, found, declared.columns)
    wrong = any(row.wrong for row in rows)
    told = "some-wrong" if wrong else "nothing-told" if all(row.unclear for row in rows) else "none-wrong"
    change = caller.role == "curator"
    return visit.page(
        "fitted.html",
        table_name=table,
        rows=rows,
        wrong=wrong,
        told_in_all=told,
        charge=charge,
        cost=visit.amount(found.guarantee),
        change=change,
        most=None if declared.contribution is None else declared.contribution.most,
    )


def _checked_table(visit: Visit, caller: Caller, table: str, charge: str) -> Table:
    """The table that a check is about, as it was declared then; not found where it is about another."""
    bought = bought_by(visit.serving.curator, charge, caller.who)
    if bought is None or bought.charge.note.get("quality") != table:
        raise not_found()
    return declarations(visit.serving.curator, bought).tables[table]


def _columns(visit: Visit, table: str) -> list[str]:
    """The columns of a private table that may be ticked: all but the id."""
    known = _private(visit, table)
    return [name for name in known.columns if name != known.unit.id]


def _private(visit: Visit, table: str) -> Table:
    known = visit.serving.curator.tables.get(table)
    if known is None or known.public:
        raise InvalidParameter(
            "There is no private table of this name.",
            fix="Choose one on the page of tables.",
            code="no-such-private-table",
        )
    return known
