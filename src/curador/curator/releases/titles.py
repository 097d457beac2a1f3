"""A question as a title: its parts, from which pages make the words."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from curador.errors import CuradorError
from curador.query.aggregates.base import Aggregate
from curador.query.ask.question import Question
from curador.query.language.expressions import Bin, Expr, Name
from curador.query.language.rows import PerUnit
from curador.query.language.text import shortened
from curador.show.report.asked import AskedParts, MeasuredPart, asked_title

HALF = Fraction(1, 2)
QUANTILES = ("quantiles", "quantile_points")


def question_title(asked: Question, language: str = "en") -> str:
    """A question in a few words of a language.

    >>> from curador.query.aggregates.quantiles.ranks import median
    >>> from curador.query.ask.question import Output
    >>> question_title(Question("staff", (Output("m", median("pay")),)))
    'Median of pay · staff'
    """
    parts = AskedParts(
        tuple(_measured(one.aggregate) for one in asked.aggregates),
        tuple(asked.reads),
        tuple(_group(one.expr) for one in asked.group_by),
        "" if asked.where is None else shortened(asked.where),
        isinstance(asked.source, PerUnit),
    )
    return asked_title(parts, language)


def noted_title(note: Mapping[str, Any], language: str = "en") -> str | None:
    """The same of the one question that a charge's note holds; None where it holds several, or none that is whole."""
    asked = note.get("asked")
    if not isinstance(asked, Mapping) or set(asked) != {""}:
        return None
    try:
        return question_title(Question.from_json(asked[""]), language)
    except CuradorError:  # cut to what a note has room for
        return None


def _measured(one: Aggregate) -> MeasuredPart:
    function = one.function
    if function in QUANTILES:
        function = "median" if one.parameters == (HALF,) else "quantiles"
    return MeasuredPart(
        function,
        "" if one.column is None else _plain(one.column),
        str(one.parameters[0]) if function == "top_k" else "",
    )


def _group(e: Expr) -> tuple[str, bool]:
    return (_plain(e.operand), True) if isinstance(e, Bin) else (_plain(e), False)


def _plain(e: Expr) -> str:
    """A column by its bare name; anything else as SQL."""
    return e.column if isinstance(e, Name) else shortened(e)
