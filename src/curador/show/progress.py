"""A bar for long work, on standard error and only where a person looks at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def bar(what: str, console: Console | None = None) -> Iterator[Callable[[float], None] | None]:
    """Show how far the work of the body is, if standard error is a terminal; gives what is to be told of it.

    It is told the part that is done, from 0 to 1, or -1 where nobody knows.

    >>> with bar("reading") as tell:
    ...     tell is None  # nobody looks at the output of a test
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

        def tell(part: float) -> None:
            if part >= 0:
                progress.update(task, total=1.0, completed=part)

        yield tell


def watched(progress: Callable[[float], None] | bool) -> AbstractContextManager[Callable[[float], None] | None]:
    """Who is told how far the work is, while it lasts: a callback, a bar in a terminal for True, or nobody.

    >>> with watched(False) as tell:
    ...     print(tell)
    None
    """
    if progress is True:
        return bar("reading")
    return nullcontext(progress or None)
