"""Build a task from options by name, as a form, a server or a command line has them.

Every kind of task declares the options it ``needs`` and ``takes``; a new randomizer needs no change here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from curador.errors import InvalidParameter
from curador.local.task.keys import LocalKey
from curador.local.task.task import Task, task_kinds
from curador.numbers import Number

BEST = "best"
"""A value in place of a mechanism: the frequency oracle with the least error for the number of users."""


def mechanisms() -> tuple[str, ...]:
    """The names of all mechanisms, and ``best``.

    >>> "krr" in mechanisms() and "best" in mechanisms()
    True
    """
    return (*task_kinds(), BEST)


def options_of(mechanism: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options that a mechanism needs, and those that it also takes.

    >>> options_of("krr"), options_of("square-wave")
    ((('keys',), ('rest',)), (('low', 'high'), ('buckets',)))
    """
    kinds = task_kinds()
    if mechanism == BEST:
        return ("keys", "users"), ("rest",)
    if mechanism not in kinds:
        raise InvalidParameter(
            f"No mechanism is called {mechanism!r}.", fix=f"Choose one of {', '.join(mechanisms())}."
        )
    return kinds[mechanism].needs, kinds[mechanism].takes


def build_task(mechanism: str, epsilon: Number, options: Mapping[str, Any], *, users: int | None = None) -> Task:
    """Build the task with these options.

    Missing options are refused, and those that the mechanism does not have.

    Numbers may be given as text.  The attributes of a record are a mapping, or texts that :func:`read_attributes`
    understands.  ``users`` is the number of people who will report; only ``best`` needs it.

    >>> build_task("krr", "1/2", {"keys": ["tea", "coffee"]}).mechanism
    'krr'
    >>> build_task("best", 1, {"keys": 1024}, users=100_000).mechanism
    'olh'
    >>> build_task("duchi", 1, {"low": 0})
    Traceback (most recent call last):
    curador.errors.InvalidParameter: The mechanism duchi needs high. ...
    """
    needed, taken = options_of(mechanism)
    given = {name: value for name, value in options.items() if value is not None}
    missing = [name for name in needed if name not in given and not (name == "users" and users is not None)]
    if missing:
        raise InvalidParameter(
            f"The mechanism {mechanism} needs {', '.join(missing)}.",
            fix="Add what is missing.",
            code="task-option-missing",
            facts={"options": tuple(missing)},
        )
    if unused := [name for name in given if name not in (*needed, *taken)]:
        raise InvalidParameter(
            f"The mechanism {mechanism} does not take {', '.join(unused)}.",
            fix=f"It takes {', '.join((*needed, *taken)) or 'epsilon alone'}.",
            code="task-option-unknown",
            facts={"options": tuple(unused), "takes": (*needed, *taken)},
        )
    if isinstance(given.get("keys"), int) and _digits(given.get("rest")):
        given["rest"] = int(given["rest"])
    if isinstance(given.get("attributes"), list):
        given["attributes"] = read_attributes(given["attributes"])
    if mechanism == BEST:
        return _best(epsilon, users, given)
    return task_kinds()[mechanism](epsilon=epsilon, **given)  # type: ignore[call-arg]


def _best(epsilon: Number, users: int | None, given: dict[str, Any]) -> Task:
    from curador.local.frequency.planning import best_oracle

    assert users is not None  # it is needed
    return best_oracle(given.pop("keys"), epsilon, users, **given)


def read_attributes(texts: Sequence[str]) -> dict[str, Any]:
    """Read the attributes of a record, each written as NAME=LOW:HIGH, NAME=KEY,KEY,… or NAME=HOW-MANY.

    >>> read_attributes(["age=0:100", "drink=tea,coffee", "stars=5"])
    {'age': Range(low='0', high='100'), 'drink': ['tea', 'coffee'], 'stars': 5}
    """
    from curador.local.numeric.record import Range

    found: dict[str, Any] = {}
    for text in texts:
        name, equals, kind = text.partition("=")
        low, colon, high = kind.partition(":")
        if not name or not equals or name in found:
            raise InvalidParameter(
                f"{text!r} is not the description of a further attribute.",
                fix="Write age=0:100, drink=tea,coffee or stars=5.",
            )
        if colon:
            found[name] = Range(low, high)
        else:
            found[name] = int(kind) if _digits(kind) else split_keys(kind)
    return found


def split_keys(text: str) -> list[LocalKey]:
    """Split keys at commas and strip the spaces around them; an empty key is refused as a slip.

    >>> split_keys("tea, iced coffee")
    ['tea', 'iced coffee']
    """
    found: list[LocalKey] = [key.strip() for key in text.split(",")]
    if "" in found:
        raise InvalidParameter(
            f"A key in {text!r} is empty.", fix="Leave the comma out; an empty key can stand in a JSON list in a file."
        )
    return found


def _digits(text: object) -> bool:
    return isinstance(text, str) and text.isascii() and text.isdecimal()
