"""A declared table: its columns, its unit, its neighbours, and where its rows are.

Everything here is declared by the curator and may be shown to anyone; no row is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from curador.errors import InvalidParameter
from curador.mechanisms.sensitivity import Contribution, in_all
from curador.numbers import set_fields, whole
from curador.privacy import Neighbors, Unit
from curador.query.tables.columns import Column, Kind, text_value
from curador.query.tables.csv_format import CsvFormat
from curador.query.tables.names import distinct, identifier, refuse_unknown, suggestion
from curador.query.tables.sources import EngineTable, Files, Frame, Source, read_source

__all__ = ["Column", "EngineTable", "Files", "Frame", "Kind", "Source", "Table", "Tree"]

_ROW = Unit.row()


@dataclass(frozen=True)
class Tree:
    """A public hierarchy: ``levels`` are text columns from coarse to fine, ``children`` nests their values.

    ``children`` is one mapping per level, and a list at the finest.

    >>> tree = Tree(("region", "town"), {"Galicia": ["Lugo", "Vigo"], "Murcia": ["Lorca"]})
    >>> list(tree.paths())
    [('Galicia', 'Lugo'), ('Galicia', 'Vigo'), ('Murcia', 'Lorca')]
    >>> list(tree.paths(depth=1))
    [('Galicia',), ('Murcia',)]
    """

    levels: tuple[str, ...]
    children: Mapping[str, object] = field(hash=False)

    def __post_init__(self) -> None:
        levels = tuple(identifier(x, "A level") for x in self.levels)
        if len(levels) < 2:
            raise InvalidParameter("A tree needs at least two levels.", fix="List its columns from coarse to fine.")
        distinct(levels, "levels")
        set_fields(self, levels=levels)
        set_fields(self, children=_branch(self.children, len(levels)))

    def paths(self, depth: int | None = None) -> Iterator[tuple[str, ...]]:
        """Every node of one level as its path from the root, in declared order; the leaves by default."""
        return _paths(self.children, len(self.levels) if depth is None else depth)


def _branch(node: object, depth: int) -> object:
    """A copy that cannot be changed, checked to be exactly ``depth`` levels deep."""
    if depth == 1:
        if not isinstance(node, str | Mapping) and isinstance(node, Iterable):
            leaves = tuple(node)
            if leaves and all(isinstance(x, str) for x in leaves) and len(set(leaves)) == len(leaves):
                return tuple(map(text_value, leaves))
    elif isinstance(node, Mapping) and node:
        return MappingProxyType({text_value(str(name)): _branch(below, depth - 1) for name, below in node.items()})
    raise InvalidParameter(
        "A tree does not reach its finest level on every branch.",
        fix="Nest one table per level, and end with a list of distinct texts.",
    )


def _paths(node: object, depth: int) -> Iterator[tuple[str, ...]]:
    if depth == 0:
        yield ()
    elif isinstance(node, Mapping):
        for name, below in node.items():
            yield from ((name, *rest) for rest in _paths(below, depth - 1))
    elif isinstance(node, tuple):
        yield from ((leaf,) for leaf in node)


@dataclass(frozen=True, init=False, repr=False)
class Table:
    """A declared table.

    * ``source`` is a path or glob, a data frame, or ``engine://…#table``; ``csv`` says how CSV files are written.
    * ``unit`` is what is protected: a row, or all rows of one id; a text names the column of ids.
    * ``columns`` are Columns, names of types, or settings as in a study file.
    * ``neighbors`` says how two databases may differ by one unit.
    * ``size`` is the number of units, where that is public.
    * ``contribution`` is {"groups": …, "rows": …}: in how many groups one unit counts, and with how many rows in each;
      or {"rows": …} alone, in all groups together.  A question may say otherwise.
    * ``public`` tables are read without noise and have no unit.
    * ``trees`` are public hierarchies of text columns: Trees, or {"levels": […], "children": {…}}.

    Assumes: all of it was chosen without looking at the rows.

    >>> adult = Table("adult.parquet", columns={"age": {"type": "integer", "bounds": [17, 90]}, "sex": "text"})
    >>> adult.columns["age"].bounds, adult.unit, adult.source
    ((Fraction(17, 1), Fraction(90, 1)), Unit(id=None), Files(pattern='adult.parquet', format='parquet'))
    >>> adult
    <Table of one row added or removed: age integer, sex text>
    """

    source: Source
    unit: Unit
    columns: Mapping[str, Column] = field(hash=False)
    neighbors: Neighbors
    size: int | None
    contribution: Contribution | None
    name: str | None
    public: bool
    trees: Mapping[str, Tree] = field(hash=False)

    def __init__(
        self,
        source: object,
        unit: Unit | str = _ROW,
        columns: Mapping[str, object] = MappingProxyType({}),
        neighbors: Neighbors | str = Neighbors.ADD_REMOVE,
        size: int | None = None,
        contribution: Contribution | Mapping[str, int] | tuple[int, int] | int | None = None,
        name: str | None = None,
        public: bool = False,
        trees: Mapping[str, Tree | Mapping[str, object]] = MappingProxyType({}),
        csv: CsvFormat | Mapping[str, object] | None = None,
    ) -> None:
        set_fields(self, source=read_source(source, csv))
        set_fields(self, unit=_unit(unit))
        set_fields(self, columns=_columns(columns))
        set_fields(self, neighbors=Neighbors(neighbors))
        set_fields(self, size=None if size is None else whole(size, "size", 1))
        set_fields(self, contribution=_contribution(contribution, self.unit))
        set_fields(self, name=None if name is None else identifier(name, "A table"))
        set_fields(self, public=public)
        set_fields(self, trees=_trees(trees))
        self._check_id()
        self._check_trees()

    def __repr__(self) -> str:
        who = "one row" if self.unit.id is None else f"everything of one {self.unit.id!r}"
        how = "added or removed" if self.neighbors is Neighbors.ADD_REMOVE else "replaced"
        about = "public" if self.public else f"of {who} {how}"
        columns = [f"{name} {column.kind}" for name, column in self.columns.items()]
        more = f" and {len(columns) - 8} more" if len(columns) > 8 else ""
        return f"<Table {about}: {', '.join(columns[:8])}{more}>"

    def _check_id(self) -> None:
        id = self.unit.id
        if id is None:
            return
        if id not in self.columns:
            raise InvalidParameter(
                f"The unit's id {id!r} is not a declared column.",
                fix=f"Declare its type, or fix the name. {suggestion(id, self.columns)}",
                code="unit-undeclared",
                facts={"column": id},
            )
        if self.columns[id].kind not in (Kind.INTEGER, Kind.TEXT):
            raise InvalidParameter(
                f"The id {id!r} is neither a text nor an integer column.",
                fix="Declare it as one of them.",
                code="unit-type",
                facts={"column": id},
            )

    def _check_trees(self) -> None:
        texts = [name for name, column in self.columns.items() if column.kind is Kind.TEXT]
        for name, tree in self.trees.items():
            for level in tree.levels:
                if level not in texts:
                    raise InvalidParameter(
                        f"The tree {name!r} has a level {level!r} that is not a text column.",
                        fix=suggestion(level, texts),
                    )


def _unit(unit: object) -> Unit:
    if isinstance(unit, Unit):
        return unit
    if isinstance(unit, str):
        return Unit.of(identifier(unit, "A unit's id"))
    raise InvalidParameter(
        f"A unit must be a row or an id column, got {unit!r}.", fix="Use Unit.row() or Unit.of(name)."
    )


def _columns(columns: object) -> Mapping[str, Column]:
    if not isinstance(columns, Mapping) or not columns:
        raise InvalidParameter("A table needs its columns declared.", fix="Pass columns={name: type, …}.")
    read = {identifier(name, "A column"): read_column(str(name), what) for name, what in columns.items()}
    distinct(read, "columns")
    return MappingProxyType(read)


SETTINGS = {"type": "kind", "bounds": "bounds", "step": "step", "keys": "keys", "nullable": "nullable"}
"""The settings of a column in a study file, and the field of :class:`Column` that each fills."""


def read_column(name: str, what: object) -> Column:
    """A Column from itself, from the name of its type, or from settings as in a study file.

    >>> read_column("sex", {"type": "text", "keys": ["F", "M"]}).keys
    ('F', 'M')
    """
    if isinstance(what, Column):
        return what
    settings = {"type": what} if isinstance(what, str) else what
    if not isinstance(settings, Mapping):
        raise InvalidParameter(
            f"Column {name!r} is declared as {what!r}.", fix='Write a type such as "integer", or {"type": …, …}.'
        )
    refuse_unknown(settings, SETTINGS, f"Column {name!r}")
    if "type" not in settings:
        kinds = ", ".join(k.value for k in Kind)
        raise InvalidParameter(f"Column {name!r} has no type.", fix=f"Declare it: one of {kinds}.")
    try:
        return Column(**{SETTINGS[setting]: value for setting, value in settings.items()})
    except InvalidParameter as error:
        facts = {"column": name, **error.facts}
        raise InvalidParameter(f"Column {name!r}: {error.what}", fix=error.fix, code=error.code, facts=facts) from None


def _contribution(limit: object, unit: Unit) -> Contribution | None:
    """The limits of one unit: groups, and rows in each; refused where the unit is a row."""
    if limit is None:
        return None
    if unit.id is None:
        raise InvalidParameter(
            "A row is in one group, once, so it has no contribution limits.", fix="Leave contribution out."
        )
    return contribution_of(limit)


def contribution_of(limit: object) -> Contribution:
    """The limits that a pair of (groups, rows per group) states, or a number of rows in all groups together.

    >>> contribution_of((5, 3)), contribution_of(20).most
    (Contribution(rows=3, groups=5, fewest=0), 20)
    """
    if isinstance(limit, Contribution):
        return limit
    if isinstance(limit, int) and not isinstance(limit, bool):
        return in_all(limit)
    if isinstance(limit, tuple) and len(limit) == 2:  # short for the same, in this order
        limit = dict(zip(("groups", "rows"), limit, strict=True))
    if isinstance(limit, Mapping) and set(limit) == {"groups", "rows"}:
        return Contribution(groups=limit["groups"], rows=limit["rows"])
    if isinstance(limit, Mapping) and set(limit) == {"rows"}:
        return in_all(limit["rows"])
    raise InvalidParameter(
        f"A contribution has groups and rows, got {limit!r}.",
        fix='Write contribution = { groups = 5, rows = 3 }, in Python {"groups": 5, "rows": 3}; or rows alone.',
    )


def _trees(trees: object) -> Mapping[str, Tree]:
    if not isinstance(trees, Mapping):
        raise InvalidParameter("Trees have names.", fix='Write {"place": {"levels": […], "children": {…}}}.')
    return MappingProxyType({identifier(name, "A tree"): _tree(name, tree) for name, tree in trees.items()})


def _tree(name: str, tree: object) -> Tree:
    if isinstance(tree, Tree):
        return tree
    if not isinstance(tree, Mapping) or set(tree) != {"levels", "children"}:
        raise InvalidParameter(f"Tree {name!r} needs levels and children.", fix="Declare both, and nothing else.")
    levels = tree["levels"]
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        raise InvalidParameter(f"The levels of tree {name!r} are a list.", fix="List its columns from coarse to fine.")
    return Tree(tuple(levels), tree["children"])
