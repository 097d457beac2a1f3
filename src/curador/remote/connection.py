"""One server and one token: requests are sent again where that cannot buy twice; refusals are our own errors."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from curador import errors
from curador.errors import CuradorError, InvalidParameter, ServerFailed, install
from curador.noise.entropy import SYSTEM

try:
    import httpx
except ImportError:
    raise InvalidParameter("A remote curator needs httpx.", fix=install("remote"), code="library-missing") from None

TRIES = 4
FIRST_PAUSE = 0.2
LONGEST_ANSWER = 64 * 1024 * 1024
"""Bytes of a response."""

FREE = ("/explain", "/how-many")
"""Endings of the paths whose requests cost nothing."""

UNSURE = "if it was charged, it stays charged, and the same question again is free"

_KINDS = {
    name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, CuradorError)
}


def new_key() -> str:
    """A name for one request that nobody else uses."""
    return f"{SYSTEM.bits(128):032x}"


class Connection:
    """A server's address and a token.

    Guarantee: a request is sent again only if it reads, or if it carries a key under which the server sells once.  A
        purchase that was refused, as by a ledger that cannot be written, only where that is said to have cost nothing:
        under a key it is an answer that is not sold again.
    """

    def __init__(
        self, url: str, token: str, *, timeout: float = 120.0, transport: httpx.BaseTransport | None = None
    ) -> None:
        found = _address(url)
        if found is None:
            raise InvalidParameter("A server has an address.", fix='Write connect("https://…", token).')
        if found.scheme == "http" and found.host not in ("127.0.0.1", "localhost", "::1"):
            raise InvalidParameter(
                "A token would go over the network unencrypted.", fix="Use an https address.", code="no-tls"
            )
        self._client = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout,
            follow_redirects=False,
            transport=transport,
        )

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """Read something."""
        return self._send("GET", path, query=query)

    def post(self, path: str, body: Mapping[str, Any], *, again: bool) -> dict[str, Any]:
        """Send something; ``again`` if it may be sent a second time."""
        return self._send("POST", path, body=body, again=again)

    def _send(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        again: bool = True,
    ) -> dict[str, Any]:
        pause, sent = FIRST_PAUSE, False
        for left in reversed(range(TRIES if again else 1)):
            try:
                found = self._client.request(method, path, json=body, params=query)
            except httpx.TransportError as error:
                sent = sent or not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                if left:
                    time.sleep(pause)
                    pause *= 2
                    continue
                raise self._unanswered(
                    type(error).__name__, sent, paying=body is not None and not path.endswith(FREE)
                ) from None
            if left and (found.status_code == 429 or (found.status_code == 503 and _free(method, found))):
                time.sleep(pause)
                pause *= 2
                continue
            return _read(found)
        raise AssertionError("the last try returns or raises")

    def _unanswered(self, kind: str, sent: bool, paying: bool) -> ServerFailed:
        address = f"{self._client.base_url}".rstrip("/")
        if not sent:
            return ServerFailed(
                f"No server answers at {address} ({kind}).",
                fix="Check the address, and whether the server runs.",
                code="server-unreachable",
                facts={"address": address},
            )
        return ServerFailed(
            f"The server at {address} did not answer ({kind}).",
            fix="Try again; look at your history.",
            cost=UNSURE if paying else errors.NOTHING,
            code="server-unreachable",
            facts={"address": address},
        )

    def close(self) -> None:
        """End the connection."""
        self._client.close()


def _address(url: object) -> httpx.URL | None:
    """An address with a host and without a password; as it is read by what sends to it, not as it looks."""
    try:
        found = httpx.URL(url) if isinstance(url, str) else None
    except httpx.InvalidURL:
        return None
    known = found is not None and found.scheme in ("http", "https") and found.host and not found.userinfo
    return found if known else None


def _free(method: str, response: httpx.Response) -> bool:
    """Whether what was refused has cost nothing for sure."""
    with suppress(ValueError):
        said = response.json() if method != "GET" and len(response.content) <= LONGEST_ANSWER else None
        return method == "GET" or (isinstance(said, dict) and said.get("cost") == errors.NOTHING)
    return False


def _read(response: httpx.Response) -> dict[str, Any]:
    try:
        data = response.json() if len(response.content) <= LONGEST_ANSWER else None
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise ServerFailed(
            f"This is not a Curador server, or it failed (status {response.status_code}).",
            fix="Check the address.",
            cost=UNSURE,
            code="server-strange",
        )
    if response.is_success:
        return data
    raise refusal(data)


def refusal(data: Mapping[str, Any]) -> CuradorError:
    """A refusal of the server's as our own error."""
    kind = _KINDS.get(str(data.get("title")), CuradorError)
    facts = data.get("facts")
    return kind(
        str(data.get("detail", "The server refused this.")),
        fix=str(data.get("fix", "Ask the curator.")),
        cost=str(data.get("cost", UNSURE)),
        code=str(data.get("code", "")),
        facts=facts if isinstance(facts, dict) else {},
    )
