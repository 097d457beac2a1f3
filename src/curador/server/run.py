"""`curador serve`: opens a study behind HTTP."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from curador import Curator, ErrorLog
from curador.curator.study.file import read_study
from curador.errors import InvalidParameter
from curador.server.access.people import first_code
from curador.server.app import job_records, make_app
from curador.server.console.sign import START
from curador.server.gate.heads import HeadsInTime
from curador.server.gate.metrics import LOG as SERVER_LOG
from curador.server.gate.metrics import write_log
from curador.server.gate.settings import Settings

STUDY, LOG, WORKERS = "CURADOR_SERVED_STUDY", "CURADOR_SERVED_LOG", "CURADOR_SERVED_WORKERS"
"""Where worker processes find what to open."""

WAITING = 2048
"""Connections that may wait to be accepted."""


def _first_code(study: Path) -> str | None:
    curator = Curator(study)
    try:
        return first_code(curator.ledger)
    finally:
        curator.close()


def served_app() -> FastAPI:
    """The application of the study that the environment names; each worker process makes its own, with its log."""
    write_log()
    study = Path(os.environ[STUDY])
    log = os.environ.get(LOG)
    settings = Settings.read(read_study(study).server, study.parent).divided(int(os.environ.get(WORKERS, "1")))
    told = ErrorLog(Path(log)) if log else None
    proxied = settings.behind_tls or settings.trusted_proxies
    HeadsInTime.most = None if proxied else settings.connections  # a proxy has the connections of all
    if settings.behind_tls and not settings.trusted_proxies:
        SERVER_LOG.warning(json.dumps({"server": "no trusted_proxies: all who show no token count as one address"}))
    return make_app(lambda ledger: Curator(study, ledger=ledger, on_error=told), settings, job_file(study))


def job_file(study: Path) -> Path:
    """Where the processes that serve a study share their jobs."""
    return study.with_name(f"{study.stem}.jobs")


def serve(
    study: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    certificate: Path | None = None,
    private_key: Path | None = None,
    log: Path | None = None,
    ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve a study until it is stopped; ``ready`` is told the address to start with."""
    job_records(job_file(study), Settings.read(read_study(study).server))  # refused here, once, not in every worker
    if (certificate is None) != (private_key is None):
        raise InvalidParameter("TLS needs a certificate and its key.", fix="Give both, or neither.")
    if host not in ("127.0.0.1", "::1", "localhost") and certificate is None:
        raise InvalidParameter(
            "Tokens would go over the network unencrypted.",
            fix="Give a certificate and its key; or serve on 127.0.0.1, behind a proxy that has one.",
            code="no-tls",
        )
    os.environ[STUDY], os.environ[WORKERS] = str(study.resolve()), str(workers)
    if log is not None:
        os.environ[LOG] = str(log.resolve())
    with _listening(host, port) as bound:  # first: nobody is sent to an address that another program answers
        code = _first_code(study)
        shown = f"[{host}]" if ":" in host else host
        scheme = "http" if certificate is None else "https"
        ready(f"{scheme}://{shown}:{port}{'' if code is None else f'{START}#{code}'}")
        _run(_config(workers, certificate, private_key), bound)


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; who connects before the application runs waits for it."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.create_server(address[:2], family=family, backlog=WAITING)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InvalidParameter(
                f"Port {port} of {host} is taken: another program listens there.",
                fix=f"Stop it, or choose another port, such as --port {port + 1 if port < 65535 else port - 1}.",
                code="port-taken",
            ) from None
        reason = error.strerror or "it is refused"
        raise InvalidParameter(
            f"Nothing can listen on port {port} of {host}: {reason}.", fix="Choose another address or port."
        ) from None
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # head and body are two writes: 44 ms between them
    bound.set_inheritable(True)  # by worker processes
    return bound


def _run(config: uvicorn.Config, bound: socket.socket) -> None:
    server = uvicorn.Server(config)
    try:
        if config.workers > 1:
            supervisor: Any = Multiprocess
            older = {"target": server.run} if "target" in signature(Multiprocess).parameters else {}
            supervisor(config, sockets=[bound], **older).run()
        else:
            server.run(sockets=[bound])
    except KeyboardInterrupt:  # as it is stopped
        return
    if config.workers == 1 and not server.started:
        raise SystemExit(3)  # why was logged


def _config(workers: int, certificate: Path | None, private_key: Path | None) -> uvicorn.Config:
    return uvicorn.Config(
        "curador.server.run:served_app",
        factory=True,
        http=HeadsInTime,
        ws="none",
        workers=workers,
        ssl_certfile=None if certificate is None else str(certificate),
        ssl_keyfile=None if private_key is None else str(private_key),
        log_level="warning",
        access_log=False,  # an address may name what was asked
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=30,
        limit_concurrency=1000,
    )
