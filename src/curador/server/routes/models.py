"""Models: what one would cost, learned as a job, read again, and scored."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import APIRouter, Path

from curador.curator.purchase import Request
from curador.curator.purchases.plain import kept_whole
from curador.errors import CuradorError
from curador.server.access.auth import Caller
from curador.server.bodies import FitBody, RecipeBody, ScoreBody, TermsBody
from curador.server.gate.cpu import bounded
from curador.server.gate.refusals import not_found, refused
from curador.server.jobs.runner import Told
from curador.server.service import Buyer, Member, Service, Serving

if TYPE_CHECKING:
    from curador.curator.purchases.training import TrainingRun
    from curador.learn.recipe import BoughtModel, ModelFile

router = APIRouter(prefix="/v1", tags=["models"])

Charged = Annotated[str, Path(max_length=20, pattern="^[0-9]+$")]

MOST_STEPS = 10_000
"""Steps or rounds of one fit."""

NONE: Mapping[str, Any] = MappingProxyType({})

T = TypeVar("T")


def _planned(make: Callable[[], T]) -> T:
    """Plan a model.  No data is read here, and scikit-learn has errors of its own for settings that make no sense."""
    try:
        return make()
    except CuradorError:
        raise
    except Exception:  # noqa: BLE001
        raise refused(
            "These settings do not make a model.", "See the settings of the model.", "settings-refused"
        ) from None


def _recipe(body: RecipeBody) -> ModelFile:
    from curador.learn.recipe import KNOWN, recipe_from

    for name in ("steps", "rounds"):  # as a text or with a point they would be the same number to a model
        value = body.settings.get(name)
        if value is not None and not (type(value) is int and value <= MOST_STEPS):
            raise refused(
                f"A fit has at most {MOST_STEPS:,} {name} here.", "Write a whole number of them.", "too-many-steps"
            )
    stated = body.model_dump(include=set(KNOWN), exclude_none=True)
    if not kept_whole(stated):  # kept as a digest, its model could be paid for, and never be read
        raise refused("A recipe this long is not kept.", "Ask for fewer features.", "recipe-too-long")
    return recipe_from(stated, "recipe")


def planned(body: RecipeBody, serving: Service) -> TrainingRun:
    """What a recipe would do and cost; no data is read."""
    return _planned(lambda: _recipe(body).training(serving.curator))


@router.post("/fit/explain")
async def explain_fit(body: RecipeBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """What a model would cost and how it would be learned: free, and the same whatever the data is."""

    def made() -> dict[str, Any]:
        run = planned(body, serving)
        said = {"model": run.text, "guarantee": run.guarantee.to_json(), "text": run.explain(serving.curator.language)}
        return {**said, "remaining": serving.remaining(caller)}

    return await serving.plan(caller, made)


def _terms(body: TermsBody, caller: Caller) -> Request:
    return Request(body.because, body.override, caller.who, body.key, body.fresh, anyway=body.anyway)


@router.post("/fit", status_code=202)
async def fit(body: FitBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """Pay for a model and let it learn, as a job; its result names the charge under which the model is read.

    With a `key`, sending the request again is the same job, and never buys twice.
    """

    run = await serving.plan(caller, lambda: planned(body, serving))

    def taken() -> dict[str, Any]:
        def learn(tell: Told) -> dict[str, Any]:
            made = serving.curator.buy(run, replace(terms, progress=tell))
            paid = {"charge": made.charge.id, "repeated": made.repeated}
            return {**paid, "guarantee": run.guarantee.to_json()}

        terms = _terms(body, caller)
        serving.curator.review(run, terms)  # refused here, and not by the job
        job = serving.jobs.take(caller, "fit", body.model_dump(), learn, body.key)
        return serving.jobs.one(caller, job.id)

    return await serving.work(taken)


@router.get("/models/{id}")
async def model(id: Charged, serving: Serving, caller: Member) -> dict[str, Any]:
    """A model that was bought, as plain values: free; an analyst's own."""

    def made() -> dict[str, Any]:
        from curador.learn.saved import to_json

        found = bought(serving, id, caller.who)
        privacy = found.model.privacy_.sentence(serving.curator.language)
        measured = b64encode(found.measurement).decode()
        return {"model": to_json(found.model), "privacy": privacy, "measurement": measured}

    return await serving.settled(caller, made)


@router.post("/score", status_code=202)
async def score(body: ScoreBody, serving: Serving, caller: Buyer) -> dict[str, Any]:
    """Pay for how often a model that was bought is right on private rows, as a job: two noised counts."""

    def taken() -> dict[str, Any]:
        found = bought(serving, body.model, caller.who)
        model: Any = found.model
        recipe, label = found.recipe, body.label or found.recipe.label
        if label is None or not hasattr(model, "scorer"):
            raise refused("This model is not one that is right or wrong.", "Score a classifier.", "not-scored")
        named = body.features or (recipe.features if isinstance(recipe.features, Mapping) else None)
        chosen: dict[str, Any] = {"label": label, "features": named, "epsilon": body.epsilon}
        limit = body.rows_per_unit or (recipe.rows_per_unit if body.table is None else None)

        def planned() -> TrainingRun:
            rows = recipe.rows(serving.curator, body.table, body.where)
            return serving.curator.scoring(model, rows, **chosen, contribution=limit)

        run = bounded(partial(_planned, planned), serving.settings.planning)

        def count(tell: Told) -> dict[str, Any]:
            bought = serving.curator.buy(run, replace(terms, progress=tell))
            made = model.scored(run, bought)
            counts = {"right": made.right, "wrong": made.wrong, "charge": made.charge, "repeated": bought.repeated}
            return {"accuracy": made.accuracy, "interval": list(made.interval()), **counts}

        terms = _terms(body, caller)  # refused here, and not by the job
        job = serving.jobs.take(caller, "score", body.model_dump(), count, body.key)
        return serving.jobs.one(caller, job.id)

    return await serving.settled(caller, taken)


def bought(serving: Service, id: str, analyst: str | None, settings: Mapping[str, Any] = NONE) -> BoughtModel:
    """The model that a charge bought, or with other ``settings`` that are no part of it.

    Not found alike where there is none and where it is another's.
    """
    from curador.learn.recipe import bought_model

    found = bought_model(serving.curator, id, analyst, settings)
    if found is None:
        raise not_found()
    return found
