"""Formulas as MathML, put together from texts: browsers set and read them without a script."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_TOKEN = re.compile(r", {2,}|[A-Za-z]+|\d+(?:\.\d+)?|\S")
"""A comma with room after it parts two formulas; a word of Latin letters is one name, Greek letters are one each."""


def row(*parts: str) -> Markup:
    """Parts side by side; plain texts are cut into names, numbers and signs.

    >>> row("2b")
    Markup('<mrow><mn>2</mn><mi>b</mi></mrow>')
    """
    return Markup("<mrow>") + Markup("").join(map(_part, parts)) + Markup("</mrow>")


def fraction(above: str, below: str) -> Markup:
    """One over the other."""
    return Markup("<mfrac>") + row(above) + row(below) + Markup("</mfrac>")


def power(base: str, exponent: str) -> Markup:
    """A base with its exponent."""
    return Markup("<msup>") + row(base) + row(exponent) + Markup("</msup>")


def root(inside: str) -> Markup:
    """A square root."""
    return Markup("<msqrt>") + row(inside) + Markup("</msqrt>")


def formula(*parts: str) -> Markup:
    """A formula on a line of its own."""
    return Markup('<math display="block">') + row(*parts) + Markup("</math>")


def _part(part: str) -> Markup:
    if isinstance(part, Markup):
        return part
    return Markup("").join(_token(one) for one in _TOKEN.findall(part))


def _token(text: str) -> Markup:
    if text.startswith(", "):
        return Markup('<mo>,</mo><mspace width="1em"/>')
    if text in "()|‖{}":
        return Markup('<mo stretchy="false">') + text + Markup("</mo>")
    kind = "mn" if text[0].isdigit() else "mi" if text[0].isalpha() else "mo"
    return Markup(f"<{kind}>") + escape(text) + Markup(f"</{kind}>")
