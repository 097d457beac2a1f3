"""How the engines differ: types, quoting, and the few functions that a plan needs beyond common SQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import ClassVar

from curador.errors import InvalidParameter


class Stored(StrEnum):
    """How an engine stores a column, as far as reading it depends on that.

    ``WIDE`` are integers that may not fit 64 bits, ``DECIMAL`` exact numbers with a fraction.
    """

    INTEGER = "integer"
    WIDE = "wide"
    DECIMAL = "decimal"
    FLOAT = "float"
    BOOLEAN = "boolean"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"


class Dialect(ABC):
    """How one engine spells what the others spell differently.  Arguments and results are SQL text."""

    integer: ClassVar[str] = "BIGINT"
    small: ClassVar[str] = "INTEGER"
    wide: ClassVar[str]
    real: ClassVar[str]
    varchar: ClassVar[str]
    fence: ClassVar[str] = ""
    narrow: ClassVar[frozenset[str]]
    """Types of integers that have at most 32 bits."""

    @abstractmethod
    def stored(self, type_name: str) -> Stored | None:
        """How a column of this type is stored; None where no declared type can be read from it."""

    def quoted(self, name: str) -> str:
        """An identifier, whatever it is made of."""
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
        """a over b without its fraction."""

    @abstractmethod
    def date_part(self, part: str, days: str) -> str:
        """A part of the date that lies so many days after 1970-01-01."""

    @abstractmethod
    def text_hash(self, x: str) -> str:
        """The first seven hexadecimal digits of the MD5 of a text in UTF-8, as a number."""

    def total(self, x: str) -> str:
        """The sum of integers, which cannot overflow."""
        return f"SUM({x})"

    # ---- reading ------------------------------------------------------------------------------------------------

    def cast(self, x: str, type_name: str) -> str:
        """A cast that cannot fail, given what the caller made sure of."""
        return f"CAST({x} AS {type_name})"

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

    @abstractmethod
    def text_to_days(self, x: str) -> str:
        """The same for a text that looks like 2020-01-31; NULL where there is no such day."""

    def text(self, x: str) -> str:
        """A text that is compared byte by byte."""
        return self.cast(x, self.varchar)

    def told(self, x: str) -> str:
        """A text as an id; NULL where two ids could be confused."""
        return x

    def identity(self, x: str, type_name: str, least: str, most: str) -> str:
        """An integer as an id of 64 bits; NULL where it has more."""
        return f"CASE WHEN {x} BETWEEN {least} AND {most} THEN {self.cast(x, self.integer)} END"


def _whole(text: str) -> str:
    if "\0" in text:
        raise InvalidParameter("A name or a text holds a NUL, which no engine can.", fix="Remove it.")
    return text
