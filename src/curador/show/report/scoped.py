"""HTML for a notebook: its styles reach nothing outside of it, and its colours follow the page it stands on."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from curador.show.pages.page import chart_style

CLASS = "curador-shown"


def scoped(body: str) -> str:
    """A body of ours with its styles, inside an element of its own.

    >>> "<p>x</p></div>" in scoped("<p>x</p>")
    True
    """
    return f'<div class="{CLASS}"><style>{_style()}</style>{body}</div>'


@cache
def _style() -> str:
    """The rules of charts and of ``notebook.css``, each made to hold inside the element alone."""
    own = (files(__package__) / "notebook.css").read_text("utf-8") + chart_style()
    plain = re.sub(r"/\*.*?\*/", "", own, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"([^{}]+)\{([^{}]*)\}", _inside, plain)).strip()


def _inside(rule: re.Match[str]) -> str:
    selectors = (s.strip() for s in rule[1].split(","))
    held = (f".{CLASS}" if s == ":scope" else f".{CLASS} {s}" for s in selectors)
    return f"{', '.join(held)} {{{rule[2]}}}"
