"""Commands that answer: explain, ask (or sql), limits, publish."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curador.cli.opening import balances, open_study
from curador.cli.options import (
    STUDY,
    Accuracy,
    Analyst,
    Anyway,
    At,
    Because,
    Confidence,
    Delta,
    Epsilon,
    Fresh,
    GroupsPerUnit,
    Html,
    Json,
    Key,
    Language,
    Log,
    Override,
    Paid,
    Progress,
    Rehearse,
    Rho,
    Rows,
    RowsPerUnit,
    Study,
)
from curador.cli.screen import bullet, console, emit, loss, loss_left, say, spoken, whole, words
from curador.errors import InvalidParameter, NotPromised
from curador.show.explain import LIMITED, batch_notes, cheaper_as_a_whole, error_text, output_text, stated_text
from curador.show.release import BESIDE
from curador.show.tables import percent

if TYPE_CHECKING:
    from curador import Balance
    from curador.curator.curator import Curator
    from curador.curator.purchases.batch import Batch
    from curador.curator.releases.publication import Publication
    from curador.curator.releases.release import Release
    from curador.curator.study.dashboard import Dashboard

PRICED = ("epsilon", "delta", "rho", "accuracy", "rows", "contribution")
"""What was typed that decides a price."""

Sql = Annotated[str, typer.Argument(metavar="SQL", help="The question.", show_default=False)]


def explain(
    sql: Sql,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    accuracy: Accuracy = None,
    confidence: Confidence = 0.95,
    rows: Rows = None,
    groups_per_unit: GroupsPerUnit = None,
    rows_per_unit: RowsPerUnit = None,
    show_sql: Annotated[bool, typer.Option("--sql", help="Show the statements that the engine would run.")] = False,
    language: Language = "",
    rehearse: Rehearse = False,
    log: Log = None,
    study: Study = STUDY,
    at: At = None,
    as_json: Json = False,
) -> None:
    """Show what an answer would cost and how wrong it would be; free, and no row is read.

    Example: curador explain "SELECT sex, COUNT(*) AS n FROM adult GROUP BY sex" --epsilon 0.1
    """
    paid = Paid(epsilon, delta, rho, accuracy, confidence, rows, groups_per_unit, rows_per_unit).asked()
    with open_study(study, rehearse=rehearse, log=log, at=at) as curator:
        found = curator.explain(sql, **paid, sql=show_sql, language=language)
        fits = _how_many(curator, sql, paid)
        left = balances(curator)
    if as_json:
        emit({**found.to_dict(), "fits": fits, "remaining": _remaining(left)})
        return
    whole(str(found))
    say("\n" + words("fits", times=_times(fits), left=_worded(left)))


def _how_many(curator: Curator, sql: str, paid: dict[str, Any]) -> int | None:
    try:
        price = {name: paid[name] for name in PRICED if name in paid}
        return curator.how_many(sql, **price)
    except NotPromised:  # it costs nothing
        return None


def ask(
    sql: Sql,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    accuracy: Accuracy = None,
    confidence: Confidence = 0.95,
    rows: Rows = None,
    groups_per_unit: GroupsPerUnit = None,
    rows_per_unit: RowsPerUnit = None,
    because: Because = "",
    override: Override = False,
    analyst: Analyst = None,
    key: Key = None,
    fresh: Fresh = False,
    anyway: Anyway = False,
    language: Language = "",
    html: Html = None,
    rehearse: Rehearse = False,
    progress: Progress = False,
    log: Log = None,
    study: Study = STUDY,
    at: At = None,
    as_json: Json = False,
) -> None:
    """Pay for a question and print the noised answer; what was answered before is free.

    Example: curador ask "SELECT sex, COUNT(*) AS n FROM adult GROUP BY sex" --epsilon 0.1
    """
    paid = Paid(epsilon, delta, rho, accuracy, confidence, rows, groups_per_unit, rows_per_unit).asked()
    who = None if rehearse else analyst  # a rehearsal has no receiver: it knows only the analysts that the study states
    terms: dict[str, Any] = {"because": because, "override": override, "analyst": who, "key": key, "fresh": fresh}
    terms["anyway"] = anyway
    _require_place(html)
    with open_study(study, rehearse=rehearse, log=log, at=at) as curator:
        release = curator.ask(sql, **paid, **terms, progress=progress, language=language)
        left = balances(curator, who)
    _report(release, html, rehearse)
    if as_json:
        emit({**release.to_dict(), "repeated": release.repeated, "remaining": _remaining(left)})
        return
    console.print(release)
    _limits([release])
    _notes(release)
    _written(html)
    _ending(release.repeated, left, rehearse)


def quality(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="A private table of the study.")],
    column: Annotated[
        list[str] | None, typer.Option("--column", "-c", help="A column; once for each. All if none.")
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    confidence: Confidence = 0.95,
    explained: Annotated[
        bool, typer.Option("--explain", help="Only show what it would cost and how wrong it would be; free.")
    ] = False,
    because: Because = "",
    override: Override = False,
    analyst: Analyst = None,
    key: Key = None,
    fresh: Fresh = False,
    language: Language = "",
    rehearse: Rehearse = False,
    progress: Progress = False,
    log: Log = None,
    study: Study = STUDY,
    at: At = None,
    as_json: Json = False,
) -> None:
    """Pay to learn how many rows fit no key, are NULL or are clipped, in each column of a table.

    It is a question as any other: charged, noised, and free if it was answered before.

    Example: curador quality adult --epsilon 0.1
    """
    from curador.curator.purchase import Request

    who = None if rehearse else analyst
    with open_study(study, rehearse=rehearse, log=log, at=at) as curator:
        paid = Paid(epsilon, delta, rho, confidence=confidence).asked()
        asked = curator.quality(table, column or (), **paid)
        if explained:
            fits, left = _fits(curator, asked), balances(curator)
            if as_json:
                emit({**asked.to_dict(), "fits": fits, "remaining": _remaining(left)})
                return
            whole(asked.explain(spoken()))
            say(words("fits", times=_times(fits), left=_worded(left)))
            return
        release = curator.buy_quality(asked, Request(because, override, who, key, fresh, progress), language)
        left = balances(curator, who)
    if as_json:
        emit({**release.to_dict(), "repeated": release.repeated, "remaining": _remaining(left)})
        return
    console.print(release)
    _notes(release)
    _ending(release.repeated, left, rehearse)


def limits(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The table, whose unit is an id.")],
    of: Annotated[str, typer.Option(help="What is limited: rows, or groups as COUNT(DISTINCT town).")] = "COUNT(*)",
    most: Annotated[int, typer.Option(min=2, help="The largest limit to try.")] = 1000,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    confidence: Confidence = 0.95,
    because: Because = "",
    override: Override = False,
    analyst: Analyst = None,
    key: Key = None,
    fresh: Fresh = False,
    language: Language = "",
    rehearse: Rehearse = False,
    log: Log = None,
    study: Study = STUDY,
    at: At = None,
    as_json: Json = False,
) -> None:
    """Pay to see what share of the rows is kept if each unit counts with at most 1, 2, 5, … of them.

    Example: curador limits visits --epsilon 0.1
    """
    who = None if rehearse else analyst
    with open_study(study, rehearse=rehearse, log=log, at=at) as curator:
        found = curator.table(table).limits(
            of,
            most=most,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            confidence=confidence,
            because=because,
            override=override,
            analyst=who,
            key=key,
            fresh=fresh,
            language=language,
        )
        left = balances(curator, who)
    if as_json:
        emit({**found.to_dict(), "repeated": found.release.repeated, "remaining": _remaining(left)})
        return
    whole(str(found))
    say(f"\n{found.release.statement()}")
    _ending(found.release.repeated, left, rehearse)


def publish(
    dashboard: Annotated[Path, typer.Argument(metavar="DASHBOARD", help="The dashboard file, which names its study.")],
    out: Annotated[
        Path | None, typer.Option(help="The folder to write to; by default named as the dashboard, in this folder.")
    ] = None,
    explained: Annotated[
        bool, typer.Option("--explain", help="Only show what it would cost and how wrong it would be; free.")
    ] = False,
    rows: Rows = None,
    because: Because = "",
    override: Override = False,
    analyst: Analyst = None,
    key: Key = None,
    fresh: Fresh = False,
    anyway: Anyway = False,
    language: Language = "",
    html: Html = None,
    rehearse: Rehearse = False,
    progress: Progress = False,
    log: Log = None,
    at: At = None,
    as_json: Json = False,
) -> None:
    """Answer the questions of a dashboard for one charge, and write JSON, CSV and Parquet.

    All are answered or none. A rehearsal is printed and writes no files but the report, marked as made up.

    Example: curador publish examples/adult_dashboard.toml --out adult
    """
    from curador.curator.study.dashboard import read_dashboard, write

    board, folder = read_dashboard(dashboard), out if out is not None else Path(dashboard.stem)
    if folder.exists() and not folder.is_dir():
        raise InvalidParameter(f"{folder} is not a folder.", fix="Choose another with --out.")
    if not explained:
        _require_place(html, folder)
    who = None if rehearse else analyst
    terms: dict[str, Any] = {
        "because": because or board.because,
        "override": override,
        "analyst": who,
        "key": key,
        "fresh": fresh,
        "anyway": anyway,
    }
    with open_study(STUDY if at is not None else board.study, rehearse=rehearse, log=log, at=at) as curator:
        batch = board.batch(curator, rows)
        if explained:
            _print_batch(batch, board, _fits(curator, batch), balances(curator), as_json)
            return
        found = curator.publish(batch, **terms, progress=progress, language=language)
        files = [] if rehearse else write(found, folder)
        left = balances(curator, who)
    _report(found, html, rehearse)
    if as_json:
        shown = {**found.to_dict(), "repeated": found.repeated, "files": list(map(str, files))}
        emit({**shown, "remaining": _remaining(left)})
        return
    _print_publication(found, board)
    if files:
        whole(words("written-files", n=len(files), folder=folder))
    _written(html)
    _ending(found.repeated, left, rehearse)


def _require_place(html: Path | None, made: Path | None = None) -> None:
    """Refuse, before anything is paid, a report that could not be written; a folder that will be ``made`` is there."""
    if html is None:
        return
    if html.is_dir():
        raise InvalidParameter(f"{html} is a folder.", fix="Name a file, as report.html.")
    if not html.parent.is_dir() and html.parent != made:
        raise InvalidParameter(f"There is no folder {html.parent}.", fix="Make it first, or choose another.")


def _report(found: Release | Publication, html: Path | None, rehearsed: bool) -> None:
    if html is None:
        return
    try:
        found.report().save(html)
    except InvalidParameter as refusal:
        paid = "nothing was spent" if rehearsed else f"charge {found.charge} is kept, with its answers"
        raise InvalidParameter(refusal.what, fix="Choose another file, and ask again: it is free.", cost=paid) from None


def _written(html: Path | None) -> None:
    if html is not None:
        whole(words("report-file", file=html))


def _fits(curator: Curator, batch: Batch) -> int | None:
    try:
        return curator.how_many(batch)
    except NotPromised:  # it costs nothing
        return None


def _times(fits: int | None) -> str:
    if fits is None:
        return words("times-any")
    return words("times-one") if fits == 1 else words("times", n=f"{fits:,}")


def _print_batch(batch: Batch, board: Dashboard, fits: int | None, left: list[Balance], as_json: bool) -> None:
    facts = batch.to_dict()
    if as_json:
        emit({**facts, "fits": fits, "remaining": _remaining(left)})
        return
    if board.title:
        say(board.title, "bold")
    for name, one in facts["questions"].items():
        say(f"\n{name}: {stated_text(one['guarantee'], spoken())}", "bold")
        for error in one["expected"]:
            named, said = output_text(error, spoken()), error_text(error, spoken())
            say("  " + words("of-the-time", output=named, error=said, confidence=percent(error["confidence"])))
        if why := board.questions[name].why:
            bullet(why, "dim", mark=" ")
    for text in batch_notes(facts, spoken()):
        bullet(text)
    say("\n" + words("in-one-charge", cost=loss(batch.guarantee)))
    if (tight := cheaper_as_a_whole(facts)) is not None:
        say(words("tightly", cost=loss(tight)))
    say(words("fits", times=_times(fits), left=_worded(left)))


def _print_publication(found: Publication, board: Dashboard) -> None:
    if board.title:
        say(board.title, "bold")
    for name in found:
        say(f"\n{board.questions[name].title or name}", "bold")
        console.print(found[name])
        _notes(found[name])
    _limits(found.releases.values())
    _notes(found)
    say(f"\n{found.statement()}")


def _notes(found: Release | Publication) -> None:
    for note, text in zip(found.remarks, found.notes, strict=True):
        if note["code"] not in ("covers", *BESIDE):  # one is true of every answer, the others stand with the numbers
            bullet(text, "dim")


def _limits(releases: Iterable[Release]) -> None:
    """How to find out what limits of one unit cut, where they can have cut something."""
    limited = [one for one in releases if any(note["code"] in LIMITED for note in one.remarks)]
    for table in dict.fromkeys(str(one.question["table"]) for one in limited if "table" in one.question):
        bullet(words("limits-too", table=table), "dim")


def _ending(repeated: bool, left: list[Balance], rehearsed: bool) -> None:
    if rehearsed:
        say(words("nothing-spent"))
        return
    if repeated:
        say(words("from-ledger"), "green")
    say(words("remaining", left=_worded(left)))


def _worded(left: list[Balance]) -> str:
    return "; ".join(f"{b.scope} {loss_left(b.remaining)}" for b in left)


def _remaining(left: list[Balance]) -> dict[str, Any]:
    return {b.scope: b.remaining.to_json() for b in left}
