"""How often each caller may come: a moving window, exact, and constant work for each request; and who a caller is.

Written here since the memory storage of `limits` starts a thread for a request and then looks at every caller there is.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Network = IPv4Network | IPv6Network


class Rates:
    """At most so many requests of each name within any so many seconds; for one thread.

    >>> rates = Rates(2)
    >>> [rates.hit("ana") for _ in range(3)], rates.hit("bea")
    ([True, True, False], True)
    """

    def __init__(self, most: int, seconds: float = 60.0, now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._seconds, self._now = most, seconds, now
        self._seen: dict[str, deque[float]] = {}

    def hit(self, name: str) -> bool:
        """Whether this request may come; what is refused does not count."""
        now = self._now()
        self._forget(now - self._seconds)
        times = self._seen.pop(name, None) or deque()
        self._seen[name] = times  # the newest last
        while times and times[0] <= now - self._seconds:
            times.popleft()
        if len(times) >= self._most:
            return False
        times.append(now)
        return True

    def _forget(self, before: float) -> None:
        """Drop the names that have not come for so long, so that strangers do not fill the memory."""
        while self._seen:
            name, times = next(iter(self._seen.items()))
            if times and times[-1] > before:
                return
            del self._seen[name]


def sender(peer: str, forwarded: Iterable[str], trusted: Sequence[Network]) -> str:
    """The address that a request counts for: its peer's, or behind trusted proxies the last hop that is none of them.

    Each proxy writes whom it saw at the end of ``X-Forwarded-For``; what stands before the first hop that nobody
    trusted saw is the sender's own word.

    >>> proxies = (IPv4Network("10.0.0.0/8"),)
    >>> sender("10.0.0.1", ["198.51.100.1, 192.0.2.7", "10.0.0.2"], proxies)
    '192.0.2.7'
    >>> sender("192.0.2.9", ["198.51.100.1"], proxies), sender("10.0.0.1", ["nonsense"], proxies)
    ('192.0.2.9', '10.0.0.1')
    """
    found = address_of(peer)
    for hop in reversed(",".join(forwarded).split(",")):
        if found is None or not any(found in network for network in trusted):
            break
        seen = address_of(hop)
        if seen is None:
            break
        found = seen
    return peer if found is None else subscriber(found)


def subscriber(found: IPv4Address | IPv6Address) -> str:
    """The name under which an address is counted: a subscriber has 2**64 addresses of IPv6, which count as one.

    >>> subscriber(ip_address("192.0.2.7")), subscriber(ip_address("2001:db8::7"))
    ('192.0.2.7', '2001:db8::')
    """
    return str(IPv6Address(int(found) >> 64 << 64) if isinstance(found, IPv6Address) else found)


_PORT = re.compile(r"\[([^\]]+)\](?::\d+)?|([\d.]+):\d+")
"""An address that some proxies write with the port of its sender."""


def address_of(text: str) -> IPv4Address | IPv6Address | None:
    """An address as it is written, with or without a port, also one of IPv4 written as IPv6; None for anything else.

    >>> [str(address_of(text)) for text in ("203.0.113.7:443", "[2001:db8::1]:443", "::ffff:203.0.113.7", "unknown")]
    ['203.0.113.7', '2001:db8::1', '203.0.113.7', 'None']
    """
    with_port = _PORT.fullmatch(text.strip())
    plain = text.strip() if with_port is None else with_port[1] or with_port[2]
    try:
        found = ip_address(plain.partition("%")[0])
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found
