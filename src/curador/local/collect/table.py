"""Columns of a CSV or Parquet file, for simulations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from curador.errors import InvalidParameter


def read_columns(file: str | Path, names: Sequence[str]) -> dict[str, list[Any]]:
    """Read columns of a file by name; a CSV file declares no types, so its columns are text.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("age,drink\\n30,tea\\n40,coffee\\n")
    ...     read_columns(path, ["drink"])
    {'drink': ['tea', 'coffee']}
    """
    path, wanted = Path(file), ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    reader = (
        "read_parquet(?)" if path.suffix.lower() == ".parquet" else "read_csv(?, all_varchar = true, header = true)"
    )
    try:
        with duckdb.connect(":memory:") as connection:
            rows = connection.execute(f"SELECT {wanted} FROM {reader}", [str(path)]).fetchall()
    except duckdb.Error as error:
        said = str(error).splitlines()[0].replace(f"{path.parent}{os.sep}", "")
        raise InvalidParameter(
            f"{path.name} cannot be read: {said}",
            fix=f"Give a CSV or Parquet file with the columns {', '.join(names)}.",
        ) from None
    if any(value is None for row in rows for value in row):
        raise InvalidParameter(
            f"{path.name} has rows without a value.", fix="Leave them out, or give them a key of their own."
        )
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}
