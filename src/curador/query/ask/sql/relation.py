"""A relation as a query sees it: the rows it stands for, and every visible column as an expression over tables' own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from sqlglot import exp

from curador.query.ask.sql.expressions import Reader
from curador.query.ask.sql.text import expression, name_of, only, refuse
from curador.query.language import expressions as ex
from curador.query.language.rows import Join, PerUnit, RowSet, UnionAll
from curador.query.tables.names import MOST_NAMED, suggestion


def matching(names: Iterable[str], wanted: exp.Expr) -> list[str]:
    """The names an identifier may mean: spelled alike, or alike but for case if it is not quoted."""
    known = list(names)
    exact = [n for n in known if n == wanted.name]
    if exact or wanted.args.get("quoted"):
        return exact
    return [n for n in known if n.casefold() == wanted.name.casefold()]


@dataclass(frozen=True)
class Relation:
    """Rows of one table, filtered and joined; every visible column is an expression over the tables' own.

    ``columns`` are by the name of the relation in the text, then by their own.  ``merged`` are the right sides of
    USING, which an unqualified name does not mean.
    """

    text: str
    table: str
    columns: Mapping[str, Mapping[str, ex.Expr]]
    joins: tuple[Join, ...] = ()
    where: ex.Expr | None = None
    merged: frozenset[ex.Expr] = field(default_factory=frozenset)
    source: PerUnit | UnionAll | None = None
    among: Callable[[Relation, exp.Expr], ex.Expr] | None = field(default=None, compare=False, repr=False)
    """Reads ``id IN (SELECT …)``, where a query may stand."""

    @property
    def rows(self) -> RowSet:
        """The rows it stands for."""
        return RowSet(self.table, self.source, self.joins, self.where)

    def reader(self, aggregate: Callable[[exp.Expr], ex.Expr] | None = None) -> Reader:
        """Reads expressions over its columns."""
        among = self.among
        return Reader(self.text, self.find, aggregate, None if among is None else lambda node: among(self, node))

    @property
    def whole_text(self) -> ex.Expr:
        """The expression over its columns that its text is."""
        return self.reader().read(expression(self.text))

    def find(self, node: exp.Column) -> ex.Expr:
        """The expression that a column's name stands for; refused if there is none, or several."""
        found = self._meant(node)
        if len(found) != 1:
            self._unknown(node, several=bool(found))
        return found[0]

    def name(self, node: exp.Column) -> str:
        """The name of a column here, spelled as it was defined: an inner query may have renamed it."""
        table = node.args.get("table")
        where = list(self.columns) if table is None else matching(self.columns, table)
        return next(name for w in where for name in matching(self.columns[w], node.this))

    def has(self, node: exp.Column) -> bool:
        """Whether a column's name stands for exactly one column here."""
        return len(self._meant(node)) == 1

    def _meant(self, node: exp.Column) -> list[ex.Expr]:
        table = node.args.get("table")
        where = list(self.columns) if table is None else matching(self.columns, table)
        found = [self.columns[w][name] for w in where for name in matching(self.columns[w], node.this)]
        if table is None and len(found) > 1:
            found = [e for e in found if e not in self.merged]
        return list(dict.fromkeys(found))

    def _unknown(self, node: exp.Column, several: bool) -> NoReturn:
        shown = f"{node.table}.{node.name}" if node.table else node.name
        if several:
            refuse(
                node,
                self.text,
                f"{shown[:60]!r} could mean several columns.",
                "Write table.column.",
                code="column-ambiguous",
                column=shown[:60],
            )
        known = [name for columns in self.columns.values() for name in columns]
        quotes = f"A text takes single quotes: '{node.name[:40]}'. " if node.this.args.get("quoted") else ""
        refuse(
            node,
            self.text,
            f"There is no column {shown[:60]!r} here.",
            quotes + suggestion(node.name, known),
            "no-such-column",
            column=shown[:60],
            known=", ".join(known[:MOST_NAMED]),
        )

    def everything(self, node: exp.Expr, table: exp.Expr | None = None) -> dict[str, ex.Expr]:
        """The columns that * stands for: all, or those of one relation."""
        where = list(self.columns) if table is None else matching(self.columns, table)
        found = [(n, e) for w in where for n, e in self.columns[w].items() if table is not None or e not in self.merged]
        names = [n for n, _ in found]
        if not found or len(set(map(str.casefold, names))) < len(names):
            refuse(node, self.text, "* has no columns, or two of one name.", "Name the columns.", code="star-columns")
        return dict(found)


def named_item(node: exp.Expr, text: str) -> tuple[exp.Expr, str | None]:
    """A column of SELECT, and the name AS gives it."""
    if type(node) is not exp.Alias:
        return node, None
    only(node, text, "this", "alias")
    return node.this, name_of(node.args["alias"], text)
