"""The shares that limits on one unit keep, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from curador.show.tables import TextColumn, text_table
from curador.show.words.say import say


def limits_text(shares: Sequence[tuple[int, float, tuple[float, float]]], least: int, language: str = "en") -> str:
    """Each limit with the share it keeps and where that lies, and the ``least`` that keeps nearly all.

    >>> print(limits_text([(1, 0.5, (0.4, 0.6)), (2, 1.0, (1.0, 1.0))], 2))
    at most    keeps            between
    ───────────────────────────────────
          1   50.0 %    40.0 % … 60.0 %
          2  100.0 %  100.0 % … 100.0 %
    <BLANKLINE>
    The least that keeps 95 %: 2. A unit with more than 2 counts here with 2.
    """
    columns = [
        TextColumn(say("limit-per-unit", language), tuple(f"{n:,}" for n, _, _ in shares)),
        TextColumn(say("share-kept", language), tuple(_percent(share) for _, share, _ in shares)),
        TextColumn(say("share-within", language), tuple(" … ".join(map(_percent, ends)) for _, _, ends in shares)),
    ]
    advice = say("limit-advice", language, limit=f"{least:,}", most=f"{shares[-1][0]:,}")
    return "\n".join([*text_table(columns), "", advice])


def _percent(x: float) -> str:
    return f"{100 * x:.1f} %"
