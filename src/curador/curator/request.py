"""How an answer is bought, beside its budget: by whom, why, under which key, and whether anew."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from threading import Condition
from typing import Any

from curador.engines.engine import Progress
from curador.errors import InvalidParameter


def storable(text: str) -> bool:
    """Whether a text can be written down; half a surrogate pair cannot.

    >>> storable("ñ"), storable(chr(0xD800))
    (True, False)
    """
    return not any(0xD800 <= ord(c) < 0xE000 for c in text)


class SingleFlight:
    """Whoever asks the same thing at the same time waits for the first, and finds the answer there."""

    def __init__(self) -> None:
        self._lock, self._busy = Condition(), set[str]()

    @contextmanager
    def of(self, name: str | None) -> Iterator[None]:
        """The turn of one question; without a name there is nothing to wait for."""
        if name is None:
            yield
            return
        with self._lock:
            self._lock.wait_for(lambda: name not in self._busy)
            self._busy.add(name)
        try:
            yield
        finally:
            with self._lock:
                self._busy.remove(name)
                self._lock.notify_all()


@dataclass(frozen=True)
class Request:
    """The keywords of ``ask``, ``release`` and ``publish`` that are not the budget.

    * ``because``: the reason for an epsilon above 1, recorded with the charge and shown by the release;
    * ``override``: allows an epsilon of 10 and more, and the release shows it;
    * ``analyst``: who gets the answer, and pays for it in a budget of their own too;
    * ``key``: names the analyst's request, so that sending it again once it was answered cannot buy twice;
    * ``fresh``: buys a new answer.  Without it the same question about the same data is answered again byte for byte,
      free but for an analyst who has not paid for it yet;
    * ``progress``: is told the part that is done, 0 to 1, or -1 where nobody knows; True shows a bar in a terminal.  It
      is for whoever holds the data: how it moves depends on the rows.

    >>> Request.among({"epsilon": 1, "analyst": "ana"})
    (Request(because='', override=False, analyst='ana', key=None, fresh=False, progress=False), {'epsilon': 1})
    """

    because: str = ""
    override: bool = False
    analyst: str | None = None
    key: str | None = None
    fresh: bool = False
    progress: Progress | bool = False

    def __post_init__(self) -> None:
        if self.fresh and self.key is not None:
            raise InvalidParameter(
                "A key finds the answer it named before; fresh wants another.", fix="Give one of them."
            )
        if not isinstance(self.because, str) or not storable(self.because):
            raise InvalidParameter("A reason is a text of Unicode characters.", fix='Write because="…".')

    @property
    def note(self) -> dict[str, object]:
        """What the charge remembers of them."""
        return {"because": self.because, "override": self.override}

    @property
    def request(self) -> str | None:
        """What the ledger calls the request: analysts do not share their keys."""
        if self.key is None:
            return None
        return hashlib.sha256(repr((self.analyst, self.key)).encode("utf-8", "backslashreplace")).hexdigest()

    @classmethod
    def among(cls, how: Mapping[str, Any]) -> tuple[Request, dict[str, Any]]:
        """The terms among keywords, and the rest."""
        own = {f.name for f in fields(cls)}
        return cls(**{k: v for k, v in how.items() if k in own}), {k: v for k, v in how.items() if k not in own}
