"""The collector: takes in messages on one task, keeps what may be kept of them, counts and estimates."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from curador.errors import InvalidParameter, InvalidValue
from curador.local.intake import Intake
from curador.local.store import CollectorFailed, Store
from curador.local.tally import Tally
from curador.local.task import Task
from curador.local.wire import VERSION, Reason, publish_task, read_task, task_id
from curador.show.progress import watched

TASK, REPORTS = "task.json", "reports.duckdb"
PIECE = 1 << 18
"""Messages in one transaction, at most."""
PIECE_BYTES = 1 << 26
"""Bytes of reports in one, at most: those of some tasks are long."""

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
    >>> from curador.local.wire import messages
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
    store: Store

    @classmethod
    def create(cls, folder: str | Path, task: Task) -> Collector:
        """A new folder for this task; it must not exist, or be empty."""
        target = Path(folder).absolute()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            made = Path(mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        except OSError as error:
            raise _unusable(target, error) from None
        try:  # made aside and moved in one step: whoever looks sees nothing or all of it
            Store.create(made / REPORTS, task_id(task))
            (made / TASK).write_text(json.dumps(publish_task(task), indent=1) + "\n", encoding="utf-8")
            with suppress(OSError):  # an empty folder may be in the way, where they cannot be replaced
                target.rmdir()
            made.rename(target)
        except OSError as error:
            if target.exists():
                raise CollectorFailed(
                    f"{target.name} exists already.",
                    fix="Open it, or choose another folder; nothing in it was touched.",
                ) from None
            raise _unusable(target, error) from None
        finally:
            shutil.rmtree(made, ignore_errors=True)
        return cls.open(target)

    @classmethod
    def open(cls, folder: str | Path, task: Task | None = None) -> Collector:
        """The collector in this folder, refused if it is for another task than the one given."""
        place = Path(folder).absolute()
        try:
            text = (place / TASK).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise CollectorFailed(
                f"{place.name} is no collector: it has no {TASK}.", fix="Create one with the task."
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise _unusable(place, error) from None
        try:
            found = read_task(json.loads(text))
        except (ValueError, RecursionError) as error:
            if isinstance(error, InvalidParameter):
                raise
            raise CollectorFailed(f"{TASK} is not a task.", fix="Restore the folder from a copy.") from None
        if task is not None and task != found:
            raise CollectorFailed(f"{place.name} collects on another task.", fix="Choose another folder for each task.")
        return cls(place, found, Store(place / REPORTS, task_id(found)))

    @property
    def _rows(self) -> int:
        return max(1, min(PIECE, PIECE_BYTES // max(1, self.task.layout.size)))

    def collect(self, messages: Iterable[Any], *, progress: Progress = False) -> Receipt:
        """Take in messages: mappings, or JSON as text or bytes, such as the lines of a file.

        Fails: with :class:`CollectorFailed` if the folder cannot be written; pieces before that are kept.
        """
        if isinstance(messages, str | bytes | Mapping):  # its letters or names would all be refused
            raise InvalidParameter("Messages are collected many at a time.", fix="Pass a list of them, or a file.")
        intake, receipt = Intake(self.task), Receipt()
        source, many = iter(messages), len(messages) if isinstance(messages, Sized) else None
        with watched(progress) as tell:
            while piece := list(islice(source, self._rows)):
                batch = intake.read(piece)
                try:
                    replayed = self.store.add(batch)
                except CollectorFailed as failure:
                    failure.cost = f"the {receipt.messages} messages before are dealt with, and {failure.cost}"
                    raise
                here: Mapping[Reason, int] = {"replayed": replayed} if replayed else {}
                receipt += Receipt(len(batch.tokens) - replayed, batch.refused) + Receipt(0, here)
                if tell is not None:
                    tell(receipt.messages / many if many else -1.0)
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
    return sum(tallies, start=empty_tally(task))


def _unusable(folder: Path, error: Exception) -> CollectorFailed:
    reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    return CollectorFailed(f"{folder.name} cannot be used: {reason}.", fix="Choose a folder that you may write to.")
