"""A study file changed by a program: comments and order stay, and a file that would not open is never written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from curador.curator.study.file import Study, read_study
from curador.errors import InvalidParameter
from curador.show.files import write_or_refuse

_WRITING = Lock()


def with_entry(text: str, path: tuple[str, ...], value: Any) -> str:
    """The text of a study file with one more entry; refused where it is there already.

    >>> print(with_entry("[server]\\ntick = \\"1s\\" # kept\\n", ("server", "collect", "drinks"), "drinks-reports"))
    [server]
    tick = "1s" # kept
    collect = {drinks = "drinks-reports"}
    <BLANKLINE>
    """
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise InvalidParameter(f"The study file is not TOML: {error}.", fix="Correct that line.") from None
    place: Any = document
    for depth, name in enumerate(path[:-1]):
        if name not in place:
            inline = path[0] == "server" and depth == 1
            place[name] = tomlkit.inline_table() if inline else tomlkit.table(is_super_table=depth + 2 < len(path))
        place = place[name]
    if path[-1] in place:
        raise InvalidParameter(
            f"The study file has {path[-1]!r} already.", fix="Choose another name.", code="name-taken"
        )
    place[path[-1]] = _item(value)
    return tomlkit.dumps(document)


def with_changed(text: str, path: tuple[str, ...], value: Mapping[str, Any]) -> str:
    """The text of a study file with a section that states this now; what stays the same keeps its comments.

    >>> print(with_changed("[a.b]\\nx = 1 # kept\\ny = 2\\n", ("a", "b"), {"x": 1, "y": 3, "z": {"u": 4}}))
    [a.b]
    x = 1 # kept
    y = 3
    z = {u = 4}
    <BLANKLINE>
    """
    document = tomlkit.parse(text)
    _change(_section(document, path), value)
    return tomlkit.dumps(document)


def without_entry(text: str, path: tuple[str, ...]) -> str:
    """The text of a study file without an entry.

    >>> print(without_entry("[a.b]\\nx = 1\\n\\n[a.c]\\ny = 2\\n", ("a", "b")))
    [a.c]
    y = 2
    <BLANKLINE>
    """
    document = tomlkit.parse(text)
    place = _section(document, path[:-1])
    _section(document, path)  # refused where it is not there
    del place[path[-1]]
    return tomlkit.dumps(document)


def _section(document: Any, path: tuple[str, ...]) -> Any:
    place = document
    for name in path:
        if not isinstance(place, Mapping) or name not in place:
            raise InvalidParameter(
                f"The study file has no {name!r} any more.", fix="Look at it again.", code="study-changed"
            )
        place = place[name]
    return place


def _change(place: Any, value: Mapping[str, Any]) -> None:
    for name in [name for name in place if name not in value]:
        del place[name]
    for name, x in value.items():
        if name in place and isinstance(place[name], Mapping) and isinstance(x, Mapping):
            _change(place[name], x)
        elif name not in place or repr(_plain(place[name])) != repr(x):  # 1 and true, or 1 and 1.0, are not the same
            place[name] = _item(x)


def _plain(item: Any) -> Any:
    return item.unwrap() if hasattr(item, "unwrap") else item


def _item(value: Any) -> Any:
    """A plain value as TOML: a table of tables stands in sections, a table of plain values on one line."""
    if not isinstance(value, Mapping):
        return value
    deep = any(isinstance(x, Mapping) for x in value.values())
    made: Any = tomlkit.table() if deep else tomlkit.inline_table()
    for name, x in value.items():
        made[name] = _item(x)
    return made


def checked(path: Path, text: str) -> Study:
    """What a text would declare as the study file; refused, in the words of the reader, where it would not open."""
    return read_study(path, text)


def rewrite(path: Path, was: str, text: str) -> Study:
    """Put a text in the place of a study file that still is what it ``was``.

    Guarantee: the file is the old one or the new one, whole; and the new one declares what it says.
    """
    with _WRITING:
        if path.read_text(encoding="utf-8-sig") != was:
            raise InvalidParameter(
                "The study file was changed meanwhile.", fix="Look at it again, and repeat.", code="study-changed"
            )
        found = checked(path, text)
        write_or_refuse(path, text.encode())
    return found
