"""Data frames as Arrow tables that DuckDB can read without failing: invalid values become NULL.

DuckDB trusts Arrow that texts are UTF-8 and that timestamps fit its own range.  Where that is false, it fails in the
middle of a plan.  A frame is in memory, so its values are checked once, when it is opened.  Columns are decoded first,
since the rules of a type do not hold for its encodings.  Unsupported types reach DuckDB without values.
"""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np

from curador.errors import InvalidParameter

PER_MICROSECOND = {"s": 1_000_000, "ms": 1_000}
"""Microseconds, DuckDB's unit, in one unit of the Arrow timestamps whose range is wider than DuckDB's."""


def arrow(data: object) -> Any:
    """Convert a frame to an Arrow table, which is immutable.

    Guarantee: whether a value becomes NULL depends on that value alone.

    >>> import pyarrow as pa
    >>> far = pa.array([0, 2**60], pa.int64()).cast(pa.timestamp("s"))
    >>> arrow(pa.table({"t": far}))["t"].null_count
    1
    """
    try:
        import narwhals
        import pyarrow  # noqa: F401  narwhals needs it
    except ImportError:
        raise InvalidParameter(
            "Frames are read through Arrow.", fix="Install pyarrow.", code="driver-missing"
        ) from None
    given: Any = data
    with suppress(Exception):  # any error may quote a value
        table = narwhals.from_native(given, eager_only=True).to_arrow()
        for i, field in enumerate(table.schema):
            table = table.set_column(i, field.name, _readable(table.column(i)))
        return table
    raise InvalidParameter(
        f"{type(data).__qualname__} is not a frame that DuckDB can read.",
        fix="Pass a pandas, Polars or Arrow frame, or open it with its own engine.",
    )


def _readable(column: Any) -> Any:
    """Replace invalid values by NULL; return the column itself where all are valid."""
    import pyarrow as pa

    column = _plain_column(column)
    kind = column.type
    if not _is_read(kind):  # the type without values: a table that declares the column is refused
        return pa.chunked_array([pa.nulls(len(column), kind)])
    if pa.types.is_null(kind) or _is_empty(column):  # nothing but NULL: a type that a single value would change
        return pa.chunked_array([pa.nulls(len(column), pa.large_string())])
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if pa.types.is_decimal256(kind):  # more digits than DuckDB has: read as their text
        return pa.chunked_array([pa.array([_digits(x.as_py()) for x in column], pa.large_string())])
    if pa.types.is_timestamp(kind) and kind.unit in PER_MICROSECOND:
        return _in_microseconds(column, PER_MICROSECOND[kind.unit])
    if not _is_text(kind) or _is_valid(column):
        return column
    raw = {pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}.get(kind, pa.binary())
    return pa.chunked_array([pa.array([_decode(x.as_py()) for x in column.cast(raw)], pa.large_string())])


def _plain_column(column: Any) -> Any:
    """Remove encodings and extensions; dictionaries of valid texts stay, and so do UUIDs."""
    import pyarrow as pa

    while isinstance(column.type, pa.BaseExtensionType) and not _is_uuid(column.type):
        parts = [part.storage for part in column.chunks]
        column = pa.chunked_array(parts, column.type.storage_type)
    kind = column.type
    if pa.types.is_dictionary(kind) and _is_text(kind.value_type) and _is_valid(column):
        return column
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return pa.chunked_array([_plain(part) for part in column.chunks or [pa.nulls(0, kind)]])
    return column


def _plain(values: Any) -> Any:
    """Remove encodings and extensions, the innermost first; unsupported arrays fail by their type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if isinstance(kind, pa.BaseExtensionType) and not _is_uuid(kind):
        return _plain(values.storage)
    if pa.types.is_dictionary(kind):
        return pc.take(_plain(values.dictionary), values.indices)
    if pa.types.is_run_end_encoded(kind):
        places = np.arange(values.offset, values.offset + len(values))
        runs = np.searchsorted(values.run_ends.to_numpy(), places, side="right")
        return pc.take(_plain(values.values), pa.array(runs, pa.int64()))
    if kind == pa.string_view():  # Arrow cannot take from these; they are not looked into here
        return values.cast(pa.large_binary()).view(pa.large_string())
    return values


def _is_uuid(kind: Any) -> bool:
    """Whether this is a type of which every value is valid, although it is an extension."""
    import pyarrow as pa

    return getattr(kind, "extension_name", None) == "arrow.uuid" and kind.storage_type == pa.binary(16)


def _is_read(kind: Any) -> bool:
    """Whether DuckDB may see the values of a type: it refuses all others."""
    import pyarrow as pa

    known = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_date)
    text = _is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)
    plain = pa.types.is_null(kind) or pa.types.is_timestamp(kind) or any(is_of(kind) for is_of in known)
    return text or plain or _is_uuid(kind)


def _is_empty(column: Any) -> bool:
    """Whether a column of floats holds only NULL or NaN.

    Pandas makes such a column of any whose values are all missing.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type) or pa.types.is_float16(column.type):
        return False
    return not pc.any(pc.invert(pc.is_null(column, nan_is_null=True)), min_count=0).as_py()


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return kind in (pa.string(), pa.large_string(), pa.string_view())


def _is_valid(column: Any) -> bool:
    import pyarrow as pa

    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _decode(x: bytes | None) -> str | None:
    try:
        return None if x is None else x.decode()
    except UnicodeDecodeError:
        return None


def _digits(x: Decimal | None) -> str | None:
    """The shortest text without an exponent: the column's digits depend on other rows, and must not show."""
    text = None if x is None else f"{x:f}"
    return text if text is None or "." not in text else text.rstrip("0").rstrip(".")


def _in_microseconds(column: Any, factor: int) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = column.cast(pa.int64())
    most = (2**63 - 1) // factor
    fits = pc.and_(pc.greater_equal(whole, -most), pc.less_equal(whole, most))
    times = pc.multiply(pc.if_else(fits, whole, pa.scalar(None, pa.int64())), factor)
    return times.cast(pa.timestamp("us", column.type.tz))
