"""Commands about local privacy: new-task, simulate, collect, estimate, compare, client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from curador.cli.local.new_task import Out, new_task
from curador.cli.options import Confidence, Json, Language
from curador.cli.screen import bullet, console, emit, grid, say, spoken, whole, words
from curador.errors import InvalidParameter

if TYPE_CHECKING:
    from curador.local.collect.collector import Receipt
    from curador.local.task.keys import LocalKey

local = typer.Typer(
    help="Local privacy: people randomise their answers, the collector estimates."
    "\n\nExample: curador local new-task drinks krr --keys tea,coffee --epsilon 1",
    no_args_is_help=True,
)

local.command("new-task")(new_task)

TaskFile = Annotated[Path, typer.Argument(metavar="TASK", help="The file that new-task wrote.")]


# ---- simulate --------------------------------------------------------------------------------------------------------


@local.command()
def simulate(
    task: TaskFile,
    values: Annotated[Path | None, typer.Option(help="A CSV or Parquet file with a row for each person.")] = None,
    column: Annotated[
        list[str] | None, typer.Option(help="The column with their values; for a vector once for each number.")
    ] = None,
    users: Annotated[int | None, typer.Option(help="Instead of a file: a number of made-up people.")] = None,
    out: Out = Path("messages.ndjson"),
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Write the messages that devices would send: a simulation, for which the values are known already.

    Made-up people are the same every time: the i-th key has a share proportional to 1/i.

    Example: curador local simulate task.json --users 10000 --out messages.ndjson
    """
    from curador.local.collect.files import read_task_file
    from curador.local.collect.rehearsal import made_up, people, simulated_messages
    from curador.local.collect.table import read_columns
    from curador.show.files import create

    asked = read_task_file(task)
    if values is not None and users is None:
        names = column or list(getattr(asked, "names", ()))
        if not names:
            raise InvalidParameter("No column is named.", fix="Say which with --column.")
        found = people(asked, read_columns(values, names))
    elif users is not None and values is None:
        found = made_up(asked, users)
    else:
        raise InvalidParameter("Simulate needs people.", fix="Say --values with a file, or --users with a number.")
    sent = 0

    def lines() -> Iterator[str]:
        nonlocal sent
        for message in simulated_messages(asked, found):
            sent += 1
            yield json.dumps(message) + "\n"

    create(out, lines())
    if as_json:
        emit({"simulated": True, "file": str(out), "task": asked.id, "messages": sent})
        return
    code = "simulated-one" if sent == 1 else "simulated"
    whole(words(code, file=out, n=f"{sent:,}", mechanism=asked.mechanism))
    say(words("real-devices"))
    whole(words("then", line=f"curador local collect reports {out} --task {task}"))


# ---- collect ---------------------------------------------------------------------------------------------------------


@local.command()
def collect(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The collector's folder.")],
    messages: Annotated[
        Path, typer.Argument(metavar="MESSAGES", help="A file with a message a line; - reads standard input.")
    ],
    task: Annotated[Path | None, typer.Option(help="The task, for a new folder; an old one must be for it.")] = None,
    acknowledge: Annotated[
        bool, typer.Option("--acknowledge", help="Print how many lines are safe whenever some are written.")
    ] = False,
    packed: Annotated[
        bool, typer.Option("--gzip", help="The messages are compressed by gzip, as those of a file named .gz are.")
    ] = False,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Accept messages: each counts once, or is refused and counted as such.

    Token and report are kept: no address, no time, no order within a batch.

    Messages from a pipe are written every second; at Ctrl-C those that arrived are written and counted.

    A sender that keeps its lines until they are acknowledged loses none, whatever happens.

    Example: curador local collect reports messages.ndjson --task task.json
    """
    from curador.local.collect.collector import Collector
    from curador.local.collect.files import read_task_file
    from curador.local.collect.intake import incoming
    from curador.local.collect.stop import stoppable
    from curador.show.progress import bar

    wanted = None if task is None else read_task_file(task)
    with ExitStack() as stack:
        if str(messages) == "-" and sys.stdin is None:
            raise InvalidParameter("There is no standard input.", fix="Give a file with a message a line.")
        try:
            file = sys.stdin.buffer if str(messages) == "-" else stack.enter_context(messages.open("rb"))
        except OSError as error:
            raise InvalidParameter(
                f"{messages.name} cannot be read: {os.strerror(error.errno or 0)}.",
                fix="Give a file with a message a line.",
            ) from None
        collector = Collector.open_or_create(folder, wanted).noticing(_notice)
        size = _size(file)
        tell = stack.enter_context(bar(words("collecting")))
        stop = stack.enter_context(stoppable())

        def progress(_: float) -> None:
            if tell is not None:
                tell(file.tell() / size if size else -1.0)

        safe = _acknowledge if acknowledge else None
        coming = incoming(file, collector.task, stop, packed=packed or messages.suffix.lower() == ".gz")
        receipt = collector.collect(coming, progress=progress, acknowledge=safe)
    totals, known = collector.totals(), collector.task.caution
    if as_json:
        done = {"now": _plain(receipt), "in_all": _plain(totals), "stopped": bool(stop.signal)}
        emit({"folder": str(folder), **done, "caution": "" if known is None else known.text()})
        raise typer.Exit(stop.code or _nothing(receipt))
    table = grid()
    table.add_column("")
    for code in ("now", "in-all"):
        table.add_column(words(code), justify="right")
    table.add_row(words("accepted"), f"{receipt.accepted:,}", f"{totals.accepted:,}")
    for reason in totals.refused:
        heading = words("refused", reason=words(f"reason-{reason.replace(' ', '-')}"))
        table.add_row(heading, f"{receipt.refused.get(reason, 0):,}", f"{totals.refused[reason]:,}")
    console.print(table)
    if known:
        bullet(known.text(spoken()))
    if stop.signal:
        say(words("stopped"), "yellow")
        raise typer.Exit(stop.code)
    if _nothing(receipt):
        say(_why(receipt, collector.task.title), "red")
        raise typer.Exit(1)
    whole(words("then", line=f"curador local estimate {folder}"))


def _acknowledge(receipt: Receipt) -> None:
    typer.echo(f"acknowledged {receipt.messages}")
    sys.stdout.flush()


def _nothing(receipt: Receipt) -> int:
    """1 if there were messages, and none of them is or was one on this task: the file or the task is the wrong one."""
    return int(bool(receipt.messages) and not receipt.accepted and not receipt.refused.get("replayed"))


def _why(receipt: Receipt, title: str) -> str:
    most = max(receipt.refused, key=lambda reason: receipt.refused[reason])
    return words("none-on-task" if most == "another task" else "none-a-message", title=title)


def _notice(text: str) -> None:
    typer.echo(text, err=True)


def _size(file: BinaryIO) -> int:
    """The size of a file in bytes; 0 if it is not known, as of a pipe."""
    if not file.seekable():
        return 0
    start, end = file.tell(), file.seek(0, os.SEEK_END)
    file.seek(start)
    return end


def _plain(receipt: Receipt) -> dict[str, Any]:
    return {"accepted": receipt.accepted, "refused": dict(receipt.refused)}


# ---- estimate --------------------------------------------------------------------------------------------------------


@local.command()
def estimate(
    sources: Annotated[
        list[Path], typer.Argument(metavar="FOLDER…", help="Collectors of one task, or tallies saved of some.")
    ],
    candidates: Annotated[
        str | None, typer.Option(help="The keys to ask a sketch or RAPPOR about: a file, or separated by commas.")
    ] = None,
    confidence: Confidence = 0.95,
    projected: Annotated[
        bool, typer.Option("--projected", help="Move frequencies to ones that could be true, which biases them.")
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="How many keys to print at most; the largest.")] = 20,
    task: Annotated[Path | None, typer.Option(help="The task, where only tallies are given.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw it, too: a PNG or SVG file.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the table, too: a CSV file.")] = None,
    save_tally: Annotated[
        Path | None, typer.Option(help="Write what was counted, to be added to others' counts.")
    ] = None,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Count the reports of one collector or of several together, and estimate.

    Example: curador local estimate reports --plot drinks.png
    """
    from curador.cli.local.tables import print_summaries
    from curador.local.collect.files import read_task_file
    from curador.local.collect.summaries import summarize
    from curador.local.collect.tallies import count_sources, publish_tally
    from curador.show.estimates import write_plot
    from curador.show.files import create
    from curador.show.summary import csv_text

    wanted = None if task is None else read_task_file(task)
    asked, tally = count_sources(sources, wanted, progress=True, notice=_notice)
    named = None if candidates is None else _candidates(candidates)
    if save_tally is not None:
        create(save_tally, [json.dumps(publish_tally(asked, tally)), "\n"])
    found = summarize(asked, tally, candidates=named, confidence=confidence, projected=projected)
    title = f"{asked.title}, {asked.mechanism}, ε = {asked.epsilon}, n = {tally.users:,}"
    if plot is not None:
        write_plot(found, plot, title=title)
    if csv is not None:
        create(csv, [csv_text(found)])
    if as_json:
        labels = {"name": asked.name, "period": asked.period, "segment": asked.segment}
        what = {"task": asked.id, **labels, "mechanism": asked.mechanism, "epsilon": str(asked.epsilon)}
        emit({**what, "users": tally.users, "confidence": confidence, "findings": [one.to_json() for one in found]})
        return
    say(title, "bold")
    print_summaries(found, top)
    for file in filter(None, (plot, csv, save_tally)):
        whole(words("written", file=file))


@local.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="The collector of one period or segment.")],
    second: Annotated[Path, typer.Argument(metavar="SECOND", help="That of another.")],
    candidates: Annotated[
        str | None, typer.Option(help="The keys to ask a sketch or RAPPOR about: a file, or separated by commas.")
    ] = None,
    confidence: Confidence = 0.95,
    top: Annotated[int, typer.Option(min=1, help="How many keys to print at most; the largest.")] = 20,
    plot: Annotated[Path | None, typer.Option(help="Draw it, too: a PNG or SVG file.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the table, too: a CSV file.")] = None,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Say how much the second of two periods or segments of a question is above the first, with intervals.

    Example: curador local compare reports-2026-10 reports-2026-11
    """
    from curador.cli.local.tables import print_summaries
    from curador.local.collect.collector import Collector
    from curador.local.collect.comparison import compare as compared
    from curador.show.estimates import write_plot
    from curador.show.files import create
    from curador.show.summary import csv_text

    named = None if candidates is None else _candidates(candidates)
    both = [Collector.open(folder).noticing(_notice) for folder in (first, second)]
    found = [one.estimate(named, confidence=confidence) for one in both]
    shown = compared(both[0].task, both[1].task, found[0], found[1]).summaries(confidence)
    title = words("less", second=both[1].task.title, first=both[0].task.title)
    if plot is not None:
        write_plot(shown, plot, title=title)
    if csv is not None:
        create(csv, [csv_text(shown)])
    if as_json:
        of = {"first": both[0].task.id, "second": both[1].task.id}
        emit({**of, "confidence": confidence, "findings": [one.to_json() for one in shown]})
        return
    say(title, "bold")
    print_summaries(shown, top, bars=False)
    for file in filter(None, (plot, csv)):
        whole(words("written", file=file))


def _candidates(text: str) -> Sequence[LocalKey]:
    """Keys from a file of that name, or separated by commas."""
    from curador.local.collect.files import read_keys
    from curador.local.task.build import split_keys

    return read_keys(Path(text)) if os.path.isfile(text) else split_keys(text)  # a text of any length


# ---- client ----------------------------------------------------------------------------------------------------------


@local.command()
def client(
    language: Annotated[str, typer.Option(help="python or js.")] = "python",
    out: Annotated[
        Path | None, typer.Option(help="The file to write; it must not exist. By default its own name.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the program that answers tasks on a device: one file, without dependencies.

    Example: curador local client --language js --out curador_device.js
    """
    from curador.local.devices.clients import FILES, source
    from curador.show.files import create

    text = source(language)
    target = out if out is not None else Path(FILES[language])
    create(target, [text])
    if as_json:
        emit({"file": str(target), "language": language})
        return
    whole(words("client-written", file=target))
