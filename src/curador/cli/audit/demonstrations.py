"""Demonstrations on made-up people: reconstruct, link, game."""

from __future__ import annotations

from typing import Annotated

import typer

from curador.cli.audit.reporting import Html, Seed, report
from curador.cli.options import Json, Language

TotalEpsilon = Annotated[str, typer.Option("--epsilon", help="The privacy loss, as a decimal or a fraction.")]


def reconstruct(
    bits: Annotated[int, typer.Option(min=2, help="How many people, with a secret bit each.")] = 200,
    counts: Annotated[int, typer.Option(min=2, help="How many counts of random subsets are asked for.")] = 1000,
    epsilon: TotalEpsilon = "1",
    seed: Seed = 0,
    html: Html = None,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Rebuild secret bits from counts: exact ones, noised ones without a budget, and those of a curator.

    Example: curador audit reconstruct --html reconstruction.html
    """
    from curador.audit.reconstruction import reconstruct as attacked

    found = attacked(bits, counts, epsilon, seed)
    report("rec", exhibits=[found.exhibit()], html=html, as_json=as_json, language=language)


def link(
    attack: Annotated[
        list[str] | None,
        typer.Argument(metavar="ATTACK", help="unique, join, ratings, searches or classes; all by default."),
    ] = None,
    people: Annotated[
        int | None, typer.Option(min=50, help="How many made-up people; each attack has its own.")
    ] = None,
    seed: Seed = 0,
    html: Html = None,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Find people in tables without names, and see what a private release of the same question shows.

    Example: curador audit link join ratings --language es
    """
    from curador.audit.linkage.all import linked

    report("link", exhibits=linked(attack or (), people, seed), html=html, as_json=as_json, language=language)


def game(
    epsilon: TotalEpsilon = "1",
    plays: Annotated[int, typer.Option(min=100, help="How often the game is played.")] = 20_000,
    seed: Seed = 0,
    html: Html = None,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Play the decision game: what epsilon allows an attacker to believe, and how a real one does; then cut-off noise.

    Example: curador audit game --epsilon 0.5 --html game.html
    """
    from curador.audit.game import game_exhibits

    exhibits = game_exhibits(epsilon, plays, seed)
    report("game", exhibits=exhibits, html=html, as_json=as_json, language=language)
