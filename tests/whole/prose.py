"""Count riddles in the prose of src; ``python -m tests.whole.prose [paths]`` prints each, then the counts per room."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "curador"
LONGEST = 100  # characters of a first line
PRONOUN = re.compile(
    r"(what|who|whoever|whose|whatever|which|that|those|these|this|it|they|such|so|where|as|one|none|all that|another"
    r"|the same|the one)\b",
    re.IGNORECASE,
)
RIDDLE = re.compile(r"\b(whoever|that one|so many|is no|said|told|nobody|anew|for ever)\b", re.IGNORECASE)
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Finding:
    """A line to rewrite; ``kind`` is the limit that counts it: "first_lines" or "riddles"."""

    kind: str
    file: Path
    line: int
    text: str


def findings(paths: Iterable[Path] = (SRC,)) -> list[Finding]:
    """The findings in Python files and folders."""
    found = [[path] if path.is_file() else sorted(path.rglob("*.py*")) for path in paths]
    files = [file for some in found for file in some if file.suffix in {".py", ".pyi"}]
    return [finding for file in files for finding in check(file, file.read_text(encoding="utf-8"))]


def check(file: Path, source: str) -> Iterator[Finding]:
    """Yield the first lines of docstrings, then the lines of strings and comments, that break a rule.

    >>> [(f.kind, f.line) for f in check(Path("x.py"), 'def f():\\n    "What is told."  # to whoever asks')]
    [('first_lines', 2), ('riddles', 2), ('riddles', 2)]
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and (document := ast.get_docstring(node)):
            first = document.splitlines()[0]
            if PRONOUN.match(first) or len(first) > LONGEST:
                yield Finding("first_lines", file, node.body[0].lineno, first)
    strings = [(n.lineno, n.value) for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
    for start, text in [*strings, *comments]:
        for number, line in enumerate(text.splitlines(), start):
            if RIDDLE.search(line):
                yield Finding("riddles", file, number, line.strip())


def counts(found: Iterable[Finding]) -> dict[str, int]:
    return {"first_lines": 0, "riddles": 0} | Counter(finding.kind for finding in found)


if __name__ == "__main__":
    everything = findings([Path(path).resolve() for path in sys.argv[1:]] or [SRC])
    rooms: dict[str, list[Finding]] = {}
    for finding in everything:
        inside = finding.file.relative_to(SRC).parts if finding.file.is_relative_to(SRC) else (finding.file.name,)
        rooms.setdefault(inside[0] if len(inside) > 1 else "(root)", []).append(finding)
        print(f"{finding.kind:<12} {finding.file}:{finding.line}: {finding.text}")
    for room, found in sorted({**rooms, "all": everything}.items()):
        print(f"{room:<12} " + ", ".join(f"{kind} {n}" for kind, n in counts(found).items()))
