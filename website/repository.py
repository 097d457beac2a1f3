"""Links out of docs/, and the pages they lead to: files of the repository's root, and sources as they are."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import cache

import tree

ROOT, DOCS = tree.ROOT, tree.DOCS
FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"(\]\()(<?)([^)\s>]+)(>?(?: \"[^\"]*\")?\))")
LANGUAGES = {".py": "python", ".toml": "toml", ".json": "json", ".js": "js", ".sql": "sql", ".yml": "yaml", ".sh": "sh"}


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """A text with what is not code changed."""
    parts, last = [], 0
    for found in sorted([*FENCE.finditer(text)], key=lambda m: m.start()):
        parts += [_prose(text[last : found.start()], change), found[0]]
        last = found.end()
    return "".join([*parts, _prose(text[last:], change)])


def _prose(text: str, change: Callable[[str], str]) -> str:
    parts, last = [], 0
    for found in CODE.finditer(text):
        parts += [change(text[last : found.start()]), found[0]]
        last = found.end()
    return "".join([*parts, change(text[last:])])


def placed(path: str) -> str:
    """Where the site has a file of the repository: a page of docs/ at its place, any other as a page of its own."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if names := re.fullmatch(r"src/(curador(?:/\w+)?)/__init__\.pyi", path):
        return f"api/{names[1].replace('/', '.')}.md"  # the declaration of public names: their page
    if "/" not in path and path.endswith(".md"):
        return "es/readme.md" if path == "README.es.md" else f"project/{path.lower()}"
    return f"project/{path.lower()}.md" if path == "LICENSE" else f"source/{path}.md"


@cache
def _origins() -> dict[str, str]:
    """The file of the repository that each made page comes from."""
    return {placed(path): path for path in [*_roots(), *_linked()] if not placed(path).startswith("api/")}


def _roots() -> list[str]:
    return [name for name in tree.PROJECT if (ROOT / name).is_file()]


@cache
def _linked() -> list[str]:
    """Files and folders outside docs/ that some page links to."""
    found = set()
    for page in [*DOCS.rglob("*.md"), *(ROOT / name for name in _roots() if name.endswith(".md"))]:
        where = page.relative_to(ROOT).parent.as_posix()
        for _, _, target, _ in LINK.findall(CODE.sub("", FENCE.sub("", page.read_text()))):
            path = _resolved(where, target)
            if path and not path.startswith("docs") and path not in _roots() and (ROOT / path).exists():
                found.add(path)
                if (ROOT / path).is_dir():
                    found |= {f.relative_to(ROOT).as_posix() for f in (ROOT / path).rglob("*") if f.is_file()}
    return sorted(found)


def _resolved(where: str, target: str) -> str | None:
    """The path in the repository that a link of a page in ``where`` leads to; None for one that leads elsewhere."""
    place = target.partition("#")[0]
    if not place or re.match(r"[a-z]+:", target):
        return None
    return posixpath.normpath(posixpath.join(where, place))


def pages() -> dict[str, str]:
    """The pages that show files from outside docs/."""
    return {uri: _shown(path) for uri, path in _origins().items()}


def _shown(path: str) -> str:
    file = ROOT / path
    if file.is_dir():
        inside = sorted(f.relative_to(file).as_posix() for f in file.rglob("*") if f.is_file())
        return f"# {path}/\n\n" + "\n".join(f"* [{name}]({file.name}/{name}.md)" for name in inside) + "\n"
    text = file.read_text()
    if path.endswith(".md"):
        return text
    fence = "`" * max(4, *(len(run) + 1 for run in re.findall(r"`+", text) or ["`"]))
    return f"# {path}\n\n{fence}{LANGUAGES.get(file.suffix, 'text')}\n{text.rstrip()}\n{fence}\n"


def relinked(text: str, uri: str) -> str:
    """A page's text with its links led to where the site has what they lead to."""
    made = uri in _origins()
    path = _origins().get(uri, f"docs/{uri}")
    if made and not path.endswith(".md"):
        return text
    where, here = posixpath.dirname(path), posixpath.dirname(uri)

    def led(found: re.Match[str]) -> str:
        opening, left, target, closing = found.groups()
        there = _resolved(where, target)
        if there is None or (there.startswith("docs/") and not made):
            return found[0]
        anchor = target[target.index("#") :] if "#" in target else ""
        return f"{opening}{left}{posixpath.relpath(placed(there), here or '.')}{anchor}{closing}"

    return outside_code(text, lambda part: LINK.sub(led, part))


def spaced(text: str) -> str:
    """With an empty line before each list that begins right below a line of text, as code hosts read it."""
    lists = re.compile(r"^((?![*\-+] |\d+\. |#|\||>| {2,}).*\S.*\n)(?=(?:[*\-] |1\. )\S)", re.MULTILINE)
    return outside_code(text, lambda part: lists.sub(r"\1\n", part))
