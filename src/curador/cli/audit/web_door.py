"""HTTP as a door that attacks go through: a real server on a loopback port, and what its client sees."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from curador import Access, Curator, Release
from curador.audit.doors.run import UNSENT, AttackRequest, Door, Observation, observed

TICK = 0.02
"""Seconds: short, so that hundreds of attacks take minutes; what times tell is measured with the tick of a study."""

QUESTION = {"epsilon", "delta", "rho", "noise", "weights", "confidence", "rows"}
"""What a question can be asked with here, as it is; other settings are objects of the library."""

VARYING = ("request", "at", "seal")
"""What no two responses have alike, whatever the data is."""


class Web:
    """The door of a client with a curator's token: explain, ask, then look at the budget and the history."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def ask(self, request: AttackRequest) -> Observation:
        """Send one request, and read every status, header's name and body that comes back."""
        try:
            body = json.loads(json.dumps({"sql": request.sql, **request.budget}, allow_nan=False))
        except (TypeError, ValueError):
            return Observation(UNSENT, "", (0, ()), (), "", "")
        if not set(request.budget) <= QUESTION:
            return Observation(UNSENT, "", (0, ()), (), "", "")
        if request.prepare is not None:
            table, groups = request.prepare
            self._done(self._client.post("/v1/prepared", json={"table": table, "group_by": list(groups)}).json())
        explain = _seen(self._client.post("/v1/explain", json=body))
        terms = {"because": "an attack", "override": True, "fresh": True, "anyway": True}
        start = time.perf_counter()
        answer = self._client.post("/v1/ask", json={**body, **terms})
        seconds = time.perf_counter() - start
        balance = "".join(_seen(self._client.get(path)) for path in ("/v1/budget", "/v1/history"))
        if not answer.is_success:
            title = str(answer.json().get("title"))
            return Observation(title, _seen(answer), (0, ()), (), balance, explain, seconds=seconds)
        found: dict[str, Any] = answer.json()
        release = Release.from_dict(found)
        beside = {name: value for name, value in found.items() if name not in release.to_dict()}
        return observed(release, balance, explain, json.dumps(beside) + _headers(answer), seconds=seconds)

    def _done(self, job: dict[str, Any]) -> None:
        """Wait until a job has ended: else what is asked next would depend on how long it took."""
        while job.get("state") in ("waiting", "running"):
            time.sleep(TICK)
            job = self._client.get(f"/v1/jobs/{job['job']}").json()


@contextmanager
def web(folder: Path, tick: float = TICK) -> Iterator[Door]:
    """HTTP's door to the study in a folder, with the ledger that it names: a server, which is stopped at the end."""
    import httpx

    from curador.server.access.auth import give
    from curador.server.app import make_app
    from curador.server.gate.settings import Settings
    from curador.server.loopback import on_loopback

    study = folder / "study.toml"
    many = 10**9
    app = make_app(lambda ledger: Curator(study, ledger=ledger), Settings(tick=tick, per_token=many, per_address=many))
    with on_loopback(app) as url:
        token = give(app.state.service.curator.ledger, Access("", "curator"))
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=600) as client:
            yield Web(client)


def _seen(response: Any) -> str:
    return f"{response.status_code} {_headers(response)} {json.dumps(_constant(response.json()), sort_keys=True)}"


def _headers(response: Any) -> str:
    """Their names, and the values of those that say what kind of thing came back."""
    named = ", ".join(sorted(name for name in response.headers if name != "content-length"))
    return f"{named}; {response.headers.get('content-type')}"


def _constant(body: Any) -> Any:
    """Without times, seals and the names of requests."""
    if isinstance(body, dict):
        return {name: _constant(value) for name, value in body.items() if name not in VARYING}
    return [_constant(one) for one in body] if isinstance(body, list) else body
