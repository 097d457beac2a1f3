"""What is counted and logged of requests: their route, role and status; never what was asked, answered or by whom."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import MutableMapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, generate_latest

LOG = logging.getLogger("curador.server")


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

    def responded(self, scope: MutableMapping[str, Any], status: int) -> None:
        """Count one response."""
        route = getattr(scope.get("route"), "path", "none")
        who = scope["state"].get("caller")
        role = "none" if who is None else who.role
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._requests.labels(route, method, role, str(status)).inc()
        if LOG.isEnabledFor(logging.INFO):
            request = scope["state"]["request_id"]
            token = None if who is None else who.id
            facts = {"request": request, "route": route, "method": method, "role": role, "token": token}
            LOG.info(json.dumps({**facts, "status": status}))

    def text(self) -> bytes:
        """The counts, as Prometheus reads them."""
        return generate_latest(self._registry)


_METHODS = {"GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"}
