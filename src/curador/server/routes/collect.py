"""Local reports from devices: nobody is asked who they are, and nothing is kept but the report.

A report is private before it comes here.  The answer is the same whether it counts, came before, or is no report at
all: otherwise a sender could learn from it what others sent.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from curador.errors import CuradorError, InvalidParameter
from curador.local.collect.collector import Collector
from curador.server.gate.metrics import LOG
from curador.server.gate.refusals import not_found, refused
from curador.server.gate.settings import Settings
from curador.server.service import Service, Serving

router = APIRouter(prefix="/v1/collect", tags=["collect"])

Name = Annotated[str, Path(max_length=100)]

LARGEST_UNPACKED = 8
"""How many times as large as a request may be, what it unpacks to may be."""

PIECE, MOST_FILES = 1 << 16, 100
"""Bytes that are unpacked at a time, and files by gzip in one body."""

MOST_WAITING = 64 * 1024 * 1024
"""Bytes that may wait for one collector; who sends more meanwhile is asked to come again."""


@dataclass
class CollectedTask:
    """A collector, and the bodies that wait for it: those that come while it writes are written together."""

    collector: Collector
    document: bytes
    waiting: list[tuple[bytes, asyncio.Future[None]]] = field(default_factory=list)
    writing: bool = False

    async def take(self, body: bytes, serving: Service) -> None:
        """Return when the messages of a body are written."""
        if sum(len(other) for other, _ in self.waiting) + len(body) > MOST_WAITING:
            raise refused("There are too many reports at once.", "Send them again in a minute.", "too-many")
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((body, done))
        if not self.writing:
            self.writing = True
            await self._write(serving)
        await done

    async def _write(self, serving: Service) -> None:
        try:
            while self.waiting:
                batch, self.waiting = self.waiting, []
                try:
                    await serving.work(lambda batch=batch: self.collector.collect(_lines(batch)))  # type: ignore[misc]
                except Exception as error:  # noqa: BLE001  each sender is told, and sends again
                    _end(batch, error)
                else:
                    _end(batch, None)
        finally:
            self.writing = False


def _lines(batch: list[tuple[bytes, asyncio.Future[None]]]) -> Iterator[bytes]:
    """The messages of some bodies; those of one body at a time are in memory."""
    for body, _ in batch:
        yield from (line for line in body.splitlines() if line.strip())


def _end(batch: list[tuple[bytes, asyncio.Future[None]]], error: Exception | None) -> None:
    for _, done in batch:
        if not done.done():
            done.set_exception(error) if error is not None else done.set_result(None)


def open_more(collected: dict[str, CollectedTask], settings: Settings, *, must: bool = False) -> None:
    """Open the collectors that a study names and that are not: at the start all, later those of other processes.

    One that cannot be opened is logged, and keeps no other from it, unless it ``must``.
    """
    for name, folder in settings.collect.items():
        if name not in collected:
            try:
                collected.setdefault(name, taken_by(Collector.open(folder)))
            except CuradorError as error:
                if must:
                    raise
                LOG.error(json.dumps({"collect": name, "because": error.code}))


def taken_by(collector: Collector) -> CollectedTask:
    """What takes reports for a collector."""
    return CollectedTask(collector, (collector.folder / "task.json").read_bytes())


def _task(serving: Service, name: str) -> CollectedTask:
    if name not in serving.collected:
        raise not_found()
    found: CollectedTask = serving.collected[name]
    return found


def _headers(request: Request, serving: Service) -> dict[str, str]:
    """What a browser wants to hear before a page of another site may send."""
    origin = request.headers.get("origin")
    if origin is None or origin not in serving.settings.origins:
        return {}
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Methods": "GET, POST",
        "Access-Control-Allow-Headers": "content-type, content-encoding",
        "Access-Control-Max-Age": "600",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Vary": "Origin",
    }


@router.get("/{name}", response_class=Response)
async def task_document(name: Name, request: Request, serving: Serving) -> Response:
    """The task that devices answer; its SHA-256 is the entity tag."""
    document = _task(serving, name).document
    tag = {"ETag": f'"{sha256(document).hexdigest()}"'}
    return Response(document, media_type="application/json", headers={**_headers(request, serving), **tag})


@router.options("/{name}", response_class=Response, status_code=204)
async def preflight(name: Name, request: Request, serving: Serving) -> Response:
    """Whether a page of another site may send reports."""
    return Response(status_code=204, headers=_headers(request, serving))


@router.post("/{name}", response_class=Response, status_code=204)
async def report(name: Name, request: Request, serving: Serving) -> Response:
    """Take reports, one message a line, also packed by gzip; the answer says only that they were written."""
    found = _task(serving, name)
    sent, encoding = await request.body(), request.headers.get("content-encoding", "")
    body = await serving.work(lambda: _unpacked(sent, encoding, serving.settings.body)) if encoding else sent
    if body.strip():
        await found.take(body, serving)
    return Response(status_code=204, headers=_headers(request, serving))


def _unpacked(body: bytes, encoding: str, most: int) -> bytes:
    if not encoding:
        return body
    if encoding.lower() != "gzip":
        raise InvalidParameter("Reports are packed by gzip, or not at all.", fix="Send them so.", code="not-gzip")
    parts = list(_parts(body, LARGEST_UNPACKED * most))
    return b"".join(parts)


def _parts(body: bytes, most: int) -> Iterator[bytes]:
    """What a body unpacks to: one file by gzip, or several one after another, as a relay may put them."""
    unpack, size, files, at = zlib.decompressobj(wbits=31), 0, 1, 0
    try:
        while at < len(body):
            if unpack.eof:
                at = len(body) - len(body[at:].lstrip(b"\0"))
                if at == len(body):
                    break
                unpack, files = zlib.decompressobj(wbits=31), files + 1
                if files > MOST_FILES:
                    raise refused("These are too many files by gzip.", "Pack them together.", "too-large")
            given = body[at : at + PIECE]  # a piece at a time: what is left of one is copied
            at += len(given)
            while given and not unpack.eof:
                part = unpack.decompress(given, PIECE)
                size += len(part)
                if size > most:
                    raise refused("This unpacks to too much.", "Send less at once.", "too-large")
                yield part
                given = unpack.unconsumed_tail
            at -= len(unpack.unused_data)
    except zlib.error:
        raise _not_gzip() from None
    if not unpack.eof:
        raise _not_gzip()


def _not_gzip() -> InvalidParameter:
    return InvalidParameter("This is not gzip.", fix="Pack it again.", code="not-gzip")
