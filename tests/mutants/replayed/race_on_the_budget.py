"""A budget that is looked at, and only then spent: two who look together are both answered."""

from threading import Barrier, Lock

from curador import BudgetExceeded
from curador.audit.finding import Finding
from curador.audit.replay.race import replay_race

KIND = "race"


class Purse:
    """A budget for one answer.  Both buyers look before one of them spends: they meet in between."""

    def __init__(self, locked: bool) -> None:
        self._left, self._lock, self._between = 1, Lock() if locked else None, Barrier(2)

    def buy(self) -> str:
        if self._lock is None:
            return self._spend()
        with self._lock:
            return self._spend()

    def _spend(self) -> str:
        enough = self._left > 0
        if self._lock is None:
            self._between.wait(timeout=60)
        if not enough:
            raise BudgetExceeded("Nothing is left.", fix="Ask for more.")
        self._left -= 1
        return "answered"


def audit(sound: bool) -> Finding:
    return replay_race("a purse", Purse(locked=sound).buy, affordable=1, buyers=2)
