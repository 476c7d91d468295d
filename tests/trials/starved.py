"""Starved sign-in: strangers send passwords for invented names, and close their connections at once.

Each comes from a network of its own. While their tries are there, somebody signs in, once from a browser in
which they have signed in before and once from another one. Who is told to try again later does so.

What must hold: both get in, at the second try of an unknown browser at the latest and at the first of a known
one. No more of the strangers' passwords are checked than wait in a short queue.
"""

from __future__ import annotations

import socket
from pathlib import Path
from random import Random
from urllib.parse import urlencode

from app.signin.password_checks import MAX_QUEUE_LENGTH
from tests.support.projects import PASSWORD, add_people, new_project
from tests.trials.forks import in_a_fork
from tests.trials.served import form_headers, get_in, serving, sign_in
from tests.trials.verdict import Verdict

RULE = "Strangers who send invented names keep nobody from signing in."
DONE = (
    "It sends many sign-ins with invented names from many networks, and closes their sockets at once; "
    "meanwhile, somebody signs in."
)
BEFORE = "61 to 83 s; a known browser 18 s"
WRONG = "The name or the password is wrong."
HOME = "198.51.100.7"


def trial(folder: Path, times: int, chance: Random) -> Verdict:
    """So many tries of strangers."""
    total, path = Verdict(), folder / "project.duckdb"
    in_a_fork(lambda: _build(path))
    with serving(path) as port:
        known = sign_in(port, "ann", PASSWORD, HOME).cookies
        quiet = get_in(port, "ann", PASSWORD, HOME)[2]
        waited = {}
        for browser, cookies, tries_allowed in (("unknown", "", 2), ("known", known, 1)):
            strangers = [
                _send(port, f"2001:db8:{chance.getrandbits(16):x}:{n:x}::1", n) for n in range(times)
            ]
            for one in strangers:
                one.close()
            answer, tries, waited[browser] = get_in(port, "ann", PASSWORD, HOME, cookies)
            total.demand(answer.status == 303, f"the {browser} browser got {answer.status}")
            total.demand(tries <= tries_allowed, f"the {browser} browser needed {tries} tries")
            total.counts[f"tries of the {browser} browser"] = tries
            total.counts["strangers"] += times
    checked = path.with_suffix(".log").read_text().count(WRONG)
    total.counts["passwords of strangers checked"] = checked
    total.demand(checked <= 2 * MAX_QUEUE_LENGTH, f"{checked} passwords of strangers were checked")
    total.figure = (
        f"{waited['unknown']:.1f} s; a known browser {waited['known']:.1f} s; with no strangers {quiet:.1f} s"
    )
    return total


def _build(path: Path) -> None:
    store = new_project(path)
    add_people(store, "ann")
    store.close()


def _send(port: int, address: str, number: int) -> socket.socket:
    body = urlencode({"name": f"nobody {number}", "password": "a wrong password"})
    headers = form_headers(port, address) | {"Host": f"127.0.0.1:{port}", "Content-Length": len(body)}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    stranger = socket.create_connection(("127.0.0.1", port))
    stranger.sendall(f"POST /sign-in HTTP/1.1\r\n{head}\r\n{body}".encode())
    return stranger
