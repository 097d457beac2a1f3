"""Drawings inside the page, so that they follow its colours; as files of their own they bring theirs."""

from __future__ import annotations

import html
import posixpath
import re

import tree

IMAGE = re.compile(r'<img (?:alt="([^"]*)" )?src="([^"]+\.svg)"(?: title="[^"]*")?\s*/?>')

NEWLINE = "\n"


def inlined(text: str, uri: str) -> str:
    """A page with the course's figures in its text, each named by its alternative text."""
    where = posixpath.dirname(uri)

    def drawn(found: re.Match[str]) -> str:
        file = tree.DOCS / posixpath.normpath(posixpath.join(where, found[2]))
        text = file.read_text() if file.is_file() else ""
        if not text.startswith('<svg xmlns="http://www.w3.org/2000/svg" class="chart"'):
            return found[0]  # drawn by somebody else: as it is
        svg = re.sub(r"<style>.*?</style>\n|<rect [^>]*class=\"paper\"/>\n| xmlns=\"[^\"]*\"", "", text)
        if found[1]:
            svg = svg.replace("<svg ", f'<svg aria-label="{html.escape(html.unescape(found[1]))}" ', 1)
        return (
            f'<span class="figure" tabindex="0">{svg.replace(NEWLINE, "")}</span>'  # wider than a telephone: it scrolls
        )

    return IMAGE.sub(drawn, text)
