"""What decorates pages: one stylesheet, a few scripts, an icon; an address names its content, so browsers keep it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files

from fastapi import APIRouter, Response

from curador.server.gate.guard import STATIC
from curador.server.gate.refusals import not_found
from curador.show.pages.page import tokens_and_charts

router = APIRouter(include_in_schema=False)

KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


@dataclass(frozen=True)
class Asset:
    """A file that pages load."""

    name: str
    content: bytes

    @property
    def version(self) -> str:
        return sha256(self.content).hexdigest()[:16]


def _read(name: str) -> Asset:
    content = (files(__package__) / "static" / name).read_bytes()
    shared = tokens_and_charts().encode() if name == "console.css" else b""
    return Asset(name, shared + content)


NAMES = (
    *("console.css", "declaring.css", "icon.svg"),
    *("console.js", "asking.js", "sharing.js", "learning.js", "uploading.js", "declaring.js"),
    *("playground.js", "htmx.min.js"),
)
ASSETS = {name: _read(name) for name in NAMES}


def address(name: str) -> str:
    """Where a file is, as it is now.

    >>> address("console.css").startswith("/console/static/")
    True
    """
    return f"{STATIC}{ASSETS[name].version}/{name}"


@router.get(f"{STATIC}{{version}}/{{name}}", response_class=Response)
async def static(version: str, name: str) -> Response:
    """A file; what it holds never changes at this address."""
    found = ASSETS.get(name)
    if found is None or found.version != version:
        raise not_found()
    kept = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(found.content, media_type=KINDS[name.rpartition(".")[2]], headers=kept)
