"""Measure the sizes that tests/whole/limits.toml bounds; ``python -m tests.whole.sizes`` prints them."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

SRC = Path(__file__).parents[2] / "src"
LIMITS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("limits.toml").read_text())

QUESTION = """
import sys
import pyarrow
import curador as cu

columns = {"sex": {"type": "text", "keys": ["F", "M"]}, "hours": {"type": "integer", "bounds": [0, 999]}}
people = cu.Table(pyarrow.table({"sex": ["F", "M"] * 500, "hours": list(range(1000))}), columns=columns)

def question():
    curator = cu.Curator({"people": people}, budget=cu.PureDP(10))
    return curator.table("people").where("hours >= 10").group_by("sex").aggregate(n=cu.count(), h=cu.mean("hours"))

question().ask(epsilon=0.1)  # loads what is loaded when first used
asked, seen = question(), set()

def note(frame, event, argument):
    if event == "call" and "/curador/" in (file := frame.f_code.co_filename) and "site-packages" not in file:
        seen.add(file.rsplit("/curador/", 1)[1])

sys.setprofile(note)
asked.ask(epsilon=0.2)
sys.setprofile(None)
print(*sorted(seen), sep="\\n")
"""


def files(room: str | None = None) -> list[Path]:
    """The Python files of a room; without one, all that belong to no room of their own."""
    rooms = LIMITS.get("rooms", {})
    found = sorted((SRC / "curador").rglob("*.py"))
    if room is not None:
        return [f for f in found if f.is_relative_to(SRC / "curador" / room)]
    return [f for f in found if not any(f.is_relative_to(SRC / "curador" / r) for r in rooms)]


def lines(room: str | None = None) -> int:
    return sum(f.read_text().count("\n") for f in files(room))


def asked_files() -> list[str]:
    """The files that run while one question is asked."""
    done = subprocess.run([sys.executable, "-c", QUESTION], capture_output=True, text=True, check=True)
    return done.stdout.split()


def stages(asked: list[str]) -> str:
    counted = Counter("/".join(Path(file).parts[:-1][:2]) or "root" for file in asked)
    return ", ".join(f"{stage} {n}" for stage, n in counted.most_common())


def import_chain() -> list[str]:
    """The longest chain of modules in which each is imported by the next, when they are loaded."""
    named = {_module(f): f for f in files()}
    graph = {name: [m for m in _imported(f, name, set(named)) if m != name] for name, f in named.items()}

    @cache
    def chain(name: str) -> tuple[str, ...]:
        below = [chain(one) for one in graph[name]]
        longest = max(below, key=len) if below else ()
        return (*longest, name)

    longest = max((chain(name) for name in graph), key=len)
    return list(longest)


def _module(file: Path) -> str:
    parts = file.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(file: Path, name: str, known: set[str]) -> Iterator[str]:
    package = name if file.stem == "__init__" else name.rpartition(".")[0]
    for node in _at_load(ast.parse(file.read_text()).body):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name in known)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: -node.level + 1 or None] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for one in node.names:
                full = f"{base}.{one.name}"
                if full in known or base in known:
                    yield full if full in known else base


def _at_load(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is loaded, but for those that only type checkers read."""
    for node in body:
        if isinstance(node, ast.If):
            if "TYPE_CHECKING" not in ast.unparse(node.test):
                yield from _at_load(node.body)
            yield from _at_load(node.orelse)
        elif isinstance(node, ast.Try | ast.With):
            yield from _at_load(node.body)
        else:
            yield node


def measured() -> dict[str, int]:
    """Each size of the house by the name of its limit, but for the test cases, which only a run of pytest knows."""
    import curador

    return {
        "files_per_question": len(asked_files()),
        "import_chain": len(import_chain()),
        "files": len(files()),
        "lines": lines(),
        "curator_names": len([n for n in dir(curador.Curator) if not n.startswith("_")]),
        "curador_names": len([n for n in dir(curador) if not n.startswith("_")]),
    }


if __name__ == "__main__":
    for name, value in measured().items():
        print(f"{name:<20} {value:>8,}   limit {LIMITS['house'][name][-1]:,}")
    print("files of a question:", stages(asked_files()))
