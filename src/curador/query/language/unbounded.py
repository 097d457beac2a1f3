"""The refusal of what needs bounds where there are none."""

from __future__ import annotations

from curador.errors import QuestionRefused
from curador.query.language import expressions as ex
from curador.query.language.text import shortened
from curador.query.language.trees import names
from curador.query.language.types import Scope


def unbounded(what: str, operand: ex.Expr, scope: Scope) -> QuestionRefused:
    """The refusal of ``what``; names the column that lacks bounds."""
    loose = sorted(str(n) for n in names(operand) if n in scope and scope[n].kind.counted and not scope[n].bounds)
    if not loose:
        return QuestionRefused(
            f"{what}: {shortened(operand)} has no bounds.",
            fix="Declare bounds for the columns it is made of in the table.",
            code="unbounded",
            facts={"expression": shortened(operand)},
        )
    column = loose[0]
    made = [str(n) for n in names(operand) if type(n) is not ex.Name]
    if column in made:  # of one unit's rows, or of several tables
        return QuestionRefused(
            f"{what}: {column} has no bounds.",
            fix=f"Write GREATEST(LEAST({column}, highest), lowest), or declare bounds for its columns, and for the "
            "table how many rows of one unit count.",
            code="unbounded-column",
            facts={"column": column},
        )
    return QuestionRefused(
        f"{what}: the column {column!r} has no declared bounds.",
        fix=f"Declare bounds for {column} in the table, or learn them privately: bounds({column!r}), in SQL "
        f"BOUNDS({column}), is a question of its own.",
        code="no-bounds",
        facts={"column": column},
    )
