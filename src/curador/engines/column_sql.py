"""SQL that reads a stored column as its declared type.

Guarantee: reading cannot fail.  A value that does not fit becomes NULL, and bounds clip.  In a column declared never
NULL, a stored or new NULL becomes the substitute that its declaration implies.  So every value has its declared type.
Bounds rest on nothing else (docs/proofs/plans.md, section 0).  Engines do not define the order in which AND is
evaluated, so every cast stands behind a CASE that checks its argument.  An expression that is needed several times is
evaluated once, in a subquery below.  Reals become doubles first.  Exact numbers and texts are rounded to the nearest
double, so that floor(x * 2**bits) is the same on every engine.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction

from curador.engines.dialect import Dialect, Stored
from curador.errors import InvalidParameter
from curador.query.sql_plan.exact import Read, ReadAs, Scan
from curador.query.tables.columns import DAY, WIDEST, Kind

INTEGER_TEXT = " *[+-]?[0-9]{1,38}([%s]0{0,100})? *"
REAL_TEXT = " *[+-]?([0-9]{1,100}([%s][0-9]{0,100})?|[%s][0-9]{1,100})([eE][+-]?[0-9]{1,3})? *"
DATE_TEXT = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
CLOCK_TEXT = "[ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9})?)?Z?"
"""Patterns of the texts that are read as a number, a date or a time."""

LONGEST_NUMBER = 400
"""The most bytes of a text that is read as a number, a date or a truth value: patterns of longer ones may fail."""

LARGEST = sys.float_info.max
ALL_WHOLE = float(1 << 53)
"""From here on every double is a whole number."""

Conversion = Callable[[Dialect, str], tuple[str, bool]]
"""From a stored column to its text in a plan, and whether that text is cheap to repeat."""


def read_columns(scan: Scan, dialect: Dialect, source: str, types: Mapping[str, str]) -> str:
    """Write the text for a scan of ``source``, whose columns have these types in the engine.

    >>> from curador.engines.duckdb.dialects import DUCKDB
    >>> from curador.query.language.types import Type
    >>> read_columns(Scan("s0", "t", (Read("c0", "sex", Type(Kind.TEXT)),)), DUCKDB, '"t"', {"sex": "VARCHAR"})
    '(SELECT "sex" AS "c0" FROM "t")'
    """
    if not scan.reads:
        return source
    fence = f" {dialect.fence}" if dialect.fence else ""
    names = [dialect.quoted(r.name) for r in scan.reads]
    found = [_convert(r, dialect, types) for r in scan.reads]
    texts = [text for text, _ in found]
    if not all(cheap for _, cheap in found):
        below = ", ".join(f"{text} AS {name}" for text, name in zip(texts, names, strict=True))
        source, texts = f"(SELECT {below} FROM {source}{fence}) AS {dialect.quoted('a')}", names
    shown = [_fill(r, dialect, _clip(r, dialect, types, text)) for r, text in zip(scan.reads, texts, strict=True)]
    return f"(SELECT {', '.join(f'{x} AS {name}' for x, name in zip(shown, names, strict=True))} FROM {source}{fence})"


def between_ids(scan: Scan, dialect: Dialect, source: str, types: Mapping[str, str], ends: tuple[int, int]) -> str:
    """Write the rows of ``source`` with units between two ids, or all of a table that is read without ids.

    >>> from curador.engines.duckdb.dialects import DUCKDB
    >>> from curador.query.language.types import Type
    >>> scan = Scan("s0", "t", (Read("u", "id", Type(Kind.INTEGER), ReadAs.ID),))
    >>> between_ids(scan, DUCKDB, '"t"', {"id": "INTEGER"}, (3, 5))
    '(SELECT * FROM "t" WHERE CAST("id" AS BIGINT) BETWEEN 3 AND 5)'
    """
    own = next((r for r in scan.reads if r.way is ReadAs.ID), None)
    if own is None:
        return source
    x = _clip(own, dialect, types, _convert(own, dialect, types)[0])
    return f"(SELECT * FROM {source} WHERE {x} BETWEEN {ends[0]} AND {ends[1]})"


def named_columns(scan: Scan, dialect: Dialect, source: str) -> str:
    """Write the columns without conversions, for people who may not see the stored types.

    >>> from curador.engines.duckdb.dialects import DUCKDB
    >>> from curador.query.language.types import Type
    >>> named_columns(Scan("s0", "t", (Read("c0", "sex", Type(Kind.TEXT)),)), DUCKDB, '"t"')
    '(SELECT "sex" AS "c0" FROM "t")'
    """
    if not scan.reads:
        return source
    columns = ", ".join(f"{dialect.quoted(r.column)} AS {dialect.quoted(r.name)}" for r in scan.reads)
    return f"(SELECT {columns} FROM {source})"


def check_column(
    column: str, kind: Kind, dialect: Dialect, types: Mapping[str, str], way: ReadAs = ReadAs.DECLARED
) -> Stored:
    """Find the class of the column's stored type; refuse a missing column, or one unreadable as ``kind``."""
    if column not in types:
        raise InvalidParameter(
            f"The source has no column {column!r}.",
            fix="Fix its name, or remove it.",
            code="no-column-in-source",
            facts={"column": column},
        )
    stored = dialect.stored(types[column])
    if stored is None or (kind, stored) not in _CONVERSIONS:
        raise InvalidParameter(
            f"Column {column!r} is stored as {types[column]}, which cannot be read as {kind}.",
            fix="Declare another type for it, or change how it is stored.",
            code="stored-otherwise",
            facts={"column": column, "type": str(kind)},
        )
    if way is ReadAs.ID and dialect.loose(types[column]):
        raise InvalidParameter(
            f"The id {column!r} is stored as {types[column]}, where different texts are one value to the database.",
            fix="Take another id, or store this one in one spelling, as text that is compared exactly.",
            code="id-spellings",
            facts={"column": column},
        )
    return stored


def _convert(r: Read, d: Dialect, types: Mapping[str, str]) -> tuple[str, bool]:
    """Convert the column to an integer of any width, a double, a truth value or a text.

    The flag marks a conversion that is cheap to repeat.
    """
    column = d.quoted(r.column)
    if r.way is ReadAs.STORED:
        return column, True
    stored = check_column(r.column, r.type.kind, d, types, r.way)
    if stored is Stored.DECIMAL:
        column = d.sound_decimal(column, types[r.column])
    text, cheap = _recast(_CONVERSIONS[r.type.kind, stored], d, column, types[r.column])
    return (d.text_identity(text), False) if r.way is ReadAs.ID and r.type.kind is Kind.TEXT else (text, cheap)


def _recast(convert: Conversion, d: Dialect, column: str, type_name: str) -> tuple[str, bool]:
    """Convert without a cast to the type that the column already has."""
    text, cheap = convert(d, column)
    return (column if text == d.cast(column, type_name) else text), cheap


def _clip(r: Read, d: Dialect, types: Mapping[str, str], x: str) -> str:
    if r.way is ReadAs.STORED or not r.type.kind.counted:
        return x
    stored = check_column(r.column, r.type.kind, d, types)
    if r.type.kind is Kind.REAL:
        return _on_grid(r, d, x)
    if r.way is ReadAs.ID and stored is Stored.INTEGER:
        return x
    ends = None if r.way is ReadAs.ID else r.type.grid_bounds
    low, high = ends or ((-(2**63), 2**63 - 1) if r.way is ReadAs.ID else (-WIDEST, WIDEST))
    least, most = str(low), str(high)
    if stored is Stored.FLOAT:  # compared with doubles: values between the same whole numbers
        least, most = d.double(at_least(low)), d.double(at_most(high))
    inside = x if stored is Stored.INTEGER else d.cast(x, d.integer)
    if r.way is ReadAs.ID:
        return d.identity(x, least, most)
    if ends is None:
        return x if types[r.column] in d.narrow else f"CASE WHEN {x} BETWEEN {least} AND {most} THEN {inside} END"
    below, above = d.constant(str(low)), d.constant(str(high))
    return f"CASE WHEN {x} < {least} THEN {below} WHEN {x} > {most} THEN {above} ELSE {inside} END"


def _fill(r: Read, d: Dialect, x: str) -> str:
    """Fill NULL with the declared substitute; an id stays NULL, and its row is dropped."""
    if r.way is not ReadAs.DECLARED or r.type.nullable:
        return x
    other = r.type.substitute
    if isinstance(other, bool):
        return f"COALESCE({x}, {'TRUE' if other else 'FALSE'})"
    return f"COALESCE({x}, {d.string(other) if isinstance(other, str) else d.constant(str(other))})"


def _on_grid(r: Read, d: Dialect, x: str) -> str:
    """Compute floor(x * 2**bits) of a double, clipped by bounds; NULL for NaN and infinities.

    NaN sorts above all numbers.
    """
    scale, ends = 1 << r.type.bits, r.type.grid_bounds
    floor = d.floor(f"{x} * {d.double(float(scale))}")
    if ends is None:
        reach = d.double(float(Fraction(WIDEST, scale)))
        return f"CASE WHEN {x} BETWEEN -{reach} AND {reach} THEN {floor} END"
    low, high = (d.double(at_least(Fraction(end, scale))) for end in ends)
    below, above = (d.constant(str(end)) for end in ends)
    most = d.double(LARGEST)
    return (
        f"CASE WHEN {x} >= {low} AND {x} < {high} THEN {floor} "
        f"WHEN {x} < {low} AND {x} >= -{most} THEN {below} WHEN {x} >= {high} AND {x} <= {most} THEN {above} END"
    )


def at_least(x: Fraction | int) -> float:
    """The smallest double that is at least x, as numbers: a double d >= x if and only if d >= at_least(x).

    >>> at_least(2**53 + 1) == 2**53 + 2, at_least(Fraction(1, 2))
    (True, 0.5)
    """
    near = float(Fraction(x))
    return near if near >= x else math.nextafter(near, math.inf)


def at_most(x: Fraction | int) -> float:
    """The largest double that is at most x."""
    return -at_least(-x)


# ---- from the stored type -------------------------------------------------------------------------------------


def _bare(d: Dialect, c: str) -> tuple[str, bool]:
    return c, True


def _integer(d: Dialect, c: str) -> tuple[str, bool]:
    return d.cast(c, d.integer), True


def _wide(d: Dialect, c: str) -> tuple[str, bool]:
    return d.cast(c, d.wide), True


def _double(d: Dialect, c: str) -> tuple[str, bool]:
    return d.cast(c, d.real), True


def _match(d: Dialect, x: str, pattern: str) -> str:
    return f"CASE WHEN {d.octets(x)} <= {LONGEST_NUMBER} THEN {d.matches(x, pattern)} END"


def _whole_decimal(d: Dialect, c: str) -> tuple[str, bool]:
    return f"CASE WHEN {d.whole_decimal(c)} THEN {d.cast(c, d.wide)} END", False


def _whole_double(d: Dialect, c: str) -> tuple[str, bool]:
    x, most, whole = d.cast(c, d.real), d.double(LARGEST), d.double(ALL_WHOLE)
    inside = f"CASE WHEN ABS({x}) >= {whole} THEN {x} WHEN {x} = FLOOR({x}) THEN {x} END"
    return f"CASE WHEN {x} BETWEEN -{most} AND {most} THEN {inside} END", False


def _number_text(d: Dialect, c: str) -> str:
    """The text of a number without separators between its thousands; NULL where one stands elsewhere."""
    x = d.text(c)
    if not d.thousands:
        return x
    mark, plain = f"[{d.thousands}]", f"REPLACE(TRIM({x}), {d.string(d.thousands)}, '')"
    grouped = f"[+-]?[0-9]{{1,3}}({mark}[0-9]{{3}}){{1,12}}([{d.decimal}][0-9]{{0,100}})?"
    one = f"CASE WHEN {plain} = TRIM({x}) OR {d.matches(f'TRIM({x})', grouped)} THEN {plain} END"
    return f"CASE WHEN {d.octets(x)} <= {LONGEST_NUMBER} THEN {one} END"


def _text_integer(d: Dialect, c: str) -> tuple[str, bool]:
    """Read a whole number, also with a zero fraction: pandas writes integers so if one is missing."""
    x = _number_text(d, c)
    whole = f"TRIM({x})" if d.decimal == "." else f"REPLACE(TRIM({x}), {d.string(d.decimal)}, '.')"
    return f"CASE WHEN {_match(d, x, INTEGER_TEXT % d.decimal)} THEN {d.cast(whole, d.wide)} END", False


def _exact_double(d: Dialect, c: str) -> tuple[str, bool]:
    return d.decimal_to_double(c), False


def _text_double(d: Dialect, c: str) -> tuple[str, bool]:
    x = _number_text(d, c)
    pattern = REAL_TEXT % (d.decimal, d.decimal)
    return f"CASE WHEN {_match(d, x, pattern)} THEN {d.text_to_double(f'TRIM({x})')} END", False


def _days(d: Dialect, c: str) -> tuple[str, bool]:
    return d.days(c), False


def _timestamp_days(d: Dialect, c: str) -> tuple[str, bool]:
    return d.days(d.cast(c, "DATE")), False


def _text_days(d: Dialect, c: str) -> tuple[str, bool]:
    x = d.iso_text(d.text(c))
    return f"CASE WHEN {_match(d, x, DATE_TEXT)} THEN {d.text_to_days(x)} END", False


def _seconds(d: Dialect, c: str) -> tuple[str, bool]:
    return d.seconds(c), False


def _midnight(d: Dialect, c: str) -> tuple[str, bool]:
    return f"({d.days(c)}) * {DAY}", False


def _text_seconds(d: Dialect, c: str) -> tuple[str, bool]:
    """Read a date, or a date and a time in UTC to the minute, the second or less."""
    x = d.iso_text(d.text(c))
    days = f"({d.text_to_days(f'SUBSTR({x}, 1, 10)')}) * {DAY}"
    hour, minute, second = (d.cast(f"SUBSTR({x}, {at}, 2)", d.integer) for at in (12, 15, 18))
    clock = f"{hour} * 3600 + {minute} * 60 + CASE WHEN {d.octets(x)} >= 19 THEN {second} ELSE 0 END"
    whole = f"CASE WHEN {d.octets(x)} > 10 THEN {days} + {clock} ELSE {days} END"
    return f"CASE WHEN {_match(d, x, f'{DATE_TEXT}({CLOCK_TEXT})?')} THEN {whole} END", False


def _number_truth(d: Dialect, c: str) -> tuple[str, bool]:
    return f"CASE WHEN {c} = 1 THEN TRUE WHEN {c} = 0 THEN FALSE END", True


def _decimal_truth(d: Dialect, c: str) -> tuple[str, bool]:
    return _number_truth(d, _whole_decimal(d, c)[0])[0], False  # 1 may not fit the type itself


def _text_truth(d: Dialect, c: str) -> tuple[str, bool]:
    x = d.text(c)
    true, false = (", ".join(map(d.string, texts)) for texts in d.truths)
    either = f"CASE WHEN {x} IN ({true}) THEN TRUE WHEN {x} IN ({false}) THEN FALSE END"
    return f"CASE WHEN {d.octets(x)} <= {LONGEST_NUMBER} THEN {either} END", True


def _whole_text(d: Dialect, c: str) -> tuple[str, bool]:
    # Frames hold integers as floats if one is missing; read alike, a missing integer changes nothing else.
    x, most = d.cast(c, d.real), d.double(ALL_WHOLE)
    inside = f"CASE WHEN {x} = FLOOR({x}) THEN {d.text(d.cast(x, d.integer))} END"
    return f"CASE WHEN {x} BETWEEN -{most} AND {most} THEN {inside} END", False


def _text(d: Dialect, c: str) -> tuple[str, bool]:
    return d.text(c), True


_CONVERSIONS: dict[tuple[Kind, Stored], Conversion] = {
    (Kind.INTEGER, Stored.INTEGER): _integer,
    (Kind.INTEGER, Stored.WIDE): _wide,
    (Kind.INTEGER, Stored.DECIMAL): _whole_decimal,
    (Kind.INTEGER, Stored.FLOAT): _whole_double,
    (Kind.INTEGER, Stored.TEXT): _text_integer,
    (Kind.REAL, Stored.INTEGER): _double,
    (Kind.REAL, Stored.FLOAT): _double,
    (Kind.REAL, Stored.WIDE): _exact_double,
    (Kind.REAL, Stored.DECIMAL): _exact_double,
    (Kind.REAL, Stored.TEXT): _text_double,
    (Kind.DATE, Stored.DATE): _days,
    (Kind.DATE, Stored.TIMESTAMP): _timestamp_days,
    (Kind.DATE, Stored.TEXT): _text_days,
    (Kind.TIMESTAMP, Stored.TIMESTAMP): _seconds,
    (Kind.TIMESTAMP, Stored.DATE): _midnight,
    (Kind.TIMESTAMP, Stored.TEXT): _text_seconds,
    (Kind.BOOLEAN, Stored.BOOLEAN): _bare,
    (Kind.BOOLEAN, Stored.INTEGER): _number_truth,
    (Kind.BOOLEAN, Stored.WIDE): _number_truth,
    (Kind.BOOLEAN, Stored.DECIMAL): _decimal_truth,
    (Kind.BOOLEAN, Stored.FLOAT): _number_truth,
    (Kind.BOOLEAN, Stored.TEXT): _text_truth,
    (Kind.TEXT, Stored.TEXT): _text,
    (Kind.TEXT, Stored.INTEGER): _text,
    (Kind.TEXT, Stored.WIDE): _text,
    (Kind.TEXT, Stored.FLOAT): _whole_text,
}
"""The conversion for every declared type that can be read from a stored one."""
