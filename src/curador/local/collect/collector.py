"""The collector: takes in messages on one task, keeps what may be kept of them, counts and estimates."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from curador.errors import InvalidParameter, InvalidValue
from curador.local.collect.intake import Intake, Pause, strict_json
from curador.local.collect.store import CollectorFailed, ReportStore
from curador.local.collect.wire import VERSION, Reason, publish_task, read_task, task_id
from curador.local.task.tally import MOST_USERS, Tally
from curador.local.task.task import Task
from curador.show.progress import watched

TASK, REPORTS = "task.json", "reports.duckdb"
PIECE = 1 << 18
"""Messages in one transaction, at most."""
PIECE_BYTES = 1 << 26
"""Bytes of messages in one, at most, but for the last message: some are long, and some are made so."""

Progress = Callable[[float], None] | bool
"""Who is told what part is done, from 0 to 1, or -1 where nobody knows; True shows a bar in a terminal."""


@dataclass(frozen=True)
class Receipt:
    """How many messages were accepted, and how many refused, by reason.

    >>> both = Receipt(2, {"malformed": 1}) + Receipt(1, {"replayed": 2, "malformed": 1})
    >>> both.accepted, both.refused, both.messages
    (3, {'malformed': 2, 'replayed': 2}, 7)
    """

    accepted: int = 0
    refused: Mapping[Reason, int] = field(default_factory=dict)

    @property
    def messages(self) -> int:
        return self.accepted + sum(self.refused.values())

    def __add__(self, other: Receipt) -> Receipt:
        reasons = dict.fromkeys([*self.refused, *other.refused])
        refused = {reason: self.refused.get(reason, 0) + other.refused.get(reason, 0) for reason in reasons}
        return Receipt(self.accepted + other.accepted, refused)


@dataclass(frozen=True)
class Collector:
    """A folder with the published task and the reports on it.

    Of a message the random token and the report are kept: no address, no time, and within a piece no order, because
    each is sorted by token.

    Guarantee: a token counts once, whatever happens: within a batch, over restarts, and when several processes collect
        at once.  A piece of messages is written whole or not at all.  Every message is accepted or counted as refused.
    Assumes: a local disk, on which locks work.  Reports are private already; who can write the folder can forge them.
    Fails: a device that makes up tokens can report as often as it likes.  Which of the pieces a report came in shows in
        the file, so collect many messages at a time.

    >>> import tempfile
    >>> from curador.local import KRR
    >>> from curador.local.collect.wire import messages
    >>> task = KRR(keys=["tea", "coffee"], epsilon=3)
    >>> sent = messages(task, task.randomize(["tea"] * 300 + ["coffee"] * 100))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     collector = Collector.create(Path(folder) / "drinks", task)
    ...     first, again = collector.collect(sent), collector.collect(sent[:5])
    ...     found = collector.estimate()
    >>> first.accepted, again.refused, found.users
    (400, {'replayed': 5}, 400)
    """

    folder: Path
    task: Task
    store: ReportStore

    @classmethod
    def create(cls, folder: str | Path, task: Task) -> Collector:
        """A folder for this task: a new one, an empty one, or one whose making was broken off."""
        target, document = Path(folder).absolute(), publish_task(task)
        new = not target.is_dir()
        try:
            target.mkdir(parents=True, exist_ok=True)
            with _held(target):
                _make(target, task_id(task), json.dumps(document, indent=1) + "\n")
        except OSError as error:
            if new:
                with suppress(OSError):
                    target.rmdir()
            raise _unusable(target, error) from None
        return cls.open(target)

    @classmethod
    def open(cls, folder: str | Path, task: Task | None = None) -> Collector:
        """The collector in this folder, refused if it is for another task than the one given."""
        place = Path(folder).absolute()
        try:
            text = (place / TASK).read_text(encoding="utf-8")
        except FileNotFoundError:
            if (place / REPORTS).exists() or (place / REPORTS).with_suffix(".new").exists():
                raise CollectorFailed(
                    f"The making of {place.name} was broken off: it has no {TASK}.",
                    fix="Create it again with the same task, as by --task task.json: it is finished then.",
                ) from None
            raise CollectorFailed(
                f"{place.name} is no collector: it has no {TASK}.",
                fix="Make one with Collector.create(), or with --task task.json.",
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise _unusable(place, error) from None
        try:
            found = read_task(strict_json(text))
        except ValueError as error:
            if isinstance(error, InvalidParameter):
                raise
            raise CollectorFailed(f"{TASK} is not a task.", fix="Restore the folder from a copy.") from None
        if task is not None and task != found:
            raise CollectorFailed(f"{place.name} collects on another task.", fix="Choose another folder for each task.")
        return cls(place, found, ReportStore(place / REPORTS, task_id(found)))

    @property
    def _rows(self) -> int:
        return max(1, min(PIECE, PIECE_BYTES // max(1, self.task.layout.size)))

    def collect(self, messages: Iterable[Any], *, progress: Progress = False) -> Receipt:
        """Take in messages: mappings, or JSON as text or bytes, such as the lines of a file.

        A :data:`curador.local.collect.intake.PAUSE` among them has the ones before it written.

        Fails: with :class:`CollectorFailed` if the folder cannot be written, or the messages cannot be read on; it says
            how many were dealt with before, and these are kept.
        """
        if isinstance(messages, str | bytes | Mapping):  # its letters or names would all be refused
            raise InvalidParameter("Messages are collected many at a time.", fix="Pass a list of them, or a file.")
        intake, receipt = Intake(self.task), Receipt()
        many = len(messages) if isinstance(messages, Sized) else None
        source = _Readable(iter(messages))
        with watched(progress) as tell:
            for piece in _pieces(source, self._rows):
                batch = intake.read(piece)
                try:
                    replayed = self.store.add(batch)
                except CollectorFailed as failure:
                    failure.cost = f"{_dealt_with(receipt)}; {failure.cost}"
                    raise
                here: Mapping[Reason, int] = {"replayed": replayed} if replayed else {}
                receipt += Receipt(len(batch.tokens) - replayed, batch.refused) + Receipt(0, here)
                if tell is not None:
                    tell(receipt.messages / many if many else -1.0)
        if source.failure is not None:
            raise CollectorFailed(
                f"The messages cannot be read on: {_reason(source.failure)}.",
                fix="Collect them again when they can be read: what is in is not counted twice.",
                cost=_dealt_with(receipt),
            )
        return receipt

    def totals(self) -> Receipt:
        """What was accepted and refused so far, by everyone who collected into this folder."""
        return Receipt(*self.store.totals())

    def tally(self, *, progress: Progress = False) -> Tally:
        """Count all reports, a piece at a time, so that memory does not grow with them."""
        found = empty_tally(self.task)
        with watched(progress) as tell:
            for part, rows in self.store.pieces(self._rows, self.task.layout.size):
                found += self.task.tally(self.task.from_bytes(rows))
                if tell is not None:
                    tell(part)
        return found

    def estimate(self, *arguments: Any, progress: Progress = False, **options: Any) -> Any:
        """What the task estimates from the tally, with the task's own arguments: ``candidates`` for a sketch.

        Of heavy hitters it is those that are found.
        """
        task: Any = self.task
        ask = task.estimate if hasattr(task, "estimate") else task.find
        return ask(self.tally(progress=progress), *arguments, **options)


def empty_tally(task: Task) -> Tally:
    """The tally of no reports on a task.

    >>> from curador.local import KRR
    >>> empty_tally(KRR(keys=3, epsilon=1)).support.tolist()
    [0, 0, 0]
    """
    return task.tally(task.from_bytes(np.zeros((0, task.layout.size), np.uint8)))


def publish_tally(task: Task, tally: Tally) -> dict[str, object]:
    """A document with a tally and the task it is of, for those who add up several.

    >>> from curador.local import KRR
    >>> task = KRR(keys=3, epsilon=1)
    >>> read_tally(task, publish_tally(task, task.tally([0, 2, 2]))).support.tolist()
    [1, 0, 2]
    """
    return {"curador": VERSION, "task": task_id(task), "tally": tally.to_json()}


def read_tally(task: Task, document: Mapping[str, Any]) -> Tally:
    """The tally of a document, refused unless it is of this task."""
    if not isinstance(document, Mapping) or set(document) != {"curador", "task", "tally"}:
        raise InvalidValue("This is not a tally of a task.", fix="Read what publish_tally() made.")
    if document["curador"] != VERSION:
        raise InvalidValue("This tally is of another version.", fix="Upgrade Curador.")
    if document["task"] != task_id(task):
        raise InvalidValue("This tally is of another task.", fix="Add tallies of one task only.")
    found = Tally.from_json(document["tally"])
    if found.support.shape != empty_tally(task).support.shape:
        raise InvalidValue("This tally does not fit its task.", fix="Read what publish_tally() made.")
    return found


def total(task: Task, tallies: Iterable[Tally]) -> Tally:
    """The tally of all parts of a collection together.

    >>> from curador.local import KRR
    >>> task = KRR(keys=2, epsilon=1)
    >>> total(task, [task.tally([0]), task.tally([0, 1])]).support.tolist()
    [2, 1]
    """
    found = sum(tallies, start=empty_tally(task))
    if found.users >= MOST_USERS:
        raise InvalidValue("These tallies are of more people than there are.", fix="Count the reports again.")
    return found


# ---- messages in pieces ----------------------------------------------------------------------------------------------


class _Readable:
    """Messages up to where they cannot be read; what came before that is dealt with before it is told."""

    def __init__(self, messages: Iterator[Any]) -> None:
        self.messages = messages
        self.failure: OSError | None = None

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self.messages
        except OSError as error:
            self.failure = error


def _pieces(messages: Iterable[Any], rows: int) -> Iterator[list[Any]]:
    piece, size = list[Any](), 0
    for message in messages:
        paused = isinstance(message, Pause)
        if not paused:
            piece.append(message)
            size += _weight(message)
        if piece and (paused or len(piece) >= rows or size >= PIECE_BYTES):
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _weight(message: Any) -> int:
    if isinstance(message, bytes | str | bytearray):
        return len(message)
    if isinstance(message, Mapping):
        return sum(_weight(part) for part in message.values() if not isinstance(part, Mapping))
    return 0


def _dealt_with(receipt: Receipt) -> str:
    refused = sum(receipt.refused.values())
    return f"the {receipt.messages} messages before are dealt with, {receipt.accepted} accepted and {refused} refused"


# ---- folders ---------------------------------------------------------------------------------------------------------


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Let nobody else make a collector in this folder."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def _make(folder: Path, named: str, document: str) -> None:
    """Put the store into a folder, then the task under a name of its own, which it gets last: it tells that all is in.

    Whoever is killed on the way leaves what the next one finishes.
    """
    store, aside = folder / REPORTS, folder / f"{TASK}.new"
    own = {
        aside.name,
        *(store.with_suffix(end).name for end in (".duckdb", ".lock", ".new", ".new.wal", ".duckdb.wal")),
    }
    there = {path.name for path in folder.iterdir()} - {"lost+found"}  # which a disk of its own has
    if TASK in there or not there <= own:
        raise CollectorFailed(
            f"{folder.name} exists already{'' if TASK in there else ', and holds other files'}.",
            fix="Open it, or choose another folder; nothing in it was touched.",
        )
    if store.name in there:
        ReportStore(store, named).totals()  # refused if it is of another task
    try:
        if store.name not in there:
            ReportStore.create(store, named)
        aside.write_text(document, encoding="utf-8")
        aside.rename(folder / TASK)
    except (OSError, CollectorFailed):
        for name in own - there:
            (folder / name).unlink(missing_ok=True)
        raise


def _unusable(folder: Path, error: Exception) -> CollectorFailed:
    return CollectorFailed(
        f"{folder.name} cannot be used: {_reason(error)}.", fix="Choose a folder that you may write to."
    )


def _reason(error: Exception) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
