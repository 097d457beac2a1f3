"""curador audit query: a question replayed on made-up neighbours with the noise frozen."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from curador.cli.audit.reporting import Html, report
from curador.cli.options import STUDY, Delta, Epsilon, Json, Language, Paid, Rho, Study

Thorough = Annotated[bool, typer.Option("--thorough", help="Try every odd value of every column by itself.")]
Table = Annotated[str | None, typer.Option(help="The table that neighbours differ in; the only private one.")]
MadeUp = Annotated[int, typer.Option("--rows", min=1, help="How many rows are made up.")]


def query(
    question: Annotated[str, typer.Argument(metavar="SQL", help="The question.")],
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    table: Table = None,
    rows: MadeUp = 60,
    thorough: Thorough = False,
    study: Study = STUDY,
    html: Html = None,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Replay a question on made-up neighbours of the study's tables, with the noise frozen; free, no data is read.

    Example: curador audit query "SELECT AVG(age) FROM adult" --epsilon 0.5
    """
    from curador.audit.replay.questions import replay_question
    from curador.curator.curator import Curator

    paid = Paid(epsilon, delta, rho).asked()
    with closing(Curator(study, ledger="memory:")) as curator:
        found = replay_question(curator, question, table=table, made_up=rows, thorough=thorough, **paid)
    report("query", findings=[found], html=html, as_json=as_json, language=language)
