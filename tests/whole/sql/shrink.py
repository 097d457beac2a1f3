"""A smaller statement that is wrong in the same way: parts are left out as long as it stays wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sqlglot
from sqlglot import exp

MOST_TRIES = 400


def shrunk(text: str, wrong: Callable[[str], bool]) -> str:
    """The smallest statement found of which ``wrong`` still holds."""
    tried = {text}
    while len(tried) < MOST_TRIES:
        for smaller in _smaller(text):
            if len(smaller) >= len(text) or smaller in tried:
                continue
            tried.add(smaller)
            if wrong(smaller):
                text = smaller
                break
        else:
            return text
    return text


def _smaller(text: str) -> Iterator[str]:
    tree = sqlglot.parse_one(text, dialect="duckdb")
    for i, node in enumerate(tree.walk()):
        for part in ("where", "having", "order", "limit", "offset", "joins"):
            if isinstance(node, exp.Select) and node.args.get(part):
                yield _changed(tree, i, lambda n, part=part: n.set(part, None))  # type: ignore[misc]
        for name, listed in node.args.items():
            for k in range(len(listed)) if isinstance(listed, list) and len(listed) > 1 else ():
                yield _changed(tree, i, lambda n, name=name, k=k: n.set(name, _without(n.args[name], k)))  # type: ignore[misc]
        if isinstance(node, exp.Condition) and not isinstance(node, exp.Column | exp.Literal):
            for k, child in enumerate(node.iter_expressions()):
                if isinstance(child, exp.Condition):
                    yield _changed(tree, i, lambda n, k=k: n.replace(list(n.iter_expressions())[k].copy()))  # type: ignore[misc]


def _without(listed: list[exp.Expr], place: int) -> list[exp.Expr]:
    return listed[:place] + listed[place + 1 :]


def _changed(tree: exp.Expr, place: int, change: Callable[[exp.Expr], object]) -> str:
    copy = tree.copy()
    change(next(node for i, node in enumerate(copy.walk()) if i == place))
    return copy.sql(dialect="duckdb")
