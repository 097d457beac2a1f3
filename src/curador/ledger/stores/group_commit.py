"""Group commit: threads that wait for the disk share one transaction, and so one sync.

There is no writer thread that could die or be lost in a fork, and no role that an interrupt could lose: whoever holds
the lock leads, and a lock that is held by ``with`` is released whatever is raised, at whatever instant (Python raises
the exceptions of signal handlers between built-in calls, never within one that takes or releases a lock).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from threading import Lock
from typing import Any

from curador.errors import CuradorError, LedgerFailed
from curador.ledger.stores.rows import UNSURE

PATIENCE = 0.1
"""Seconds after which a thread that was not woken looks for itself: its leader may have been interrupted."""

LEAVING = 0.005
"""Seconds that the next leader waits at most for those who leave: as long as one may keep the interpreter."""


class Job:
    """A transaction that waits to be run, and then its outcome, which holds once it is ``done``.

    ``next`` follows it in its batch; its thread has ``left`` once it has woken that one, or is about to.
    """

    done = left = False
    error: BaseException | None = None
    result: Any = None
    next: Job | None = None
    _wake: Lock | None = None

    def __init__(self, transaction: Callable[[Any], Any], need: Any = None) -> None:
        self.transaction, self.need = transaction, need

    def finish(self, result: Any = None, error: BaseException | None = None) -> None:
        self.result, self.error, self.done = result, error, True

    def wait(self, needed: Callable[[], bool] | None, seconds: float) -> None:
        """Sleep until woken, though not for ever: a wake-up that is lost costs time and nothing else."""
        wake = Lock()
        wake.acquire()
        self._wake = wake
        if not self.done and (needed is None or needed()):  # who wakes has changed what is asked here before
            wake.acquire(timeout=seconds)

    def wake(self) -> None:
        if self._wake is not None and self._wake.locked():
            with suppress(RuntimeError):  # another was faster
                self._wake.release()


class GroupCommit:
    """Runs the jobs of many threads in shared transactions, in the order of arrival.

    A thread queues its job and takes the lock; with the lock it finds its job done, or runs all that are queued.  All
    but the first in the queue sleep before, so that many share a transaction.  Whoever leaves wakes the next of its
    batch, whatever was raised, and the last wakes the first in the queue: if all woke at once, or while that one runs a
    transaction, they would only wait for each other, for the interpreter.  And those who left come again: they queue
    meanwhile, and the next transaction is shared by all of them.
    ``perform`` runs a batch in one transaction; a refusal that it raises is the outcome of every job it did not finish.

    >>> def perform(batch):
    ...     for job in batch:
    ...         job.finish(job.transaction("rows"))
    >>> GroupCommit(perform).run(str.upper)
    'ROWS'
    """

    def __init__(self, perform: Callable[[Sequence[Job]], None]) -> None:
        self._perform = perform
        self.lead = Lock()
        """Whoever holds it runs transactions."""
        self._guard = Lock()
        self._waiting: list[Job] = []
        self._last: Job | None = None
        """Of the last batch the job that leaves last."""

    def run(self, transaction: Callable[[Any], Any], need: Any = None) -> Any:
        job = Job(transaction, need)
        try:
            with self._guard:
                self._waiting.append(job)
                first = len(self._waiting) == 1
            if not first or self.lead.locked():
                job.wait(self.lead.locked if first else None, PATIENCE)
            if first and self._leaving():
                job.wait(self._leaving, LEAVING)
            if not job.done:
                with self.lead:
                    if not job.done:
                        self._perform_all()
        except BaseException:  # interrupted: a job that nobody has begun is taken back
            with self._guard:
                if queued := job in self._waiting:
                    self._waiting.remove(job)
            if not queued and not job.done:  # it is being written: what is read after this is what stays
                with self.lead:
                    pass
            raise
        finally:
            job.left = True
            if job.next is not None:
                job.next.wake()
            else:
                self._wake_first()
        if not job.done:  # taken by a leader that was interrupted, perhaps after its commit
            raise LedgerFailed(
                "The ledger stopped midway.", fix="Look at the history.", cost=UNSURE, code="ledger-interrupted"
            )
        if job.error is not None:
            raise job.error
        return job.result

    def _perform_all(self) -> None:
        """Run all that are queued; with the lock held.  A job that is queued no more and not done was lost."""
        with self._guard:
            batch, self._waiting = self._waiting, []
            if len(batch) > 1:
                for job, after in pairwise(batch):  # before any can leave: who leaves before is not in the batch
                    job.next = after
        try:
            if batch:
                self._perform(batch)
        except CuradorError as error:  # every waiter raises it; anything else was raised in this thread alone
            for job in batch:
                if not job.done:
                    job.finish(error=error)
        finally:
            self._last = batch[-1] if len(batch) > 1 else None
            if batch:
                batch[0].wake()

    def _leaving(self) -> bool:
        last = self._last
        return last is not None and not last.left

    def _wake_first(self) -> None:
        """Let the first that waits lead; after the lock is released, so that none can fall asleep unseen."""
        if self._waiting and not self.lead.locked():
            for job in self._waiting[:1]:
                job.wake()
