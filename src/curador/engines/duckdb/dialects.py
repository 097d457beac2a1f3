"""DuckDB's spelling of the neutral language, and that for Parquet files and for CSV files."""

from __future__ import annotations

import re

from curador.engines.dialect import Dialect, Stored
from curador.query.tables.csv_format import ISO_DATES, CsvFormat

LONGEST_DATE = 60
"""The most bytes of a text that is parsed as a date and a time."""


class DuckDBDialect(Dialect):
    """DuckDB's spelling.

    >>> DUCKDB.divide("a", "b"), DUCKDB.stored("DECIMAL(10,2)").value
    ('(a // b)', 'decimal')
    """

    wide = "HUGEINT"
    real = "DOUBLE"
    varchar = "VARCHAR"
    most_lists = 20  # each becomes a join, and planning many takes minutes that no deadline interrupts
    narrow = frozenset(("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER"))

    _STORED = {  # noqa: RUF012  never changed
        **dict.fromkeys((*narrow, "BIGINT"), Stored.INTEGER),
        **dict.fromkeys(("UBIGINT", "HUGEINT"), Stored.WIDE),
        **dict.fromkeys(("FLOAT", "DOUBLE"), Stored.FLOAT),
        **dict.fromkeys(("VARCHAR", "UUID", "ENUM", '"NULL"'), Stored.TEXT),
        **dict.fromkeys(
            ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"),
            Stored.TIMESTAMP,
        ),
        "DECIMAL": Stored.DECIMAL,
        "BOOLEAN": Stored.BOOLEAN,
        "DATE": Stored.DATE,
    }

    def stored(self, type_name: str) -> Stored | None:
        return None if type_name.endswith("]") else self._STORED.get(type_name.partition("(")[0])

    def double(self, x: float) -> str:
        return f"{x!r}" if "e" in repr(x) else f"{x!r}e0"  # without an exponent it would be a decimal

    def divide(self, a: str, b: str) -> str:
        return f"({a} // {b})"

    def date_part(self, part: str, days: str) -> str:
        name = "isodow" if part == "weekday" else part
        return f"EXTRACT({name} FROM DATE '1970-01-01' + CAST({days} AS INTEGER))"

    def text_hash(self, x: str) -> str:
        return f"CAST('0x' || SUBSTR(MD5({x}), 1, 7) AS BIGINT)"

    def cast(self, x: str, type_name: str) -> str:
        # A text of many digits may not fit a HUGEINT, and a timestamp in seconds may lie beyond all dates.
        return f"{'TRY_CAST' if type_name in (self.wide, 'DATE') else 'CAST'}({x} AS {type_name})"

    def matches(self, x: str, pattern: str) -> str:
        return f"REGEXP_FULL_MATCH({x}, {self.string(pattern)})"

    def octets(self, x: str) -> str:
        return f"STRLEN({x})"

    def sound_decimal(self, x: str, type_name: str) -> str:
        # Parquet and Arrow may hold a number of more digits; casting the least to text would end the whole instance.
        width, scale = map(int, type_name.removeprefix("DECIMAL(").removesuffix(")").split(","))
        most = f"{'9' * (width - scale)}.{'9' * scale}"
        return f"CASE WHEN {x} BETWEEN CAST('-{most}' AS {type_name}) AND CAST('{most}' AS {type_name}) THEN {x} END"

    def whole_decimal(self, x: str) -> str:
        return f"{x} = TRUNC({x})"  # a floor may lie below the least of the type

    def floor(self, x: str) -> str:
        return f"CAST(FLOOR({x}) AS BIGINT)"

    def text_to_double(self, x: str) -> str:
        return f"TRY_CAST({x} AS DOUBLE)"

    def days(self, x: str) -> str:
        return f"CASE WHEN {x} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN {x} - DATE '1970-01-01' END"

    def text_to_days(self, x: str) -> str:
        return self.days(f"TRY_CAST({x} AS DATE)")


class ParquetDialect(DuckDBDialect):
    """DuckDB's spelling for Parquet files, where bytes that are not UTF-8 are read as question marks.

    >>> print(PARQUET.text_identity("id"))
    CASE WHEN NOT CONTAINS(id, '?') THEN id END
    """

    def text_identity(self, x: str) -> str:
        # Two ids of different bytes could have become one text, and their rows would count as one unit's.
        return f"CASE WHEN NOT CONTAINS({x}, '?') THEN {x} END"


class CsvDialect(DuckDBDialect):
    """DuckDB's spelling for CSV files whose numbers, dates or truth values are written in another way.

    >>> CsvDialect(CsvFormat(decimal=",", thousands=".")).text_to_double("x")
    "TRY_CAST(REPLACE(x, ',', '.') AS DOUBLE)"
    """

    def __init__(self, written: CsvFormat) -> None:
        self.decimal, self.thousands, self.dates = written.mark, written.thousands or "", written.dates
        self.truths = written.true_texts, written.false_texts

    def text_to_double(self, x: str) -> str:
        return super().text_to_double(x if self.decimal == "." else f"REPLACE({x}, ',', '.')")

    def iso_text(self, x: str) -> str:
        if self.dates == ISO_DATES:
            return x
        order = re.findall("yyyy|mm|dd", self.dates)
        few = "2" if self.dates.isalpha() else "1,2"
        date = re.escape(self.dates).replace("yyyy", "([0-9]{4})")
        date = re.sub("mm|dd", f"([0-9]{{{few}}})", date)
        pattern = self.string(f"^{date}(?:[ T]([0-9]{{1,2}})(:[^ ]{{1,30}}))?$")
        # In a text that the pattern does not match every part is empty, and no date has an empty year.
        parts = {name: i for i, name in enumerate([*order, "hour", "rest"], 1)}
        found = {name: f"REGEXP_EXTRACT({x}, {pattern}, {i})" for name, i in parts.items()}
        month, day, hour = (f"LPAD({found[name]}, 2, '0')" for name in ("mm", "dd", "hour"))
        clock = f"CASE WHEN {found['rest']} <> '' THEN ' ' || {hour} || {found['rest']} ELSE '' END"
        iso = f"{found['yyyy']} || '-' || {month} || '-' || {day} || {clock}"
        return f"CASE WHEN {self.octets(x)} <= {LONGEST_DATE} THEN {iso} END"


DUCKDB, PARQUET = DuckDBDialect(), ParquetDialect()
