"""Random bits: the only file that touches the operating system's entropy."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Entropy(Protocol):
    """A source of independent fair bits.  Only tests script their own."""

    def words(self, n: int, dtype: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
        """Draw ``n`` independent uniform machine words."""

    def bits(self, k: int) -> int:
        """Draw a uniform integer below 2**k."""


FEW = 128
"""The most bytes for which the kernel's generator is quicker; beyond, OpenSSL's is up to twenty times quicker."""

MOST = 1 << 30
"""The most bytes to request at once from OpenSSL's generator, which counts them in a C int."""


def _random(size: int) -> bytes:
    """Draw random bytes; neither generator has a buffer in this process that a fork could duplicate."""
    if size <= FEW:
        return os.urandom(size)
    if size <= MOST:
        return _many()(size)
    return b"".join(_many()(min(MOST, size - start)) for start in range(0, size, MOST))


_fresh: Callable[[int], bytes] = _random


@cache
def _many() -> Callable[[int], bytes]:
    import ssl  # loaded when many bytes are needed: a single question needs few

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
"""The source of every release."""
