"""The site's stylesheet: the colours of every page and report, by the names that the theme reads, and the charts."""

from __future__ import annotations

import re
from pathlib import Path

import tree

FILE = "assets/curador.css"
PAGES = tree.ROOT / "src" / "curador" / "show" / "pages"


def css() -> str:
    """tokens.css for the theme's two schemes, the charts' rules, and the site's own."""
    tokens = (PAGES / "tokens.css").read_text()
    light = _block(tokens, r":root \{")
    dark = _block(tokens, r':root\[data-theme="dark"\] \{')
    schemes = f'[data-md-color-scheme="default"] {{{light}}}\n[data-md-color-scheme="slate"] {{{light}{dark}}}\n'
    return schemes + (PAGES / "charts.css").read_text() + (Path(__file__).parent / "site.css").read_text()


def _block(text: str, opening: str) -> str:
    found = re.search(opening + r"(.*?)\}", text, re.DOTALL)
    if found is None:
        raise ValueError(f"tokens.css has no {opening}")
    return found[1]
