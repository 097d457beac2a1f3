"""What was bought before, as the ledger tells it: so that nobody pays twice without knowing."""

from __future__ import annotations

from collections.abc import Mapping

from curador.ledger.contract import Charge, Ledger

LOOKED_BACK = 200
"""How many of the newest charges are searched for measures that a purchase measures again."""

LOOKED_AGAIN = 3
"""How often a charge that has no answer yet is looked at again."""


class KnownPurchases:
    """The newest purchases of a scope: measures and whole purchases, read from the ledger as they come.

    Guarantee: asked for a receiver, it shows that receiver's charges alone, so that none learns what others asked.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._found: dict[tuple[str, str | None], dict[str, str]] = {}
        self._seen: dict[str, int] = {}
        self._unsettled: dict[str, dict[int, int]] = {}

    def of(self, scope: str, receiver: str | None) -> Mapping[str, str]:
        """The charge that last bought each measure and each purchase, by digest."""
        newest = self._ledger.history(scope, last=1)
        number, seen = int(newest[-1].id) if newest else 0, self._seen.get(scope, 0)
        if number > seen:
            waiting = self._unsettled.setdefault(scope, {})
            since = min(number - min([seen + 1, *waiting]) + 1, LOOKED_BACK)
            for charge in newest if since == 1 else self._ledger.history(scope, last=since):
                self._note(scope, charge, waiting)
            self._seen[scope] = number
        return self._found.get((scope, receiver), {})

    def _note(self, scope: str, charge: Charge, waiting: dict[int, int]) -> None:
        number = int(charge.id)
        if not charge.settled:  # being answered, or failed: looked at again a few times
            waiting[number] = waiting.get(number, 0) + 1
            if waiting[number] <= LOOKED_AGAIN:
                return
        waiting.pop(number, None)
        stored, whole = charge.note.get("measures"), charge.note.get("purchase")
        names = [*(stored if isinstance(stored, list) else ()), *([whole] if isinstance(whole, str) else ())]
        if charge.settled and names:
            self._found.setdefault((scope, charge.receiver), {}).update(dict.fromkeys(names, charge.id))
