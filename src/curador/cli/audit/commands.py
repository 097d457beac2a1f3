"""The commands of ``curador audit``."""

from __future__ import annotations

import typer

from curador.cli.audit.demonstrations import game, link, reconstruct
from curador.cli.audit.mechanism import mechanism
from curador.cli.audit.model import model
from curador.cli.audit.query import query
from curador.cli.audit.reports import local
from curador.cli.audit.service import service

audit = typer.Typer(
    help="Attacks that put a floor under what is claimed, and demonstrations of why names are not enough."
    "\n\nExample: curador audit reconstruct",
    no_args_is_help=True,
)

# One line for each command, in the order of the help.
audit.command()(mechanism)
audit.command()(query)
audit.command()(model)
audit.command()(service)
audit.command()(local)
audit.command()(reconstruct)
audit.command()(link)
audit.command()(game)
