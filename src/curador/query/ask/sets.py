"""Grouping sets: which of them a question may list, and what is answered over several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from curador.errors import QuestionRefused
from curador.query.aggregates.base import Aggregate
from curador.query.tables.names import suggestion

MOST_SETS = 32
"""The most grouping sets of one question: a cube of five columns."""

ADDED_UP = ("count", "count_distinct", "sum", "mean", "variance", "std")
"""Aggregates whose measures of a total are the sums of those of its parts."""

Sets = tuple[tuple[str, ...], ...]


def listed_sets(given: Sets, groups: Sequence[str], *, tree: bool) -> Sets:
    """The sets, each in the order of the groups; none where they say no more than the groups do.

    >>> listed_sets((("sex", "age"), ("sex",)), ["age", "sex"], tree=False)
    (('age', 'sex'), ('sex',))
    >>> listed_sets((("sex",),), ["sex"], tree=False)
    ()
    """
    for name in (name for one in given for name in one):
        if name not in groups:
            raise QuestionRefused(f"{name!r:.40} is in a grouping set and is no group.", fix=suggestion(name, groups))
    if any(len(set(one)) < len(one) for one in given):
        raise QuestionRefused("A grouping set names a group twice.", fix="Name it once.", code="grouping-set-twice")
    sets = tuple(tuple(name for name in groups if name in one) for one in given)
    if len(set(sets)) < len(sets):
        raise QuestionRefused(
            "A grouping set is there twice.", fix="Each set is shown once: list it once.", code="grouping-set-twice"
        )
    if len(sets) > MOST_SETS:
        raise QuestionRefused(
            f"There are {len(sets)} grouping sets; the most is {MOST_SETS}.",
            fix="Split it.",
            code="too-many-sets",
            facts={"most": MOST_SETS},
        )
    if sets and tree:
        raise QuestionRefused("A tree has its own levels.", fix="Leave the grouping sets out.")
    if sets and {name for one in sets for name in one} != set(groups):
        raise QuestionRefused(
            "A group is in no grouping set.", fix="Leave it out, or name it in one.", code="group-in-no-set"
        )
    return () if sets == (tuple(groups),) else sets  # one form for one question


def refuse_without_keys(without: Sequence[str]) -> None:
    """Refuse sets of groups that are selected privately; ``without`` are the groups that have no keys."""
    named = " and ".join(map(repr, without))
    raise QuestionRefused(
        "GROUPING SETS, ROLLUP and CUBE are over public keys" + (f", and {named} has none." if named else "."),
        fix="Declare keys for the columns (or a tree of them), or ask for each set by itself.",
        code="sets-need-keys",
        facts={"columns": ", ".join(without)},
    )


def refuse_not_summed(outputs: Iterable[tuple[str, Aggregate]]) -> None:
    """Refuse an output whose total is not made of those of its parts."""
    for name, what in outputs:
        if what.function not in ADDED_UP or (what.function == "count_distinct" and what.column is not None):
            raise QuestionRefused(
                f"{name!r} is a {what.function}: that of a total is not made of those of its parts.",
                fix="Ask for it with one GROUP BY, or use COUNT, SUM and AVG.",
                code="sets-not-summed",
                facts={"output": name, "function": what.function},
            )
