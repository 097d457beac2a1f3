"""Who looks at a page, in which language and theme; and the page as a response."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from curador import Guarantee
from curador.curator.budgets import POPULATION
from curador.errors import NOTHING, CuradorError
from curador.server.access.auth import Caller, new_cookie, new_request_id
from curador.server.access.sessions import form_token
from curador.server.console.rendering import rendered
from curador.server.gate.cookies import LANGUAGE, SESSION, THEME, VISIT, cookie, put
from curador.server.gate.problems import STORE_FAILED, UNAVAILABLE, kept, status_of
from curador.server.service import Service
from curador.show.explain import guarantee_text, stated_text
from curador.show.words.say import LANGUAGES, knows, refusal, say

THEMES = ("auto", "light", "dark")

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    # With no-referrer a browser would hide from us, too, where a form was sent from.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}

OVERVIEW = "/console/overview"

OF_SQL = {
    *("no-such-column", "no-such-table", "shows-rows", "only-reads", "no-select"),
    *("not-sql", "unreadable-sql", "brackets-open", "no-bounds", "contribution-needed"),
}
"""What is wrong with a text, which English pages show in the reader's own words: they say where, and what was meant."""

_NONE: Mapping[str, str] = MappingProxyType({})


class WrittenPage(HTMLResponse):
    """A page that is written in a thread when it is sent: a long one keeps no other request waiting."""

    def __init__(self, serving: Service, write: Callable[[], str], status: int, headers: Mapping[str, str]) -> None:
        super().__init__("", status, headers)
        self._serving, self._write = serving, write

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.body = await self._serving.work(lambda: self._write().encode())
        self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


@dataclass(frozen=True)
class Visit:
    """One look at one page.  ``cookie`` is the session's, or that of a visitor who has not signed in."""

    request: Request
    language: str
    theme: str
    cookie: str
    fresh: bool
    caller: Caller | None

    @property
    def serving(self) -> Service:
        """The curator and what is around it, as they are for this request."""
        found: Service = self.request.state.service
        return found

    @property
    def partial(self) -> bool:
        """Whether htmx asks, for a part of a page."""
        return "hx-request" in self.request.headers

    def say(self, code: str, **facts: object) -> str:
        """A text in the visitor's language."""
        return say(code, self.language, **facts)

    def amount(self, guarantee: Guarantee, *, down: bool = False) -> str:
        """A guarantee in the visitor's language; ``down`` for what remains, which must not look larger than it is."""
        return guarantee_text(guarantee, self.language, down=down)

    def told(self, error: CuradorError) -> dict[str, str]:
        """A refusal as a page shows it, in the visitor's language where its code has a text."""
        if status_of(error) == UNAVAILABLE:
            return self.told(CuradorError(error.what, fix=error.fix, cost=error.cost, code=STORE_FAILED))
        code = self._text_of(error.code)
        facts = {name: self._fact(name, x) for name, x in error.facts.items()}
        if error.code and knows(code) and not (self.language == "en" and error.code in OF_SQL):
            return {"what": self.say(code, **facts), "fix": "", "cost": "", "language": self.language}
        cost = self.say("frame.cost-nothing") if error.cost == NOTHING else error.cost
        if (worded := refusal(error, self.language, **facts)) is not None:
            free = cost if error.cost == NOTHING else ""  # any other cost is told by the text itself
            return {"what": worded[0], "fix": worded[1], "cost": free, "language": self.language}
        return {"what": error.what, "fix": error.fix, "cost": cost, "language": "en"}

    def _text_of(self, refusal: str) -> str:
        """The code of a refusal's text: one of the page's own, or one that all pages share."""
        from curador.server.console.navigation import ORDER

        (page,) = self.request.scope["path"].split("/")[2:3] or [""]
        own = f"{page}.error-{refusal}"
        return own if page in ORDER and knows(own) else f"frame.error-{refusal}"

    def _fact(self, name: str, value: object) -> object:
        """A fact of a refusal in words, where it is a guarantee or the budget that all tables share."""
        if isinstance(value, Mapping) and "kind" in value:
            return stated_text(value, self.language, down=name == "remaining")
        return self.say("ask.all-tables") if name == "scope" and value == POPULATION else value

    def page(self, template: str, status: int = 200, *, headers: Mapping[str, str] = _NONE, **values: Any) -> Response:
        """A template as a response; a stranger gets the cookie that forms need."""
        from curador.server.console.navigation import links

        whole = {
            "say": self.say,
            "told": self.told,
            "kept": kept,
            "visit": self,
            "form_token": form_token(self.cookie),
            "links": links(self.caller, self.request.scope["path"]),
            **values,
        }
        whole_headers = {**HEADERS, **headers}
        found: HTMLResponse = (
            HTMLResponse(
                rendered(template, whole), status, whole_headers
            )  # a refusal is short, and waits for no thread
            if status >= 400
            else WrittenPage(self.serving, lambda: rendered(template, whole), status, whole_headers)
        )
        if self.fresh:
            put(found, self.request, VISIT, self.cookie)
        return found

    @property
    def only_here(self) -> str:
        """The host of this page's address, where it is this computer's own name for itself; else nothing.

        Links that a page gives out begin with the address that it was asked by.
        """
        host = self.request.url.hostname or ""
        return host if host in ("127.0.0.1", "::1", "localhost") else ""

    @property
    def here(self) -> str:
        """The address of this page with what is asked of it, to come back to."""
        path, query = str(self.request.scope["path"]), self.request.scope["query_string"].decode("latin-1")
        return f"{path}?{query}" if query else path

    def to(self, path: str) -> Response:
        """Go to another page."""
        if self.partial:
            return Response(status_code=204, headers={"HX-Redirect": path})
        return RedirectResponse(path, 303)

    def key(self) -> str:
        """A new key for a form that pays: sent twice, it buys once."""
        return new_request_id()


def visiting(request: Request) -> Visit:
    """The visit that a request is."""
    scope = request.scope
    caller: Caller | None = scope.get("state", {}).get("caller")
    held = cookie(scope, SESSION if caller else VISIT)
    theme = cookie(scope, THEME)
    return Visit(
        request,
        language=_language(cookie(scope, LANGUAGE), request.headers.get("accept-language", "")),
        theme=theme if theme in THEMES else "auto",
        cookie=held or new_cookie(),
        fresh=not held,
        caller=caller,
    )


Visiting = Annotated[Visit, Depends(visiting)]


def _language(chosen: str, accepted: str) -> str:
    """The language that was chosen, or the one that a browser likes best.

    >>> _language("", "fr, es-CL;q=0.9, en;q=0.8"), _language("en", "es"), _language("", "")
    ('es', 'en', 'en')
    """
    if chosen in LANGUAGES:
        return chosen
    liked: list[tuple[float, str]] = []
    for part in accepted[:200].split(","):
        found = re.fullmatch(r"\s*([a-zA-Z]+)(?:-[\w-]+)?(?:;\s*q=([01](?:\.\d{0,3})?))?\s*", part)
        if found is not None and found[1].lower() in LANGUAGES:
            liked.append((-float(found[2] or 1), found[1].lower()))
    return min(liked, key=lambda one: one[0])[1] if liked else LANGUAGES[0]


def inside(path: str) -> str:
    """A path of the console or of its page of the HTTP interface, with what is asked of it; else the overview.

    >>> inside("/console/ask"), inside("/console/ledger?who=ana"), inside("//evil"), inside("https://evil")
    ('/console/ask', '/console/ledger?who=ana', '/console/overview', '/console/overview')
    """
    whole = re.fullmatch(r"/docs|/console/[a-z0-9/-]{1,200}(\?[\w%&=.+*~-]{0,4000})?", path, re.ASCII)
    return path if whole else OVERVIEW
