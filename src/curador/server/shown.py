"""Charges and balances as plain values, for every door."""

from __future__ import annotations

from typing import Any

from curador import Balance, Charge
from curador.remote.balance import RemoteBalance


def charge(found: Charge, own: bool) -> dict[str, Any]:
    """A charge as plain values; with ``own``, for its receiver, who is not told who else paid, or had paid before."""
    return {
        "id": found.id,
        "at": found.at,
        "scopes": [found.receiver] if own else list(found.scopes),
        "receiver": found.receiver,
        "guarantee": None if found.guarantee is None else found.guarantee.to_json(),
        "event": found.event.to_json(),
        "asked": found.asked,
        "because": found.note.get("because", ""),
        "settled": found.settled,
        "repeated": found.repeated and not own,
    }


def balance(found: Balance | RemoteBalance) -> dict[str, Any]:
    """A balance as plain values."""
    return {
        "scope": found.scope,
        "budget": found.budget.to_json(),
        "spent": found.spent.to_json(),
        "remaining": found.remaining.to_json(),
        "neighbors": found.neighbors.value,
        "closed": found.closed,
        "expires": None if found.expires is None else found.expires.isoformat(),
        "text": str(found),
    }
