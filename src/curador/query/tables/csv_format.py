"""How a CSV file is written: declared with the table, guessed by nobody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from curador.errors import InvalidParameter
from curador.numbers import set_fields
from curador.query.tables.columns import FALSE_TEXTS, TRUE_TEXTS, text_value
from curador.query.tables.names import distinct, identifier, refuse_unknown, suggestion

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""The characters that may stand between fields, and their names."""

ENCODINGS = {"utf-8": "utf-8", "utf8": "utf-8", "latin-1": "latin-1", "latin1": "latin-1", "iso-8859-1": "latin-1"}
"""The names of encodings, and the one that stands for each."""

WINDOWS = ("windows-1252", "windows1252", "cp1252", "cp-1252", "ansi")
"""The encoding that spreadsheets write on Windows: Latin-1, but for the € and 26 other characters.  It is not read."""

TO_UTF8 = "iconv -f windows-1252 -t utf-8 old.csv > new.csv"

DECIMALS = (".", ",")

THOUSANDS = (",", ".", " ", "'", "\u00a0")
"""The characters that may stand between thousands: the last is a space that does not break lines."""

ISO_DATES = "yyyy-mm-dd"
DATES = (
    *(ISO_DATES, "dd/mm/yyyy", "dd-mm-yyyy", "dd.mm.yyyy"),
    *("mm/dd/yyyy", "mm-dd-yyyy", "yyyy/mm/dd", "yyyymmdd"),
)
"""How dates may be written.  A day and a month may have one digit or two, but in the first and the last."""

MOST_WORDS = 20
"""The most words for yes, and for no."""


@dataclass(frozen=True)
class CsvFormat:
    """How CSV files are written.

    * ``header``: whether the first line names the columns.
    * ``names`` of the columns, in their order, for files without a header; with one, they stand in place of its names.
    * ``delimiter`` is the character between fields; ``encoding`` is "utf-8" or "latin-1".
    * ``decimal`` is the character before the fraction of a number: "." unless "," is declared.
    * ``thousands`` is the character between thousands, none unless declared; numbers without it are read too.
    * ``trim``: whether spaces and tabs around a field and around a name are dropped; a field of nothing else is NULL.
    * ``dates`` says in which order dates are written, as "dd/mm/yyyy"; a date written otherwise is NULL.
    * ``yes`` and ``no`` are words that are read as a truth value beside the usual ones, as "sí"; also in capitals.

    >>> read_csv_format({"delimiter": ";", "decimal": ","}).mark
    ','
    """

    header: bool = True
    names: tuple[str, ...] | None = None
    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str | None = None
    trim: bool = False
    thousands: str | None = None
    dates: str = ISO_DATES
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("header", "trim"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidParameter(f"csv.{name} must be true or false.", fix="Write one of them.")
        if self.delimiter not in DELIMITERS:
            shown = ", ".join(repr(x) for x in DELIMITERS)
            raise InvalidParameter(f"Fields cannot be delimited by {self.delimiter!r}.", fix=f"Use one of {shown}.")
        encoding = ENCODINGS.get(str(self.encoding).lower())
        if str(self.encoding).lower() in WINDOWS:
            raise InvalidParameter(
                "The encoding windows-1252 is not read here.",
                fix=f'Save the file as "CSV UTF-8", or convert it: {TO_UTF8}. Without a €, dashes and curly quotes it '
                'is the same as "latin-1".',
                code="csv-encoding",
            )
        if encoding is None:
            raise InvalidParameter(
                f"The encoding {self.encoding!r} is not read here.",
                fix=f"{suggestion(self.encoding, ('utf-8', 'latin-1'), 'Use')} Convert files of another one.",
                code="csv-encoding",
            )
        set_fields(self, encoding=encoding)
        if self.decimal not in (None, *DECIMALS):
            raise InvalidParameter(f"A fraction cannot begin with {self.decimal!r}.", fix='Use "." or ",".')
        if self.thousands not in (None, *THOUSANDS) or self.thousands == self.mark:
            raise InvalidParameter(
                f"Thousands cannot be parted by {self.thousands!r} here.",
                fix='Use one of "," "." " " and "\'", another than that before fractions.',
            )
        if self.dates not in DATES:
            fix = suggestion(self.dates, DATES, "Use one of")
            raise InvalidParameter(f"Dates written as {str(self.dates)[:40]!r} are not read here.", fix=fix)
        set_fields(self, yes=_words(self.yes, "yes"), no=_words(self.no, "no"))
        if clash := sorted(set(self.true_texts) & set(self.false_texts)):
            raise InvalidParameter(
                f"{clash[0]!r} would be both yes and no.",
                fix="Leave it out of one, or declare the column as text.",
                code="both-yes-and-no",
                facts={"word": clash[0]},
            )
        if self.names is not None:
            set_fields(self, names=_names(self.names))
        if not self.header and self.names is None:
            raise InvalidParameter(
                "A CSV file without a header line needs the names of its columns.",
                fix='Write csv = { header = false, names = ["first", "second"] }, all of them, in their order.',
                code="csv-names-needed",
            )

    @property
    def mark(self) -> str:
        """The character before the fraction of a number."""
        return self.decimal or "."

    @property
    def code(self) -> dict[str, object]:
        """Everything that decides what is read, in one spelling."""
        usual = {"dates": ISO_DATES, "yes": (), "no": ()}  # left out: a question that was bought before they were there
        stated = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: x for name, x in stated.items() if name not in usual or x != usual[name]} | {"decimal": self.mark}

    @property
    def true_texts(self) -> tuple[str, ...]:
        """The texts that are read as true."""
        return (*TRUE_TEXTS, *_spellings(self.yes))

    @property
    def false_texts(self) -> tuple[str, ...]:
        """The texts that are read as false."""
        return (*FALSE_TEXTS, *_spellings(self.no))


def _words(words: object, name: str) -> tuple[str, ...]:
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise InvalidParameter(f"csv.{name} is a list of words.", fix=f'Write {name} = ["sí"].')
    found = tuple(words)
    if len(found) > MOST_WORDS or not all(isinstance(x, str) and x and len(x) <= 100 for x in found):
        raise InvalidParameter(f"csv.{name} is a list of a few short words.", fix=f'Write {name} = ["sí"].')
    return tuple(text_value(x) for x in found)


def _spellings(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(x for word in words for x in (word, word.lower(), word.upper(), word.capitalize())))


def _names(names: object) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InvalidParameter("The names of columns are a list.", fix='Write names = ["first", "second"].')
    found = tuple(identifier(name, "A column") for name in names)
    distinct(found, "columns")
    return found


def read_csv_format(given: object) -> CsvFormat:
    """A format from itself, or from settings as in a study file.

    >>> read_csv_format({"delimeter": ";"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.InvalidParameter: csv has an unknown setting 'delimeter'. To do: Did you mean 'delimiter'? ...
    """
    if isinstance(given, CsvFormat):
        return given
    if not isinstance(given, Mapping):
        raise InvalidParameter(f"csv is {given!r}.", fix='Write csv = { delimiter = ";" }, or leave it out.')
    refuse_unknown(given, [f.name for f in fields(CsvFormat)], "csv")
    return CsvFormat(**given)
