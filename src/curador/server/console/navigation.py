"""Which pages there are, and for whom: a page that is not built yet is not there."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from fastapi import APIRouter
from fastapi.routing import APIRoute

from curador.server.access.auth import Caller
from curador.server.console import pages
from curador.server.description import roles_of

ORDER = (
    "overview",
    "tables",
    "ask",
    "dashboards",
    "releases",
    "analysts",
    "ledger",
    "collect",
    "models",
    "audit",
    "playground",
)
"""The order in which pages are listed; the name is that of the file, the template, the texts and the address."""


@dataclass(frozen=True)
class Link:
    """A page as the navigation lists it."""

    name: str
    here: bool

    @property
    def path(self) -> str:
        return f"/console/{self.name}"


@cache
def routers() -> dict[str, APIRouter]:
    """The router of every page, by name, in order."""
    built = {one.name for one in pkgutil.iter_modules(pages.__path__)}
    return {name: import_module(f"{pages.__name__}.{name}").router for name in ORDER if name in built}


@cache
def _roles() -> dict[str, tuple[str, ...]]:
    """Whom each page is for, as its own route says."""
    found: dict[str, tuple[str, ...]] = {}
    for name, router in routers().items():
        for route in router.routes:
            if isinstance(route, APIRoute) and route.path == f"/console/{name}" and "GET" in (route.methods or ()):
                found[name] = roles_of(route) or ()
    return found


def links(caller: Caller | None, path: str) -> list[Link]:
    """The pages that a caller may open."""
    if caller is None:
        return []
    here = path.split("/")[2:3]
    return [Link(name, [name] == here) for name, roles in _roles().items() if caller.role in roles]
