"""What a forked child does not share with its parent: state that draws noise for one charge, connections, locks."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, Protocol
from weakref import WeakSet

from curador.errors import NotPromised

_forks = 0  # how often Python has forked on the way to this process: a number may be given to a process again
_REBORN: WeakSet[Reborn] = WeakSet()
_named: list[object] = [None, ""]


class Reborn(Protocol):
    """An object that a forked child makes anew."""

    def made_anew(self) -> None:
        """Called in the child before anything else runs there: drops locks and connections, waits for nothing."""
        ...


def process() -> tuple[int, int]:
    """This process: its number, and how many forks it is away from the first one.

    >>> process() == process()
    True
    """
    return os.getpid(), _forks


def process_name() -> str:
    """A name for this process that another one of the machine can look up; empty where the system has no such names.

    >>> process_name() == process_name(), has_ended(process_name())
    (True, False)
    """
    if _named[0] != process():
        with suppress(OSError, ValueError, IndexError):
            _named[:] = [process(), f"{_machine()}:{os.getpid()}:{_state(os.getpid())[19]}"]
    return str(_named[1]) if _named[0] == process() else ""


def has_ended(name: str) -> bool:
    """Whether a process has ended for certain: it was one of this machine, and does not run here any more.

    One that was killed and whose parent has not asked about it yet, as in a container without an init, has ended.

    >>> has_ended("another machine:1:1"), has_ended("")
    (False, False)
    """
    machine, _, rest = name.partition(":")
    number, _, started = rest.partition(":")
    try:
        if not started or machine != _machine():
            return False
        state = _state(int(number))
        return state[0] in ("Z", "X", "x") or state[19] != started.partition(":")[0]
    except FileNotFoundError:
        return True
    except (OSError, ValueError, IndexError):
        return False


def runs(name: str) -> bool:
    """Whether a process runs on this machine, for certain.

    >>> runs(process_name()), runs("another machine:1:1")
    (True, False)
    """
    return name.partition(":")[0] == process_name().partition(":")[0] and not has_ended(name)


def _machine() -> str:
    """This machine since it was started, and the set of process numbers that this process sees (a container's)."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return hashlib.sha256(f"{file.read()}{os.readlink('/proc/self/ns/pid')}".encode()).hexdigest()[:16]


def _state(number: int) -> list[str]:
    """What the system says of a process: first its state; at 19 when it was started, since numbers are given again."""
    with open(f"/proc/{number}/stat") as file:
        return file.read().rpartition(")")[2].split()


def after_fork(thing: Reborn) -> None:
    """Let an object be made anew in every forked child; it is not kept alive by this."""
    _REBORN.add(thing)


def keep_for_ever(thing: object) -> None:
    """Never collect an object of the parent's: its threads are not here, and ending it would wait for them or crash."""
    import ctypes  # not needed but in a forked child

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def _in_child() -> None:
    global _forks
    _forks += 1
    for thing in list(_REBORN):
        with suppress(AttributeError):  # of one that a thread of the parent was making: nobody has it here
            thing.made_anew()


os.register_at_fork(after_in_child=_in_child)


if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property:
        """What is worked out once for an object, and kept with it.

        Until Python 3.12 that of functools has a lock for all objects of a class: a child that was forked while a
        thread of its parent had it would wait for ever.  Here two threads may work out the same; both get the first.
        """

        def __init__(self, work: Callable[[Any], Any]) -> None:
            self._work, self._name, self.__doc__ = work, work.__name__, work.__doc__

        def __get__(self, thing: Any, kind: type | None = None) -> Any:
            if thing is None:
                return self
            return thing.__dict__.setdefault(self._name, self._work(thing))


class OneProcess:
    """State that draws noise against one charge, and so stays in the process that opened it.

    Guarantee: a forked child is refused, and nothing of it can be copied or pickled: each copy would draw again.

    >>> import copy
    >>> copy.copy(OneProcess())
    Traceback (most recent call last):
    TypeError: what draws noise for one charge is not copied: each copy would draw again
    """

    __slots__ = ("_home",)

    def __init__(self) -> None:
        self._home = process()

    def __reduce__(self) -> NoReturn:
        raise TypeError("what draws noise for one charge is not copied: each copy would draw again")

    def require_home(self) -> None:
        """Refuse to go on in another process; called before any lock is taken, since a child may find it held."""
        if self._home != process():
            raise NotPromised(
                "This was opened in another process, before a fork, and goes on there.",
                fix="Open a new one here, which is paid for again.",
                cost="its whole cost was spent at opening; nothing was drawn here",
                code="opened-before-fork",
            )
