"""What is counted and logged of requests: their route, role and status; never what was asked, answered or by whom."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any

from prometheus_client import CollectorRegistry, Counter, generate_latest

LOG = logging.getLogger("curador.server")


class JsonLines(logging.Formatter):
    """A record, which is a line of JSON, with its time and level before it.

    >>> JsonLines().format(logging.makeLogRecord({"msg": '{"n": 1}', "created": 0.25, "levelname": "INFO"}))
    '{"time": "1970-01-01T00:00:00.250+00:00", "level": "info", "n": 1}'
    """

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        head = json.dumps({"time": at, "level": record.levelname.lower()})
        return f"{head[:-1]}, {record.getMessage()[1:]}"


def write_log() -> None:
    """Write the log to standard error, in this process, from now on."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    LOG.handlers[:] = [handler]
    LOG.setLevel(logging.INFO)
    LOG.propagate = False


class Metrics:
    """Counts of requests by route, method, role and status, and one line of JSON for each.

    Guarantee: nothing here depends on data: a line holds the route's pattern, not its address.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "curador_requests", "Requests", ("route", "method", "role", "status"), registry=self._registry
        )
        self.started = time.time()

    def responded(self, scope: MutableMapping[str, Any], status: int, seconds: float) -> None:
        """Count one response, which began after some seconds."""
        route = getattr(scope.get("route"), "path", "none")
        who = scope["state"].get("caller")
        role = "none" if who is None else who.role
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._requests.labels(route, method, role, str(status)).inc()
        if LOG.isEnabledFor(logging.INFO):
            request = scope["state"]["request_id"]
            token = None if who is None else who.id
            facts = {"request": request, "route": route, "method": method, "role": role, "token": token}
            LOG.info(json.dumps({**facts, "status": status, "ms": round(1000 * seconds, 1)}))

    def text(self) -> bytes:
        """The counts, as Prometheus reads them."""
        return generate_latest(self._registry)


_METHODS = {"GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"}
