"""The entry point: ``curador`` runs :func:`main`.

Most of the time of a short command goes to building all commands and their options.  A plain ``ask`` is read here
instead, from the same function and the same declared options; whatever is not plain goes to :mod:`curador.cli.app`.
A process that answers one question then spends its time on starting and ending, so that both are kept short.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args, get_type_hints

from curador.errors import CuradorError

QUICK = ("ask", "sql")

SELDOM = 100_000
"""Objects made between two searches for cycles among them: while modules are loaded, nothing is there to be found."""

_READ: dict[object, Callable[[str], object]] = {str: str, int: int, float: float, Path: Path}


def main() -> None:
    """Run the command line and end the process; a refusal is one clear message and exit code 1."""
    gc.set_threshold(SELDOM)
    if sys.argv[1:2] and sys.argv[1] in QUICK:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a question has no use for its threads
    run()
    sys.stdout.flush()
    sys.stderr.flush()
    # Everything is closed by now.  Taking the interpreter apart would take a tenth of the time of a question.
    os._exit(0)


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line within a process that goes on, on what was typed or on these arguments.

    A refusal is one clear message and exit code 1.
    """
    typed = sys.argv[1:] if arguments is None else arguments
    found = quick_options(typed) if typed and typed[0] in QUICK else None
    if found is None:
        from curador.cli.app import main as every_command

        return every_command(arguments)
    from curador.cli.asking import ask
    from curador.cli.hints import with_hint
    from curador.cli.screen import decide_language, ended

    try:
        ask(**{**found, "language": decide_language(found.get("language", ""))})
    except CuradorError as refusal:
        raise SystemExit(ended(with_hint(refusal), as_json="--json" in typed)) from None


def quick_options(typed: Sequence[str]) -> dict[str, Any] | None:
    """The arguments of ``ask`` as they were typed, after its name; None for anything that is not plain.

    >>> quick_options(["ask", "SELECT 1", "--epsilon", "0.1", "--json"])
    {'sql': 'SELECT 1', 'epsilon': '0.1', 'as_json': True}
    >>> quick_options(["ask", "SELECT 1", "--epsilon=0.1", "--rows", "many"]) is None
    True
    """
    from curador.cli.asking import ask

    known: dict[str, tuple[str, Any]] = {}
    for name, hint in get_type_hints(ask, include_extras=True).items():
        if name in ("sql", "return"):
            continue
        kind, option = get_args(hint)
        if getattr(option, "min", None) is None:  # limits are checked by the other parser
            own = option.default if isinstance(option.default, str) else f"--{name.replace('_', '-')}"
            for word in (own, *option.param_decls):
                known[word] = name, kind
    found: dict[str, Any] = {}
    words = iter(typed[1:])
    for word in words:
        if not word.startswith("-") and "sql" not in found:
            found["sql"] = word
            continue
        if word not in known:
            return None
        name, kind = known[word]
        if kind is bool:
            found[name] = True
            continue
        read = next((_READ[part] for part in (kind, *get_args(kind)) if part in _READ), None)
        text = next(words, None)
        if read is None or text is None or text.startswith("-"):
            return None
        try:
            found[name] = read(text)
        except ValueError:
            return None
    return found if "sql" in found else None
