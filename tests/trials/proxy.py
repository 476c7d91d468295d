"""A proxy's answers: between a client and the API's routes, requests and answers are lost, doubled or
replaced.

The client keeps the protocol of the page's outbox: an answer is done only where an outcome names its client
key, and is sent again otherwise. The outbox itself is tried in a browser by `tests/browser/test_outbox.py`.

What must hold: after the network is whole again everything is sent; each answer is stored once, with its
grade; no answer of a proxy is taken for one of goldset; the server never answers 500.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from app import api, context
from app.front.guard import Guard
from app.monitoring.failures import FailureLog
from curation.store import Store, open_store
from tests.support.projects import rows_of
from tests.support.signed_in import cookie_of
from tests.trials.forks import in_a_fork
from tests.trials.kills import PEOPLE, build_graded
from tests.trials.verdict import Verdict, main

RULE = "Whatever a network does to requests and answers, each grade is stored once."
DONE = "Requests and answers are lost, doubled, late, cut or replaced."
BEFORE = "nested JSON answered with 500"
MOST = 300
"""Answers to one project."""
PROXY = (
    "502 html",
    "200 html",
    "200 json of somebody else",
    "lost before",
    "lost after",
    "cut",
    "twice",
    "late",
    "429",
)
ORIGIN = {"Origin": "http://testserver"}


class Network:
    """What is between the client and goldset; `late` holds requests that arrive some time later."""

    def __init__(self, client: TestClient, chance: Random, counts: Counter[str]) -> None:
        self._client, self._chance, self._counts = client, chance, counts
        self._late: list[dict[str, Any]] = []
        self.whole = False
        self.statuses: Counter[int] = Counter()

    def post(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The outcomes that reach the browser; [] where something else reaches it."""
        if self._late and (self.whole or self._chance.random() < 0.3):
            self._ask(self._late.pop(self._chance.randrange(len(self._late))))
        does = "" if self.whole else self._chance.choice((*PROXY, "", "", ""))
        self._counts[f"proxy: {does or 'lets through'}"] += 1
        if does == "late":
            self._late.append(body)
        if does in {"502 html", "200 html", "200 json of somebody else", "lost before", "late", "429"}:
            return []
        outcomes = self._ask(body)
        if does == "twice":
            outcomes = self._ask(body)
        return [] if does in {"lost after", "cut"} else outcomes

    def _ask(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        answer = self._client.post("/api/judgments", json=body, headers=ORIGIN)
        self.statuses[answer.status_code] += 1
        found: list[dict[str, Any]] = answer.json().get("outcomes", [])
        return found


def annotate(store: Store, times: int, chance: Random, found: Verdict) -> dict[str, int]:
    """Grade so many items through such a network; presentation → grade."""
    routes = Starlette(routes=api.ROUTES, middleware=[Middleware(FailureLog), Middleware(Guard)])
    with TestClient(routes, cookies=dict([cookie_of(store, PEOPLE[0])])) as client:
        network, given, waiting = Network(client, chance, found.counts), {}, []
        for number in range(times):
            holding = [one["presentation_id"] for one in waiting]
            asked = client.get("/api/presentations", params={"after": holding} if holding else None).json()
            fresh = [one for one in asked["showings"] if one["presentation_id"] not in given]
            if fresh:
                item, grade = fresh[0], chance.randrange(3)
                given[item["presentation_id"]] = grade
                identity = {"presentation_id": item["presentation_id"], "revision": item["revision"]}
                waiting.append(
                    {**identity, "kind": "grade", "grade": grade, "client_key": f"the key {number}"}
                )
            waiting = send(network, waiting, found)
        network.whole = True
        for _ in range(2 + times):
            waiting = send(network, waiting, found) if waiting else waiting
        found.demand(not waiting, f"{len(waiting)} answers were never sent")
        found.demand(set(network.statuses) <= {200}, f"goldset answered {dict(network.statuses)}")
    return given


def send(network: Network, waiting: list[dict[str, Any]], found: Verdict) -> list[dict[str, Any]]:
    """What still waits after one request with the first few."""
    batch = waiting[:6]
    done = {}
    for outcome in network.post({"submissions": batch, "holding": [], "limit": 0}) if batch else []:
        done[outcome["client_key"]] = outcome["status"]
        found.counts[f"outcome: {outcome['status']}"] += 1
        found.demand(outcome["status"] in {"saved", "repeated"}, f"an answer was {outcome['status']}")
    return [one for one in waiting if one["client_key"] not in done]


def work(path: Path, times: int, seed: float) -> Verdict:
    os.environ[context.PROJECT] = str(path)
    found, store = Verdict(), open_store(path)
    given = annotate(store, times, Random(seed), found)
    stored = rows_of(store, "SELECT presentation_id, grade FROM judgment_events")
    found.counts["answers"] += len(given)
    found.demand(
        sorted(stored) == sorted(given.items()), f"{len(set(stored) ^ set(given.items()))} grades differ"
    )
    found.demand(len(given) > times // 2, f"only {len(given)} items came")
    store.close()
    return found


def trial(folder: Path, times: int, chance: Random) -> Verdict:
    """So many answers, at most `MOST` to one project."""
    total = Verdict()
    in_a_fork(lambda: build_graded(folder / "template.duckdb"))
    for start in range(0, times, MOST):
        path, seed = folder / f"project-{start}.duckdb", chance.random()
        path.write_bytes((folder / "template.duckdb").read_bytes())
        size = min(MOST, times - start)
        total.add(in_a_fork(lambda path=path, size=size, seed=seed: work(path, size, seed)))
    return total


if __name__ == "__main__":
    main(trial, RULE, 300)
