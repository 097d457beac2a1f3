"""TOML documents that people write: read with one clear error, and checked for the shapes they must have."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from curador.errors import InvalidParameter


def read_document(path: str | Path, what: str, content: str | None = None) -> dict[str, Any]:
    """A TOML file as plain values; ``what`` it is, such as a study file, is part of the error.

    With ``content``, what would be in the file.

    Fails: a file that is missing is refused with the code ``no-study-file``, and likewise for other documents.

    >>> read_document("no-such.toml", "study file")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.InvalidParameter: There is no study file no-such.toml. ...
    """
    file = Path(path)
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig") if content is None else content)
    except FileNotFoundError:
        raise InvalidParameter(
            f"There is no {what} {file.name}.", fix="Check the path.", code=f"no-{what.replace(' ', '-')}"
        ) from None
    except (OSError, UnicodeDecodeError):
        raise InvalidParameter(
            f"{file.name} cannot be read as text.", fix="Check its rights; it must be UTF-8."
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameter(f"{file.name} is not TOML: {error}.", fix="Correct that line.") from None


def read_study_document(path: str | Path, content: str | None = None) -> dict[str, Any]:
    """A study file as plain values; only that it is TOML was checked."""
    return read_document(path, "study file", content)


def section(document: Mapping[str, Any], name: str, where: str, header: str = "") -> Mapping[str, Any]:
    """A section of a document, empty if it is missing; ``header`` is how it is written where that is not its name.

    >>> section({"ledger": "study.ledger"}, "ledger", "study.toml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.InvalidParameter: 'ledger' in study.toml is not a section. To do: Write it as [ledger]. ...
    """
    found = document.get(name, {})
    if not isinstance(found, Mapping):
        raise InvalidParameter(f"{name!r} in {where} is not a section.", fix=f"Write it as [{header or name}].")
    return found


def text(document: Mapping[str, Any], name: str, default: str = "") -> str:
    """A text of a document.

    >>> text({"title": 3}, "title")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    curador.errors.InvalidParameter: title must be a text. To do: Write title = "…". ...
    """
    value = document.get(name, default)
    if not isinstance(value, str):
        raise InvalidParameter(f"{name} must be a text.", fix=f'Write {name} = "…".')
    return value
