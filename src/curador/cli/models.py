"""Commands that learn: fit, predict."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from curador.cli.opening import balances, open_study
from curador.cli.options import (
    STUDY,
    Analyst,
    Anyway,
    At,
    Because,
    Fresh,
    Json,
    Key,
    Language,
    Log,
    Override,
    Progress,
    Study,
)
from curador.cli.screen import bullet, emit, loss, loss_left, say, whole, words
from curador.errors import InvalidParameter


def fit(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="The model, in a TOML file.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where the model is saved; RECIPE.json.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say what it would cost; nothing is spent.")] = False,
    because: Because = "",
    override: Override = False,
    analyst: Analyst = None,
    key: Key = None,
    fresh: Fresh = False,
    anyway: Anyway = False,
    language: Language = "",
    progress: Progress = False,
    log: Log = None,
    study: Study = STUDY,
    at: At = None,
    as_json: Json = False,
) -> None:
    """Pay for a model, let it learn from a table, and save it; the same model again is free.

    Example: curador fit income.toml --explain
    """
    from curador.curator.purchase import Request
    from curador.learn.recipe import read_recipe
    from curador.learn.saved import save

    found = read_recipe(recipe)
    with open_study(study, log=log, at=at) as curator:
        run = found.training(curator)
        if explain:
            text = run.explain(language)
            if as_json:
                emit({"text": run.text, "guarantee": run.guarantee.to_json(), "explanation": text})
            else:
                whole(text)
                say("\n" + words("nothing-spent"))
            return
        bought = curator.buy(run, Request(because, override, analyst, key, fresh, progress, anyway))
        model = found.model.take(run, bought)
        left = balances(curator, analyst)
    there = out if out is not None else recipe.with_suffix(".json")
    save(model, there)
    remaining = {b.scope: b.remaining.to_json() for b in left}
    if as_json:
        emit({"saved": str(there), "charge": bought.charge.id, "repeated": bought.repeated, "remaining": remaining})
        return
    say(words("model-saved", file=there, model=run.text))
    bullet(model.privacy_.sentence(language))
    if bought.repeated:
        bullet(words("bought-before"))
    for balance in left:
        numbers = {"spent": loss(balance.spent), "budget": loss(balance.budget)}
        bullet(words("balance", scope=balance.scope, **numbers, left=loss_left(balance.remaining)))


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A saved model.")],
    rows: Annotated[Path, typer.Argument(metavar="ROWS", help="A CSV file with the columns that it learned from.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="A CSV file; the screen.")] = None,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Predict from a saved model; free, and about the rows that you give alone.

    Example: curador predict income.json people.csv --out predicted.csv
    """
    import numpy as np

    from curador.learn.rows.encoding import NumberFeature
    from curador.learn.saved import load

    made: Any = load(model)
    if not hasattr(made, "predict"):
        raise InvalidParameter("This model does not predict.", fix="Use its Python interface.")
    try:
        with rows.open(newline="", encoding="utf-8") as file:
            given = list(csv.DictReader(file))
    except (OSError, ValueError):
        raise InvalidParameter(f"{rows.name!r} cannot be read.", fix="Give a CSV file in UTF-8.") from None
    columns: list[list[Any]] = []
    for feature in made.encoding_.features:
        if given and feature.name not in given[0]:
            raise InvalidParameter(f"{rows.name!r} has no column {feature.name!r}.", fix="Name its columns so.")
        texts = [row[feature.name] for row in given]
        if isinstance(feature, NumberFeature):
            columns.append([_number(text) for text in texts])
        else:
            known = {str(key): key for key in feature.keys}
            columns.append([known.get(text) for text in texts])
    table = np.empty((len(given), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        table[:, j] = column
    found = made.predict(table).tolist() if len(table) else []
    if as_json:
        emit({"predicted": found})
        return
    target = sys.stdout if out is None else out.open("w", newline="", encoding="utf-8")
    try:
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(["predicted"])
        writer.writerows([value] for value in found)
    finally:
        if out is not None:
            target.close()
            say(words("predicted", file=out, n=f"{len(given):,}"))


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return float("nan")
