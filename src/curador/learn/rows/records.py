"""Where the rows of a model come from: records of a curator's table, or arrays; encoded alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.curator.purchases.training import ReadRows, RecordColumn, Records
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import Encoding, Feature, Floats, Ints, KeyFeature, NumberFeature


def feature_of(column: RecordColumn) -> Feature:
    """The feature that a column of records is."""
    if column.keys is not None:
        return KeyFeature(column.name, column.keys)
    low, high = column.bounds
    return NumberFeature(column.name, float(low), float(high))


def encoding_of(records: Records, label: str | None) -> Encoding:
    """The features of records, all columns but the label."""
    return Encoding(tuple(feature_of(c) for c in records.columns if c.name != label))


@dataclass(frozen=True)
class RecordReader:
    """Turns records into encoded rows and labels.

    A row whose label is none of the classes, or is missing, is left out: by itself, whatever the others are.
    """

    columns: tuple[RecordColumn, ...]
    label: str | None

    def read(self, read: ReadRows) -> tuple[Design, NDArray[np.int32], Floats]:
        """All rows: encoded, the class of each, and its number where the label is one (else none)."""
        encoding = Encoding(tuple(feature_of(c) for c in self.columns if c.name != self.label))
        found = _Collected(len(encoding.numbers), len(encoding.keyed))
        read(lambda rows: self._take(rows, found))
        numbers, codes, classes, values = found.arrays()
        return Design(encoding, numbers, codes), classes, values

    def each(self, read: ReadRows, use: Callable[[Design, NDArray[np.int32], Floats], None]) -> None:
        """Give all rows to ``use``, some at a time, so that they are never held together; else as :meth:`read`."""
        encoding = Encoding(tuple(feature_of(c) for c in self.columns if c.name != self.label))

        def take(rows: Ints) -> None:
            found = _Collected(len(encoding.numbers), len(encoding.keyed))
            self._take(rows, found)
            numbers, codes, classes, values = found.arrays()
            use(Design(encoding, numbers, codes), classes, values)

        read(take)

    def _take(self, rows: Ints, found: _Collected) -> None:
        kept = np.ones(len(rows), bool)
        classes, values = np.zeros(len(rows), np.int32), np.zeros(0)
        numbers: list[NDArray[np.int16]] = []
        codes: list[NDArray[np.int16]] = []
        for i, column in enumerate(self.columns):
            x = rows[:, i]
            if column.name == self.label:
                kept = x >= 0
                classes = x.astype(np.int32)
                values = np.zeros(0) if column.keys is not None else _real(x, column)
            elif column.keys is None:
                feature = feature_of(column)
                assert isinstance(feature, NumberFeature)
                numbers.append(feature.encoded(_real(x, column)))
            else:
                codes.append(x.astype(np.int16))
        found.add(kept, numbers, codes, classes, values)


def _real(x: Ints, column: RecordColumn) -> Floats:
    """Numbers in their own unit; NaN for those that are missing."""
    low, _ = column.type.grid_bounds or (0, 0)
    with np.errstate(all="ignore"):
        return np.where(x < 0, np.nan, (x + low) * 2.0**-column.type.bits)


@dataclass
class _Collected:
    """Encoded rows as they come."""

    of_numbers: int
    of_keys: int
    parts: list[tuple[Any, ...]] = field(default_factory=list)

    def add(
        self,
        kept: NDArray[np.bool_],
        numbers: Sequence[NDArray[np.int16]],
        codes: Sequence[NDArray[np.int16]],
        classes: NDArray[np.int32],
        values: Floats,
    ) -> None:
        some = (
            np.stack(numbers, axis=1) if numbers else np.zeros((len(kept), 0), np.int16),
            np.stack(codes, axis=1) if codes else np.zeros((len(kept), 0), np.int16),
            classes,
            values,
        )
        self.parts.append(tuple(part[kept] if len(part) else part for part in some))

    def arrays(self) -> tuple[NDArray[np.int16], NDArray[np.int16], NDArray[np.int32], Floats]:
        if not self.parts:
            empty = np.zeros((0, self.of_numbers), np.int16), np.zeros((0, self.of_keys), np.int16)
            return *empty, np.zeros(0, np.int32), np.zeros(0)
        columns = [list(column) for column in zip(*self.parts, strict=True)]
        self.parts.clear()
        found = []
        for column in columns:  # each as soon as it is whole, so that no more than one is there twice
            found.append(np.concatenate(column))
            column.clear()
        numbers, codes, classes, values = found
        return numbers, codes, classes, values


def array_design(values: Floats, encoding: Encoding) -> Design:
    """The rows of an array whose columns are the numbers of an encoding."""
    columns = [feature.encoded(values[:, i]) for i, feature in enumerate(encoding.numbers)]
    return Design(encoding, np.stack(columns, axis=1), np.zeros((len(values), 0), np.int16))
