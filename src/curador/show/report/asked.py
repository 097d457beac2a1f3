"""A question as a title that people read: what was measured, of what, in which groups and where."""

from __future__ import annotations

from dataclasses import dataclass

from curador.show.words.say import say

NAMED = ("count_distinct", "sum", "mean", "std", "variance", "minimum", "maximum", "quantiles", "median", "correlation")


@dataclass(frozen=True)
class MeasuredPart:
    """A function and what it is of; nothing for rows or units themselves.  ``k`` is how many the most frequent are."""

    function: str
    of: str = ""
    k: str = ""


@dataclass(frozen=True)
class AskedParts:
    """A question in plain parts; of its groups each is a name, and whether it is cut into ranges."""

    measured: tuple[MeasuredPart, ...]
    tables: tuple[str, ...]
    groups: tuple[tuple[str, bool], ...] = ()
    where: str = ""
    per_unit: bool = False


def asked_title(asked: AskedParts, language: str = "en") -> str:
    """A question in a few words of a language; names and conditions are as they were written.

    >>> asked = AskedParts((MeasuredPart("mean", "pay"),), ("staff",), (("sex", False),))
    >>> asked_title(asked), asked_title(asked, "es")
    ('Mean of pay by sex · staff', 'Media de pay por sex · staff')
    """
    text = ", ".join(dict.fromkeys(_measured(one, language) for one in asked.measured))
    if asked.groups:
        each = (say("asked-ranges", language, of=name) if ranged else name for name, ranged in asked.groups)
        text = say("asked-by", language, what=text, groups=", ".join(each))
    if asked.where:
        text = say("asked-where", language, what=text, where=asked.where)
    if asked.per_unit:
        text = say("asked-per-unit", language, what=text)
    return f"{text[:1].upper()}{text[1:]} · {', '.join(asked.tables)}"


def _measured(one: MeasuredPart, language: str) -> str:
    if one.k:
        return say("asked-top", language, k=one.k)
    if one.function == "count" or not one.of:
        return say("asked-units" if one.function == "count_distinct" else "asked-count", language)
    if one.function in NAMED:
        return say(f"asked-{one.function.replace('_', '-')}", language, of=one.of)
    return f"{one.function}({one.of})"
