"""An application served on a loopback port, from a thread of this process: for attacks and tests."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from curador.server.gate.heads import HeadsInTime


@contextmanager
def on_loopback(app: FastAPI) -> Iterator[str]:
    """Serve until the end of the block; its address.

    Fails: RuntimeError if it does not start, as where the curator cannot be opened.
    """
    config = uvicorn.Config(
        app, http=HeadsInTime, log_level="error", access_log=False, server_header=False, proxy_headers=False
    )
    server = uvicorn.Server(config)
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("the server did not start")
            thread.join(0.005)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)
        listening.close()
