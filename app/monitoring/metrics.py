"""Metrics: what a monitor reads of the server, in the text format of Prometheus.

They are for who has the token. They hold numbers only: no text, no name of a person, and nothing of a grade.
"""

from __future__ import annotations

import hmac
import os
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import accumulate

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.context import project_store, unreadable
from curation.core.errors import CurationError
from curation.operations.doctor.counted import count_project
from curation.operations.jobs import jobs_of

TOKEN = "GOLDGRADE_METRICS_TOKEN"  # noqa: S105  the variable's name
"""The environment variable with the token; without it there are no metrics."""
WATCHED = ("/api/judgments", "/api/presentations", "/api/answers", "/api/decisions", "/sign-in")
"""Paths with latencies of their own; all others share one."""
BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Seconds."""
FORMAT = "text/plain; version=0.0.4; charset=utf-8"


class Latencies:
    """How long requests took, since the start of the process; used by the thread of the server alone."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)

    def add(self, path: str, seconds: float) -> None:
        path = path if path in WATCHED else "other"
        self._counts[path][bisect_left(BUCKETS, seconds)] += 1
        self._seconds[path] += seconds

    def samples(self) -> Iterator[tuple[str, float]]:
        for path, counts in sorted(self._counts.items()):
            for bound, below in zip([*map(str, BUCKETS), "+Inf"], accumulate(counts), strict=True):
                yield f'_bucket{{path="{path}",le="{bound}"}}', below
            yield f'_sum{{path="{path}"}}', round(self._seconds[path], 6)
            yield f'_count{{path="{path}"}}', sum(counts)


latencies = Latencies()


async def metrics(request: Request) -> Response:
    """GET, with the token as a bearer: all metrics."""
    token = os.environ.get(TOKEN, "")
    if not token:
        return PlainTextResponse(f"There are no metrics: {TOKEN} is not set.", 404)
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    if not hmac.compare_digest(_hashed(token), _hashed(given)):
        return PlainTextResponse("The token is not right.", 401, {"WWW-Authenticate": "Bearer"})
    took = _family(
        "request_seconds", "histogram", "Seconds until a request was answered.", latencies.samples()
    )
    try:
        text = took + await run_in_threadpool(_of_project)
    except CurationError as error:
        return PlainTextResponse(unreadable(error), 503)
    return PlainTextResponse(text, media_type=FORMAT)


ROUTE = Route("/metrics", metrics)


def _hashed(token: str) -> bytes:
    return sha256(token.encode()).digest()  # of one length, so that a comparison tells nothing of the token's


def _of_project() -> str:
    store = project_store()
    project = count_project(store)
    families: list[tuple[str, str, str, Iterable[tuple[str, float]]]] = [
        ("judgment_events_total", "counter", "Events of annotators.", _labelled("kind", project.events)),
        ("open_presentations", "gauge", "Presentations that wait for an answer.", [("", project.open)]),
        ("jobs_ended_total", "counter", "Jobs that have ended.", _labelled("outcome", project.jobs)),
        ("jobs_at_work", "gauge", "Jobs at work now.", [("", len(jobs_of(store).at_work()))]),
        ("file_bytes", "gauge", "Size of the project's file.", [("", project.file_bytes)]),
    ]
    return "".join(_family(*family) for family in families)


def _labelled(label: str, counts: Mapping[str, int]) -> list[tuple[str, float]]:
    return [(f'{{{label}="{value}"}}', count) for value, count in counts.items()]


def _family(name: str, kind: str, meaning: str, samples: Iterable[tuple[str, float]]) -> str:
    lines = [f"# HELP goldgrade_{name} {meaning}", f"# TYPE goldgrade_{name} {kind}"]
    return "\n".join([*lines, *(f"goldgrade_{name}{labels} {value}" for labels, value in samples), ""])
