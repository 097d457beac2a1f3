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
from curador.query.sql_plan.ir import Select
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
class Exact:
    """Everything an engine runs for one plan, on one snapshot.

    ``keys`` are the public keys in the order of the answer, or None where groups are selected privately; ``kinds`` are
    the types of the groups.  ``contribution`` is the limit to which the statements cut every unit: the
    number of the answer's groups, and of rows in each.

    >>> Exact((), (), ((),), (), Contribution()).keys
    ((),)
    """

    scans: tuple[Scan, ...]
    statements: tuple[Statement, ...]
    keys: tuple[tuple[Key, ...], ...] | None
    kinds: tuple[Kind, ...]
    contribution: Contribution
