"""The command line: one function per command, each parses, calls and prints."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from curador import __version__
from curador.errors import CuradorError

app = typer.Typer(
    help="A trusted curator: answers about private data, through differential privacy.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
console = Console()

Epsilon = Annotated[str, typer.Option(help="The whole privacy loss to spend, as a decimal or a fraction.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def _version(wanted: bool) -> None:
    if wanted:
        console.print(f"curador {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """A trusted curator: answers about private data, through differential privacy."""


@app.command()
def demo(epsilon: Epsilon = "1", as_json: Json = False) -> None:
    """Release five statistics of 10,000 made-up salaries under one budget.

    Example: curador demo --epsilon 0.5
    """
    from curador.accounting.meaning import decision, posterior
    from curador.demo import dashboard
    from curador.privacy import PureDP
    from curador.rational import up

    board = dashboard(epsilon)
    promise = PureDP(up(board.epsilon))
    sentences = [posterior(promise).sentence(), decision(promise).sentence()]
    if as_json:
        print(json.dumps(_as_json(board, sentences), ensure_ascii=False, indent=2))
        return

    table = Table(title="10,000 made-up salaries, five statistics", caption_justify="left", title_justify="left")
    for name in ("statistic", "released", f"± at {board.confidence:.0%}", "ε", "mechanism", "exact*"):
        table.add_column(name, justify="left" if name in ("statistic", "mechanism") else "right")
    for line in board.lines:
        reach = f"{line.reach:,.0f} {line.unit}".strip()
        table.add_row(
            line.name,
            f"{line.released:,.0f}",
            reach,
            f"{float(line.epsilon):g}",
            line.how,
            f"[dim]{line.exact:,.0f}[/dim]",
        )
    table.add_row(
        "histogram (below)",
        f"{len(board.bars)} bins",
        f"{board.bar_error:,.0f}",
        f"{float(board.bar_epsilon):g}",
        "integer Laplace",
        "",
    )
    table.add_section()
    table.add_row("[bold]total", "", "", f"[bold]{float(board.epsilon):g}", "basic composition", "")
    console.print(table)
    console.print("[dim]* known only because the table is made up; a curator never shows it.[/dim]\n")

    widest = max(max(bar.released for bar in board.bars), 1)
    for bar in board.bars:
        length = round(40 * max(bar.released, 0) / widest)
        console.print(
            f"{bar.start:>9,.0f} – {bar.end:>7,.0f}  {bar.released:>6,}  [cyan]{'█' * length}[/cyan]", highlight=False
        )
    console.print(f"\n[bold]What an attacker can conclude at most[/bold] (ε = {float(board.epsilon):g})")
    for sentence in sentences:
        console.print(f"  • {sentence}", highlight=False)


def _as_json(board: Any, sentences: list[str]) -> dict[str, object]:
    return {
        "epsilon": str(board.epsilon),
        "statistics": [
            {"name": x.name, "released": x.released, "reach": x.reach, "unit": x.unit, "epsilon": str(x.epsilon)}
            for x in board.lines
        ],
        "histogram": [{"start": b.start, "end": b.end, "released": b.released} for b in board.bars],
        "histogram_reach": board.bar_error,
        "confidence": board.confidence,
        "event": board.event.to_json(),
        "meaning": sentences,
    }


def main() -> None:
    """Run the command line; a refusal is one clear message and exit code 2."""
    try:
        app()
    except CuradorError as refusal:
        Console(stderr=True).print(
            f"[red]{refusal.what}[/red]\n  To do: {refusal.fix}\n  Cost: {refusal.cost}.", highlight=False
        )
        raise SystemExit(2) from None
