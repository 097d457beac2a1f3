"""A question as a title that people read: what was measured, of what, in which groups and where."""

from __future__ import annotations

from fractions import Fraction

from curador.query.aggregates.base import Aggregate
from curador.query.ask.question import Question
from curador.query.language.expressions import Bin, Expr, Name
from curador.query.language.rows import PerUnit
from curador.query.language.text import shortened
from curador.show.words.say import say

NAMED = ("count_distinct", "sum", "mean", "std", "variance", "minimum", "maximum", "quantiles", "correlation")
HALF = Fraction(1, 2)


def question_title(asked: Question, language: str = "en") -> str:
    """A question in a few words of a language; names and conditions are as they were written.

    >>> from curador.query.aggregates.moments import mean
    >>> from curador.query.ask.question import Group, Output
    >>> asked = Question("staff", (Output("m", mean("pay")),), group_by=(Group("sex", Name("sex")),))
    >>> question_title(asked), question_title(asked, "es")
    ('Mean of pay by sex · staff', 'Media de pay por sex · staff')
    """
    text = ", ".join(dict.fromkeys(_measured(one.aggregate, language) for one in asked.aggregates))
    if asked.group_by:
        groups = ", ".join(_group(one.expr, language) for one in asked.group_by)
        text = say("asked-by", language, what=text, groups=groups)
    if asked.where is not None:
        text = say("asked-where", language, what=text, where=shortened(asked.where))
    if isinstance(asked.source, PerUnit):
        text = say("asked-per-unit", language, what=text)
    return f"{text[:1].upper()}{text[1:]} · {', '.join(asked.reads)}"


def _measured(one: Aggregate, language: str) -> str:
    of = "" if one.column is None else _plain(one.column)
    if one.function == "count" or (one.function == "count_distinct" and not of):
        return say("asked-count" if one.function == "count" else "asked-units", language)
    if one.function == "top_k":
        return say("asked-top", language, k=one.parameters[0])
    if one.function in ("quantiles", "quantile_points"):
        return say("asked-median" if one.parameters == (HALF,) else "asked-quantiles", language, of=of)
    if one.function in NAMED:
        return say(f"asked-{one.function.replace('_', '-')}", language, of=of)
    return f"{one.function}({of})"


def _group(e: Expr, language: str) -> str:
    return say("asked-ranges", language, of=_plain(e.operand)) if isinstance(e, Bin) else _plain(e)


def _plain(e: Expr) -> str:
    """A column by its bare name; anything else as SQL."""
    return e.column if isinstance(e, Name) else shortened(e)
