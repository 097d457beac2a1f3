"""The application: one curator, its guard and its routes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anyio import CapacityLimiter
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from curador import Curator, __version__
from curador.errors import CuradorError
from curador.server.description import described
from curador.server.gate.clock import TickClock
from curador.server.gate.guard import App, Guard
from curador.server.gate.metrics import Metrics
from curador.server.gate.problems import document, problem
from curador.server.gate.refusals import malformed, refused, unforeseen
from curador.server.gate.settings import Settings
from curador.server.jobs.records import JobRecords
from curador.server.jobs.runner import JobRunner
from curador.server.routes import asking, audits, collect, health, jobs, ledgers, models, people, releases, tables
from curador.server.service import Service

OPENAPI = "/v1/openapi.json"

JOBS_AT_ONCE = 2
"""Jobs that run at a time in a process."""

ROUTERS = tuple(
    part.router for part in (health, tables, asking, releases, models, people, ledgers, audits, jobs, collect)
)
ROUTES = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]


def make_app(
    open_curator: Callable[[], Curator], settings: Settings | None = None, shared: Path | None = None
) -> FastAPI:
    """The server of a curator, which is opened when the server starts and closed when it stops.

    ``shared`` is the file by which processes share their jobs; without one they are this process's alone.
    """
    limits, metrics = settings or Settings(), Metrics()
    service = Service(limits, TickClock(limits.tick), metrics)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.curator, service.threads = open_curator(), CapacityLimiter(limits.threads)
        service.collected = collect.opened(limits)
        with TemporaryDirectory(prefix="curador-jobs-") as folder:
            kept = job_records(shared or Path(folder) / "jobs", limits)
            service.jobs = JobRunner(kept, service.clock, JOBS_AT_ONCE)
            try:
                yield
            finally:
                service.jobs.close()
                service.curator.close()

    app = FastAPI(
        title="Curador", version=__version__, openapi_url=OPENAPI, docs_url=None, redoc_url=None, lifespan=lifespan
    )
    app.state.service = service
    app.openapi = partial(described, app, ROUTES)  # type: ignore[method-assign]
    for router in ROUTERS:
        app.include_router(router)
    app.add_exception_handler(CuradorError, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _no_route)
    app.add_middleware(_Guarded, make=lambda inner: Guard(inner, lambda: service.curator.ledger, limits, metrics))
    return app


def job_records(path: Path, settings: Settings) -> JobRecords:
    """The jobs in a file; refused where it cannot be written."""
    ended = {"error": document(unforeseen(), "")}
    return JobRecords(path, most=settings.jobs, each=settings.at_once, stopped=ended)


class _Guarded:
    """The guard, as Starlette wants a middleware."""

    def __init__(self, app: App, make: Callable[[App], Guard]) -> None:
        self._guard = make(app)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._guard(scope, receive, send)


def _name(request: Request) -> str:
    return str(getattr(request.state, "request_id", ""))


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, CuradorError)
    return problem(error, _name(request))


async def _malformed(request: Request, error: Exception) -> JSONResponse:
    """Where a body is wrong, without quoting it."""
    assert isinstance(error, RequestValidationError)
    return problem(malformed(error.errors(), f"See {OPENAPI}.", 1), _name(request))


async def _no_route(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        said = refused("This address does not do that.", f"See {OPENAPI}.", "method")
        path = request.url.path
        able = sorted({m for route in ROUTES if route.path_regex.match(path) for m in route.methods or ()})
        return problem(said, _name(request), {"Allow": ", ".join(able)})
    return problem(refused("There is nothing here.", f"See {OPENAPI}.", "not-found"), _name(request))
