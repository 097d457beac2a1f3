"""All commands together; :mod:`curador.cli.start` runs :func:`main` for what it does not read itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from curador import __version__
from curador.cli.asking import ask, explain, limits, publish, quality
from curador.cli.audit.commands import audit
from curador.cli.demo import demo
from curador.cli.hints import with_hint
from curador.cli.local.commands import local
from curador.cli.models import fit, predict
from curador.cli.opening import refuse_at
from curador.cli.screen import console, decide_language, ended
from curador.cli.serving import mcp, serve, tokens
from curador.cli.spending.budgets import budget, grant, renew, revoke
from curador.cli.spending.histories import history
from curador.cli.spending.ledgers import redeclare, restore, verify
from curador.cli.studies import check, init, prepare, reload
from curador.errors import CuradorError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
ledger = typer.Typer(
    help="The durable record of what was spent.\n\nExample: curador ledger verify", no_args_is_help=True
)


def _version(wanted: bool) -> None:
    if wanted:
        console.print(f"curador {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    language: Annotated[
        str, typer.Option(help="Of what is printed: en or es; by default what CURADOR_LANGUAGE says, else en.")
    ] = "",
) -> None:
    """A trusted curator: answers about private data, through differential privacy.

    Example: curador demo
    """
    decide_language(language)


_ALL: tuple[Callable[..., None], ...] = (
    *(demo, init, check, quality, prepare, reload, explain, ask),
    *(limits, publish, fit, predict, budget, grant, renew, revoke, history, serve, mcp),
)
for _command in _ALL:
    app.command()(_command)
app.command("sql", help='The same as ask.\n\nExample: curador sql "SELECT COUNT(*) FROM adult" --epsilon 0.1')(ask)
ledger.command()(verify)
ledger.command()(redeclare)
ledger.command()(restore)
app.add_typer(ledger, name="ledger")
app.add_typer(local, name="local")
app.add_typer(audit, name="audit")
app.add_typer(tokens, name="token")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, on what was typed or on these arguments; a refusal is one clear message and exit code 1."""
    typed = sys.argv[1:] if arguments is None else list(arguments)
    try:
        decide_language()  # for what is refused before an option is read
        refuse_at(typed)
        app(typed, prog_name=None if arguments is None else "curador")
    except CuradorError as refusal:
        raise SystemExit(ended(with_hint(refusal), as_json="--json" in typed)) from None
