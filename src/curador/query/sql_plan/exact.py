"""The exact half of a plan: statements in a neutral language, and what an engine has to read for them.

A statement is a tree of :mod:`curador.query.sql_plan.ir` over typed columns that are already read: numbers are
integers on their grids, dates are days.  How a column is read depends on how the engine stores it, so the columns to
read are listed apart, in a :class:`Scan`, and the engine writes the SQL that reads them.  Nothing here holds data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from curador.mechanisms.sensitivity import Contribution
from curador.query.aggregates.measure import Measure
from curador.query.language.types import Type
from curador.query.sql_plan.ir import FromItem, Select
from curador.query.tables.columns import Key, Kind


class ReadAs(StrEnum):
    """How a column is read: as declared; as an id, exactly and never clipped; or as a plan stored it before."""

    DECLARED = "declared"
    ID = "id"
    STORED = "stored"


@dataclass(frozen=True)
class Read:
    """One column of a table, read as its type under a short name.

    >>> Read("c0", "age", Type(Kind.INTEGER)).way.value
    'declared'
    """

    name: str
    column: str
    type: Type
    way: ReadAs = ReadAs.DECLARED


@dataclass(frozen=True)
class Scan:
    """The columns that statements need of one table; the trees know it by its short name.

    >>> Scan("s0", "adult", (Read("c0", "age", Type(Kind.INTEGER)),)).table
    'adult'
    """

    name: str
    table: str
    reads: tuple[Read, ...]


@dataclass(frozen=True)
class Statement:
    """One query of an exact aggregate.

    With public keys, the first column of its result is the index of a key; otherwise the first columns are the
    values that the groups have.  Then comes one integer for each of ``measures``.  With ``listed`` set there is one
    measure, of values, and a group has several rows of two integers: a value, and how often it occurs.
    """

    tree: Select = field(repr=False)
    measures: tuple[Measure, ...]
    listed: bool = False


@dataclass(frozen=True)
class BoundedValue:
    """A measured column of a layer, an integer from ``low`` to ``high`` or NULL.

    >>> BoundedValue("v0", -1, 5).bits
    3
    """

    name: str
    low: int
    high: int

    @property
    def bits(self) -> int:
        """Its bits as a code: 0 for NULL, 1 for ``low``, and so on."""
        return (self.high - self.low + 1).bit_length()


@dataclass(frozen=True)
class BoundedRows:
    """What the one statement of a plan works out, for an engine that cuts units on arrays instead.

    ``layer`` has the id, an integer and never NULL, the index of one of ``groups`` public keys (none where there is one
    group) and the values.  Each unit is cut to ``limits``; a measure comes with the place of its value.
    """

    layer: FromItem = field(repr=False)
    groups: int
    values: tuple[BoundedValue, ...]
    measures: tuple[tuple[Measure, int | None], ...]
    limits: Contribution

    @property
    def group_bits(self) -> int:
        return (self.groups - 1).bit_length()

    @property
    def value_bits(self) -> int:
        return sum(value.bits for value in self.values)

    @property
    def bits(self) -> int:
        """The bits of a row beside its unit."""
        return self.group_bits + self.value_bits


@dataclass(frozen=True)
class Exact:
    """Everything an engine runs for one plan, on one snapshot.

    ``keys`` are the public keys in the order of the answer, or None where groups are selected privately; ``kinds`` are
    the types of the groups.  ``contribution`` is the limit to which the statements cut every unit: the
    number of the answer's groups, and of rows in each.  ``bounded`` is the same as the statements, for engines that may
    work on arrays; None where no such form is known.

    >>> Exact((), (), ((),), (), Contribution()).keys
    ((),)
    """

    scans: tuple[Scan, ...]
    statements: tuple[Statement, ...]
    keys: tuple[tuple[Key, ...], ...] | None
    kinds: tuple[Kind, ...]
    contribution: Contribution
    bounded: BoundedRows | None = None
