"""Pages of the public names: one for each room, by the file that each name lives in."""

from __future__ import annotations

import ast
import re
from itertools import groupby

import tree

TITLES = {
    "curador": "Curator, mechanisms, guarantees",
    "curador.accounting": "Accounting",
    "curador.local": "Local differential privacy",
    "curador.learn": "Learning",
    "curador.audit": "Auditing",
}
ROOMS = {"curador.accounting", "curador.local"}
"""Names of ``curador`` that are rooms, with pages of their own."""


def exported(room: str) -> list[tuple[str, str]]:
    """The public names of a room with the files they live in, in the order in which it declares them."""
    folder = tree.ROOT / "src" / room.replace(".", "/")
    stub = folder / "__init__.pyi"
    tree_ = ast.parse((stub if stub.is_file() else folder / "__init__.py").read_text())
    found = []
    for node in tree_.body:
        if isinstance(node, ast.ImportFrom):
            found += [(alias.asname or alias.name, node.module or "") for alias in node.names]
    return found


def pages() -> dict[str, str]:
    return {f"api/{room}.md": page(room) for room in tree.API}


def page(room: str) -> str:
    lines = [f"# `{room}`: {TITLES[room][0].lower() + TITLES[room][1:]}", ""]
    names = [
        (name, file) for name, file in exported(room) if f"{room}.{name}" not in ROOMS and not name.startswith("_")
    ]
    for file, group in groupby(names, key=lambda pair: _part(room, pair[1])):
        lines += [f"## {file}", ""]
        for name, _ in group:
            lines += [f"::: {room}.{name}", ""]
    return "\n".join(lines)


def _part(room: str, module: str) -> str:
    """A heading for names that live together: the folder below the room, or the file."""
    path = module.removeprefix(room).strip(".").split(".")
    return re.sub(r"_", " ", path[0] if len(path) > 1 or room != "curador" else module.rsplit(".", 1)[-1])
