"""Metrics for Prometheus, of all workers together."""

from __future__ import annotations

import os
from typing import Any

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
    multiprocess,
)
from starlette.types import Scope

SHARED = "PROMETHEUS_MULTIPROC_DIR"  # where workers leave their numbers for each other
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """How many requests there were, of which kind, how they ended, and how long they took."""

    def __init__(self) -> None:
        self._own = CollectorRegistry()
        self.requests = Counter(
            "unseen_requests_total",
            "Requests by path, method and status.",
            ["path", "method", "status"],
            registry=self._own,
        )
        self.seconds = Histogram(
            "unseen_request_seconds",
            "Seconds that requests took.",
            ["path"],
            buckets=BUCKETS,
            registry=self._own,
        )
        self.labels = Counter("unseen_labels_total", "Answers of people.", registry=self._own)
        self.nodes = Counter("unseen_nodes_total", "Nodes that were added.", registry=self._own)

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request, under the path of its route, never one that somebody made up."""
        route: Any = scope.get("route")
        path = getattr(route, "path", "other")
        method = scope["method"] if scope["method"] in ("GET", "POST", "HEAD") else "other"
        self.requests.labels(path, method, str(status)).inc()
        self.seconds.labels(path).observe(seconds)

    def text(self) -> tuple[bytes, str]:
        """Return all numbers in Prometheus' format, and its media type."""
        registry = self._own
        if os.environ.get(SHARED):
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry), CONTENT_TYPE_LATEST
