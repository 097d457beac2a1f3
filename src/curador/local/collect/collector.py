"""The collector: a folder that accepts messages on one task, counts the reports and estimates."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from curador.errors import CollectorFailed, InvalidParameter
from curador.local.collect.intake import Intake, Pause, strict_json
from curador.local.collect.store import ReportStore
from curador.local.collect.wire import Reason, publish_task, read_task
from curador.local.task.estimate import LocalEstimate
from curador.local.task.keys import LocalKey
from curador.local.task.tally import Tally
from curador.local.task.task import Task
from curador.show.files import write_atomically
from curador.show.progress import watched

TASK, REPORTS = "task.json", "reports.duckdb"
BATCH_ROWS = 1 << 18
"""The largest number of messages in one batch, which is one transaction."""
BATCH_BYTES = 1 << 26
"""The largest size of a batch in bytes; its last message may exceed it."""

Callback = Callable[[float], None] | bool
"""Called with the part done, from 0 to 1, or -1 where it is unknown; True shows a progress bar in a terminal."""


@dataclass(frozen=True)
class Receipt:
    """Counts of messages: those accepted, and those refused by reason.

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

    The folder keeps the random token and the report of a message.  It stores no address and no time.  Each batch is
    sorted by token, so it shows no order of arrival.

    Guarantee: a token counts once: within a batch, over restarts, and when several processes collect at once.  A batch
        of messages is written whole or not at all.  Every message is accepted or counted as refused.
    Assumes: a local disk, on which locks work.  Reports are private already; anyone who can write to the folder can
        forge them.
    Fails: a device that makes up tokens can report as often as it likes.  The file shows in which batch a report came,
        so collect many messages at a time.

    >>> import tempfile
    >>> from curador.local import KRR
    >>> from curador.local.collect.wire import messages
    >>> task = KRR(keys=["tea", "coffee"], epsilon=3).named("drinks")
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
        """Create the folder of a task, or fill an empty one, or finish a creation that was interrupted."""
        target, document = Path(folder).absolute(), publish_task(task)
        new = not target.is_dir()
        try:
            target.mkdir(parents=True, exist_ok=True)
            with _lock(target):
                _fill(target, task.id, json.dumps(document, indent=1) + "\n")
        except OSError as error:
            if new:
                with suppress(OSError):
                    target.rmdir()
            raise _unusable(target, error) from None
        return cls.open(target)

    @classmethod
    def open(cls, folder: str | Path, task: Task | None = None) -> Collector:
        """Open the collector in this folder; refuse it if it is for another task than the one given."""
        place = Path(folder).absolute()
        try:
            text = (place / TASK).read_text(encoding="utf-8")
        except FileNotFoundError:
            if (place / REPORTS).exists() or (place / REPORTS).with_suffix(".new").exists():
                raise CollectorFailed(
                    f"The creation of {place.name} was interrupted: it has no {TASK}.",
                    fix="Create it again with the same task: that finishes it.",
                    code="collector-unfinished",
                ) from None
            raise CollectorFailed(
                f"{place.name} is not a collector: it has no {TASK}.",
                fix="Create one with a task.",
                code="collector-missing",
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
        return cls(place, found, ReportStore(place / REPORTS, found.id))

    @classmethod
    def open_or_create(cls, folder: str | Path, task: Task | None = None) -> Collector:
        """Open the collector in this folder, or create one if there is none and a task is given."""
        if task is not None:
            try:
                return cls.create(folder, task)
            except CollectorFailed:
                if not (Path(folder) / TASK).exists():  # else it existed already, or another process made it now
                    raise
        return cls.open(folder, task)

    def noticing(self, notice: Callable[[str], None] | None) -> Collector:
        """Return this collector with a callback that receives a sentence when it waits for another process."""
        return replace(self, store=replace(self.store, notice=notice))

    @property
    def _rows(self) -> int:
        return max(1, min(BATCH_ROWS, BATCH_BYTES // max(1, self.task.layout.size)))

    def collect(
        self,
        messages: Iterable[Any],
        *,
        progress: Callback = False,
        acknowledge: Callable[[Receipt], None] | None = None,
    ) -> Receipt:
        """Accept messages: mappings, or JSON as text or bytes, such as the lines of a file.

        At a :data:`curador.local.collect.intake.PAUSE` the messages before it are written.  After each write,
        ``acknowledge`` receives the receipt of all messages written so far; a crash loses none of these.  A sender can
        keep messages until they are acknowledged and send the rest again after a crash.  Then no message is lost, and
        none counts twice.

        Fails: with :class:`CollectorFailed` if the folder cannot be written or the rest of the messages cannot be read;
            the error states how many were processed before, and these remain stored.
        """
        if isinstance(messages, str | bytes | Mapping):  # iterating over it would yield its characters or keys
            raise InvalidParameter("Messages are collected many at a time.", fix="Pass a list of them, or a file.")
        intake, receipt = Intake(self.task), Receipt()
        many = len(messages) if isinstance(messages, Sized) else None
        source = _Readable(iter(messages))
        with watched(progress) as tell:
            for some in _batches(source, self._rows):
                batch = intake.read(some)
                try:
                    replayed = self.store.add(batch)
                except CollectorFailed as failure:
                    failure.cost = f"{_counts_text(receipt)}; {failure.cost}"
                    raise
                here: Mapping[Reason, int] = {"replayed": replayed} if replayed else {}
                receipt += Receipt(len(batch.tokens) - replayed, batch.refused) + Receipt(0, here)
                if acknowledge is not None:
                    acknowledge(receipt)
                if tell is not None:
                    tell(receipt.messages / many if many else -1.0)
        if source.failure is not None:
            raise CollectorFailed(
                f"The rest of the messages cannot be read: {_reason(source.failure)}.",
                fix="Collect them again when they can be read: no message counts twice.",
                cost=_counts_text(receipt),
            )
        return receipt

    def totals(self) -> Receipt:
        """Count the messages accepted and refused so far, by all processes that collected into this folder."""
        return Receipt(*self.store.totals())

    def tally(self, *, progress: Callback = False) -> Tally:
        """Count all reports, a batch at a time, so that memory use stays bounded."""
        found = self.task.empty_tally()
        with watched(progress) as tell:
            for part, rows in self.store.pieces(self._rows, self.task.layout.size):
                found += self.task.tally(self.task.from_bytes(rows))
                if tell is not None:
                    tell(part)
        return found

    def estimate(
        self,
        candidates: Sequence[LocalKey] | None = None,
        *,
        confidence: float = 0.95,
        progress: Callback = False,
    ) -> LocalEstimate:
        """Estimate from the tally.

        Further options: call ``task.estimate(collector.tally(), …)``.
        """
        return self.task.estimate(self.tally(progress=progress), candidates, confidence=confidence)


# ---- messages in batches ---------------------------------------------------------------------------------------------


class _Readable:
    """Iterate over messages up to the first unreadable one; ``failure`` holds its error.

    So the messages before it are processed before the error is raised.
    """

    def __init__(self, messages: Iterator[Any]) -> None:
        self.messages = messages
        self.failure: OSError | None = None

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self.messages
        except OSError as error:
            self.failure = error


def _batches(messages: Iterable[Any], rows: int) -> Iterator[list[Any]]:
    batch, size = list[Any](), 0
    for message in messages:
        paused = isinstance(message, Pause)
        if not paused:
            batch.append(message)
            size += _weight(message)
        if batch and (paused or len(batch) >= rows or size >= BATCH_BYTES):
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _weight(message: Any) -> int:
    if isinstance(message, bytes | str | bytearray):
        return len(message)
    if isinstance(message, Mapping):
        return sum(_weight(part) for part in message.values() if not isinstance(part, Mapping))
    return 0


def _counts_text(receipt: Receipt) -> str:
    refused = sum(receipt.refused.values())
    return f"the {receipt.messages} messages before are processed, {receipt.accepted} accepted and {refused} refused"


# ---- folders ---------------------------------------------------------------------------------------------------------


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Keep other processes from creating a collector in this folder."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def _fill(folder: Path, named: str, document: str) -> None:
    """Create the store, then the task file, whose presence marks a complete collector.

    If the process is killed in between, the next call finishes the work.
    """
    store = folder / REPORTS
    own = {store.with_suffix(end).name for end in (".duckdb", ".lock", ".new", ".new.wal", ".duckdb.wal")}
    unfinished = set(folder.glob(f".{TASK}.*"))  # left by a process killed while it wrote the task file
    there = {path.name for path in set(folder.iterdir()) - unfinished} - {"lost+found"}  # at the root of a disk
    if TASK in there or not there <= own:
        raise CollectorFailed(
            f"{folder.name} exists already{'' if TASK in there else ', and holds other files'}.",
            fix="Open it, or choose another folder; nothing in it was touched.",
        )
    if store.name in there:
        ReportStore(store, named).totals()  # raises if the store is of another task
    try:
        if store.name not in there:
            ReportStore.create(store, named)
        write_atomically(folder / TASK, document.encode())
        for path in unfinished:
            path.unlink(missing_ok=True)
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
