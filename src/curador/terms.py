"""How an answer is bought, beside its budget: by whom, why, under which key, and whether anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from curador.engines import Progress
from curador.errors import InvalidParameter


@dataclass(frozen=True)
class Terms:
    """The keywords of ``ask``, ``release`` and ``publish`` that are not the budget.

    * ``because``: the reason for an epsilon above 1, recorded with the charge and shown by the release;
    * ``override``: allows an epsilon of 10 and more, and the release shows it;
    * ``analyst``: who gets the answer, and pays for it in a budget of their own too;
    * ``key``: names the request, so that sending it again cannot buy twice;
    * ``fresh``: buys a new answer.  Without it the same question about the same data is answered again byte for byte,
      free but for an analyst who has not paid for it yet;
    * ``progress``: is told the part that is done, 0 to 1, or -1 where nobody knows; True shows a bar in a terminal.  It
      is for whoever holds the data: how it moves depends on the rows.

    >>> Terms.among({"epsilon": 1, "analyst": "ana"})
    (Terms(because='', override=False, analyst='ana', key=None, fresh=False, progress=False), {'epsilon': 1})
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
        if not isinstance(self.because, str):
            raise InvalidParameter("A reason is a text.", fix='Write because="…".')

    @classmethod
    def among(cls, how: Mapping[str, Any]) -> tuple[Terms, dict[str, Any]]:
        """The terms among keywords, and the rest."""
        own = {f.name for f in fields(cls)}
        return cls(**{k: v for k, v in how.items() if k in own}), {k: v for k, v in how.items() if k not in own}
