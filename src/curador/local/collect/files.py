"""Files of tasks and keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from curador.errors import InvalidParameter
from curador.local.collect.intake import strict_json
from curador.local.collect.wire import publish_task, read_task
from curador.local.task.keys import LocalKey
from curador.local.task.task import Task
from curador.show.files import create


def write_task(file: Path, task: Task) -> Path:
    """Publish a task as a new file.

    >>> import tempfile
    >>> from curador.local import KRR
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     task = KRR(keys=2, epsilon=1).named("drinks")
    ...     read_task_file(write_task(Path(folder) / "task.json", task)).mechanism
    'krr'
    """
    return create(file, [json.dumps(publish_task(task), indent=1), "\n"])


def read_task_file(file: Path) -> Task:
    """Read the task in a file that :func:`write_task` wrote."""
    return read_task(read_document(file, "task"))


def read_document(file: Path, what: str) -> Any:
    """Read JSON from a file, refused unless all readers understand it alike.

    Refusals name it by ``what``.
    """
    try:
        return strict_json(file.read_text(encoding="utf-8"))
    except OSError:
        raise InvalidParameter(f"{file.name} cannot be read.", fix=f"Give the file of a {what}.") from None
    except ValueError:
        raise InvalidParameter(f"{file.name} is not a {what}.", fix=f"Give the file of a {what}.") from None


def read_keys(file: Path) -> Sequence[LocalKey]:
    """Read the keys in a file: one on each line, or a JSON list, which may hold integers."""
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
        raise InvalidParameter(f"{file.name} is not a JSON list.", fix='Write ["a", "b"].')
    return found
