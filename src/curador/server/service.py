"""What routes share: the curator, who may call, and work done in threads that leaves on the clock."""

from __future__ import annotations

import json
from asyncio import Lock
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, TypeVar, cast
from weakref import WeakValueDictionary

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import Depends, Request
from fastapi.responses import JSONResponse, Response

from curador import Curator
from curador.curator.purchase import Purchase
from curador.curator.purchase import Request as PurchaseRequest
from curador.server.access.auth import Caller, unknown_token, wrong_role
from curador.server.access.sessions import Sessions
from curador.server.gate.clock import TickClock
from curador.server.gate.cpu import bounded
from curador.server.gate.metrics import Metrics
from curador.server.gate.settings import Settings
from curador.server.jobs.runner import JobRunner
from curador.server.reopening import ServedStudy

T = TypeVar("T")
P = TypeVar("P", bound=Purchase)


@dataclass
class Service:
    """One curator behind a server.  Each request has a copy, whose curator stays the same to its end."""

    settings: Settings
    clock: TickClock
    metrics: Metrics
    study: ServedStudy = field(init=False)
    curator: Curator = field(init=False)
    collected: dict[str, Any] = field(init=False)
    free: CapacityLimiter = field(init=False)
    planning: CapacityLimiter = field(init=False)
    turns: WeakValueDictionary[str, Lock] = field(default_factory=WeakValueDictionary)
    paying: CapacityLimiter = field(init=False)
    hashing: CapacityLimiter = field(init=False)
    strangers: CapacityLimiter = field(init=False)
    rehearsing: CapacityLimiter = field(init=False)
    jobs: JobRunner = field(init=False)
    sessions: Sessions = field(init=False)

    async def current(self) -> Service:
        """A copy for one request, with the curator of the study as its file is now."""
        if self.study.changed():
            await self.work(self.study.reopened)
        self.curator = self.study.curator
        return copy(self)

    def visitor(self, cookie: str) -> Caller | None:
        """Who holds a session's cookie."""
        return self.sessions.visitor(self.curator.ledger, cookie)

    async def work(self, task: Callable[[], T]) -> T:
        """Do something free in a thread; what a client that has gone away began is done to its end.

        It never waits for a thread of :meth:`paid`: when that one ends would be seen, and no clock hides it.
        """
        return await run_sync(task, limiter=self.free)

    async def plan(self, caller: Caller, task: Callable[[], T]) -> T:
        """Do something free that a question decides how long it takes: for some seconds of a processor, and no more.

        Each caller has one at a time, and all together half of the threads: whoever else asks waits for few of them.
        """
        turn = self.turns.setdefault(caller.id, Lock())
        async with turn, self.planning:
            return await self.work(partial(bounded, task, self.settings.planning))

    async def for_strangers(self, task: Callable[[], T]) -> T:
        """Do something for those who only have a link: few at a time, whose work keeps nobody else from a thread."""
        async with self.strangers:
            return await self.work(task)

    async def rehearse(self, task: Callable[[], T]) -> T:
        """Answer from made-up rows: one at a time, and whoever waits for it has no thread meanwhile."""
        async with self.rehearsing:
            return await self.work(task)

    async def hashed(self, task: Callable[[], T]) -> T:
        """Do something that hashes a password: slow and large on purpose, so few at a time."""
        return await run_sync(task, limiter=self.hashing)

    async def paid(self, task: Callable[[], T]) -> T:
        """Do something that may read data: its answer or its failure leaves at the next tick."""
        async with self.clock.turn(self.paying):
            return await run_sync(task, limiter=CapacityLimiter(1))

    async def bought(
        self, caller: Caller, request: PurchaseRequest, planned: Callable[[], P], task: Callable[[P], Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Plan something as whoever explains it does, then buy it; and say what remains, as it is once that leaves.

        Guarantee: what the plan and the rules refuse leaves at once, and so does what the asker bought before a tick
            that has passed; all else leaves at a tick (docs/proofs/clock.md).

        What is returned is a response already, which FastAPI sends as it is; the type is what it describes.
        """

        def looked_up() -> tuple[P, bool]:
            plan = planned()
            self.curator.review(plan, request)
            known = None if request.fresh else self.curator.bought_before(plan, request.analyst)
            return plan, known is not None

        def work() -> bytes:
            return JSONResponse(task(plan)).body  # type: ignore[return-value]

        plan, known = await self.plan(caller, looked_up)
        made = await (self.work(work) if known else self.paid(work))
        left = await self.work(lambda: json.dumps(self.remaining(caller)))
        body = made[:-1] + f',"remaining":{left}}}'.encode()
        return cast(dict[str, Any], Response(body, media_type="application/json"))

    def remaining(self, caller: Caller) -> dict[str, Any]:
        """What remains of the caller's budget: an analyst's own, which knows what is left above it."""
        found = self.curator.budgets() if caller.who is None else (self.curator.budget(caller.who),)
        return {b.scope: b.remaining.to_json() for b in found}

    async def settled(self, caller: Caller, task: Callable[[], T]) -> T:
        """Read what tells whether an analyst's own purchase was answered: as it was at a tick, and not in between."""
        if caller.role == "analyst":
            await self.clock.leave()
        return await self.work(task)


def sent(found: Any) -> dict[str, Any]:
    """What a route answers, as plain values: those that answer often write their response themselves."""
    plain: dict[str, Any] = json.loads(bytes(found.body)) if isinstance(found, Response) else found
    return plain


async def service(request: Request) -> Service:
    """What the server has, for this request; asynchronous: FastAPI calls plain functions in another thread."""
    found: Service = request.state.service
    return found


Serving = Annotated[Service, Depends(service)]


@dataclass(frozen=True)
class Allowed:
    """The roles that a route is for; the test of all routes and roles reads them here."""

    roles: tuple[str, ...]

    async def __call__(self, request: Request) -> Caller:
        found: Caller | None = request.state.caller
        if found is None:
            raise unknown_token()
        if found.role not in self.roles:
            raise wrong_role()
        return found


Holder = Annotated[Caller, Depends(Allowed(("curator",)))]
Buyer = Annotated[Caller, Depends(Allowed(("curator", "analyst")))]
Overseer = Annotated[Caller, Depends(Allowed(("curator", "auditor")))]
Member = Annotated[Caller, Depends(Allowed(("curator", "analyst", "auditor")))]
Anyone = Annotated[Caller, Depends(Allowed(("curator", "analyst", "auditor", "reader")))]
