"""What a connection must do in time: send the first lines of a request, and read what it asked for.

uvicorn waits for both for ever, and has only so many connections for everybody.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import Counter
from contextlib import suppress
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from curador.server.gate.rates import address_of, subscriber

AT_ONCE = struct.pack("ii", 1, 0)
"""Of a socket that is closed: what is unsent is dropped."""


class HeadsInTime(H11Protocol):
    """A connection that ends if the head of a request is not whole in time, or if its answer is not read.

    * ``seconds``: from its beginning until a head is whole.  What comes after the head is the guard's to wait for;
      between two requests uvicorn's own limit holds;
    * ``unread``: seconds in which ``least`` bytes of what waits to be sent must go, also of a connection that is being
      closed, which otherwise waits for its reader; ``leaving``: the same while the server stops;
    * ``most``: connections of one address at a time in this process; None counts none.
    """

    seconds = 10.0
    # The system holds megabytes beyond what is seen here, and asks for more in steps: a slow line shows no progress for
    # minutes.
    unread, leaving, least = 300.0, 3.0, 16 * 1024
    most: ClassVar[int | None] = None
    _held: ClassVar[Counter[str]] = Counter()
    _late: asyncio.TimerHandle | None = None
    _looking: asyncio.TimerHandle | None = None
    _stopping = False
    _waited = 0
    """Bytes that waited to be sent when they were last looked at; 0 once others have taken their place."""
    _from: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        found = counted(self.client)
        if self.most is not None and found is not None and self._held[found] >= self.most:
            transport.abort()
            return
        if found is not None:
            self._from = found
            self._held[found] += 1
        self._watch()
        self._look()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        if self._looking is not None:
            self._looking.cancel()
        if self._from is not None:
            self._held[self._from] -= 1
            if not self._held[self._from]:
                del self._held[self._from]
            self._from = None
        super().connection_lost(exc)

    def resume_writing(self) -> None:
        self._waited = 0
        super().resume_writing()

    def on_response_complete(self) -> None:
        """What waits from here on is another response: nothing is written while an older one keeps writing paused."""
        self._waited = 0
        super().on_response_complete()

    def shutdown(self) -> None:
        """Whoever reads nothing does not keep the server from stopping."""
        super().shutdown()
        self._stopping, self._waited = True, 0
        if self._looking is not None:
            self._looking.cancel()
            self._look()

    def _look(self) -> None:
        """End the connection where hardly anything of what waited went since the last look; look again."""
        waits = self.transport.get_write_buffer_size()
        if waits and self._waited and self._waited - waits < self.least:
            with suppress(OSError, AttributeError):  # otherwise the system would keep what it was given for minutes
                self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            self.transport.abort()
            return
        self._waited = waits
        self._looking = self.loop.call_later(self.leaving if self._stopping else self.unread, self._look)

    def _watch(self) -> None:
        """Wait for a head, unless it is there; more bytes of the same head do not begin the time anew."""
        if self.conn.their_state is not h11.IDLE:
            self._forget()
        elif self._late is None:
            self._late = self.loop.call_later(self.seconds, self._end)

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _end(self) -> None:
        self._late = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


def counted(client: tuple[str, int] | None) -> str | None:
    """The address whose connections are counted together; None for this machine's own, where a proxy may be.

    >>> counted(("127.0.0.1", 5000)), counted(("192.0.2.7", 5000)), counted(("2001:db8::7", 5000))
    (None, '192.0.2.7', '2001:db8::')
    """
    found = address_of(client[0]) if client else None
    return None if found is None or found.is_loopback else subscriber(found)
