"""Conditions on values that were never declared: a typo there is paid for in full, and counts nobody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from curador import Table


def undeclared(asked: Mapping[str, Any], tables: Mapping[str, Table]) -> list[tuple[str, str, str]]:
    """Texts that a question compares with a column of declared values and that are none of them.

    Each as the column, the text, and the declared value that is nearest to it, if any is near.

    >>> staff = Table("staff.csv", columns={"sector": {"type": "text", "keys": ["health", "schools"]}})
    >>> name, text = {"is": "name", "column": "sector"}, {"is": "literal", "kind": "text", "value": "Health"}
    >>> where = {"is": "compare", "op": "=", "left": name, "right": text}
    >>> undeclared({"table": "staff", "where": where}, {"staff": staff})
    [('sector', 'Health', 'health')]
    """
    known: dict[str, set[str]] = {}
    for name in dict.fromkeys([asked.get("table"), *_texts(asked.get("joins"), "table")]):
        for column, one in tables[name].columns.items() if name in tables else ():
            if one.keys and one.kind.value == "text":
                known.setdefault(column, set()).update(map(str, one.keys))
    found = []
    for column, value in dict.fromkeys(_compared(asked)):
        if column in known and value not in known[column]:
            lower = {key.lower(): key for key in known[column]}
            near = get_close_matches(value.lower(), lower, 1)
            found.append((column, value, lower[near[0]] if near else ""))
    return found


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
