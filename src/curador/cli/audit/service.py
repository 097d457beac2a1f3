"""The command service: the attacks on questions, against live curators."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated

import typer

from curador.cli.audit.reporting import Html, report
from curador.cli.options import Json, Language
from curador.cli.screen import words
from curador.errors import InvalidParameter

DOORS = ("library", "command-line", "http")


def service(
    door: Annotated[
        list[str] | None, typer.Option(help="library, command-line or http; once for each. All by default.")
    ] = None,
    attack: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="A kind of attack, such as E1; once for each. All by default."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many attacks of each kind.")] = None,
    turns: Annotated[int, typer.Option(min=0, help="How often response times are taken; 0 takes none.")] = 40,
    tick: Annotated[str, typer.Option(help="The tick of the server while its response times are taken.")] = "250ms",
    html: Html = None,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Attack live curators, with a victim in their tables and without, and compare all that can be seen.

    The tables are made up, and gone afterwards. All attacks through all doors take some minutes.

    Example: curador audit service --door library --attack E1 --attack P5
    """
    from curador.audit.doors.run import library
    from curador.audit.doors.service import attack_service
    from curador.audit.doors.times import time_service, times_exhibit
    from curador.cli.audit.door import command_line
    from curador.cli.audit.web_door import web
    from curador.server.gate.settings import seconds

    ways = dict(zip(DOORS, (library, command_line, web), strict=True))
    unknown = [name for name in door or () if name not in ways]
    if unknown:
        raise InvalidParameter(f"There is no door {unknown[0]!r}.", fix=f"Use {' or '.join(DOORS)}.")
    chosen = {name: opens for name, opens in ways.items() if not door or name in door}
    findings = attack_service(chosen, attack or (), limit=limit, progress=None if as_json else _told)
    padded = seconds(tick, "tick")
    timed = {name: partial(web, tick=padded) if opens is web else opens for name, opens in chosen.items()}
    pairs = time_service(timed, turns) if turns >= 2 else []
    findings += [pair.finding() for pair in pairs]
    exhibits = [times_exhibit(pairs, padded)] if pairs else []
    report("service", exhibits=exhibits, findings=findings, html=html, as_json=as_json, language=language)


def _told(door: str, done: int, of: int) -> None:
    if sys.stderr.isatty():
        print(
            "\r" + words("attacked", door=door, done=done, of=of),
            end="\n" if done == of else "",
            file=sys.stderr,
            flush=True,
        )
