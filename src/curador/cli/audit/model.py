"""curador audit model: a model replayed with the noise frozen, and attacked with canaries."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from curador.cli.audit.query import MadeUp
from curador.cli.audit.reporting import Html, report
from curador.cli.options import STUDY, Json, Language, Study
from curador.cli.screen import bullet, words


def model(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="The model, in a TOML file.")],
    canaries: Annotated[int, typer.Option(min=0, help="How many rows are put in by coins; 0 for none.")] = 200,
    runs: Annotated[int, typer.Option(min=1, help="How many training runs are attacked.")] = 5,
    confidence: Annotated[float, typer.Option(help="How often a floor holds.")] = 0.99,
    rows: MadeUp = 100,
    seed: Annotated[int, typer.Option(min=0, help="Of the made-up rows and coins; noise has none.")] = 0,
    study: Study = STUDY,
    html: Html = None,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Audit a model on made-up rows of the study's table: replay, then canaries; free, no data is read.

    Example: curador audit model income.toml --runs 20
    """
    from curador.audit.models.tables import audit_table_canaries
    from curador.audit.replay.questions import replay_act
    from curador.curator.curator import Curator
    from curador.learn.recipe import read_recipe

    found = read_recipe(recipe)

    def make() -> Any:
        return read_recipe(recipe).model

    def act(stage: Curator) -> object:
        run = found.training(stage)
        return make().take(run, stage.buy(run))

    with closing(Curator(study, ledger="memory:")) as curator:
        claim = found.training(curator).guarantee
        name = words("model-of", model=type(found.model).__name__, table=found.table)
        findings = [replay_act(name, curator, act, table=found.table, claim=claim, made_up=min(rows, 60), seed=seed)]
        plain = isinstance(found.features, list) and found.where is None and found.rows_per_unit is None
        if canaries and plain:
            put: dict[str, Any] = {"canaries": canaries, "runs": runs, "rows": rows, "seed": seed}
            columns = list(found.features)
            findings.append(
                audit_table_canaries(curator, make, found.table, columns, found.label, confidence=confidence, **put)
            )
    if not as_json and canaries:
        if plain:
            last = findings[-1]
            ends = {"floor": f"{last.floor:.3g}", "ceiling": f"{last.details['ceiling']:.4g}"}
            bullet(words("canaries", **ends, witness=last.witness))
        else:
            bullet(words("no-canaries"))
    report("model", findings=findings, html=html, as_json=as_json, language=language)
