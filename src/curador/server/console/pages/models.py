"""Models: what one would cost and how right it would be, before it is paid; then what was learned, with its guarantee.

Only the button that says so pays, and the form holds a key: sent twice, it buys once.  Reading a model again, its file,
and what it says of a row that somebody types are free.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import floor, log10
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Path, Query, Response
from markupsafe import Markup

from curador import Charge, Curator
from curador.curator.releases.recall import bought_by
from curador.errors import CuradorError, NotPromised
from curador.server.access.auth import Caller
from curador.server.bodies import FitBody, RecipeBody, ScoreBody
from curador.server.console.forms import Filled, amount, filled, number_text
from curador.server.console.genuine import page_router
from curador.server.console.learning.chosen import (
    FAMILIES,
    FREE,
    MODELS,
    SETTINGS,
    ColumnChoice,
    columns_of,
    recipe_of,
    shown_with,
)
from curador.server.console.learning.fitted import fitted
from curador.server.console.learning.noted import about, learned_from
from curador.server.console.learning.recipe_code import recipe_code
from curador.server.console.learning.scored import bought_scores, is_classifier
from curador.server.console.learning.typed import Predicted, TypedField, asked_of, fields_of
from curador.server.console.questions.pricing import affordable
from curador.server.console.visit import HEADERS, Visit, Visiting
from curador.server.gate.problems import status_of
from curador.server.gate.refusals import not_found
from curador.server.routes import jobs
from curador.server.routes import models as api
from curador.server.service import Buyer, Member
from curador.show.explain import guarantee_text
from curador.show.report.estimate import left, risk
from curador.show.report.fragments import figure_of
from curador.show.report.odds import odds
from curador.show.tables import percents

router = page_router()

PAGE, LOOKED = 1000, 20_000
"""Charges that are read at a time, and looked through for models."""

SCORED = "0.1"
"""The epsilon that a form for a score begins with."""

Id = Annotated[str, Path(max_length=18, pattern="^[0-9]+$")]
Named = Annotated[str, Query(max_length=200)]


# ---- choosing and paying ---------------------------------------------------------------------------------------------


@router.get("/models", response_class=Response)
async def models(visit: Visiting, caller: Member, table: Named = "") -> Response:
    """The models that were bought, and a form for another."""
    if not (tables := _private(visit)):
        return visit.page("no_tables.html", title="models.title")
    chosen = table if table in tables else max(tables, key=lambda name: sum(c.usable for c in _columns(visit, name)))
    form = await visit.serving.work(lambda: _usual(visit, caller, chosen))
    return await _page(visit, caller, form, plan=False)


@router.post("/models", response_class=Response)
async def pay(visit: Visiting, caller: Buyer) -> Response:
    """Pay for a model and let it learn, as a job; or say what it would cost, with the other button."""
    form = await filled(visit.request)
    if form["do"] not in ("pay", "anyway"):
        return await _page(visit, caller, form)
    terms = {"because": form["because"], "override": form["override"] == "yes", "key": form["key"]}
    terms["anyway"] = form["do"] == "anyway"
    try:
        made = await api.fit(_recipe(visit, form, FitBody, **terms), visit.serving, caller)
    except CuradorError as error:
        return await _page(visit, caller, form.refused(_place(error), error), status_of(error))
    other = form[FREE.get(form["model"], "")] or ("1" if form["model"] == "Ridge" else "")
    return visit.to(f"/console/models/jobs/{made['job']}" + _shown_so(other, "?"))


@router.post("/models/plan", response_class=Response)
async def plan(visit: Visiting, caller: Buyer) -> Response:
    """What a model would cost and how right it would be; free."""
    form = await filled(visit.request)
    return visit.page("_models_plan.html", **await _plan(visit, caller, form))


@router.get("/models/jobs/{job}", response_class=Response)
async def job(job: jobs.JobId, visit: Visiting, caller: Member, other: Named = "") -> Response:
    """How far a model or a score is; its page, as soon as it is done, shown with what was asked for."""
    found = await jobs.job(job, visit.serving, caller)
    if found["kind"] not in ("fit", "score"):
        raise not_found()
    if found["kind"] == "fit" and found["result"]:
        bought = "again" if found["result"]["repeated"] else "now"
        return visit.to(f"/console/models/{found['result']['charge']}?bought={bought}{_shown_so(other, '&')}")
    kept = _shown_so(other, "?")
    return visit.page(
        "_models_job.html" if visit.partial else "models_job.html", one=found, kept=kept, percents=percents
    )


def _shown_so(other: str, sign: str) -> str:
    """The end of an address that shows a model so: the same measurement may have been bought with other settings."""
    return f"{sign}{urlencode({'other': other})}" if other else ""


def _private(visit: Visit) -> list[str]:
    """The tables to learn from: at least one, unless the study has none yet."""
    return [name for name, one in visit.serving.curator.tables.items() if not one.public]


def _columns(visit: Visit, table: str) -> list[ColumnChoice]:
    found = visit.serving.curator.tables.get(table)
    return [] if found is None or found.public else columns_of(found, visit.language)


def _recipe(visit: Visit, form: Filled, body: Any, **more: Any) -> Any:
    return recipe_of(form, form["table"], _columns(visit, form["table"]), body, **more)


def _usual(visit: Visit, caller: Caller, table: str) -> Filled:
    """A form to begin with: a model that the table's declarations allow, from all columns that can be learned from."""
    columns = _columns(visit, table)
    keyed = [one.name for one in columns if one.keyed and not one.numeric]
    numbers = [one.name for one in columns if one.numeric]
    delta = _usual_delta(visit, caller) if columns else ""
    label, model = "", "KMeans"
    if keyed:
        label, model = keyed[-1], "LogisticRegression" if delta else "GaussianNB"
    elif len(numbers) > 1:
        label, model = numbers[-1], "LinearRegression"
    ticked = {one.field: one.name for one in columns if one.usable and one.name != label}
    epsilon = affordable(visit.serving.remaining(caller)) if columns else ""
    return Filled({"table": table, "model": model, "label": label, "epsilon": epsilon, "delta": delta, **ticked})


def _usual_delta(visit: Visit, caller: Caller) -> str:
    """A tenth of the delta that is left, as a power of ten; nothing where the budget has none."""
    if caller.role not in ("curator", "analyst"):
        return ""
    found = list(visit.serving.remaining(caller).values())
    deltas = [float(one["delta"]) for one in found if one.get("delta")]
    return "1e-6" if any("rho" in one for one in found) else f"1e{floor(log10(min(deltas) / 10))}" if deltas else ""


def _place(error: CuradorError) -> str:
    """The field next to which a refusal is shown; the empty one is for the form as a whole."""
    named = str(error.facts.get("field", ""))
    if named or not error.code:
        return named.removeprefix("settings.")
    return {"reason-needed": "because", "override-needed": "because", "model-needs-delta": "delta"}.get(error.code, "")


async def _page(visit: Visit, caller: Caller, form: Filled, status: int = 200, *, plan: bool = True) -> Response:
    buys = caller.role in ("curator", "analyst")
    columns = await visit.serving.work(lambda: _columns(visit, form["table"]))
    found: dict[str, Any] = {"form": form, "plan": None, "refused": None, "code": None}
    if buys and columns and plan:
        found = await _plan(visit, caller, form)
    running = [one for one in (await jobs.jobs(visit.serving, caller))["jobs"] if _unfinished(one)]
    listed = await visit.serving.settled(caller, lambda: _listed(visit, caller))
    return visit.page(
        "models.html",
        status,
        **found,
        buys=buys,
        tables=_private(visit),
        columns=columns,
        families=FAMILIES,
        known=MODELS,
        settings=SETTINGS,
        running=running,
        models=listed,
        whose=caller.role != "analyst",
        key=visit.key(),
    )


def _unfinished(one: dict[str, Any]) -> bool:
    return one["kind"] in ("fit", "score") and one["state"] in ("waiting", "running")


async def _plan(visit: Visit, caller: Caller, form: Filled) -> dict[str, Any]:
    try:
        body = _recipe(visit, form, RecipeBody)
        found = await visit.serving.plan(caller, lambda: _planned(visit, caller, body))
    except CuradorError as error:
        return {"plan": None, "refused": error, "form": form, "code": None}
    code = recipe_code(body.model_dump(exclude_none=True), _address(visit), form["because"])
    return {"plan": found, "refused": None, "form": form, "code": code}


def _planned(visit: Visit, caller: Caller, body: RecipeBody) -> dict[str, Any]:
    """What a model would cost and do; made without reading data."""
    curator = visit.serving.curator
    run = api.planned(body, visit.serving)
    table = curator.tables[body.table]
    cost, *notes = run.sentences(visit.language)
    before = curator.bought_before(run, caller.who)
    try:
        fits: int | None = curator.how_many(run, analyst=caller.who)
        refusal: CuradorError | None = None
    except NotPromised as error:
        fits, refusal = None, error
    return {
        "cost": guarantee_text(run.guarantee, visit.language),
        "sentence": cost,
        "notes": notes,
        "free": before is not None,
        "anyway": before is None and bool(run.undeclared),
        "fits": fits,
        "refusal": refusal,
        "risk": risk(run.guarantee, visit.language),
        "odds": Markup(odds(run.guarantee, None, [(table.unit.id, table.neighbors)], visit.language)),
        "remaining": left(visit.serving.remaining(caller), visit.language),
    }


def _address(visit: Visit) -> str:
    return str(visit.request.base_url).rstrip("/")


# ---- the list --------------------------------------------------------------------------------------------------------


def _charges(curator: Curator, who: str | None) -> Iterator[Charge]:
    """The newest charges that bought something learned, the newest first."""
    before: Charge | None = None
    for _ in range(LOOKED // PAGE):
        page = curator.received(who, last=PAGE, before=before)
        yield from (one for one in reversed(page) if "training" in one.note and one.settled)
        if len(page) < PAGE:
            return
        before = page[0]


def _listed(visit: Visit, caller: Caller) -> list[dict[str, Any]]:
    return [
        {
            "id": one.id,
            **_named(one),
            "at": one.at[:16].replace("T", " "),
            "who": one.receiver or visit.say("releases.holder"),
            "cost": "" if one.guarantee is None else guarantee_text(one.guarantee, visit.language),
        }
        for one in _charges(visit.serving.curator, caller.who)
        if "recipe" in one.note
    ]


def _named(one: Charge) -> dict[str, str]:
    """A model's name and what it was learned from; its text alone where the record is of any other shape."""
    found = learned_from(one)
    return {"model": found.model, "about": found.about} if found else {"model": one.asked, "about": ""}


# ---- one model -------------------------------------------------------------------------------------------------------


@router.get("/models/{id}", response_class=Response)
async def model(id: Id, visit: Visiting, caller: Member, bought: Named = "", other: Named = "") -> Response:
    """One model, made again from its measurement: free, also with ``other`` than what was bought, where it has such."""
    form = Filled({"epsilon": SCORED})
    return await visit.serving.settled(caller, lambda: _one(visit, caller, id, score=form, bought=bought, other=other))


@router.get("/models/{id}/json", response_class=Response)
async def file(id: Id, visit: Visiting, caller: Member) -> Response:
    """A model as a file, which ``curador.learn.load`` reads."""

    def made() -> Response:
        from curador.learn.saved import to_json

        found = api.bought(visit.serving, id, caller.who)
        text = json.dumps(to_json(found.model), ensure_ascii=False, indent=1)
        headers = {**HEADERS, "Content-Disposition": f'attachment; filename="model-{id}.json"'}
        return Response(text, media_type="application/json", headers=headers)

    return await visit.serving.settled(caller, made)


@router.post("/models/{id}/predict", response_class=Response)
async def predict(id: Id, visit: Visiting, caller: Member) -> Response:
    """What the model says of a row that was typed: free, and kept nowhere."""
    form = await filled(visit.request)
    return await visit.serving.settled(
        caller, lambda: _one(visit, caller, id, typed=form, score=Filled({"epsilon": SCORED}))
    )


@router.post("/models/{id}/score", response_class=Response)
async def score(id: Id, visit: Visiting, caller: Buyer) -> Response:
    """Pay for how often the model is right on private rows, as a job."""
    form = await filled(visit.request)
    try:
        amount(form["epsilon"], "epsilon")
        terms = {"because": form["because"], "key": form["key"], "where": form["where"].strip()}
        body = form.read(ScoreBody, model=id, epsilon=number_text(form["epsilon"]), **terms)
        made = await api.score(body, visit.serving, caller)
    except CuradorError as error:
        wrong, status = form.refused(_place(error), error), status_of(error)
        return await visit.serving.settled(caller, lambda: _one(visit, caller, id, score=wrong, status=status))
    return visit.to(f"/console/models/jobs/{made['job']}")


def _one(
    visit: Visit,
    caller: Caller,
    id: str,
    *,
    typed: Filled | None = None,
    score: Filled,
    bought: str = "",
    other: str = "",
    status: int = 200,
) -> Response:
    curator = visit.serving.curator
    found = api.bought(visit.serving, id, caller.who)
    again = Filled({"other": other})
    try:
        if settings := shown_with(type(found.model).__name__, other):
            found = api.bought(visit.serving, id, caller.who, settings)
    except CuradorError as error:
        again, status = again.refused("other", error), status_of(error)
    fields = fields_of(found)
    form, said = _asked(visit, found, typed, fields)
    if visit.partial and typed is not None:
        return visit.page("_models_predicted.html", form=form, said=said, **_drawn(said))
    shown = fitted(found, [one.name for one in fields if one.kind == "date"], visit.say)
    privacy, paid = found.model.privacy_, bought_by(curator, id, caller.who)  # by whom else it was bought is not shown
    assert paid is not None, "it was found above"
    scored = bought_scores(curator, found, _charges(curator, caller.who))
    return visit.page(
        "model.html",
        422 if form.errors else status,
        id=id,
        found=found,
        name=type(found.model).__name__,
        known=MODELS,
        about=about(found.recipe.stated),
        at=paid.charge.at[:16].replace("T", " "),
        because=paid.because,
        bought=bought if bought in ("now", "again") else "",
        cost=guarantee_text(privacy.guarantee, visit.language),
        sentence=privacy.sentence(visit.language),
        odds=Markup(odds(privacy.guarantee, None, [(privacy.unit, privacy.neighbors)], visit.language)),
        charts=[Markup(figure_of(one)) for one in shown.charts],
        headings=shown.headings,
        rows=shown.rows,
        hint=shown.hint,
        code=recipe_code(found.recipe.stated, _address(visit)),
        free=FREE.get(str(found.recipe.stated["model"]), ""),
        again=again,
        fields=fields,
        form=form,
        said=said,
        **_drawn(said),
        score=score,
        scored=[_scored(visit, one, made) for one, made in scored],
        may_score=is_classifier(found) and caller.role in ("curator", "analyst"),
        key=visit.key(),
    )


def _asked(visit: Visit, found: Any, typed: Filled | None, fields: list[TypedField]) -> tuple[Filled, Predicted | None]:
    if typed is None:
        return Filled({one.field: one.middle for one in fields}), None
    return asked_of(found, typed, fields, visit.say)


def _drawn(said: Predicted | None) -> dict[str, Any]:
    return {"chances": Markup(figure_of(said.chart)) if said is not None and said.chart is not None else ""}


def _scored(visit: Visit, charge: Charge, made: Any) -> dict[str, str]:
    share, low, high = made.texts()
    return {
        "at": charge.at[:16].replace("T", " "),
        "accuracy": share,
        "interval": f"{low} … {high}",
        "cost": "" if charge.guarantee is None else guarantee_text(charge.guarantee, visit.language),
        "charge": charge.id,
    }
