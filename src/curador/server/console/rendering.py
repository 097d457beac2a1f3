"""Templates to HTML: everything is escaped, and a name that is not there is an error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from curador.server.console.static import address
from curador.show.pages.page import table
from curador.show.tables import Cell

ENVIRONMENT = Environment(
    loader=PackageLoader(__package__, "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)


def _table(
    headings: Sequence[str], rows: Iterable[Sequence[Cell]], *, caption: str = "", cards: bool = False
) -> Markup:
    return Markup(table(headings, rows, caption=caption, cards=cards))


ENVIRONMENT.globals |= {"static": address, "table": _table}


def rendered(template: str, values: dict[str, Any]) -> str:
    """A template with values."""
    return ENVIRONMENT.get_template(template).render(values)
