"""What was bought before, as the ledger tells it: so that nobody pays twice without knowing."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from threading import Lock

from curador.curator.purchases.turns import Pace
from curador.ledger.contract import Charge, Ledger

LOOKED_BACK = 200
"""How many of the newest charges are searched for measures that a purchase measures again."""

LOOKED_AGAIN = 3
"""How often a charge that has no answer yet is looked at again."""


class KnownPurchases:
    """The newest purchases of a scope: measures and whole purchases, read from the ledger as they come.

    The scope is the receiver's own where there is one, for what a receiver bought after others falls on it alone.

    Guarantee: asked for a receiver, it shows that receiver's charges alone, so that none learns what others asked; and
        an answer only once its end may be seen: behind a server, from the next tick on.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._found: dict[tuple[str, str | None], dict[str, str]] = {}
        self._seen: dict[str, int] = {}
        self._own: dict[str, set[int]] = {}
        self._unsettled: dict[str, dict[int, int]] = {}
        self._hidden: deque[tuple[float, str, Charge]] = deque()
        self._showing = Lock()

    def of(self, scope: str, receiver: str | None, pace: Pace) -> Mapping[str, str]:
        """The charge that last bought each measure and each purchase, by digest."""
        number, seen = self._ledger.newest(scope), self._seen.get(scope, 0)
        if number > seen:
            own = self._own.pop(scope, set())
            if not own.issuperset(range(seen + 1, number + 1)):
                waiting = self._unsettled.setdefault(scope, {})
                since = min(number - min([seen + 1, *waiting]) + 1, LOOKED_BACK)
                for charge in self._ledger.history(scope, last=since):
                    self._note(scope, charge, waiting, pace)
            self._seen[scope] = number
        with self._showing:
            while self._hidden and pace.passed(self._hidden[0][0]):
                self._show(*self._hidden.popleft()[1:])
        return self._found.get((scope, receiver), {})

    def settled(self, scope: str, charge: Charge, pace: Pace) -> None:
        """A charge of this process that was just answered: it need not be read again."""
        self._hidden.append((pace.now(), scope, charge))
        if "measures" in charge.note:  # it was looked for, and so will the next one be
            self._own.setdefault(scope, set()).add(int(charge.id))

    def _note(self, scope: str, charge: Charge, waiting: dict[int, int], pace: Pace) -> None:
        number = int(charge.id)
        if not charge.settled:  # being answered, or failed: looked at again a few times
            waiting[number] = waiting.get(number, 0) + 1
            if waiting[number] <= LOOKED_AGAIN:
                return
        waiting.pop(number, None)
        if charge.settled:
            self._hidden.append((pace.now(), scope, charge))

    def _show(self, scope: str, charge: Charge) -> None:
        stored, whole = charge.note.get("measures"), charge.note.get("purchase")
        names = [*(stored if isinstance(stored, list) else ()), *([whole] if isinstance(whole, str) else ())]
        if names:
            self._found.setdefault((scope, charge.receiver), {}).update(dict.fromkeys(names, charge.id))
