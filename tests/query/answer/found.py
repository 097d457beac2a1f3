"""What an engine might have found: chosen by a test, so that the truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Answers:
    """Exact integers by group, as an engine hands them to the noise."""

    def __init__(
        self,
        keys: Sequence[tuple[Any, ...]],
        columns: Mapping[str, Sequence[int]],
        lists: Mapping[str, Any] | None = None,
    ) -> None:
        self.keys, self._columns, self._lists = keys, columns, lists or {}

    def column(self, name: str) -> Sequence[int]:
        return self._columns[name]

    def values(self, name: str) -> Any:
        return self._lists[name]
