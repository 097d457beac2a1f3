"""Conditions on values that were never declared: a typo there is paid for in full, and counts nobody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from curador import Table

NAMED = 5
"""Texts that are named, with what is near to them: a list of hundreds is not read, and costs what it is long."""

MOST_KEYS, MOST_LETTERS = 300, 60
"""Declared values among which a near one is looked for, and how long they and the text may be."""


def undeclared(asked: Mapping[str, Any], tables: Mapping[str, Table]) -> tuple[list[tuple[str, str, str]], int]:
    """Texts that a question compares with a column of declared values and that are none of them.

    The first few, each as the column, the text, and the declared value that is nearest to it, if any is near; and how
    many more there are.

    >>> staff = Table("staff.csv", columns={"sector": {"type": "text", "keys": ["health", "schools"]}})
    >>> name, text = {"is": "name", "column": "sector"}, {"is": "literal", "kind": "text", "value": "Health"}
    >>> where = {"is": "compare", "op": "=", "left": name, "right": text}
    >>> undeclared({"table": "staff", "where": where}, {"staff": staff})
    ([('sector', 'Health', 'health')], 0)
    """
    known: dict[str, set[str]] = {}
    for name in dict.fromkeys([asked.get("table"), *_texts(asked.get("joins"), "table")]):
        for column, one in tables[name].columns.items() if name in tables else ():
            if one.keys and one.kind.value == "text":
                known.setdefault(column, set()).update(map(str, one.keys))
    compared = dict.fromkeys(_compared(asked))
    odd = [(column, value) for column, value in compared if column in known and value not in known[column]]
    named = [(column, value, _near(value, known[column])) for column, value in odd[:NAMED]]
    return named, len(odd) - len(named)


def _near(value: str, keys: Iterable[str]) -> str:
    lower = {key.lower(): key for key in keys}
    if (same := lower.get(value.lower())) is not None:
        return same
    if len(value) > MOST_LETTERS or len(lower) > MOST_KEYS:
        return ""
    near = get_close_matches(value.lower(), [key for key in lower if len(key) <= MOST_LETTERS], 1)
    return lower[near[0]] if near else ""


def _compared(node: Any) -> Iterator[tuple[str, str]]:
    """Pairs of a column and a text that are compared, anywhere in a question's plain values."""
    if isinstance(node, Mapping):
        if node.get("is") == "compare" and node.get("op") in ("=", "<>"):
            yield from _pairs([node["left"]], [node["right"]])
            yield from _pairs([node["right"]], [node["left"]])
        if node.get("is") == "in":
            yield from _pairs([node.get("operand")], node.get("values", ()))
        for inside in node.values():
            yield from _compared(inside)
    elif isinstance(node, list | tuple):
        for inside in node:
            yield from _compared(inside)


def _pairs(names: Any, literals: Any) -> Iterator[tuple[str, str]]:
    for name in names:
        for literal in literals:
            both = isinstance(name, Mapping) and isinstance(literal, Mapping)
            if both and name.get("is") == "name" and literal.get("is") == "literal" and literal.get("kind") == "text":
                yield str(name["column"]), str(literal["value"])


def _texts(node: Any, name: str) -> Iterator[Any]:
    if isinstance(node, Mapping):
        yield from ([node[name]] if isinstance(node.get(name), str) else [])
        for inside in node.values():
            yield from _texts(inside, name)
    elif isinstance(node, list | tuple):
        for inside in node:
            yield from _texts(inside, name)
