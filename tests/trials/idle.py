"""Idle connections: strangers hold more of them than the server has descriptors, and finish no request.

A third of them send nothing, a third half of a header, and a third half of a body, from twelve addresses.
Meanwhile three people who are signed in grade, and a stranger asks for the sign-in page.

What must hold: every grade is acknowledged and there once, and the stranger gets the page.
"""

from __future__ import annotations

import http.client
import resource
import socket
from contextlib import ExitStack
from pathlib import Path
from random import Random

from curation.store import open_store
from tests.trials import kills, served
from tests.trials.forks import Victim, in_a_fork
from tests.trials.verdict import Verdict, main

RULE = "Connections that send nothing keep nobody from grading."
DONE = "So many connections at 512 descriptors: idle, half a header, half a body; two people grade on."
BEFORE = "grading ended for everybody"
DESCRIPTORS, GRADES, ADDRESSES = 512, 40, 12
HALF = (
    b"",
    b"GET / HTTP/1.1\r\nHost: h",
    b"POST /sign-in HTTP/1.1\r\nHost: here\r\nOrigin: http://here\r\nContent-Length: 99\r\n\r\nname=",
)


def trial(folder: Path, times: int, chance: Random) -> Verdict:
    """So many connections."""
    total, path = Verdict(), folder / "project.duckdb"
    in_a_fork(lambda: kills.build_graded(path))
    cookies = in_a_fork(lambda: served.cookies_of(path, kills.PEOPLE))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # for this side's ends
    with served.serving(path, DESCRIPTORS) as port, ExitStack() as opened:
        for number in range(times):
            source = f"127.0.0.{2 + number % ADDRESSES}"
            stranger = socket.create_connection(("127.0.0.1", port), source_address=(source, 0))
            opened.enter_context(stranger).sendall(HALF[number % 3])
        people = [
            Victim(lambda say, one=one: served.grade(port, *one, say, GRADES)) for one in cookies.items()
        ]
        said = [line for one in people for line in one.ended()]
        server = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        server.request("GET", "/sign-in")
        status = server.getresponse().status
    wanted = GRADES * len(cookies)
    total.demand(len(said) == wanted, f"{len(said)} of {wanted} grades were acknowledged: {said[-1:]}")
    total.demand(status == 200, f"a stranger who asks for the sign-in page gets {status}")
    total.add(in_a_fork(lambda: kills.look_at_rows(open_store(path), said)))
    total.counts.update({"connections": times, "acknowledged": len(said)})
    total.figure = f"{len(said)} of {wanted} grades acknowledged"
    return total


if __name__ == "__main__":
    main(trial, RULE, 700)
