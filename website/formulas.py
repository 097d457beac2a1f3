"""Formulas as MathML, made when the site is built: a browser shows them without any program."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

FORMULA = re.compile(
    r'<(span|div) class="arithmatex">\s*(?:\\\(|\\\[)(.*?)(?:\\\)|\\\])\s*</\1>',
    re.DOTALL,
)

BARS = re.compile(r'<mo(?![^>]*stretchy="true")[^>]*>(?=(?:&#x0*(?:7C|2016|2F);|\||‖|/)</mo>)')
"""Bars of absolute values and slashes, which browsers would set apart like a plus sign."""


def typeset(text: str, uri: str) -> str:
    """A page with its formulas typeset; one that is not understood stops the build, and says where it stands."""

    def made(found: re.Match[str]) -> str:
        kind, tex = found[1], html.unescape(found[2]).strip()
        bare = tex.replace(r"\{", "").replace(r"\}", "")
        if bare.count("{") != bare.count("}"):
            raise ValueError(f"{uri}: the formula {tex!r} is not understood: its braces do not match.")
        try:
            shown = convert(tex, display="block" if kind == "div" else "inline")
        except Exception as error:
            raise ValueError(f"{uri}: the formula {tex!r} is not understood: {error!r}") from error
        if unknown := re.findall(r"\\[A-Za-z]+", html.unescape(shown)):
            raise ValueError(f"{uri}: the formula {tex!r} has {unknown}, which is not understood.")
        shown = BARS.sub(r'<mo stretchy="false" lspace="0" rspace="0">', shown)
        return f'<div class="formula" tabindex="0">{shown}</div>' if kind == "div" else shown

    return FORMULA.sub(made, text)
