"""A study file changed by a program: comments and order stay, and a file that would not open is never written."""

from __future__ import annotations

import tempfile
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
    draft = f"{path.stem}-draft-"
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=draft, suffix=".toml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        return read_study(file.name)


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
