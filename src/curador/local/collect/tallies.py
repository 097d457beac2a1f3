"""Tallies of one task as documents, and the sum of collectors and saved tallies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from curador.errors import InvalidParameter, InvalidValue
from curador.local.collect.collector import Collector
from curador.local.collect.files import read_document
from curador.local.collect.wire import VERSION
from curador.local.task.tally import MOST_USERS, Tally
from curador.local.task.task import Task


def publish_tally(task: Task, tally: Tally) -> dict[str, object]:
    """Write a tally and the id of its task as a document, to add up the tallies of several places.

    >>> from curador.local import KRR
    >>> task = KRR(keys=3, epsilon=1)
    >>> read_tally(task, publish_tally(task, task.tally([0, 2, 2]))).support.tolist()
    [1, 0, 2]
    """
    return {"curador": VERSION, "task": task.id, "tally": tally.to_json()}


def read_tally(task: Task, document: Mapping[str, Any]) -> Tally:
    """Read the tally of a document, refused unless it is of this task."""
    if not isinstance(document, Mapping) or set(document) != {"curador", "task", "tally"}:
        raise InvalidValue("This is not a tally of a task.", fix="Read what publish_tally() made.")
    if document["curador"] != VERSION:
        raise InvalidValue("This tally is of another version.", fix="Upgrade Curador.")
    if document["task"] != task.id:
        raise InvalidValue("This tally is of another task.", fix="Add tallies of one task only.")
    found = Tally.from_json(document["tally"])
    if found.support.shape != task.empty_tally().support.shape:
        raise InvalidValue("This tally does not fit its task.", fix="Read what publish_tally() made.")
    return found


def total(task: Task, tallies: Iterable[Tally]) -> Tally:
    """Add up the tallies of all parts of a collection.

    >>> from curador.local import KRR
    >>> task = KRR(keys=2, epsilon=1)
    >>> total(task, [task.tally([0]), task.tally([0, 1])]).support.tolist()
    [2, 1]
    """
    found = sum(tallies, start=task.empty_tally())
    if found.users >= MOST_USERS:
        raise InvalidValue("These tallies count more reports than there can be.", fix="Count the reports again.")
    return found


def count_sources(
    sources: Sequence[Path],
    task: Task | None = None,
    *,
    progress: Callable[[float], None] | bool = False,
    notice: Callable[[str], None] | None = None,
) -> tuple[Task, Tally]:
    """Return the task and the sum of tallies from collectors' folders and saved files, all on one task.

    Give ``task`` if there are only saved tallies.  ``notice`` is called if another process uses a collector.
    """
    if len({source.resolve() for source in sources}) < len(sources):
        raise InvalidParameter("A folder or tally is named twice.", fix="Name each once: people count once.")
    collectors = list[Collector]()
    for folder in sources:
        if not folder.is_file():
            collectors.append(Collector.open(folder, task).noticing(notice))
            task = collectors[-1].task
    if task is None:
        raise InvalidParameter(
            "Saved tallies do not contain the task they are of.", fix="Give the task, too.", code="task-missing"
        )
    saved = [read_tally(task, read_document(source, "tally")) for source in sources if source.is_file()]
    return task, total(task, [*saved, *(collector.tally(progress=progress) for collector in collectors)])
