"""Where the rows of a table are, and how a CSV file is written: from a form, with every mistake at its field.

Guarantee: of a CSV file the first line is read, if it is said to name the columns, of anything else the names and types
of columns; never a row.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curador.curator.study.draft import MARKS, TableDraft, draft, named_after
from curador.errors import InvalidParameter
from curador.server.console.declaring.typed import Mistakes, Mistyped, listed
from curador.server.console.forms import Filled

MOST_COLUMNS = 500

HEADERS = ("", "yes", "no")
DELIMITERS = MARKS
ENCODINGS = ("utf-8", "latin-1")
NUMBERS = {
    "1234.5": (".", None),
    "1234,5": (",", None),
    "1,234.5": (".", ","),
    "1.234,5": (",", "."),
    "1 234.5": (".", " "),
    "1 234,5": (",", " "),
    "1'234.5": (".", "'"),
}
"""How numbers are written, by an example: what stands before fractions, and between thousands."""

DATES = {
    "2025-12-31": "yyyy-mm-dd",
    "31/12/2025": "dd/mm/yyyy",
    "31-12-2025": "dd-mm-yyyy",
    "31.12.2025": "dd.mm.yyyy",
    "12/31/2025": "mm/dd/yyyy",
    "12-31-2025": "mm-dd-yyyy",
    "2025/12/31": "yyyy/mm/dd",
    "20251231": "yyyymmdd",
}
"""How dates are written, by an example."""

USUAL = {"delimiter": ",", "encoding": "utf-8", "numbers": "1234.5", "dates": "2025-12-31", "spaces": "drop"}
"""How a CSV file is written, as a form begins."""

YES_WORDS = {"en": "", "es": "sí, si"}
"""What a form offers as words for yes, by the language of its page."""

_PLACES = {
    "csv-delimiter": "delimiter",
    "csv-encoding": "encoding",
    "csv-spaces": "spaces",
    "csv-names": "names",
    "csv-header": "header",
    "header-like-values": "header",
    "control-character": "encoding",
}
"""The fields of a form next to which what is refused is said."""


@dataclass(frozen=True)
class HowWritten:
    """How values are written in a source: as declared of a CSV file, and plainly elsewhere."""

    mark: str = "."
    dates: str = "yyyy-mm-dd"
    encoding: str = "utf-8"


def is_csv(source: str) -> bool:
    """Whether a path is one of a CSV file, also of one in gzip.

    >>> is_csv("uploads/visits.CSV.gz"), is_csv("visits.parquet")
    (True, False)
    """
    return ".csv" in [suffix.lower() for suffix in Path(source).suffixes]


def is_address(source: str) -> bool:
    """Whether a source is in a database."""
    return source.strip().lower().startswith(("postgresql://", "postgres://"))


def read_written(form: Filled) -> HowWritten:
    """How the values of a source are written, as far as a form says it."""
    if not is_csv(form["source"].strip()) or is_address(form["source"]):
        return HowWritten()
    mark, _ = NUMBERS.get(form["numbers"], (".", None))
    return HowWritten(mark, DATES.get(form["dates"], "yyyy-mm-dd"), form["encoding"] or "utf-8")


def csv_settings(form: Filled, wrong: Mistakes) -> dict[str, Any]:
    """How a CSV file is written, as a study file states it: what is usual is left out."""
    made: dict[str, Any] = {"header": form["header"] != "no"}
    if form["header"] not in HEADERS[1:]:
        wrong.say("header", "header-unsaid")
    for place, offered in (("delimiter", DELIMITERS), ("encoding", ENCODINGS)):
        if form[place] not in ("", USUAL[place]):
            if form[place] not in offered:
                wrong.say(place, "not-offered")
            made[place] = form[place]
    decimal, thousands = NUMBERS.get(form["numbers"] or USUAL["numbers"], ("", None))
    dates = DATES.get(form["dates"] or USUAL["dates"], "")
    if not decimal or not dates:
        wrong.say("numbers" if not decimal else "dates", "not-offered")
    if decimal != ".":
        made["decimal"] = decimal
    elif form["delimiter"] == ";":  # said, and not left to a doubt
        made["decimal"] = "."
    if thousands:
        made["thousands"] = thousands
    if dates != "yyyy-mm-dd":
        made["dates"] = dates
    if form["spaces"] == "drop":
        made["trim"] = True
    names = _list(form, "names", wrong)
    if names:
        made["names"] = names
    elif form["header"] == "no":
        wrong.say("names", "names-needed")
    for place in ("yes", "no"):
        if words := _list(form, f"{place}-words", wrong):
            made[place] = words
    return made


def _list(form: Filled, place: str, wrong: Mistakes) -> list[str]:
    try:
        return listed(form[place])
    except Mistyped as mistake:
        wrong.add(place, mistake)
        return []


def read_source(study: Path, form: Filled, taken: set[str], wrong: Mistakes, declared: str = "") -> TableDraft | None:
    """The names of columns, and their types where the source declares them; None where something is wrong.

    A file that a form names is below the study's folder; one that the study has ``declared`` may be elsewhere, or be
    several by a pattern.
    """
    given = form["source"].strip()
    root = study.parent.resolve()
    csv: dict[str, Any] | None = None
    source = given
    if not is_address(given):
        path = (root / given).resolve() if given and "\0" not in given else root
        if (not path.is_relative_to(root) or not path.is_file()) and (not given or given != declared):
            wrong.say("source", "no-source" if given else "source-needed")
            return None
        source = str(path)
        csv = csv_settings(form, wrong) if is_csv(source) else None
    name = form["name"] if declared else _name(form, source, taken, wrong)
    if wrong:
        return None
    try:
        found = draft(source, name=name, folder=root, csv=csv)
    except InvalidParameter as error:
        wrong.add(_PLACES.get(error.code, "source"), _mistake(error))
        return None
    if len(found.columns) > MOST_COLUMNS:
        wrong.say("source", "too-many-columns", most=MOST_COLUMNS)
        return None
    return found


def _name(form: Filled, source: str, taken: set[str], wrong: Mistakes) -> str | None:
    name = unicodedata.normalize("NFC", form["name"].strip())
    if name and not re.fullmatch(r"[^\W\d]\w{0,59}", name):
        wrong.say("name", "name-odd")
    made = name or ("" if is_address(source) else named_after(Path(source).name))
    if made.casefold() in {one.casefold() for one in taken}:
        wrong.say("name", "name-taken", name=made)
    return name or None


def _mistake(error: InvalidParameter) -> Mistyped:
    """A refusal of the reader of sources in words of the page."""
    if error.code == "control-character":
        return Mistyped("windows-1252")
    if error.code == "csv-delimiter":
        mark = str(error.facts["delimiter"])
        return Mistyped("csv-delimiter", mark="→|" if mark == "\t" else mark)
    if error.code == "header-like-values":
        return Mistyped("header-like-values" if error.facts["place"] else "csv-header", place=error.facts["place"])
    if error.code in _PLACES:
        return Mistyped(error.code, **error.facts)
    return Mistyped("source-refused", refusal=error)
