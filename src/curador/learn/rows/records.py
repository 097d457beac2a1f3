"""Where the rows of a model come from: records of a curator's table, or arrays; encoded alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curador.curator.purchases.training import ReadRows, RecordColumn, Records
from curador.learn.rows.design import Design
from curador.learn.rows.encoding import Encoding, Feature, Ints, KeyFeature, NumberFeature, placed


def feature_of(column: RecordColumn) -> Feature:
    """The feature that a column of records is; a number has the bounds of its grid, where it is read."""
    if column.keys is not None:
        return KeyFeature(column.name, column.keys)
    low, high = (float(Fraction(end, 2**column.type.bits)) for end in column.type.grid_bounds or (0, 0))
    return NumberFeature(column.name, low, high)


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

    @property
    def encoding(self) -> Encoding:
        """The features: all columns but the label."""
        return Encoding(tuple(feature_of(c) for c in self.columns if c.name != self.label))

    def read(self, read: ReadRows) -> tuple[Design, NDArray[np.int32], Ints]:
        """All rows: encoded; the class of each, or its number on the grid, whichever the label has (else none)."""
        encoding = self.encoding
        found = _Collected(len(encoding.numbers), len(encoding.keyed))
        read(lambda rows: self._take(rows, found))
        numbers, codes, classes, values = found.arrays()
        return Design(encoding, numbers, codes), classes, values

    def each(self, read: ReadRows, use: Callable[[Design, NDArray[np.int32], Ints], None]) -> None:
        """Give all rows to ``use``, some at a time, so that they are never held together; else as :meth:`read`."""
        encoding = self.encoding

        def take(rows: Ints) -> None:
            found = _Collected(len(encoding.numbers), len(encoding.keyed))
            self._take(rows, found)
            numbers, codes, classes, values = found.arrays()
            use(Design(encoding, numbers, codes), classes, values)

        read(take)

    def _take(self, rows: Ints, found: _Collected) -> None:
        kept = np.ones(len(rows), bool)
        classes, values = np.zeros(0, np.int16), np.zeros(0, np.int16)
        numbers: list[NDArray[np.int16]] = []
        codes: list[NDArray[np.int16]] = []
        for i, column in enumerate(self.columns):
            x = rows[:, i]
            if column.name == self.label:
                kept = x >= 0
                if column.keys is None:
                    values = placed(x, column.steps)
                else:
                    classes = x.astype(np.int16)
            elif column.keys is None:
                numbers.append(placed(x, column.steps))
            else:
                codes.append(x.astype(np.int16))
        found.add(kept, numbers, codes, classes, values)


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
        classes: NDArray[np.int16],
        values: NDArray[np.int16],
    ) -> None:
        some = (
            np.stack(numbers, axis=1) if numbers else np.zeros((len(kept), 0), np.int16),
            np.stack(codes, axis=1) if codes else np.zeros((len(kept), 0), np.int16),
            classes,
            values,
        )
        self.parts.append(tuple(part[kept] if len(part) else part for part in some))

    def arrays(self) -> tuple[NDArray[np.int16], NDArray[np.int16], NDArray[np.int32], Ints]:
        if not self.parts:
            empty = np.zeros((0, self.of_numbers), np.int16), np.zeros((0, self.of_keys), np.int16)
            return *empty, np.zeros(0, np.int32), np.zeros(0, np.int64)
        columns = [list(column) for column in zip(*self.parts, strict=True)]
        self.parts.clear()
        numbers, codes, classes, values = map(_joined, columns)
        return numbers, codes, classes.astype(np.int32), values.astype(np.int64)


def _joined(parts: list[Any]) -> Any:
    """The parts one after the other; each is given up as it is copied, so that hardly anything is there twice."""
    at = sum(map(len, parts))
    found = np.empty((at, *parts[0].shape[1:]), parts[0].dtype)
    while parts:
        part = parts.pop()
        found[at - len(part) : at] = part
        at -= len(part)
    return found
