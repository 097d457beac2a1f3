"""Group commit: threads that wait for the disk share one transaction, and so one sync.

There is no writer thread that could die or be lost in a fork.  A thread that finds no leader leads: it takes all
waiting jobs, runs them in one transaction, and makes the first job that arrived meanwhile the next leader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

from curador.errors import LedgerFailed
from curador.ledger.stores.rows import UNSURE

MOST = 256
"""The most jobs in one transaction, so that a job's wait is bounded."""


class Job:
    """A transaction that waits to be run, and then its outcome."""

    __slots__ = ("done", "error", "leads", "need", "result", "transaction", "wake")

    def __init__(self, transaction: Callable[[Any], Any], need: Any = None) -> None:
        self.transaction, self.need = transaction, need
        self.wake = Lock()
        self.wake.acquire()
        self.leads = self.done = False
        self.error: BaseException | None = None
        self.result: Any = None

    def finish(self, result: Any = None, error: BaseException | None = None) -> None:
        self.result, self.error, self.done = result, error, True


class GroupCommit:
    """Runs the jobs of many threads in shared transactions, in the order of arrival.

    ``perform`` runs a batch in one transaction; what it raises is the outcome of every job it did not finish.

    >>> def perform(batch):
    ...     for job in batch:
    ...         job.finish(job.transaction("rows"))
    >>> GroupCommit(perform).run(str.upper)
    'ROWS'
    """

    def __init__(self, perform: Callable[[Sequence[Job]], None]) -> None:
        self._perform = perform
        self._guard = Lock()
        self._waiting: list[Job] = []
        self._busy = False

    def run(self, transaction: Callable[[Any], Any], need: Any = None) -> Any:
        job = Job(transaction, need)
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
        except BaseException:  # interrupted: a chosen leader that left would block all others
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
        except Exception as error:  # noqa: BLE001  every waiter raises it
            for job in batch:
                job.finish(error=error)
        finally:  # an interrupt is raised in this thread alone; the others get LedgerFailed
            self._hand_over()
            for job in batch:
                if not job.done:
                    job.finish(
                        error=LedgerFailed(
                            "The ledger stopped midway.",
                            fix="Look at the history.",
                            cost=UNSURE,
                            code="ledger-interrupted",
                        )
                    )
                if not job.leads:
                    job.wake.release()

    def _hand_over(self) -> None:
        with self._guard:
            self._busy = bool(self._waiting)
            if self._busy:
                self._waiting[0].leads = True
                self._waiting[0].wake.release()
