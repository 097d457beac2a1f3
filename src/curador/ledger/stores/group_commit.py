"""Group commit: threads that wait for the disk share one transaction, and so one sync.

There is no thread of its own to die or to be lost in a fork.  Whoever finds nobody at work leads: takes all that wait,
does their work in one transaction, and hands over to the first that came meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

from curador.errors import LedgerFailed
from curador.ledger.faults import UNSURE

MOST = 256
"""How many share a transaction: nobody waits behind more."""


class Job:
    """A piece of work that waits: then its outcome."""

    __slots__ = ("done", "error", "leads", "need", "result", "wake", "work")

    def __init__(self, work: Callable[[Any], Any], need: Any = None) -> None:
        self.work, self.need = work, need
        self.wake = Lock()
        self.wake.acquire()
        self.leads = self.done = False
        self.error: BaseException | None = None
        self.result: Any = None

    def finish(self, result: Any = None, error: BaseException | None = None) -> None:
        self.result, self.error, self.done = result, error, True


class GroupCommit:
    """Runs pieces of work of many threads in shared transactions, in the order they came.

    ``perform`` does a batch in one transaction; what it raises is the outcome of every job it did not finish.

    >>> def perform(batch):
    ...     for job in batch:
    ...         job.finish(job.work("rows"))
    >>> GroupCommit(perform).run(str.upper)
    'ROWS'
    """

    def __init__(self, perform: Callable[[Sequence[Job]], None]) -> None:
        self._perform = perform
        self._guard = Lock()
        self._waiting: list[Job] = []
        self._busy = False

    def run(self, work: Callable[[Any], Any], need: Any = None) -> Any:
        job = Job(work, need)
        with self._guard:
            self._waiting.append(job)
            job.leads, self._busy = not self._busy, True
        if not job.leads:
            self._wait(job)
        if job.leads:
            self._lead()
        if job.error is not None:
            raise job.error
        return job.result

    def _wait(self, job: Job) -> None:
        try:
            job.wake.acquire()
        except BaseException:  # interrupted: whoever is chosen to lead and leaves would stop all others
            with self._guard:
                if job in self._waiting:
                    self._waiting.remove(job)
            if job.leads and not job.done:
                self._hand_over()
            raise

    def _lead(self) -> None:
        with self._guard:
            batch = self._waiting[:MOST]
            del self._waiting[:MOST]
        try:
            self._perform(batch)
        except Exception as error:  # noqa: BLE001  it is every waiter's to raise
            for job in batch:
                job.finish(error=error)
        finally:  # an interrupt is this thread's alone; the others are told that nobody did their work
            self._hand_over()
            for job in batch:
                if not job.done:
                    job.finish(
                        error=LedgerFailed("The ledger stopped midway.", fix="Look at the history.", cost=UNSURE)
                    )
                if not job.leads:
                    job.wake.release()

    def _hand_over(self) -> None:
        with self._guard:
            self._busy = bool(self._waiting)
            if self._busy:
                self._waiting[0].leads = True
                self._waiting[0].wake.release()
