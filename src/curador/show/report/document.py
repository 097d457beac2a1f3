"""A release report: one HTML file with the answers, what they promise, how they were made, and their receipt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from curador.privacy import ApproxDP, Guarantee
from curador.show.explain import note_text, plan_lines, step_table, whom
from curador.show.files import write_or_refuse
from curador.show.pages.page import prose, shell
from curador.show.pages.svg import escaped
from curador.show.report.fragments import fragment, grid, shared_notes
from curador.show.report.odds import Protected, odds
from curador.show.report.reading import Drawable
from curador.show.report.sheet import LedgerReceipt, Sheet, mechanisms_of
from curador.show.tables import TextColumn
from curador.show.words.say import say


class Reported(Drawable, Protocol):
    """A release, as a report tells of it: also by the facts of its plan, where they are kept."""

    @property
    def facts(self) -> Mapping[str, Any] | None: ...


@dataclass(frozen=True)
class Chapter:
    """One release of a report: its title, the question as text, and why it was asked, where that was said."""

    release: Reported
    title: str
    asked: str = ""
    why: str = ""


@dataclass(frozen=True)
class Contents:
    """What a report is made of.

    ``remarks`` are notes on the charge; ``ledger`` the digits that name it; ``json`` and ``tables`` the release itself.
    ``at`` is when it was charged, where that is known, and ``sources`` the tables that it is about.
    """

    title: str
    chapters: tuple[Chapter, ...]
    guarantee: Guarantee
    tight: ApproxDP | None
    charge: str
    statement: str
    because: str = ""
    remarks: tuple[Mapping[str, Any], ...] = ()
    seal: str = ""
    ledger: str = ""
    json: str = ""
    tables: Mapping[str, bytes] = field(default_factory=dict)
    file: str = "release.json"
    language: str = "en"
    at: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReportPage:
    """A report as one HTML file: ``html`` is its text, ``save`` writes it, a notebook links to nothing of it."""

    html: str

    def __str__(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return f"ReportPage({len(self.html):,} characters; .save('report.html') writes it)"

    def save(self, path: str | Path) -> Path:
        """Write the page, whole or not at all."""
        return write_or_refuse(Path(path), self.html.encode())


def report_page(contents: Contents) -> ReportPage:
    """A report of one or several releases of one charge.

    Guarantee: every text and name is escaped; the page loads nothing and runs nothing, and tells the browser so.  It is
    made of the releases alone.
    """
    language, made_up = contents.language, any(c.release.rehearsal for c in contents.chapters)
    answers = [
        (say("report-answers", language) if c.title == contents.title else c.title, c) for c in contents.chapters
    ]  # the page's own title is not said twice
    known = shared_notes([c.release for c in contents.chapters])
    notes = "".join(map(prose, known))
    sections = [
        *((f"answer-{k + 1}", title, _answer(c, known)) for k, (title, c) in enumerate(answers)),
        *([("notes", say("report-notes", language), notes)] if notes else []),
        ("meaning", say("report-meaning", language), _meaning(contents)),
        ("method", say("report-method", language), _method(contents, made_up)),
        ("sheet", say("report-sheet", language), _sheet(contents)),
        ("receipt", say("report-receipt", language), _receipt(contents, made_up)),
    ]
    links = "".join(f'<li><a href="#{at}">{escaped(title)}</a></li>' for at, title, _ in sections)
    body = "".join(f'<section id="{at}"><h2>{escaped(title)}</h2>{inside}</section>' for at, title, inside in sections)
    head = (
        f'<header><p class="kicker">{escaped(say("report-kicker", language))}</p><h1>{escaped(contents.title)}</h1>'
        f"{_lead(contents, made_up)}"
        f'<nav aria-label="{escaped(say("contents", language))}"><ol>{links}</ol></nav></header>'
    )
    foot = f"<footer>{escaped(say('report-foot', language))}</footer>"
    look = (files(__package__) / "report.css").read_text("utf-8")
    return ReportPage(shell(contents.title, f"{head}<main>{body}</main>{foot}", language, look))


def _lead(contents: Contents, made_up: bool) -> str:
    """What a reader is told first: whether it is real, that numbers are off on purpose, when and of what it is."""
    language, parts = contents.language, []
    if made_up:
        parts.append(f'<p class="made-up">{escaped(say("report-made-up-says", language))}</p>')
    whose = whom(_protects(contents)[0][0], language) if contents.chapters else ""
    parts.append(f'<p class="lead">{escaped(say("report-lead", language, whom=whose))}</p>')
    if contents.sources:
        facts = {"date": contents.at[:10], "tables": ", ".join(contents.sources)}
        code = "report-made" if contents.at and not made_up else "report-of"
        parts.append(f'<p class="note">{escaped(say(code, language, **facts))}</p>')
    if contents.because:
        parts.append(prose(say("report-because", language, because=contents.because)))
    return "".join([*parts, f'<p class="promise">{escaped(contents.statement)}</p>'])


def _answer(chapter: Chapter, known: tuple[str, ...]) -> str:
    why = prose(say("report-why", chapter.release.language, why=chapter.why)) if chapter.why else ""
    return why + fragment(chapter.release).answer(known)


def _protects(contents: Contents) -> tuple[Protected, ...]:
    return tuple(dict.fromkeys((c.release.unit, c.release.neighbors) for c in contents.chapters))


def _meaning(contents: Contents) -> str:
    return odds(contents.guarantee, contents.tight, _protects(contents), contents.language)


def _method(contents: Contents, made_up: bool) -> str:
    parts = [] if made_up else [prose(say("method-paid", contents.language))]
    for chapter in contents.chapters:
        if len(contents.chapters) > 1:
            parts.append(f"<h3>{escaped(chapter.title)}</h3>")
        if chapter.asked:
            parts.append(f"<pre><code>{escaped(chapter.asked)}</code></pre>")
        parts.append(_plan(chapter.release, contents.language))
    return "".join(parts)


def _plan(release: Reported, language: str) -> str:
    if release.facts is None:
        return prose(say("method-no-plan", language))
    lines = "".join(
        f"<div><dt>{escaped(name)}</dt><dd>{escaped(text)}</dd></div>"
        for name, text in plan_lines(release.facts, language).items()
    )
    headings, rows = step_table(release.facts, language)
    columns = zip(headings, *rows, strict=True)
    listed = grid(
        [TextColumn(first, tuple(rest), right=False) for first, *rest in columns],
        caption=say("method-table", language),
        keys=1,
    )
    return f'<dl class="plan">{lines}</dl>{listed}'


def _sheet(contents: Contents) -> str:
    language, releases = contents.language, [c.release for c in contents.chapters]
    notes = [note for release in releases for note in release.remarks] + list(contents.remarks)
    told = dict.fromkeys((str(note["code"]), note_text(note, language)) for note in notes)
    return Sheet(
        contents.guarantee,
        contents.tight,
        _protects(contents),
        mechanisms_of([r.facts for r in releases]),
        tuple(told),
        tuple(dict.fromkeys(r.confidence for r in releases)),
        language,
    ).html()


def _receipt(contents: Contents, made_up: bool) -> str:
    return LedgerReceipt(
        contents.charge,
        contents.guarantee,
        contents.seal,
        contents.ledger,
        made_up,
        contents.json,
        contents.tables,
        contents.file,
        contents.language,
    ).html()


def titled(title: str, charge: str, language: str) -> str:
    """The title of a report: the one that was given, or that of its charge."""
    return title or say("report-title", language, charge=charge)
