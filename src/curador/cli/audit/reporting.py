"""What attacks found, as text, as JSON, or as a page of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curador.cli.screen import bullet, console, emit, say, whole
from curador.errors import InvalidParameter

if TYPE_CHECKING:
    from curador.audit.finding import Finding
    from curador.show.pages.exhibits import Exhibit


def _writable(page: Path | None) -> Path | None:
    """Refused before anything is attacked: an attack may take minutes."""
    if page is not None and (page.is_dir() or not os.access(page.absolute().parent, os.W_OK)):
        raise InvalidParameter(f"{page.name} cannot be written there.", fix="Name a file in a folder that is there.")
    return page


Html = Annotated[
    Path | None,
    typer.Option(
        "--html", metavar="FILE", callback=_writable, help="Write a page with charts: one file, no network needed."
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Other made-up people. The noise has no seed.")]


def report(
    code: str,
    *,
    exhibits: Sequence[Exhibit] = (),
    findings: Sequence[Finding] = (),
    html: Path | None = None,
    as_json: bool = False,
    language: str = "en",
) -> None:
    """Print what was found, and write its page; ``code`` names its title and lead.  Ends with 1 if a claim is violated.

    >>> from curador.audit.finding import Finding
    >>> from curador.privacy import PureDP
    >>> report("service", findings=[Finding("a count", PureDP(1), 0.5, 0.99, 1000)])
    Attacks on a live curator
    * a count: no violation found with n = 1,000.
    """
    from curador.show.files import write_atomically
    from curador.show.pages.exhibits import found_text
    from curador.show.pages.page import report_html, report_plain
    from curador.show.words.say import say as text

    title, lead = text(f"audit-{code}-title", language), text(f"audit-{code}-lead", language)
    shown = {"exhibits": exhibits, "findings": findings, "language": language}
    if html is not None:
        write_atomically(html, report_html(title, lead, **shown).encode())  # type: ignore[arg-type]
    if as_json:
        emit(report_plain(title, lead, **shown))  # type: ignore[arg-type]
    else:
        say(title, "bold")
        for one in sorted(findings, key=lambda f: not f.violated):
            bullet(found_text(one, language), "red" if one.violated else "")
            lines = one.details.get("lines")
            for line in lines if isinstance(lines, list) else []:
                bullet(str(line), indent=2)
        for exhibit in exhibits:
            if findings or len(exhibits) > 1:
                console.print()
                say(exhibit.title(language), "bold")
            for sentence in exhibit.sentences(language):
                bullet(sentence)
        if html is not None:
            whole("\n" + text("cli.page-written", language, file=html))
    if any(one.violated for one in findings):
        raise typer.Exit(1)
