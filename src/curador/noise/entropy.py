"""Random bits: the only file that touches the operating system's entropy."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Entropy(Protocol):
    """A source of independent fair bits. Tests script their own; nothing else should."""

    def words(self, n: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
        """``n`` independent uniform machine words."""

    def bits(self, k: int) -> int:
        """A uniform integer below 2**k."""


FEW = 128
"""Bytes up to which the kernel's generator is the quicker one; beyond, OpenSSL's is up to twenty times quicker."""

MOST = 1 << 30
"""Bytes that OpenSSL's generator is asked for at once: it counts them in a C int."""


def _random(size: int) -> bytes:
    """Random bytes.  Neither generator keeps a buffer in this process, so there is nothing for a fork to duplicate."""
    if size <= FEW:
        return os.urandom(size)
    if size <= MOST:
        return _many()(size)
    return b"".join(_many()(min(MOST, size - start)) for start in range(0, size, MOST))


_fresh: Callable[[int], bytes] = _random


@cache
def _many() -> Callable[[int], bytes]:
    import ssl  # loaded when many bytes are wanted: one question wants few

    # OpenSSL's generator reseeds in a forked child only since 1.1.1d [CVE-2019-1549].  The kernel's always does.
    return ssl.RAND_bytes if ssl.OPENSSL_VERSION_INFO >= (1, 1, 1, 4) else os.urandom


class SystemEntropy:
    """Cryptographically secure bits, safe across threads and forks.

    Fails: a virtual machine restored twice from one snapshot may repeat its stream until the system reseeds.

    >>> 0 <= SystemEntropy().bits(10) < 1024
    True
    """

    __slots__ = ()

    def words(self, n: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
        return np.frombuffer(_fresh(n * np.dtype(dtype).itemsize), dtype=dtype)

    def bits(self, k: int) -> int:
        size = (k + 7) // 8
        return int.from_bytes(_fresh(size), "little") >> (8 * size - k)


SYSTEM: Entropy = SystemEntropy()
"""The source every release uses."""
