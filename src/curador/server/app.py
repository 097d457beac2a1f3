"""The application: one curator, its guard and its routes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anyio import CapacityLimiter
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from curador import Curator, Ledger, __version__
from curador.curator.study.file import Study
from curador.errors import CuradorError
from curador.server.access.sessions import Sessions
from curador.server.console.app import CONSOLE_ROUTERS, refusal_page
from curador.server.console.warming import warm
from curador.server.description import described
from curador.server.gate.clock import TickClock
from curador.server.gate.cookies import mark_of
from curador.server.gate.guard import App, Guard, on_console
from curador.server.gate.metrics import LOG, Metrics
from curador.server.gate.problems import document, problem
from curador.server.gate.refusals import malformed, no_json, refused, unforeseen
from curador.server.gate.settings import Settings
from curador.server.jobs.records import JobRecords
from curador.server.jobs.runner import JobRunner
from curador.server.reopening import OpenCurator, ServedStudy
from curador.server.routes import asking, audits, collect, health, jobs, ledgers, models, people, releases, tables
from curador.server.service import Service

OPENAPI, DOCS = "/v1/openapi.json", "/docs"

CHARGED = 32
"""Purchases at a time, for each question that reads data: they wait to read, or for the tick at which they leave."""

HASHING = 2
"""Passwords that are hashed at a time."""

STRANGERS = 2
"""Public releases that are shown at a time to those who have a link and no token."""

JOBS_AT_ONCE = 2
"""Jobs that run at a time in a process."""

ROUTERS = tuple(
    part.router for part in (health, tables, asking, releases, models, people, ledgers, audits, jobs, collect)
)
ROUTES = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
PAGES = [route for router in CONSOLE_ROUTERS for route in router.routes if isinstance(route, APIRoute)]


def make_app(open_curator: OpenCurator, settings: Settings | None = None, shared: Path | None = None) -> FastAPI:
    """The server of a curator, which is opened when the server starts and closed when it stops.

    ``shared`` is the file by which processes share their jobs, and beside it one for sessions; without one they are
    this process's alone.
    """
    limits, metrics = settings or Settings(), Metrics()
    service = Service(limits, TickClock(limits.tick), metrics)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        def paced(ledger: Ledger | None) -> Curator:
            curator = open_curator(ledger)
            curator.paced(limits.threads, service.clock)
            return curator

        def more_collected(file: Path, study: Study) -> None:
            try:
                collect.open_more(service.collected, Settings.read(study.server, file.parent))
            except CuradorError as error:  # how it is served takes a restart; what it declares is served already
                LOG.error(json.dumps({"server": "not read again", "because": error.code}))

        service.study = ServedStudy(paced, more_collected)
        service.curator = service.study.curator
        app.state.mark = mark_of(service.curator.study_file)
        warm(service.curator)
        app.openapi()  # made once, and not by whoever asks for it first
        service.free, service.paying = CapacityLimiter(limits.threads), CapacityLimiter(CHARGED * limits.threads)
        service.hashing, service.strangers = CapacityLimiter(HASHING), CapacityLimiter(STRANGERS)
        service.rehearsing, service.planning = CapacityLimiter(1), CapacityLimiter(max(1, limits.threads // 2))
        service.collected = {}
        collect.open_more(service.collected, limits, must=True)
        with TemporaryDirectory(prefix="curador-jobs-") as folder:
            kept = job_records(shared or Path(folder) / "jobs", limits)
            service.jobs = JobRunner(kept, service.clock, JOBS_AT_ONCE)
            service.sessions = Sessions((shared or Path(folder) / "jobs").with_suffix(".sessions"))
            try:
                yield
            finally:
                service.jobs.close()
                service.study.close()

    app = FastAPI(
        title="Curador",
        version=__version__,
        openapi_url=OPENAPI,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirection would go where the request's own Host says
        lifespan=lifespan,
    )
    app.state.service, app.state.mark = service, ""
    app.openapi = partial(described, app, ROUTES)  # type: ignore[method-assign]
    for router in (*ROUTERS, *CONSOLE_ROUTERS):
        app.include_router(router)
    app.add_exception_handler(CuradorError, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _no_route)
    app.add_middleware(_Current, service=service)
    app.add_middleware(
        _Guarded,
        make=lambda inner: Guard(inner, lambda: service.curator.ledger, service.visitor, limits, metrics, answered),
    )
    return app


def job_records(path: Path, settings: Settings) -> JobRecords:
    """The jobs in a file; refused where it cannot be written."""
    ended = {"error": document(unforeseen(), "")}
    return JobRecords(path, most=settings.jobs, each=settings.at_once, stopped=ended)


class _Current:
    """Gives each request that was let in the service as it is now."""

    def __init__(self, app: App, service: Service) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope["state"]["service"] = await self._service.current()
        await self._app(scope, receive, send)


class _Guarded:
    """The guard, as Starlette wants a middleware."""

    def __init__(self, app: App, make: Callable[[App], Guard]) -> None:
        self._guard = make(app)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._guard(scope, receive, send)


def answered(scope: Any, error: CuradorError, headers: Mapping[str, str]) -> Response:
    """A refusal: a page on the console, and a document everywhere else."""
    return refusal_page(scope, error, headers) if on_console(scope) else problem(error, _name(scope), headers)


def _name(scope: Any) -> str:
    return str(scope.get("state", {}).get("request_id", ""))


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, CuradorError)
    return answered(request.scope, error, {})


async def _malformed(request: Request, error: Exception) -> Response:
    """Where a body is wrong, without quoting it."""
    assert isinstance(error, RequestValidationError)
    found, fix = error.errors(), f"See {DOCS}."
    if found and found[0]["type"] == "json_invalid":
        at = int(found[0]["loc"][-1])
        return answered(request.scope, no_json(found[0]["ctx"]["error"], str(error.body), at, fix), {})
    field = getattr(request.scope.get("route"), "body_field", None)
    said = malformed(found, fix, 1, None if field is None else field.field_info.annotation)
    return answered(request.scope, said, {})


async def _no_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:  # nested too deeply, or no UTF-8: what the parser itself gives up on
        return answered(request.scope, refused("The request is not JSON.", f"See {DOCS}.", "not-json"), {})
    if error.status_code == 405:
        said = refused("This address does not do that.", f"See {DOCS}.", "method")
        path = request.url.path
        able = sorted({m for route in (*ROUTES, *PAGES) if route.path_regex.match(path) for m in route.methods or ()})
        return answered(request.scope, said, {"Allow": ", ".join(able)})
    return answered(request.scope, refused("There is nothing here.", f"See {DOCS}.", "not-found"), {})
