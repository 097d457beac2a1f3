"""A budget as its server states it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from curador.privacy import Guarantee, Neighbors, guarantee_from_json


@dataclass(frozen=True, repr=False)
class RemoteBalance:
    """A balance, read where the ledger is: the numbers of :class:`curador.Balance`, and its text."""

    scope: str
    budget: Guarantee
    spent: Guarantee
    remaining: Guarantee
    neighbors: Neighbors
    closed: bool
    expires: datetime | None
    text: str
    parent: None = None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> RemoteBalance:
        """From what the server sent."""
        budget, spent, remaining = (guarantee_from_json(data[name]) for name in ("budget", "spent", "remaining"))
        end = data["expires"]
        return cls(
            str(data["scope"]),
            budget,
            spent,
            remaining,
            Neighbors(data["neighbors"]),
            bool(data["closed"]),
            None if end is None else datetime.fromisoformat(end),
            str(data["text"]),
        )

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Balance {self.text}>"
