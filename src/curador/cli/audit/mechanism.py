"""audit mechanism: a mechanism of curador, or the outputs of any other, against a claim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curador.cli.audit.reporting import Html, report
from curador.cli.options import Json, Language
from curador.cli.screen import words
from curador.errors import InvalidParameter

if TYPE_CHECKING:
    from curador import Guarantee

Runs = Annotated[int, typer.Option("--runs", "-n", min=200, help="How many runs on each of two neighbouring inputs.")]
Sure = Annotated[float, typer.Option("--confidence", help="How often a sound mechanism is not called violated.")]


def mechanism(
    kind: Annotated[
        str | None, typer.Argument(metavar="KIND", help="A mechanism of curador: laplace, sparse-vector, …")
    ] = None,
    epsilon: Annotated[str, typer.Option(help="What it is made for, or what is claimed.")] = "1",
    delta: Annotated[str | None, typer.Option(help="The delta that goes with it.")] = None,
    sensitivity: Annotated[int, typer.Option(min=1, help="By how much its input may move.")] = 1,
    first: Annotated[
        Path | None,
        typer.Option(help="Outputs of any mechanism on one input: a line for each run, or a .npy file."),
    ] = None,
    second: Annotated[Path | None, typer.Option(help="Its outputs on a neighbouring input.")] = None,
    runs: Runs = 30_000,
    confidence: Sure = 0.999,
    html: Html = None,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Look for outputs that are likelier on one of two neighbours than the claim allows; ends with 1 if there are.

    A mechanism of curador is run on the neighbours it is worst on. Of any other, give files with its outputs.

    Example: curador audit mechanism laplace --epsilon 1
    """
    from curador import ApproxDP, PureDP
    from curador.audit import audit_mechanism, compare, named

    if kind is not None and first is None and second is None:
        tested = named(kind, epsilon, "1/100" if delta is None else delta, sensitivity)
        found = audit_mechanism(tested, n=runs, confidence=confidence)
    elif kind is None and first is not None and second is not None:
        claim: Guarantee = PureDP(epsilon) if delta is None else ApproxDP(epsilon, delta)  # type: ignore[arg-type]
        found = compare(_outputs(first), _outputs(second), claim, confidence=confidence, subject=words("the-outputs"))
    else:
        raise InvalidParameter(
            "There is nothing to audit.", fix="Name a kind of mechanism, or give --first and --second with outputs."
        )
    report("mechanism", findings=[found], html=html, as_json=as_json, language=language)


def _outputs(file: Path) -> Any:
    """Outputs in a file: numbers, rows of numbers, or texts."""
    import numpy as np

    try:
        if file.suffix == ".npy":
            return np.load(file, allow_pickle=False)
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        raise InvalidParameter(f"{file.name} cannot be read.", fix="Give a text file, one output a line.") from None
    try:
        return np.array([[float(x) for x in line.split(",")] for line in lines])
    except ValueError:
        return lines
