"""The command line: one function per command, each parses, calls and prints.

It ends with 0 where all is well, 1 where something was refused, and 2 where the command was not understood.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from curador import __version__
from curador.errors import CuradorError, InvalidParameter

if TYPE_CHECKING:
    from curador.query.drafts import Draft
    from curador.study import ColumnState, TableState

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


# ---- study files -------------------------------------------------------------------------------------------------


@app.command()
def init(
    source: Annotated[str, typer.Argument(metavar="FILE", help="A CSV or Parquet file, or engine://…#table.")],
    name: Annotated[str | None, typer.Option(help="What to call the table; by default the name of the file.")] = None,
    out: Annotated[Path, typer.Option(help="The study file to write; it must not exist.")] = Path("study.toml"),
    as_json: Json = False,
) -> None:
    """Draft a study file from column names and declared types; no row is read.

    Of a CSV file only the header line is looked at.  Example: curador init adult.csv
    """
    from curador.study import draft

    if out.exists():
        raise InvalidParameter(f"{out.name} exists already.", fix="Choose another file with --out, or remove it first.")
    found = draft(source, name=name, folder=out.parent)
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(found.toml())
    except OSError:
        raise InvalidParameter(f"{out.name} cannot be written.", fix="Choose another place with --out.") from None
    if as_json:
        columns = [{"name": column, "stored": stored} for column, stored in found.columns]
        told = {"file": str(out), "table": found.name, "source": found.source, "columns": columns}
        print(json.dumps({**told, "left": found.left, "unusable": found.unusable}, ensure_ascii=False, indent=2))
        return
    _print_draft(found, out)


_NEEDED = {
    "unit": "what is protected: a row, or all rows of one id",
    "budget": "the most that all answers together may cost",
    "type": "which a CSV file does not declare",
    "bounds": "of numbers and dates; without them no sums, means or quantiles",
    "keys": "of categories; without them groups are selected privately",
}


def _print_draft(found: Draft, out: Path) -> None:
    said = f"{out}: table {found.name} with {len(found.columns)} columns; no row was read."
    console.print(Text(said), soft_wrap=True)
    table = Table(title="\nLeft to fill in", title_justify="left", box=None, show_header=False, pad_edge=False)
    for setting, columns in found.left.items():
        if columns or setting in ("unit", "budget") or found.left["type"]:
            of = f"\n{_some(columns)}" if columns else ""
            table.add_row(f"  {setting}", Text.assemble(_NEEDED[setting], (of, "dim")))
    console.print(table, "")
    if found.unusable:
        console.print(Text(f"Left out, since no question can use their types: {_some(found.unusable)}"))
    console.print("It is all public: take it from a codebook, never from the data.")
    console.print(Text(f"Then: curador check {out}"), soft_wrap=True)


def _some(names: tuple[str, ...], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


@app.command()
def check(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="The study file.")] = Path("study.toml"),
    as_json: Json = False,
) -> None:
    """Check a study file against what is stored: columns and types; no row is read.

    Example: curador check study.toml
    """
    from curador.study import check as checked

    found = checked(study)
    if as_json:
        print(json.dumps({**asdict(found), "sound": found.sound}, ensure_ascii=False, indent=2))
    else:
        for table in found.tables:
            _print_table(table)
        for note, meaning in _MEANINGS.items():
            if any(note in (c.wrong, c.left) for t in found.tables for c in t.columns):
                console.print(f"{note}: {meaning}")
        if found.wrong:
            console.print(Text(found.wrong, "red"))
        elif found.budget:
            console.print(Text(f"budget: {found.budget}"))
        console.print(Text("Questions can be asked.", "green") if found.sound else Text("To be corrected.", "red"))
    if not found.sound:
        raise typer.Exit(1)


_MEANINGS = {
    "type missing": "write one of integer, real, boolean, text, date",
    "no bounds": "sums, means, quantiles and arithmetic are refused, but they can be learned privately",
    "no keys": "groups are selected privately, small ones do not show",
}


def _print_table(found: TableState) -> None:
    title = f"{found.name}: protects {found.protects}" if found.protects else found.name
    table = Table(title=Text(title), title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("column", "type", "stored as", "public", "note"):
        table.add_column(heading)
    for column in found.columns:
        table.add_row(
            Text(column.name), column.declared or "–", Text(column.stored or "–"), Text(column.public), _note(column)
        )
    if found.columns:
        console.print(table)
    if found.wrong:
        console.print(Text(f"{found.name}: {found.wrong}", "red"))


def _note(column: ColumnState) -> Text:
    if column.wrong:
        return Text(column.wrong, "red")
    return Text(column.left, "yellow") if column.declared is not None else Text("not declared", "dim")


def main() -> None:
    """Run the command line; a refusal is one clear message and exit code 1."""
    try:
        app()
    except CuradorError as refusal:
        said = Text.assemble((refusal.what, "red"), f"\n  To do: {refusal.fix}\n  Cost: {refusal.cost}.")
        Console(stderr=True).print(said, soft_wrap=True)
        raise SystemExit(1) from None
