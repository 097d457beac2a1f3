"""Commands about the door that strangers reach: serve, and tokens."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from curador.cli.opening import open_study
from curador.cli.options import STUDY, At, Json, Language, Log, Study
from curador.cli.screen import asks_back, bullet, console, emit, grid, say, whole, words
from curador.errors import InvalidParameter

tokens = typer.Typer(
    help='Who may come in through the server.\n\nExample: curador token new analyst --analyst ana --label "laptop"',
    no_args_is_help=True,
)


def serve(
    served: Annotated[
        Path, typer.Argument(metavar="[STUDY]", help="The study file, or its folder; demo for the demonstration.")
    ] = STUDY,
    host: Annotated[
        str, typer.Option(help="The address to listen on; any but this machine's own needs TLS.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that serve together.")] = 1,
    certificate: Annotated[Path | None, typer.Option(metavar="FILE", help="The TLS certificate.")] = None,
    private_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its private key.")] = None,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Append the engine's own errors to it. They may quote rows.")
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Begin a study, without tables: they are brought in the browser.")
    ] = False,
    epsilon: Annotated[
        str | None, typer.Option(help="Of a new study: the most that all answers together may cost one person.")
    ] = None,
    delta: Annotated[str | None, typer.Option(help="The delta that goes with it, for groups without keys.")] = None,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Serve a study over HTTP, until it is stopped with Ctrl-C.

    The first start prints a link that makes the curator, once.  With --new the study is begun, and its tables are
    brought in the browser.

    demo is the demonstration in curador-demo/, made if missing, with an analyst, a dashboard and made-up devices.

    Example: curador serve study.toml
    """
    from curador.server.run import serve as run

    demo = _is_demo(served)
    begins = new or epsilon is not None or delta is not None
    study = _begun(served, new, epsilon, delta) if begins else named_study(served)
    if not study.exists():
        raise InvalidParameter(
            f"There is no study file {study}.",
            fix="Check the path; or begin a study there: curador serve --new --epsilon 1",
            code="no-study-to-serve",
        )
    run(
        study,
        host=host,
        port=port,
        workers=workers,
        certificate=certificate,
        private_key=private_key,
        log=log,
        ready=_print_json if as_json else partial(_announce, demo=demo),
    )


def _is_demo(served: Path) -> bool:
    return str(served) == "demo" and not served.exists()


def named_study(served: Path) -> Path:
    """The study file that is meant: of a folder its own, and of the demonstration the one it makes."""
    if _is_demo(served):
        from curador.cli.demo import FOLDER
        from curador.server.furnished import furnish

        return furnish(FOLDER)
    return served / STUDY.name if served.is_dir() else served


def _begun(served: Path, new: bool, epsilon: str | None, delta: str | None) -> Path:
    """A study without tables, written to a file that is named, or into a folder; what is there already stays."""
    from curador.curator.study.draft import blank
    from curador.show.files import create

    if not new:
        raise InvalidParameter("A budget is stated with a new study.", fix="Say --new, or leave it out.")
    study = served if served.suffix == ".toml" else served / STUDY.name
    if study.exists():
        raise InvalidParameter(
            f"{study} is there already.", fix="Leave out --new to serve it.", code="study-there-already"
        )
    if epsilon is None and asks_back():
        epsilon = str(typer.prompt(words("new-epsilon"), default="1"))
    if epsilon is None:
        raise InvalidParameter("A new study needs a budget.", fix="Say --epsilon 1, or how much you allow.")
    text = blank(epsilon, delta)
    try:
        study.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InvalidParameter(f"{study.parent} cannot be made.", fix="Choose another place.") from None
    return create(study, [text])


def mcp(
    served: Annotated[Path | None, typer.Argument(metavar="[STUDY]", help="The study file.")] = None,
    analyst: Annotated[str, typer.Option(help="Whose budget the agent's is: an analyst of its own.")] = "",
    at: At = None,
    language: Language = "",
    log: Log = None,
) -> None:
    """Let an AI agent ask, through the Model Context Protocol on standard input and output.

    The agent has the budget of its analyst, and the curator sees every question it asked and why.

    Example: curador mcp study.toml --analyst agent
    """
    from curador.curator.study.file import read_study
    from curador.server.agents.desk import Desk
    from curador.server.agents.run import (
        serve_agent,  # first, so that what is missing is said before anything is opened
    )
    from curador.server.gate.settings import Settings

    if not analyst:
        raise InvalidParameter("An agent has an analyst's budget.", fix="Say --analyst NAME.", code="analyst-missing")
    if served is not None and at is not None:
        raise InvalidParameter("A study, or the address of a server.", fix="Leave out the study, or --at.")
    study = served or STUDY
    settings = Settings() if at is not None else Settings.read(read_study(study).server)
    with open_study(study, log=log, at=at) as curator:
        serve_agent(Desk(curator, analyst, settings, language))


def _print_json(url: str) -> None:
    emit({"address": url.partition("/console")[0], "link": url, "code": url.partition("#")[2] or None})


def _announce(url: str, demo: bool = False) -> None:
    address, code = url.partition("/console")[0], url.partition("#")[2]
    say(words("serving", address=address), "bold")
    if code:
        say(words("first-link"))
        whole(f"  {url}")
        say(words("first-code"))
        whole(f"  curl -X POST {address}/v1/session -H 'content-type: application/json' -d '{{\"code\": \"{code}\"}}'")
    else:
        from curador.server.console.sign import SIGN_IN

        say(words("sign-in-at"))
        whole(f"  {address}{SIGN_IN}")
    if demo:
        from curador.server.furnished import ANALYST, DRINKS, PEOPLE

        say(words("serve-try"), "bold")
        for step in (
            words("serve-try-look"),
            words("serve-try-analyst", analyst=ANALYST),
            words("serve-try-publish"),
            words("serve-try-collect", task=DRINKS.name, devices=f"{PEOPLE:,}"),
            words("serve-try-learn"),
        ):
            bullet(step, indent=2)


@tokens.command("new")
def new(
    role: Annotated[str, typer.Argument(metavar="ROLE", help="curator, analyst, auditor or reader.")],
    analyst: Annotated[str | None, typer.Option(help="Whose budget it is, for an analyst.")] = None,
    label: Annotated[str, typer.Option(help="A word for people, such as the machine it is for.")] = "",
    until: Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="The day after which it ends.")] = None,
    study: Study = STUDY,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Make a token and print it: it is never shown again.

    Example: curador token new analyst --analyst ana
    """
    from curador.server.access.people import issue

    end = None if until is None else until.replace(tzinfo=UTC, hour=23, minute=59, second=59)
    with open_study(study) as curator:
        token = issue(curator, role, analyst, label, end)
    if as_json:
        emit({"token": token, "role": role, "analyst": analyst})
        return
    whole(token)
    say(words("keep-token"), "dim")


@tokens.command("list")
def listed(study: Study = STUDY, language: Language = "", as_json: Json = False) -> None:
    """Show the tokens that were given, by the first digits of their hashes.

    Example: curador token list
    """
    with open_study(study) as curator:
        found = curator.ledger.accesses()
    if as_json:
        emit([_plain(one) for one in found])
        return
    table = grid()
    for heading in ("token", "role", "analyst", "label", "until"):
        table.add_column(words(heading))
    table.add_column("")
    for one in found:
        end = "" if one.expires is None else f"{one.expires:%Y-%m-%d}"
        state = words("token-ended") if one.ended else words("token-once") if one.once else ""
        table.add_row(one.id, words(f"role-{one.role}"), Text(one.who), Text(one.label), end, state)
    console.print(table)


def _plain(one: object) -> dict[str, object]:
    from curador.server.access.people import plain

    return plain(one)  # type: ignore[arg-type]


@tokens.command("end")
def end(
    id: Annotated[str, typer.Argument(metavar="TOKEN", help="The first digits of its hash, as listed.")],
    because: Annotated[str, typer.Option(help="The reason; it is recorded.")] = "",
    study: Study = STUDY,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Let a token open nothing any more.

    Example: curador token end 3f0c9a1be2d47755 --because "laptop lost"
    """
    from curador.server.access.people import end as end_token

    with open_study(study) as curator:
        found = end_token(curator, id, because)
    if as_json:
        emit(_plain(found))
        return
    say(words("token-has-ended", role=words(f"role-{found.role}"), id=found.id))
