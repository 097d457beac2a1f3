"""Releases and publications as reports and charts: what the pages of ``show/report`` are filled in with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from curador.curator.releases.publication import Publication
from curador.curator.releases.release import Release
from curador.curator.releases.titles import question_title
from curador.curator.releases.verify import LEDGER_DIGITS
from curador.errors import CuradorError
from curador.query.ask.question import Question
from curador.show.explain import checked_language
from curador.show.report.document import Chapter, Contents, ReportPage, report_page, titled
from curador.show.report.fragments import MOST_LISTED
from curador.show.report.pictures import pictures
from curador.show.report.plot import Plot, plot


def release_report(
    release: Release, title: str = "", language: str | None = None, file: str = "release.json", asked: str = ""
) -> ReportPage:
    """A report of one release; ``file`` is what its JSON is called, ``asked`` its question as somebody wrote it."""
    shown = _in(release, language)
    named = titled(title or _titled(shown), shown.charge, shown.language)
    return report_page(
        Contents(
            named,
            (Chapter(shown, named, asked or _asked(shown)),),
            shown.guarantee,
            None,
            shown.charge,
            shown.statement(),
            seal=shown.seal,
            ledger=shown.seal[:LEDGER_DIGITS],
            json=_json(release),
            tables=_tables({"release": release}),
            file=file,
            language=shown.language,
            at=shown.at,
            sources=_sources([shown]),
        )
    )


def publication_report(
    publication: Publication, title: str = "", language: str | None = None, file: str = "publication.json"
) -> ReportPage:
    """A report of all releases of a publication; ``file`` is what its JSON is called."""
    shown = _all_in(publication, language)
    questions: Mapping[str, Mapping[str, str]] = shown.words.get("questions", {})
    chapters = tuple(
        Chapter(
            release,
            shown.title(name),
            str(questions.get(name, {}).get("sql") or _asked(release)),
            str(questions.get(name, {}).get("why", "")),
        )
        for name, release in shown.releases.items()
    )
    return report_page(
        Contents(
            titled(title or str(shown.words.get("title", "")), shown.charge, shown.language),
            chapters,
            shown.guarantee,
            shown.tight,
            shown.charge,
            shown.statement(),
            str(shown.words.get("because", "")),
            shown.remarks,
            shown.seal,
            shown.seal[:LEDGER_DIGITS],
            _json(publication),
            _tables(publication.releases),
            file,
            shown.language,
            next((one.at for one in shown.releases.values()), ""),
            _sources(list(shown.releases.values())),
        )
    )


def release_plot(release: Release, language: str | None = None) -> Plot:
    """The charts of a release."""
    return plot(pictures(_in(release, language)))


def publication_plot(publication: Publication, language: str | None = None) -> Plot:
    """The charts of all releases of a publication."""
    shown = _all_in(publication, language)
    return plot(
        [
            replace(one, caption=f"{shown.title(name)}: {one.caption}")
            for name, release in shown.releases.items()
            for one in pictures(release)
        ]
    )


def _in(release: Release, language: str | None) -> Release:
    """The release in a language; what is sealed is the same in all of them."""
    return release if language is None else replace(release, language=checked_language(language))


def _all_in(publication: Publication, language: str | None) -> Publication:
    if language is None:
        return publication
    releases = {name: _in(release, language) for name, release in publication.releases.items()}
    return replace(publication, releases=releases, language=checked_language(language))


def _asked(release: Release) -> str:
    """The question in a few words; nothing where the release is of no question, as a day of a running count."""
    try:
        return Question.from_json(release.question).summary
    except (CuradorError, KeyError, TypeError, ValueError):
        return ""


def _sources(releases: Sequence[Release]) -> tuple[str, ...]:
    """The tables that releases are about, as far as their questions say."""
    found: list[str] = []
    for release in releases:
        try:
            found += Question.from_json(release.question).reads
        except (CuradorError, KeyError, TypeError, ValueError):
            continue
    return tuple(dict.fromkeys(found))


def _titled(release: Release) -> str:
    """The title of a release by its question; nothing where it is of none."""
    try:
        return question_title(Question.from_json(release.question), release.language)
    except (CuradorError, KeyError, TypeError, ValueError):
        return ""


def _small(releases: Mapping[str, Release]) -> bool:
    return sum(len(release) for release in releases.values()) <= MOST_LISTED


def _json(found: Release | Publication) -> str:
    """The release as its file has it, to be kept inside the page; not where that would be most of it."""
    inside = found.releases if isinstance(found, Publication) else {"": found}
    return found.to_json() + "\n" if _small(inside) else ""


def _tables(releases: Mapping[str, Release]) -> dict[str, bytes]:
    return {name: one.to_csv().encode() for name, one in releases.items()} if _small(releases) else {}
