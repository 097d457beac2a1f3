"""Commands about a study file and its tables: init, check, prepare, reload."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from curador.cli.opening import open_study
from curador.cli.options import STUDY, Json, Language, Log, Study
from curador.cli.screen import asks_back, console, emit, grid, loss_names, say, some, spoken, whole, words
from curador.errors import InvalidParameter
from curador.show.files import write_atomically

if TYPE_CHECKING:
    from curador.curator.study.check import ColumnState, TableState
    from curador.curator.study.draft import TableDraft


def init(
    source: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A CSV or Parquet file, a folder of Parquet files, or engine://…#table."),
    ],
    name: Annotated[str | None, typer.Option(help="The name of the table; by default that of the file.")] = None,
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line of a CSV file names its columns."),
    ] = None,
    names: Annotated[
        str | None, typer.Option(help="The columns of a CSV file, in their order, with commas between them.")
    ] = None,
    delimiter: Annotated[str | None, typer.Option(help='Between the fields of a CSV file: , ; | or "tab".')] = None,
    encoding: Annotated[str | None, typer.Option(help="Of a CSV file: utf-8 or latin-1.")] = None,
    decimal: Annotated[str | None, typer.Option(help="Before the fraction of numbers in a CSV file: . or ,")] = None,
    thousands: Annotated[
        str | None, typer.Option(help="Between the thousands of numbers in a CSV file: , . ' or a space.")
    ] = None,
    dates: Annotated[str | None, typer.Option(help="How a CSV file writes dates, as dd/mm/yyyy.")] = None,
    yes: Annotated[str | None, typer.Option(help="Words that are true in a CSV file, with commas between.")] = None,
    no: Annotated[str | None, typer.Option(help="Words that are false in a CSV file, with commas between.")] = None,
    trim: Annotated[bool, typer.Option("--trim", help="Drop spaces around the fields of a CSV file.")] = False,
    out: Annotated[Path, typer.Option(help="The study file: it is written, or the table is added to it.")] = STUDY,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Draft a study file from the names and types of columns; no row is read, and none is written.

    Of a CSV file only the first line is read, and only if you say that it names the columns.

    A study file that is there already gets one more table; what stands in it stays as it is.

    Example: curador init adult.csv --header
    """
    from curador.curator.study.draft import draft

    was = _present(out)
    lists = {"names": names, "yes": yes, "no": no}
    stated: dict[str, object] = {
        "header": header,
        **{setting: None if x is None else [part.strip() for part in x.split(",")] for setting, x in lists.items()},
        "delimiter": "\t" if delimiter in ("tab", "\\t") else delimiter,
        "encoding": encoding,
        "decimal": decimal,
        "trim": trim or None,
        "thousands": thousands,
        "dates": dates,
    }
    csv = {setting: value for setting, value in stated.items() if value is not None} or None
    try:
        found = draft(source, name=name, folder=out.parent, csv=csv)
    except InvalidParameter as refusal:
        if refusal.code == "csv-of-no-csv":
            typed = ", ".join("--no-header" if x is False else f"--{setting}" for setting, x in (csv or {}).items())
            raise InvalidParameter(
                f"{Path(source).name!r} is no CSV file, and {typed} says how one is written.",
                fix=f"Leave {typed} out.",
            ) from None
        if refusal.code != "header-unstated" or as_json or not asks_back():
            raise
        says = typer.confirm(words("first-line-asked", file=Path(source).name))
        if not says and names is None:
            raise InvalidParameter(
                "A file without a header line needs names for its columns.", fix="Say --no-header --names age,sex,…"
            ) from None
        found = draft(source, name=name, folder=out.parent, csv={**(csv or {}), "header": says})
    _write(out, was, found.toml() if was is None else found.added_to(was, out.name))
    if as_json:
        columns = [{"name": column.name, "stored": column.stored} for column in found.columns]
        summary = {"file": str(out), "table": found.name, "source": found.source, "columns": columns}
        emit({**summary, "added": was is not None, "left": found.left, "unusable": found.unusable})
        return
    _print_draft(found, out, added=was is not None)


def _present(out: Path) -> str | None:
    """The study file as it is; None where there is none."""
    try:
        return out.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        raise InvalidParameter(
            f"{out.name} exists already, and cannot be read as text.", fix="Choose another file with --out."
        ) from None


def _write(out: Path, was: str | None, text: str) -> None:
    """Write a new study file, or put the text in the place of one that still is what it ``was``."""
    if was is not None and _present(out) != was:
        raise InvalidParameter(f"{out.name} was changed meanwhile.", fix="Repeat it.")
    try:
        if was is not None:
            write_atomically(out, text.encode(), out.stat().st_mode & 0o777)
            return
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        raise InvalidParameter(f"{out.name} cannot be written.", fix="Choose another place with --out.") from None


def _print_draft(found: TableDraft, out: Path, *, added: bool) -> None:
    whole(words("table-added" if added else "drafted", file=out, table=found.name, n=len(found.columns)))
    say(words("read", what=found.read(spoken())), "dim")
    table = Table(title="\n" + words("left-to-fill"), title_justify="left", box=None, show_header=False, pad_edge=False)
    for setting, columns in found.left.items():
        if added and setting == "budget":
            continue
        if columns or setting in ("unit", "budget") or found.left["type"]:
            of = f"\n{some(columns)}" if columns else ""
            table.add_row(f"  {setting}", Text.assemble(words(f"needed-{setting}"), (of, "dim")))
    console.print(table, "")
    if found.unusable:
        say(words("unusable", names=some(found.unusable)))
    say(words("all-public"))
    if added:
        say(words("until-filled"), "yellow")
    whole(words("then", line="curador check" + (f" --study {out}" if out != STUDY else "")))


def check(study: Study = STUDY, language: Language = "", as_json: Json = False) -> None:
    """Check a study file against what is stored: columns, types, and whether CSV files are tables; no value is shown.

    Example: curador check --study adult.toml
    """
    from curador.curator.study.check import check as checked

    found = checked(study, "en" if as_json else spoken())
    if as_json:
        emit({**asdict(found), "sound": found.sound})
    else:
        for table in found.tables:
            _print_table(table)
        for note in _NOTES:
            if any(note == (c.wrong or c.left) for t in found.tables for c in t.columns):
                say(f"{_named(note)}: {words(f'{_NOTES[note]}-means')}")
                if note == "no keys" and found.budget and "delta" not in found.budget:
                    say(words("no-delta"), "yellow")
        if found.wrong:
            say(found.wrong, "red")
        elif found.budget:
            say(words("stated-budget", budget=loss_names(found.budget)))
        say(words("can-be-asked"), "green") if found.sound else say(words("to-be-corrected"), "red")
        asked = [t.name for t in found.tables if found.sound and not t.public]
        if asked:
            where = "" if study == STUDY else f" --study {study}"
            say(words("quality-too"), "dim")
            whole(f"curador quality {asked[0]} --epsilon 0.1{where}", "dim")
    if not found.sound:
        raise typer.Exit(1)


_NOTES = {note: note.replace(" ", "-") for note in ("type missing", "no bounds", "no keys")}
"""What the study's check notes of columns, and what is said of it below, by its code."""


def _named(note: str) -> str:
    """A note in the language of the command; what is wrong is said as a refusal says it, in English."""
    return words(code) if (code := (_NOTES | {"not in the source": "not-in-source"}).get(note)) else note


def _print_table(found: TableState) -> None:
    say(words("protects", table=found.name, whom=found.protects) if found.protects else found.name, "italic")
    table = grid()
    for code in ("column", "type", "stored-as", "public", "note"):
        table.add_column(words(code))
    for column in found.columns:
        table.add_row(
            Text(column.name), column.declared or "–", Text(column.stored or "–"), Text(column.public), _note(column)
        )
    if found.columns:
        console.print(table)
    for doubt in found.doubts:
        say(f"{found.name}: {doubt}", "yellow")
    if found.wrong:
        say(f"{found.name}: {found.wrong}", "red")


def _note(column: ColumnState) -> Text:
    if column.wrong:
        return Text(_named(column.wrong), "red")
    return Text(_named(column.left), "yellow") if column.declared is not None else Text(words("not-declared"), "dim")


# ---- tables --------------------------------------------------------------------------------------------------------

TableName = Annotated[str, typer.Argument(metavar="TABLE", help="A private table of the study.")]


def prepare(
    table: TableName,
    group_by: Annotated[
        list[str] | None, typer.Option("--group-by", "-g", help="A column of later GROUP BYs; once for each.")
    ] = None,
    log: Log = None,
    study: Study = STUDY,
    language: Language = "",
    as_json: Json = False,
) -> None:
    """Choose every unit's rows once, so that later questions in these groups cost about a plain GROUP BY.

    Nothing is released and nothing charged. Later commands use the copy, which is kept next to the study.

    Example: curador prepare visits --group-by sex --group-by town
    """
    from curador.curator.prepared import prepare_stored

    groups = group_by or []
    with open_study(study, log=log) as curator:
        copy = prepare_stored(curator, table, groups)
    if as_json:
        emit({"table": table, "group_by": groups, "place": copy.prepared.place})
        return
    place = study.parent / copy.prepared.place if copy.in_file else words("the-database")
    said = words("prepared-by", table=table, groups=", ".join(groups)) if groups else words("prepared", table=table)
    say(said)
    say(words("prepared-in", place=place))


def reload(table: TableName, study: Study = STUDY, language: Language = "", as_json: Json = False) -> None:
    """Record that a table's rows changed; the budget stays as it is.

    Answers about the old rows are not given for the new ones, and prepared copies of the old rows are removed.

    Example: curador reload visits
    """
    with open_study(study) as curator:
        version = curator.reload(table)
        removed = curator.copies.remove(table) if curator.copies else []
    if as_json:
        emit({"table": table, "version": version, "no_longer_used": [copy.prepared.place for copy in removed]})
        return
    say(words("reloaded", table=table, version=version))
    for copy in removed:
        say(words("copy-unused", place=copy.prepared.place))
    if any(not copy.in_file for copy in removed):
        say(words("drop-copies"), "yellow")
