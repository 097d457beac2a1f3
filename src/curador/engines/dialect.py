"""The differences between engines: types, quoting, and functions beyond common SQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import ClassVar

from curador.errors import InvalidParameter
from curador.query.tables.columns import FALSE_TEXTS, FIRST_SECOND, TRUE_TEXTS, Kind


class Stored(StrEnum):
    """The classes of stored types that are read differently.

    ``WIDE`` are integers that may not fit 64 bits, ``DECIMAL`` exact numbers with a fraction.

    >>> Stored.DECIMAL.kind
    <Kind.REAL: 'real'>
    """

    INTEGER = "integer"
    WIDE = "wide"
    DECIMAL = "decimal"
    FLOAT = "float"
    BOOLEAN = "boolean"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @property
    def kind(self) -> Kind:
        """The type that a draft declares for such a column."""
        return _KINDS[self]


_KINDS = {
    Stored.INTEGER: Kind.INTEGER,
    Stored.WIDE: Kind.INTEGER,
    Stored.DECIMAL: Kind.REAL,
    Stored.FLOAT: Kind.REAL,
    Stored.BOOLEAN: Kind.BOOLEAN,
    Stored.TEXT: Kind.TEXT,
    Stored.DATE: Kind.DATE,
    Stored.TIMESTAMP: Kind.TIMESTAMP,
}


FIRST_MOMENT, LAST_MOMENT = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"
"""The first and last timestamps that are read."""


class Dialect(ABC):
    """The spelling of one engine.  Arguments and results are SQL text."""

    integer: ClassVar[str] = "BIGINT"
    small: ClassVar[str] = "INTEGER"
    wide: ClassVar[str]
    real: ClassVar[str]
    varchar: ClassVar[str]
    fence: ClassVar[str] = ""
    most_lists: ClassVar[int | None] = None
    """The most lists of IN in a statement; with more, all are written as comparisons."""
    decimal: str = "."
    """The character before the fraction of a number that is stored as text."""
    thousands: str = ""
    """The character that may stand between the thousands of such a number, if any."""
    truths: tuple[tuple[str, ...], tuple[str, ...]] = TRUE_TEXTS, FALSE_TEXTS
    """The texts that are read as true, and as false."""
    narrow: ClassVar[frozenset[str]]
    """Types of integers that have at most 32 bits."""

    @abstractmethod
    def stored(self, type_name: str) -> Stored | None:
        """The class of a stored type, by the engine's name for it.

        It is None if no declared type can be read from it.
        """

    def loose(self, type_name: str) -> bool:
        """Whether the database treats different texts of a stored type as equal."""
        return False

    def quoted(self, name: str) -> str:
        """Quote an identifier with any characters."""
        return '"' + _whole(name).replace('"', '""') + '"'

    def string(self, text: str) -> str:
        """A string literal."""
        return "'" + _whole(text).replace("'", "''") + "'"

    def constant(self, digits: str) -> str:
        """An integer literal of 64 bits."""
        return f"CAST({digits} AS {self.integer})"

    @abstractmethod
    def double(self, x: float) -> str:
        """A literal of the double ``x``."""

    @abstractmethod
    def divide(self, a: str, b: str) -> str:
        """a / b, truncated to an integer."""

    @abstractmethod
    def date_part(self, part: str, days: str) -> str:
        """A part of the date that is ``days`` days after 1970-01-01."""

    @abstractmethod
    def text_hash(self, x: str) -> str:
        """The first seven hexadecimal digits of the MD5 of a text in UTF-8, as a number."""

    def starts_with(self, x: str, part: str) -> str:
        """Whether the bytes of a text begin with those of another, which is not empty."""
        return f"STARTS_WITH({x}, {part})"

    def ends_with(self, x: str, part: str) -> str:
        """Whether the bytes of a text end with those of another, which is not empty."""
        return f"ENDS_WITH({x}, {part})"

    def contains(self, x: str, part: str) -> str:
        """Whether the bytes of a text hold those of another in a row."""
        return f"CONTAINS({x}, {part})"

    def total(self, x: str) -> str:
        """The sum of integers, which cannot overflow."""
        return f"SUM({x})"

    # ---- reading ------------------------------------------------------------------------------------------------

    def cast(self, x: str, type_name: str) -> str:
        """A cast that cannot fail, provided that the caller has checked the value."""
        return f"CAST({x} AS {type_name})"

    def octets(self, x: str) -> str:
        """The number of bytes of a text."""
        return f"OCTET_LENGTH({x})"

    def sound_decimal(self, x: str, type_name: str) -> str:
        """An exact number; NULL where files could hold one beyond its own type."""
        return x

    @abstractmethod
    def matches(self, x: str, pattern: str) -> str:
        """Whether a text as a whole matches a pattern."""

    @abstractmethod
    def floor(self, x: str) -> str:
        """The largest integer up to a double that is known to fit."""

    @abstractmethod
    def text_to_double(self, x: str) -> str:
        """The double nearest to a decimal text; infinite or NULL beyond doubles."""

    def decimal_to_double(self, x: str) -> str:
        """The double nearest to an exact number: through its digits, because direct casts round twice."""
        return self.text_to_double(self.cast(x, self.varchar))

    def whole_decimal(self, x: str) -> str:
        """Whether an exact number has no fraction."""
        return f"{x} = FLOOR({x})"

    @abstractmethod
    def days(self, x: str) -> str:
        """Days from 1970-01-01 to a date; NULL outside the years 1 to 9999."""

    def iso_text(self, x: str) -> str:
        """A text of a date, with or without a time, as 2020-01-31 12:30:00, where files write it otherwise.

        Texts in another format become a marker that never parses as a date.
        """
        return x

    @abstractmethod
    def text_to_days(self, x: str) -> str:
        """Days from 1970-01-01 to a text that looks like 2020-01-31; NULL for an impossible date."""

    def seconds(self, x: str) -> str:
        """Whole seconds from 1970-01-01 in UTC to a timestamp, rounded down; NULL outside the years 1 to 9999."""
        t = f"TRY_CAST({x} AS TIMESTAMP)"
        inside = f"(EPOCH_US({t}) + {-FIRST_SECOND}000000) // 1000000 - {-FIRST_SECOND}"  # // drops fractions
        return f"CASE WHEN {t} BETWEEN '{FIRST_MOMENT}' AND '{LAST_MOMENT}' THEN {inside} END"

    def text(self, x: str) -> str:
        """A text that is compared byte by byte."""
        return self.cast(x, self.varchar)

    def text_identity(self, x: str) -> str:
        """A text as an id; NULL where two different ids could have become the same text."""
        return x

    def identity(self, x: str, least: str, most: str) -> str:
        """An integer as an id of 64 bits; NULL where it has more.

        The stored type does not matter: pandas makes a column unsigned if one id is large, and nothing may depend on
        that.
        """
        return f"CASE WHEN {x} BETWEEN {least} AND {most} THEN {self.cast(x, self.integer)} END"


def _whole(text: str) -> str:
    if "\0" in text:
        raise InvalidParameter("A name or a text holds a NUL character, which engines cannot store.", fix="Remove it.")
    return text
