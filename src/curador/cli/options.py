"""The options that several commands share: the same words, the same meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from curador.cli.screen import chosen_language
from curador.errors import InvalidParameter

Html = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Also write a report: one HTML file with charts.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Study = Annotated[Path, typer.Option("--study", "-s", metavar="STUDY", help="The study file.")]
STUDY = Path("study.toml")

At = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Ask the curator that a server holds, with the token in CURADOR_TOKEN."),
]

Epsilon = Annotated[str | None, typer.Option(help="The whole privacy loss to pay, as a decimal or a fraction.")]
Delta = Annotated[str | None, typer.Option(help="The delta that goes with it.")]
Rho = Annotated[str | None, typer.Option(help="Pay in zero-concentrated privacy instead of epsilon.")]
Accuracy = Annotated[
    str | None,
    typer.Option(
        help='The error wanted instead: the least epsilon that reaches it is paid. Of a quantile: "50 ranks".'
    ),
]
Rows = Annotated[int | None, typer.Option(help="How many rows are behind each number, if you know; for the error.")]
GroupsPerUnit = Annotated[
    int | None, typer.Option(min=1, help="In how many groups one unit counts, instead of what the table declares.")
]
RowsPerUnit = Annotated[
    int | None,
    typer.Option(min=1, help="How many rows of one unit count: in each group, or without --groups-per-unit in all."),
]
Confidence = Annotated[float, typer.Option(help="How often intervals cover, and an accuracy holds.")]
Because = Annotated[str, typer.Option(help="The reason; it is recorded. An epsilon above 1 needs one.")]
Override = Annotated[bool, typer.Option("--override", help="Allow an epsilon of 10 and more; the release says so.")]
Analyst = Annotated[str | None, typer.Option(help="Who gets the answer, and pays from a budget of their own too.")]
Key = Annotated[str | None, typer.Option(help="Names the request, so that sending it again cannot buy twice.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Buy a new answer, although there is one to this question.")]
Anyway = Annotated[
    bool, typer.Option("--anyway", help="Buy it although it compares with values that no declaration allows.")
]
Rehearse = Annotated[bool, typer.Option("--rehearse", help="On made-up rows: free, and no data is needed.")]
Progress = Annotated[bool, typer.Option("--progress", help="Show how far the reading is.")]
Language = Annotated[
    str,
    typer.Option(
        "--language",
        "-l",
        callback=chosen_language,
        help="Of what is printed: en or es; else as CURADOR_LANGUAGE says.",
    ),
]
"""Every command that prints takes it: it decides for all that is printed, also where it is not passed on."""
Log = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Append the engine's own errors to it. They may quote rows: keep it private."),
]


@dataclass(frozen=True)
class Paid:
    """The budget of a question, as it was typed.

    >>> Paid(epsilon="1/2").asked()
    {'epsilon': '1/2'}
    >>> Paid(accuracy="5", confidence=0.9).asked()["accuracy"].confidence
    0.9
    """

    epsilon: str | None = None
    delta: str | None = None
    rho: str | None = None
    accuracy: str | None = None
    confidence: float | None = None
    rows: int | None = None
    groups_per_unit: int | None = None
    rows_per_unit: int | None = None

    def granted(self, delta_alone: bool = False) -> dict[str, Any]:
        """The keywords of ``Curator.grant`` and ``Curator.renew``; refused where nothing was typed.

        >>> Paid(epsilon="1", delta="1e-6").granted()
        {'epsilon': '1', 'delta': '1e-6'}
        """
        if self.epsilon is None and self.rho is None and not (delta_alone and self.delta is not None):
            raise InvalidParameter("No amount is given.", fix="Give --epsilon or --rho, and --delta with it if wanted.")
        return self.asked()

    def asked(self) -> dict[str, Any]:
        """The keywords of ``Curator.plan``, ``grant`` and their like; what was not typed is left out."""
        from curador import within

        typed: Mapping[str, str | None] = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        found: dict[str, Any] = {name: value for name, value in typed.items() if value is not None}
        found |= {k: v for k, v in {"confidence": self.confidence, "rows": self.rows}.items() if v is not None}
        if self.groups_per_unit is not None or self.rows_per_unit is not None:
            alone = self.groups_per_unit is None
            found["contribution"] = self.rows_per_unit if alone else (self.groups_per_unit, self.rows_per_unit or 1)
        if self.accuracy is not None:
            found["accuracy"] = within(self.accuracy, self.confidence or 0.95)
        return found
