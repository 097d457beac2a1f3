"""Commands about local privacy: new-task, simulate, collect, estimate, client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from curador.cli.local.new_task import Out, new_task
from curador.cli.local.stop import Stop, stoppable
from curador.cli.local.tasks import candidates_of, read_document, read_task_file, write_new
from curador.cli.options import Confidence, Json
from curador.cli.screen import bullet, console, emit, grid, say, whole
from curador.errors import InvalidParameter

if TYPE_CHECKING:
    from curador.local.collect.collector import Collector, Receipt
    from curador.local.task.tally import Tally
    from curador.local.task.task import Task
    from curador.show.estimates import Estimated

local = typer.Typer(
    help="Local privacy: people randomise their answers, the collector estimates."
    "\n\nExample: curador local new-task krr --keys tea,coffee --epsilon 1",
    no_args_is_help=True,
)

local.command("new-task")(new_task)

SECONDS = 5.0
"""How long at most what came through a pipe waits to be written."""

TaskFile = Annotated[Path, typer.Argument(metavar="TASK", help="The file that new-task wrote.")]


# ---- simulate --------------------------------------------------------------------------------------------------------


@local.command()
def simulate(
    task: TaskFile,
    values: Annotated[Path | None, typer.Option(help="A CSV or Parquet file with a row for each person.")] = None,
    column: Annotated[
        list[str] | None, typer.Option(help="The column with their values; for a vector once for each number.")
    ] = None,
    users: Annotated[int | None, typer.Option(help="Instead of a file: so many made-up people.")] = None,
    out: Out = Path("messages.ndjson"),
    as_json: Json = False,
) -> None:
    """Write the messages that devices would send: a simulation, by one who has the values already.

    Made-up people are the same every time: the i-th key has a share proportional to 1/i.

    Example: curador local simulate task.json --users 10000 --out messages.ndjson
    """
    from curador.local.collect.rehearsal import made_up, people, pieces
    from curador.local.collect.table import read_columns
    from curador.local.collect.wire import messages, task_id

    asked: Any = read_task_file(task)
    if (values is None) == (users is None):
        raise InvalidParameter("Simulate needs people.", fix="Say --values with a file, or --users with a number.")
    if values is not None:
        names = column or list(getattr(asked, "names", ()))
        if not names:
            raise InvalidParameter("No column is named.", fix="Say which with --column.")
        found = people(asked, read_columns(values, names))
    else:
        found = made_up(asked, users)  # type: ignore[arg-type]
    sent = 0

    def lines() -> Any:
        nonlocal sent
        for piece in pieces(found, 1 << 16):
            some = messages(asked, asked.randomize(piece))
            sent += len(some)
            yield from (json.dumps(message) + "\n" for message in some)

    write_new(out, lines())
    if as_json:
        emit({"simulated": True, "file": str(out), "task": task_id(asked), "messages": sent})
        return
    whole(f"{out}: {sent:,} simulated {'message' if sent == 1 else 'messages'}, by {asked.mechanism}.")
    say("Real devices randomise by themselves, and send nothing else.")
    whole(f"Then: curador local collect reports {out} --task {task}")


# ---- collect ---------------------------------------------------------------------------------------------------------


@local.command()
def collect(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The collector's folder.")],
    messages: Annotated[
        Path, typer.Argument(metavar="MESSAGES", help="A file with a message a line; - reads standard input.")
    ],
    task: Annotated[Path | None, typer.Option(help="The task, for a new folder; an old one must be for it.")] = None,
    as_json: Json = False,
) -> None:
    """Take in messages: each is accepted once, or refused and counted.

    Token and report are kept: no address, no time, no order within a piece.

    What comes through a pipe is written every few seconds; at Ctrl-C what came is written, and counted.

    Example: curador local collect reports messages.ndjson --task task.json
    """
    from curador.local.collect.summaries import caution
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
        collector = _talking(_collector(folder, wanted))
        size = _size(file)
        tell = stack.enter_context(bar("collecting"))
        stop = stack.enter_context(stoppable())

        def progress(_: float) -> None:
            if tell is not None:
                tell(file.tell() / size if size else -1.0)

        receipt = collector.collect(_incoming(file, collector.task, stop), progress=progress)
    totals, known = collector.totals(), caution(collector.task)
    if as_json:
        done = {"now": _plain(receipt), "in_all": _plain(totals), "stopped": bool(stop.signal)}
        emit({"folder": str(folder), **done, "caution": known})
        raise typer.Exit(stop.code)
    table = grid()
    for heading in ("", "now", "in all"):
        table.add_column(heading, justify="left" if not heading else "right")
    table.add_row("accepted", f"{receipt.accepted:,}", f"{totals.accepted:,}")
    for reason in totals.refused:
        table.add_row(f"refused: {reason}", f"{receipt.refused.get(reason, 0):,}", f"{totals.refused[reason]:,}")
    console.print(table)
    if known:
        bullet(known)
    if stop.signal:
        say("Stopped: what came before is in; collect the rest again.", "yellow")
        raise typer.Exit(stop.code)
    whole(f"Then: curador local estimate {folder}")


def _incoming(file: BinaryIO, task: Task, stop: Stop) -> Iterator[Any]:
    """The lines of a file up to its end or to the stop; of a pipe with pauses, in which what came is written."""
    from curador.local.collect.intake import Intake, arriving, lines

    longest = Intake(task).longest
    if file.seekable():
        return takewhile(lambda _: not stop.signal, lines(file, longest))
    return arriving(file.fileno(), longest, SECONDS, stop.reader)


def _talking(collector: Collector) -> Collector:
    """The same, saying so where it waits for another program."""

    def notice(text: str) -> None:
        typer.echo(text, err=True)

    return replace(collector, store=replace(collector.store, notice=notice))


def _size(file: BinaryIO) -> int:
    """How many bytes a file has; 0 where nobody knows, as of a pipe."""
    if not file.seekable():
        return 0
    start, end = file.tell(), file.seek(0, os.SEEK_END)
    file.seek(start)
    return end


def _collector(folder: Path, task: Task | None) -> Collector:
    from curador.local.collect.collector import TASK, Collector
    from curador.local.collect.store import CollectorFailed

    if task is not None:
        try:
            return Collector.create(folder, task)
        except CollectorFailed:
            if not (folder / TASK).exists():  # else it is there already, perhaps since a moment ago
                raise
    return Collector.open(folder, task)


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
    save_tally: Annotated[
        Path | None, typer.Option(help="Write what was counted, to be added to others' counts.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Count the reports of one collector or of several together, and estimate.

    Example: curador local estimate reports --plot drinks.png
    """
    from curador.cli.local.shown import print_findings
    from curador.local.collect.collector import publish_tally
    from curador.local.collect.summaries import findings
    from curador.local.collect.wire import task_id

    asked, tally = _counted(sources, task)
    named = None if candidates is None else candidates_of(candidates)
    if save_tally is not None:
        write_new(save_tally, [json.dumps(publish_tally(asked, tally)), "\n"])
    found = findings(asked, tally, candidates=named, confidence=confidence, projected=projected)
    title = f"{asked.mechanism}, ε = {asked.epsilon}, n = {tally.users:,}"
    if plot is not None:
        _plot(found, title, plot)
    if as_json:
        what = {"task": task_id(asked), "mechanism": asked.mechanism, "epsilon": str(asked.epsilon)}
        emit({**what, "users": tally.users, "confidence": confidence, "findings": [one.to_json() for one in found]})
        return
    say(title, "bold")
    print_findings(found, top)
    for file in filter(None, (plot, save_tally)):
        whole(f"Written: {file}")


def _counted(sources: list[Path], file: Path | None) -> tuple[Task, Tally]:
    from curador.local.collect.collector import Collector, read_tally, total

    asked = None if file is None else read_task_file(file)
    if len({source.resolve() for source in sources}) < len(sources):
        raise InvalidParameter("A folder or tally is named twice.", fix="Name each once: people count once.")
    folders = [source for source in sources if not source.is_file()]
    collectors = []
    for folder in folders:
        collectors.append(_talking(Collector.open(folder, asked)))
        asked = collectors[-1].task
    if asked is None:
        raise InvalidParameter("Tallies do not say which task they are of.", fix="Give it with --task task.json.")
    tallies = [read_tally(asked, read_document(source, "tally")) for source in sources if source.is_file()]
    return asked, total(asked, [*tallies, *(collector.tally(progress=True) for collector in collectors)])


def _plot(found: tuple[Estimated, ...], title: str, file: Path) -> None:
    import warnings

    from curador.show.curves import save
    from curador.show.estimates import plot_estimates

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)  # a box stands for it
        aside = file.with_name(f".{os.getpid()}-{file.name}")  # a figure that is there stays until there is another
        try:
            save(plot_estimates(found, title=title), aside).replace(file)
        except OSError:
            raise InvalidParameter(f"{file.name} cannot be written.", fix="Choose another place.") from None
        finally:
            aside.unlink(missing_ok=True)


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
    from curador.local.devices import FILES, source

    text = source(language)
    target = out if out is not None else Path(FILES[language])
    write_new(target, [text])
    if as_json:
        emit({"file": str(target), "language": language})
        return
    whole(f"{target}: copy it to the devices; it imports nothing of Curador.")
