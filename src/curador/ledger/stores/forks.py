"""What a process does anew after it was forked: locks that other threads held, and files that it would share."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable


def after_fork(anew: Callable[[], None]) -> None:
    """Call a method in every child of this process; its object is not kept alive by that.

    A thread that held a lock when the process forked does not exist in the child, and nobody would release it there.
    """
    os.register_at_fork(after_in_child=weakly(anew))


def weakly(method: Callable[[], None]) -> Callable[[], None]:
    """A call to a method that does not keep its object alive.

    >>> class Lamp:
    ...     def light(self):
    ...         print("on")
    >>> lamp = Lamp(); light = weakly(lamp.light); light()
    on
    >>> del lamp; light()
    """
    found = weakref.WeakMethod(method)

    def call() -> None:
        if (alive := found()) is not None:
            alive()

    return call
