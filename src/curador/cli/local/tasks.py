"""Which mechanism takes which options, the task that they make, and the files of both."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curador.errors import InvalidParameter

if TYPE_CHECKING:
    from curador.local.task.keys import LocalKey
    from curador.local.task.task import Task

_ORACLE = (("keys",), ("rest",))
_NUMBER = (("low", "high"), ())
_SKETCH = ((), ("salt", "rows", "places"))
OPTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    **dict.fromkeys(("krr", "sue", "oue", "olh", "hadamard", "subset"), _ORACLE),
    "best": (("keys", "users"), ("rest",)),
    "dbitflip": (("keys", "sampled"), ("rest",)),
    "longitudinal": (("keys", "values", "first"), ("rest",)),
    **dict.fromkeys(("laplace", "duchi", "piecewise", "hybrid"), _NUMBER),
    "square-wave": (("low", "high"), ("buckets",)),
    "duchi-vector": (("low", "high", "dimension"), ()),
    "record": (("attribute",), ("sampled",)),
    "rappor": ((), ("salt", "bloom", "hashes", "cohorts")),
    "count-mean": _SKETCH,
    "hadamard-count-mean": _SKETCH,
    "heavy-hitters": ((), ("kind", "length", "salt")),
}
"""For each mechanism the options that it needs, and those that it takes."""


@dataclass(frozen=True)
class Typed:
    """The options of a task as they were typed; None where they were not."""

    keys: Sequence[LocalKey] | int | None = None
    rest: str | None = None
    low: str | None = None
    high: str | None = None
    dimension: int | None = None
    buckets: int | None = None
    attribute: list[str] | None = None
    sampled: int | None = None
    values: int | None = None
    first: str | None = None
    salt: str | None = None
    rows: int | None = None
    places: int | None = None
    bloom: int | None = None
    hashes: int | None = None
    cohorts: int | None = None
    kind: str | None = None
    length: int | None = None

    def task(self, mechanism: str, epsilon: str, users: int | None) -> Task:
        """The task, refused if an option is missing or means nothing to the mechanism."""
        if mechanism not in OPTIONS:
            raise InvalidParameter(f"No mechanism is called {mechanism!r}.", fix=f"Choose one of {', '.join(OPTIONS)}.")
        needed, taken = OPTIONS[mechanism]
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}
        missing = [name for name in needed if name not in given and not (name == "users" and users is not None)]
        if missing:
            raise InvalidParameter(f"The mechanism {mechanism} needs {_named(missing)}.", fix="Add what is missing.")
        if unused := [name for name in given if name not in (*needed, *taken)]:
            raise InvalidParameter(
                f"The mechanism {mechanism} does not take {_named(unused)}.",
                fix=f"It takes {_named((*needed, *taken))}.",
            )
        if isinstance(self.keys, int) and self.rest is not None and _digits(self.rest):
            given["rest"] = int(self.rest)
        return _made(mechanism)(epsilon, users, given)


def _named(options: Sequence[str]) -> str:
    return ", ".join("--keys, --keys-file or --size" if name == "keys" else f"--{name}" for name in options) or "none"


def _made(mechanism: str) -> Callable[[str, int | None, dict[str, Any]], Task]:
    from curador import local

    def best(epsilon: str, users: int | None, given: dict[str, Any]) -> Task:
        assert users is not None  # it is needed
        return local.best_oracle(given.pop("keys"), epsilon, users, **given)

    def record(epsilon: str, users: int | None, given: dict[str, Any]) -> Task:
        return local.Record(_attributes(given.pop("attribute")), epsilon, **given)

    def other(epsilon: str, users: int | None, given: dict[str, Any]) -> Task:
        return _kinds()[mechanism](epsilon=epsilon, **given)

    return {"best": best, "record": record}.get(mechanism, other)


def _kinds() -> Mapping[str, Callable[..., Task]]:
    from curador import local

    every = (getattr(local, name) for name in local.__all__)
    return {made.mechanism: made for made in every if getattr(made, "mechanism", "")}


def _attributes(texts: list[str]) -> dict[str, Any]:
    """Attributes of a record, each written as NAME=LOW:HIGH, NAME=KEY,KEY,… or NAME=HOW-MANY."""
    from curador.local import Range

    found: dict[str, Any] = {}
    for text in texts:
        name, equals, kind = text.partition("=")
        low, colon, high = kind.partition(":")
        if not name or not equals or name in found:
            raise InvalidParameter(
                f"{text!r} does not say what an attribute is.", fix="Write age=0:100, drink=tea,coffee or stars=5."
            )
        if colon:
            found[name] = Range(low, high)
        else:
            found[name] = int(kind) if _digits(kind) else _split(kind)
    return found


def keys_of(keys: str | None, file: Path | None, size: int | None) -> Sequence[LocalKey] | int | None:
    """The categories, which may be said in three ways, of which one is used."""
    given = [said for said in (keys, file, size) if said is not None]
    if len(given) > 1:
        raise InvalidParameter("The keys are said twice.", fix="Use one of --keys, --keys-file and --size.")
    return size if size is not None else None if not given else _list(keys, file)


def _list(text: str | None, file: Path | None) -> Sequence[LocalKey]:
    return _split(text) if text is not None else listed(file or Path())


def _split(text: str) -> list[LocalKey]:
    """Keys between commas, without the spaces around them; none is empty, which is a slip of the finger."""
    found: list[LocalKey] = [key.strip() for key in text.split(",")]
    if "" in found:
        raise InvalidParameter(
            f"A key in {text!r} is empty.", fix="Leave the comma out; an empty key can stand in a JSON list in a file."
        )
    return found


def _digits(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def candidates_of(text: str) -> Sequence[LocalKey]:
    """Keys from a file of that name, or separated by commas."""
    return listed(Path(text)) if os.path.isfile(text) else _split(text)  # a text of any length


def listed(file: Path) -> Sequence[LocalKey]:
    """The keys in a file: one on each line, or a JSON list, which may have integers."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InvalidParameter(f"{file.name} cannot be read.", fix="Give a UTF-8 text file, one key a line.") from None
    if file.suffix != ".json":
        return [line for line in text.splitlines() if line]
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        raise InvalidParameter(f"{file.name} is no JSON list.", fix='Write ["a", "b"].')
    return found


def read_document(file: Path, what: str) -> Any:
    """The JSON in a file, refused if readers could take it for different things."""
    from curador.local.collect.intake import strict_json

    try:
        return strict_json(file.read_text(encoding="utf-8"))
    except OSError:
        raise InvalidParameter(f"{file.name} cannot be read.", fix=f"Give the file of a {what}.") from None
    except ValueError:
        raise InvalidParameter(f"{file.name} is not a {what}.", fix=f"Give the file of a {what}.") from None


def read_task_file(file: Path) -> Task:
    """The task in a file that new-task wrote."""
    from curador.local.collect.wire import read_task

    return read_task(read_document(file, "task"))


def write_new(file: Path, lines: Iterable[str]) -> None:
    """Write a new file; one that is there already stays as it is, and one that fails is removed."""
    try:
        with file.open("x", encoding="utf-8") as target:
            try:
                target.writelines(lines)
                target.flush()
            except BaseException:
                file.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise InvalidParameter(f"{file.name} exists already.", fix="Choose another file, or remove it first.") from None
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise InvalidParameter(f"{file.name} cannot be written: {reason}.", fix="Choose another place.") from None
