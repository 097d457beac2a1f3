"""A release as pieces of HTML that any page can hold: charts, a table, notes, one line of guarantee.

They have classes and no styles of their own, so that they stand on a page whose policy forbids inline styles.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from curador.show.pages.svg import NARROW, WIDE, escaped
from curador.show.release import CLIPPED, WARNED, beside, marks, shown_columns, statement
from curador.show.report.picture import Picture
from curador.show.report.pictures import pictures
from curador.show.report.reading import Drawable
from curador.show.tables import TextColumn
from curador.show.words.say import say

MOST_LISTED = 5000
"""Rows of a table on a page; what is more is in the files."""
LONG = 24
"""Rows from which a table scrolls in a box of its own."""


@dataclass(frozen=True)
class Fragment:
    """The pieces: ``tally`` has the numbers of a release of one row, ``label`` is not empty for made-up rows.

    ``warnings`` are those of the notes that must not be missed.
    """

    label: str
    tally: str
    charts: tuple[str, ...]
    table: str
    notes: tuple[str, ...]
    statement: str
    warnings: tuple[str, ...] = ()

    @property
    def html(self) -> str:
        """All pieces, in the order they are read."""
        return self.answer() + f'<p class="promise">{escaped(self.statement)}</p>'

    def answer(self, known: Container[str] = ()) -> str:
        """The pieces without the guarantee, and without notes that are ``known`` from elsewhere on the page."""
        made_up = f'<p class="made-up">{escaped(self.label)}</p>' if self.label else ""
        notes = "".join(
            f'<p class="{"warn" if text in self.warnings else "note"}">{escaped(text)}</p>'
            for text in self.notes
            if text not in known
        )
        listed = "" if self.tally else self.table  # one row says no more in a table
        return made_up + self.tally + "".join(self.charts) + listed + notes


def fragment(release: Drawable, most: int = MOST_LISTED) -> Fragment:
    """The pieces of a release, in its language.

    Guarantee: every text of it is escaped; there is no script, no style and no address in them.
    """
    language = release.language
    listed = grid(shown_columns(release, most, near=True), caption=_caption(release, most), keys=len(release.groups))
    return Fragment(
        say("report-made-up-says", language) if release.rehearsal else "",
        tally(release),
        () if _is_one_number(release) else tuple(map(figure_of, pictures(release))),
        listed,
        (*marks(release, most), *beside(release)),
        statement(release),
        beside(release, (*WARNED, *CLIPPED)),
    )


def _is_one_number(release: Drawable) -> bool:
    """Whether there is nothing to compare: the number with its interval says all that a chart would."""
    return len(release) == 1 and not release.groups and len(release.columns) == 1


def _caption(release: Drawable, most: int) -> str:
    n = len(release)
    if not n:
        return say("report-no-rows", release.language)
    if n <= 1:
        return ""
    code = "report-all-rows" if n <= most else "report-first-rows"
    return say(code, release.language, n=f"{n:,}", shown=f"{min(n, most):,}")


def figure_of(picture: Picture) -> str:
    """A chart for a page and for a telephone, with its caption."""
    drawn = "".join(
        f'<div class="{kind}">{picture.svg(width)}</div>' for kind, width in (("wide", WIDE), ("narrow", NARROW))
    )
    return f"<figure><figcaption>{escaped(picture.caption)}</figcaption>{drawn}</figure>"


def tally(release: Drawable) -> str:
    """The numbers of a release of one row, large, each with its interval; nothing for others."""
    if len(release) != 1 or release.groups:
        return ""
    columns = shown_columns(release, 1, near=True)
    below = {c.of: f"<small>{escaped(c.heading)}: {escaped(c.cells[0])}</small>" for c in columns if c.of is not None}
    parts = (
        f"<div><dt>{escaped(c.heading)}</dt><dd>{escaped(c.cells[0])}{below.get(c.heading, '')}</dd></div>"
        for c in columns
        if c.of is None
    )
    return f'<dl class="tally">{"".join(parts)}</dl>'


def grid(columns: Sequence[TextColumn], *, caption: str = "", keys: int = 0) -> str:
    """Columns of text as a table: numbers to the right, the first ``keys`` columns name their rows.

    >>> grid([TextColumn("sex", ("<F>",), right=False), TextColumn("n", ("12",))], keys=1)[-89:]
    '<tbody><tr><th scope="row">&lt;F&gt;</th><td class="n">12</td></tr></tbody></table></div>'
    """
    head = "".join(f'<th scope="col"{_right(c)}>{escaped(c.heading)}</th>' for c in columns)
    body = "".join(
        "<tr>"
        + "".join(
            f'<th scope="row">{escaped(text)}</th>' if k < keys else f"<td{_right(c)}>{escaped(text)}</td>"
            for k, (c, text) in enumerate(zip(columns, row, strict=True))
        )
        + "</tr>"
        for row in zip(*(c.cells for c in columns), strict=True)
    )
    rows = max((len(c.cells) for c in columns), default=0)
    kind = "scroll long" if rows > LONG else "scroll"
    said = f"<caption>{escaped(caption)}</caption>" if caption else ""
    name = escaped(caption or ", ".join(c.heading for c in columns))
    return (
        f'<div class="{kind}" role="region" tabindex="0" aria-label="{name}"><table>{said}'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _right(column: TextColumn) -> str:
    return f' class="n{" of" if column.of else ""}"' if column.right else ""


def shared_notes(releases: Sequence[Drawable]) -> tuple[str, ...]:
    """The notes that stand beside the numbers of every one of several releases: a page says them once."""
    found = [beside(release) for release in releases]
    return (
        tuple(text for text in dict.fromkeys(found[0]) if all(text in one for one in found)) if len(found) > 1 else ()
    )
