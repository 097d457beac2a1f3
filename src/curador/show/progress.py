"""A progress bar for long work, on standard error and only in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def bar(what: str, console: Console | None = None) -> Iterator[Callable[[float], None] | None]:
    """Show a bar while the body runs, if standard error is a terminal; yields the callback that moves it, or None.

    The callback takes the part that is done, from 0 to 1, or -1 where it is unknown.

    >>> with bar("reading") as update:
    ...     update is None  # the output of a test is not a terminal
    True
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    shown = Console(stderr=True) if console is None else console
    if not shown.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=shown, transient=True) as progress:
        task = progress.add_task(what, total=None)

        def update(part: float) -> None:
            if part >= 0:
                progress.update(task, total=1.0, completed=part)

        yield update


def watched(progress: Callable[[float], None] | bool) -> AbstractContextManager[Callable[[float], None] | None]:
    """A context that gives the callback for progress: the one passed, that of a bar for True, or None for False.

    >>> with watched(False) as update:
    ...     print(update)
    None
    """
    if progress is True:
        return bar("reading")
    return nullcontext(progress or None)
