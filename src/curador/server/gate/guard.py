"""What a request must pass before anybody reads it: rate, token, size, time, and how many run at once.

A request that is refused here has cost a lookup and no more.  Every response gets the headers that browsers heed.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from starlette.concurrency import run_in_threadpool

from curador import Ledger
from curador.errors import CuradorError, NotAllowed
from curador.server.access.auth import Caller, caller, new_request_id
from curador.server.gate.cookies import session_cookie
from curador.server.gate.metrics import LOG, Metrics
from curador.server.gate.problems import Refusal
from curador.server.gate.rates import Rates, sender
from curador.server.gate.refusals import refused, unforeseen
from curador.server.gate.settings import Settings

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

STRANGERS_BODY = 4096
"""Bytes that a request without a valid token may have."""

COLLECT = "/v1/collect/"
"""Devices have no token; what they send is as large as that of a caller who has one."""

CONSOLE, STATIC = "/console", "/console/static/"
"""Pages know their visitors by a cookie, which opens nothing else; what only decorates them is for everybody."""

PROBES = ("/health", "/ready")
"""Asked by whatever watches the server, often and without a token: never limited."""

SIGN_IN = ("/console/sign-in", "/console/start", "/console/password", "/v1/session")
"""Where a password or a code is tried."""

UPLOAD = "/console/tables/upload"
UPLOAD_FORM = "/console/tables/upload-form"
"""Where a curator sends a file of rows, which is written as it comes: by a script, or in a form."""

HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


class Guard:
    """The outermost layer of the server."""

    def __init__(
        self,
        app: App,
        ledger: Callable[[], Ledger],
        visitor: Callable[[str], Caller | None],
        settings: Settings,
        metrics: Metrics,
        refusal: Refusal,
    ) -> None:
        self._app, self._ledger, self._settings, self._metrics = app, ledger, settings, metrics
        self._of_cookie = visitor
        self._refusal = refusal
        self._of_token, self._of_address = Rates(settings.per_token), Rates(settings.per_address)
        self._of_sign_in = Rates(settings.sign_ins)
        self._running: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._settings.behind_tls:
            scope["scheme"] = "https"
        name, began = new_request_id(), time.monotonic()
        state = scope.setdefault("state", {})
        state["request_id"], state["caller"] = name, None
        headed = self._headed(scope, send, name, began)
        try:
            try:
                state["caller"] = who = await self._admitted(scope)
                given = self._streamed(scope, receive) if _uploads(scope, who) else None
                given = given or _given(await self._body(scope, receive, who), receive)
            except CuradorError as error:
                retry = {"Retry-After": "60"} if error.code == "too-many" else {}
                await self._refusal(scope, error, retry)(scope, receive, headed)
                return
            with self._at_once(who):
                await self._app(scope, given, headed)
        except CuradorError as error:
            await self._refusal(scope, error, {"Retry-After": "1"})(scope, receive, headed)
        except Exception as error:  # noqa: BLE001  its text and its frames may quote rows: only its kind is logged
            LOG.error(json.dumps({"request": name, "failed": type(error).__name__}))
            await self._refusal(scope, unforeseen(), {})(scope, receive, headed)

    async def _admitted(self, scope: Scope) -> Caller | None:
        """The caller; None without a token, and refused with one that opens nothing.

        A page's visitor whose session has ended is a stranger, who is shown where to sign in.  A valid token is counted
        by itself, so that nobody at the same address can use up its requests; all else counts for its address.
        """
        if scope["path"] in PROBES:
            return None
        forwarded = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
        address = sender((scope.get("client") or ("", 0))[0], forwarded, self._settings.trusted_proxies)
        found, wrong = None, None
        try:
            found = await (self._visitor(scope) if on_console(scope) else self._bearer(scope))
        except NotAllowed as error:
            wrong = error
        if found is None and not self._of_address.hit(address):
            raise _too_many()
        if wrong is not None:
            raise wrong
        if found is not None and not self._of_token.hit(found.id):
            raise _too_many()
        tried = scope["method"] == "POST" and scope["path"] in SIGN_IN
        if tried and not self._of_sign_in.hit(address if found is None else found.id):
            raise _too_many()
        return found

    async def _visitor(self, scope: Scope) -> Caller | None:
        cookie = session_cookie(scope)
        if not cookie or scope["path"].startswith(STATIC):
            return None
        return await run_in_threadpool(self._of_cookie, cookie)

    async def _bearer(self, scope: Scope) -> Caller | None:
        shown = [value for name, value in scope["headers"] if name == b"authorization"]
        if not shown:
            return None
        kind, _, token = shown[0].decode("latin-1").partition(" ")
        if len(shown) > 1 or kind.lower() != "bearer":
            raise NotAllowed("This is not a bearer token.", fix="Send Authorization: Bearer ….", code="not-signed-in")
        return await run_in_threadpool(caller, self._ledger(), token.strip())

    async def _body(self, scope: Scope, receive: Receive, who: Caller | None) -> bytes:
        """All of the request's body, if it is not too large and does not take too long."""
        most = self._settings.body
        if who is None and not scope["path"].startswith(COLLECT):
            most = min(most, STRANGERS_BODY)
        _refuse_stated(scope, most)
        try:
            async with asyncio.timeout(self._settings.reading):
                return await _collected(receive, most)
        except TimeoutError:
            raise refused("The request did not come in time.", "Send it at once.", "too-slow") from None

    def _streamed(self, scope: Scope, receive: Receive) -> Receive:
        """The body of a file as it comes: each part in time, and all together not too large."""
        most, size = self._settings.upload, 0
        _refuse_stated(scope, most)

        async def next_part() -> Message:
            nonlocal size
            try:
                async with asyncio.timeout(self._settings.reading):
                    message = await receive()
            except TimeoutError:
                raise refused("The request did not come in time.", "Send it at once.", "too-slow") from None
            size += len(message.get("body", b""))
            if size > most:
                raise _too_large(most)
            return message

        return next_part

    @contextmanager
    def _at_once(self, who: Caller | None) -> Iterator[None]:
        if who is None:
            yield
            return
        if self._running[who.id] >= self._settings.at_once:
            raise _too_many()
        self._running[who.id] += 1
        try:
            yield
        finally:
            self._running[who.id] -= 1
            if not self._running[who.id]:
                del self._running[who.id]

    def _headed(self, scope: Scope, send: Send, name: str, began: float) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", ()))
                stated = {key.lower() for key, _ in own}
                usual = [header for header in HEADERS if header[0] not in stated]
                message["headers"] = [*own, *usual, (b"x-request-id", name.encode())]
                self._metrics.responded(scope, message["status"], time.monotonic() - began)
            await send(message)

        return send_with_headers


def on_console(scope: Scope) -> bool:
    """Whether a request is for a page."""
    path: str = scope["path"]
    return path == CONSOLE or path.startswith(f"{CONSOLE}/")


def _uploads(scope: Scope, who: Caller | None) -> bool:
    """Whether a curator's own page sends a file: by a header that no form has, or in a form that, as the browser says,
    is of this server.
    """
    if scope["method"] != "POST" or who is None or who.role != "curator":
        return False
    if scope["path"] == UPLOAD:
        return any(name == b"x-form-token" for name, _ in scope["headers"])
    return scope["path"] == UPLOAD_FORM and (b"sec-fetch-site", b"same-origin") in scope["headers"]


def _refuse_stated(scope: Scope, most: int) -> None:
    """Refuse a request that says it is too large, or states two lengths: a proxy may believe the other."""
    if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}:
        raise refused("The request states two lengths.", "State one.", "two-lengths")
    stated = [value for name, value in scope["headers"] if name == b"content-length"]
    if stated and stated[0].isdigit() and int(stated[0]) > most:
        raise _too_large(most)


async def _collected(receive: Receive, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise refused("The connection ended.", "Send the request again.", "too-slow")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return b"".join(parts)


def _given(body: bytes, receive: Receive) -> Receive:
    """The body that was read, then whatever comes."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message


def _too_many() -> CuradorError:
    return refused("There are too many requests.", "Wait a little, and send fewer at once.", "too-many")


def _too_large(most: int) -> CuradorError:
    return refused(f"A request has at most {most:,} bytes here.", "Send less at once.", "too-large")
