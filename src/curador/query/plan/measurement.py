"""The measures of a question: how every output is made of them, and how much of one unit is counted."""

from __future__ import annotations

from dataclasses import replace

from curador.errors import QuestionRefused
from curador.mechanisms.sensitivity import Contribution, in_all
from curador.privacy import Neighbors
from curador.query.aggregates.base import Recipe, function_named
from curador.query.aggregates.measure import Measure, MeasureKind
from curador.query.aggregates.tree import Hierarchy, over_tree
from curador.query.ask.question import Question
from curador.query.plan.checked import Checked


def recipes(checked: Checked, contribution: Contribution) -> tuple[Recipe, ...]:
    """How every output of a question is computed, where a unit keeps no more than ``contribution``.

    >>> from curador.query.aggregates.counts import count
    >>> from curador.query.aggregates.moments import mean
    >>> from curador.query.plan.checked import check
    >>> from curador.query.ask.question import Output, Question
    >>> from curador.query.tables.table import Table
    >>> adult = Table("a.csv", columns={"age": {"type": "integer", "bounds": [17, 90], "nullable": False}})
    >>> q = Question("adult", (Output("n", count()), Output("age", mean("age"))))
    >>> [[m.label for m in r.measures] for r in recipes(check(q, {"adult": adult}), Contribution())]
    [['rows'], ['centred(age)', 'rows']]
    """
    checked.require_bounds()
    asked = [(o.name, o.aggregate, function_named(o.aggregate.function)) for o in checked.question.aggregates]
    # A sum asked with a mean of the same column is the mean's centred sum and count again, so it costs nothing more.
    centred = {a.column for _, a, function in asked if function.centres}
    made = [
        recipe
        for (name, aggregate, function), t in zip(asked, checked.columns, strict=True)
        for recipe in function.recipes(name, aggregate, t, aggregate.column in centred)
    ]
    if contribution.rows == 1:
        made = list(map(_units_as_rows, made))
    tree_of_rows = checked.question.tree is not None and contribution.rows == 1  # others are refused below
    if (checked.question.sets or tree_of_rows) and contribution.groups > 1:
        units = next((r.asked for r in made if r.function == "count_distinct"), None)
        if units is not None:
            raise QuestionRefused(
                f"{units!r} counts units, which may be in several groups: the total is not the sum of its parts.",
                fix="Ask for it with one GROUP BY, or count rows.",
                code="sets-of-units",
                facts={"output": units},
            )
    if checked.question.tree is not None:
        tree = Hierarchy(tuple(tuple(map(str, key)) for key in checked.keys or ()), checked.question.totals)
        made = [over_tree(recipe, tree, [g.expr for g in checked.question.group_by]) for recipe in made]
    return tuple(made)


def _units_as_rows(recipe: Recipe) -> Recipe:
    """Where a unit has one row in a group, units and rows are one measure."""
    same = (Measure(MeasureKind.ROWS) if m.kind is MeasureKind.UNITS else m for m in recipe.measures)
    return replace(recipe, measures=tuple(same))


# ---- what a unit keeps -------------------------------------------------------------------------------------------


def declared_limits(checked: Checked) -> Contribution:
    """How many groups, and rows in each, a unit may keep, as declared with the question or for the table."""
    question, table = checked.question, checked.table
    kept = question.contribution or table.contribution
    if checked.rows.single:
        return Contribution(rows=1, groups=1)
    if kept is None:
        raise QuestionRefused(
            f"{question.table!r} does not say how many groups and rows one {table.unit.id!r} may count in.",
            fix="Declare contribution = { groups = 5, rows = 3 } for the table, or { rows = 20 } in all groups, or "
            "give it with the question: contribution=(5, 3), or 20.",
            code="contribution-needed",
        )
    if kept.total is not None:
        return in_all(
            kept.total
        )  # whatever else is said: rows that are cut in all groups together may be in any of them
    return Contribution(rows=kept.rows, groups=kept.groups)


def limits(checked: Checked) -> Contribution:
    """The contribution limits of a unit in this answer: as declared, and no more groups than there are.

    >>> from curador.query.aggregates.counts import count
    >>> from curador.query.plan.checked import check
    >>> from curador.query.ask.question import Output, Question
    >>> from curador.query.tables.table import Table
    >>> visits = Table("v.csv", unit="id", columns={"id": "integer"}, contribution={"groups": 5, "rows": 3})
    >>> limits(check(Question("visits", (Output("n", count()),)), {"visits": visits}))
    Contribution(rows=3, groups=1, fewest=0)
    """
    question, kept = checked.question, declared_limits(checked)
    if checked.table.unit.id is None:
        # Under replace, a row that nothing can drop is counted whatever is put in its place; so their number is public
        # where it is declared, and only there: as read, it is what a reader of files makes of a row.
        sure = checked.table.neighbors is Neighbors.ADD_REMOVE or checked.table.size is not None
        return Contribution(rows=1, groups=1, fewest=int(sure and _untouched(question)))
    if checked.rows.single:
        return kept
    cells = 1 if not question.group_by else kept.groups if checked.keys is None else len(checked.keys)
    return Contribution(rows=kept.rows, groups=min(kept.groups, cells), total=kept.total)


def constant(m: Measure, checked: Checked) -> int:
    """The integer of a measure that no unit can move: the declared number of rows, or a sum of zeros."""
    if m.kind is not MeasureKind.ROWS:
        return 0  # its sensitivity is 0 only where every row adds 0
    rows = public_rows(checked)
    assert rows is not None
    return rows


def public_rows(checked: Checked) -> int | None:
    """The number of rows behind the answer, where it is public: a declared size and nothing that drops rows."""
    table = checked.table
    return table.size if _untouched(checked.question) and table.unit.id is None else None


def _untouched(question: Question) -> bool:
    """Whether nothing drops, repeats or separates rows."""
    return question.where is None and not question.joins and not question.group_by
