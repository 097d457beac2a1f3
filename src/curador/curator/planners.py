"""Planners kept by the text of a question, so that asking it again, at any price, starts from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from curador.curator.naming import no_tables_yet
from curador.curator.table import Asked, question_of
from curador.query.ask.public_keys import PublicRows
from curador.query.plan.checked import Checked, check
from curador.query.plan.planner import Planner
from curador.query.tables.table import Table

if TYPE_CHECKING:
    from curador.query.sql_plan.prepared import Prepared

MOST_KEPT = 64
"""Planners that are kept; the one that was not asked for the longest goes first."""

MOST_KEYS = 10_000
"""A planner of more public keys than this is made each time."""


Copies = Callable[[str], "list[Prepared]"]
"""The prepared copies of a table's rows as they are now."""


class Planners:
    """Makes planners of questions about some tables.

    Guarantee: a planner is the same whether it was kept or made anew.  It is a function of the declarations, which do
    not change, of the question's text and options, and of the copies of its table, which are asked for each time; a
    question that reads a public table, whose rows it depends on, is planned anew.
    """

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._tables = tables
        self._kept: dict[object, tuple[Planner, list[Prepared]]] = {}

    def of(
        self,
        asked: Asked,
        prepared: bool | None,
        contribution: Any,
        how: Mapping[str, Any],
        public_rows: PublicRows,
        copies: Copies,
    ) -> Planner:
        """The planner of a question; ``contribution`` and ``how`` are options of :meth:`Curator.plan`."""
        if not self._tables:
            raise no_tables_yet()
        key = _key(asked, prepared, contribution, how)
        found = None if key is None else self._kept.pop(key, None)
        if found is not None and copies(found[0].checked.question.table) != found[1]:
            found = None
        if found is None:
            checked = check(question_of(asked, self._tables, contribution), self._tables, public_rows)
            found = _planner(checked, prepared, copies(checked.question.table), how)
        self._keep(key, found)
        return found[0]

    def _keep(self, key: object, found: tuple[Planner, list[Prepared]]) -> None:
        checked = found[0].checked
        if key is None or any(self._tables[name].public for name in checked.question.reads):
            return
        if len(checked.keys or ()) <= MOST_KEYS:
            self._kept[key] = found  # the newest last
        for old in list(self._kept)[:-MOST_KEPT]:  # listed at once: other threads plan, too
            self._kept.pop(old, None)


def _planner(
    checked: Checked, prepared: bool | None, copies: list[Prepared], how: Mapping[str, Any]
) -> tuple[Planner, list[Prepared]]:
    copy = None
    if copies or prepared:
        from curador.query.sql_plan.prepared import fitting  # writes SQL trees: loaded when a table was prepared

        copy = fitting(copies, checked, prepared)
    return Planner(checked, **how, prepared=copy), copies


def _key(asked: Asked, prepared: bool | None, contribution: Any, how: Mapping[str, Any]) -> object:
    """A text and its options, by their types too; None for what is not kept."""
    if not isinstance(asked, str) or how.get("weights") is not None:
        return None
    options = (prepared, contribution, *(how[name] for name in sorted(how)))
    key = (asked, tuple(sorted(how)), tuple((type(x), x) for x in options))
    try:
        hash(key)
    except TypeError:  # an option of a wrong type, which is refused when it is read
        return None
    return key
