"""Long names in tables, which may be broken after a dot, a slash or an underscore, and nowhere else."""

from __future__ import annotations

import re

CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)
CODE = re.compile(r"<code>([^<]*)</code>")


def breakable(text: str) -> str:
    """A page in which such names say where they may be broken."""
    return CELL.sub(lambda cell: CODE.sub(lambda found: f"<code>{_parted(found[1])}</code>", cell[0]), text)


def _parted(name: str) -> str:
    return re.sub(r"(?<=\w)(::|[./_])(?=\w)", r"\1<wbr>", name)
