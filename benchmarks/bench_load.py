"""How many annotators can one server carry? Websocket sessions that stay open, and grades by /api/judgments.

On a project with 20,000 documents and 50,000 showings a server in a process of its own serves N annotators,
each with a signed-in Streamlit session over a websocket; each posts two grades a second, one at a time and at
random moments, all from one client process. First 25 of them for two minutes; then 10, 15, 20, 25, 30, 40, …
for a shorter time each, on a fresh copy of the project, until the 95th percentile of a grade's answer passes
500 ms. Afterwards the database must hold exactly the grades that were answered as saved, each once. Client
and server share the machine; the processor's time is told for both, from the first grade to the last.

A connection that the server closed while it was idle is opened again, as browsers do, and counted apart from
errors. Its grade's time has both.

With --sign-ins so many people, each at an own address, first send name and password at random moments of ten
seconds; who is turned away because too many wait tries again when told. With --judged there are so many
judgments of another round, and with --lead a lead opens one page after another while the others grade. The
memory is looked at once a second: its slope is that after the first third.

Usage: python -m benchmarks.bench_load [--seconds 120] [--step-seconds 15] [--steps 10,15,20] [--most 200]
    [--rate 2] [--sign-ins 0] [--judged 0] [--lead] [--documents 20000]
    --seconds 0 leaves out the two minutes. --rate is grades a second of each annotator. People who read:
    --seconds 0 --steps 200 --step-seconds 60 --rate 0.5
    500 people: --seconds 0 --steps 500 --most 500 --step-seconds 600 --rate 0.1 --judged 300000 --lead
    --sign-ins 200
Smallest: python -m benchmarks.bench_load --seconds 0 --steps 2 --step-seconds 2 --lead --documents 400
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import httpx2
import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from benchmarks import big_project
from benchmarks.bench_agreement import fill, made_up
from curation.people.accounts import add_annotator
from curation.store import open_store

RATE, LIMIT_MS, LONG = 2.0, 500.0, 25
STEPS = [10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 140, 160, 180, 200]
LEAD, PAGES, PASSWORD, WITHIN = "lead", "pages of the lead", "correct horse battery", 10.0
HELD, LOW = 6, 3  # items that the page holds ahead, and how few are left when it asks for more


class Grade(NamedTuple):
    presentation_id: str
    client_key: str
    status: str
    ms: float


class Level(NamedTuple):
    """What N annotators got: figures in milliseconds, and everything that was not as it must be.

    wanted, rate: grades a second of everybody, asked for and done.
    reopened: connections that the server had closed while they were idle.
    server, client: milliseconds of processor that a grade took in each.
    peak: megabytes of memory that the server took at most; slope: more of them each minute.
    pages: how many a lead opened meanwhile, and the seconds of the longest.
    """

    annotators: int
    grades: int
    wanted: float
    rate: float
    p50: float
    p95: float
    p99: float
    longest: float
    reopened: int
    errors: list[str]
    wrong_rows: list[str]
    load: tuple[float, float]
    server: float
    client: float
    peak: float
    slope: float
    pages: tuple[int, float]


class Connection:
    """One kept connection that speaks just enough HTTP: a whole client would take more than the server."""

    def __init__(self, url: str, cookie: str) -> None:
        self.host = url.removeprefix("http://")
        self._head = f"Host: {self.host}\r\nOrigin: {url}\r\nCookie: {cookie}\r\n"
        self._reader: asyncio.StreamReader | None = None
        self.reopened = 0

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Status and content."""
        about = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        request = f"{method} {path} HTTP/1.1\r\n{self._head}{about}\r\n".encode() + body
        kept = self._reader is not None
        try:
            return await self._answer(request)
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            self.close()
            # Only where nothing came over a connection that was idle: the server had closed it before.
            if not kept or (isinstance(error, asyncio.IncompleteReadError) and error.partial):
                raise
            self.reopened += 1
            return await self._answer(request)

    async def _answer(self, request: bytes) -> tuple[int, bytes]:
        if self._reader is None:
            host, port = self.host.split(":")
            self._reader, self._writer = await asyncio.open_connection(host, int(port))
        self._writer.write(request)
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        return int(head.split(b" ", 2)[1]), await self._reader.readexactly(length)

    def close(self) -> None:
        if self._reader is not None:
            self._writer.close()
            self._reader = None


async def post_grade(
    client: Connection, name: str, number: int, showings: list[dict[str, Any]]
) -> tuple[Grade, list[dict[str, Any]]]:
    """Grade the first of the showings that a page holds; how that went, and what it then holds.

    Raises
    ------
    RuntimeError: it was answered with another status than 200.
    """
    item = showings[0]
    key = f"{name}-{number}"
    judged = {"presentation_id": item["presentation_id"], "revision": item["revision"], "kind": "grade"}
    graded = {**judged, "grade": number % 3, "client_key": key, "active_ms": 400}
    # As the page does: it holds the next items already, and asks for more when few are left.
    holding = [one["presentation_id"] for one in showings[1:]]
    limit = 0 if len(holding) > LOW else HELD - len(holding)
    body = json.dumps({"submissions": [graded], "holding": holding, "limit": limit}).encode()
    sent = time.perf_counter()
    status, content = await client.ask("POST", "/api/judgments", body)
    ms = 1000 * (time.perf_counter() - sent)
    if status != 200:
        raise RuntimeError(f"{status} {content[:200].decode(errors='replace')}")
    found = json.loads(content)
    grade = Grade(item["presentation_id"], key, found["outcomes"][0]["status"], ms)
    return grade, [*showings[1:], *(found["queue"] or {"showings": []})["showings"]]


class Annotator:
    """One signed-in session: the websocket of the page, and the grades."""

    def __init__(self, url: str, name: str, cookie: str, rate: float) -> None:
        self.url, self.name, self.cookie, self.rate = url, name, cookie, rate
        self.reopened = 0
        self.grades: list[Grade] = []
        self.errors: list[str] = []
        self.opened: list[float] = []

    async def work(self, begin: asyncio.Event, opened: asyncio.Semaphore, seconds: float) -> None:
        client = Connection(self.url, self.cookie)
        async with self._connected() as websocket:
            await self._open_page(websocket)
            reading = asyncio.create_task(self._listen(websocket))
            showings = json.loads((await client.ask("GET", "/api/presentations"))[1])["showings"]
            opened.release()
            await begin.wait()
            await self._grade(client, showings, time.perf_counter(), seconds)
            self.reopened = client.reopened
            if reading.done():
                self.errors.append(f"{self.name}: the websocket ended")
            reading.cancel()
        client.close()

    def _connected(self) -> connect:
        return connect(
            self.url.replace("http", "ws") + "/_stcore/stream",
            additional_headers={"Cookie": self.cookie},
            origin=self.url,  # type: ignore[arg-type]
            subprotocols=["streamlit"],  # type: ignore[list-item]
            open_timeout=120,
            max_size=None,
        )

    async def lead(self, pages: list[str], until: asyncio.Event) -> None:
        """Open one page after another until the event."""
        async with self._connected() as websocket:
            while not until.is_set():
                began = time.perf_counter()
                await self._open_page(websocket, pages[len(self.opened) % len(pages)])
                self.opened.append(time.perf_counter() - began)

    async def _open_page(self, websocket: ClientConnection, page: str = "") -> None:
        message = BackMsg()
        message.rerun_script.query_string = ""
        message.rerun_script.page_name = page
        await websocket.send(message.SerializeToString())
        answer = ForwardMsg()
        while answer.WhichOneof("type") != "script_finished":
            answer.ParseFromString(bytes(await asyncio.wait_for(websocket.recv(), 120)))  # type: ignore[arg-type]

    async def _listen(self, websocket: ClientConnection) -> None:
        async for _ in websocket:
            pass

    async def _grade(
        self, client: Connection, showings: list[dict[str, Any]], start: float, seconds: float
    ) -> None:
        chance = Random(self.name)
        for number in range(int(seconds * self.rate)):
            moment = start + (number + chance.random()) / self.rate
            await asyncio.sleep(max(0.0, moment - time.perf_counter()))
            if (number and time.perf_counter() > start + seconds) or not showings:
                break
            try:
                done, showings = await post_grade(client, self.name, number, showings)
                self.grades.append(done)
            except RuntimeError as error:
                self.errors.append(f"{self.name}: {error}")


async def watch(server: int, memory: list[float]) -> None:
    """Note the server's memory each second."""
    while True:
        memory.append(megabytes(server))
        await asyncio.sleep(1)


def slope(memory: list[float]) -> float:
    """Megabytes that the memory grows in a minute, after the first third; 0 where too little is known."""
    late = memory[len(memory) // 3 :]
    return 60 * float(np.polyfit(range(len(late)), late, 1)[0]) if len(late) > 2 else 0.0


async def all_at_work(
    url: str, cookies: dict[str, str], seconds: float, server: int, rate: float
) -> tuple[list[Annotator], float, float, list[float]]:
    """Everybody, the seconds of processor that the server and this process took for their grades, and the
    server's memory meanwhile.
    """
    begin, opened, ended = asyncio.Event(), asyncio.Semaphore(0), asyncio.Event()
    pages, lead = cookies.pop(PAGES, "").split(), Annotator(url, LEAD, cookies.pop(LEAD, ""), 0.0)
    memory: list[float] = []
    annotators = [Annotator(url, name, cookie, rate) for name, cookie in cookies.items()]
    tasks = [asyncio.create_task(one.work(begin, opened, seconds)) for one in annotators]
    for _ in tasks:
        await asyncio.wait_for(opened.acquire(), 300)
    await asyncio.sleep(1)  # the pages' last words
    used, own = cpu_seconds(server), time.process_time()
    begin.set()
    beside = [asyncio.create_task(watch(server, memory))]
    beside += [asyncio.create_task(lead.lead(pages, ended))] * bool(lead.cookie)
    for one, result in zip(annotators, await asyncio.gather(*tasks, return_exceptions=True), strict=True):
        if isinstance(result, BaseException):
            one.errors.append(f"{one.name}: {result!r}")
    took = cpu_seconds(server) - used, time.process_time() - own
    ended.set()
    beside[0].cancel()
    for result in await asyncio.gather(*beside[1:], return_exceptions=True):
        if isinstance(result, BaseException):
            lead.errors.append(f"{LEAD}: {result!r}")
    return [*annotators, lead], *took, memory


def client(url: str, seconds: float, server: int, rate: float) -> None:
    """The client process: cookies by name come in, grades and errors go out, both as JSON."""
    (*found, lead), used, own, memory = asyncio.run(
        all_at_work(url, json.load(sys.stdin), seconds, server, rate)
    )
    said = {
        "grades": [one.grades for one in found],
        "errors": [*lead.errors, *(error for one in found for error in one.errors)],
        "opened": lead.opened,
        "slope": slope(memory),
        "reopened": sum(one.reopened for one in found),
        "cpu": [used, own],
        "peak": megabytes(server, "VmHWM"),
    }
    json.dump(said, sys.stdout)


def run_level(project: Path, annotators: int, seconds: float, rate: float, with_lead: bool = False) -> Level:
    """Serve a copy of the project and let so many grade."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copy(project, Path(folder) / "project.duckdb"))
        store = open_store(path)
        names = [big_project.name_of(number) for number in range(annotators)]
        signed_in = [*names, LEAD] if with_lead else names
        cookies = {name: "=".join(big_project.cookie_of(store, name)) for name in signed_in}
        if with_lead:
            from app.navigation import list_pages  # every page, which no client needs

            cookies[PAGES] = " ".join(page.address for page in list_pages("lead"))
        url, server = serve(path, Path(folder) / "log")
        load = os.getloadavg()[0]
        try:
            command = [
                sys.executable,
                "-m",
                "benchmarks.bench_load",
                "--client",
                url,
                "--seconds",
                str(seconds),
            ]
            command += ["--server", str(server.pid), "--rate", str(rate)]
            done = subprocess.run(command, input=json.dumps(cookies), capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
        finally:
            server.terminate()
            server.wait(30)
        said = json.loads(done.stdout)
        grades = [[Grade(*one) for one in person] for person in said["grades"]]
        errors = said["errors"]
        if "Traceback" in (Path(folder) / "log").read_text():
            errors.append("the server's log holds a traceback")
        times = sorted(one.ms for person in grades for one in person)
        cuts = statistics.quantiles(times, n=100, method="inclusive")
        return Level(
            annotators,
            len(times),
            rate * annotators,
            len(times) / seconds,
            cuts[49],
            cuts[94],
            cuts[98],
            times[-1],
            said["reopened"],
            errors,
            wrong_rows(path, dict(zip(names, grades, strict=True))),
            (load, os.getloadavg()[0]),
            *(1000 * used / len(times) for used in said["cpu"]),
            said["peak"],
            said["slope"],
            (len(said["opened"]), max(said["opened"], default=0.0)),
        )


def wrong_rows(path: Path, grades: dict[str, list[Grade]]) -> list[str]:
    """What the database lacks, has twice or should not have."""
    store = open_store(path)
    with store.reading() as cursor:
        rows = cursor.execute(
            "SELECT author, presentation_id, client_key FROM judgment_events "
            "WHERE author IN (SELECT unnest(?::TEXT[]))",
            [list(grades)],
        ).fetchall()
        strays = cursor.execute(
            "SELECT count(*) FROM judgment_events e JOIN presentations p USING (presentation_id) "
            "WHERE e.author != p.annotator"
        ).fetchall()[0][0]
    store.close()
    saved = {(name, one.presentation_id, one.client_key) for name, found in grades.items() for one in found}
    refused = [one for found in grades.values() for one in found if one.status != "saved"]
    problems = [f"{len(refused)} not saved"] * bool(refused)
    problems += [f"{len(saved - set(rows))} lost"] * bool(saved - set(rows))
    problems += [f"{len(set(rows) - saved)} that nobody was told of"] * bool(set(rows) - saved)
    twice = len(rows) - len({presentation for _, presentation, _ in rows})
    problems += [f"{twice} twice"] * bool(twice)
    return problems + [f"{strays} by somebody else"] * bool(strays)


def cpu_seconds(pid: int) -> float:
    """Processor time that a process has used; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(pid: int, field: str = "VmRSS") -> float:
    """The memory that a process has, or, as VmHWM, has had at most; 0 where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return int(status.partition(f"{field}:")[2].split()[0]) / 1000


async def sign_in(client: httpx2.AsyncClient, number: int, moment: float) -> tuple[float, int]:
    """Sign one person in; the seconds from the first try on, and how often they were turned away."""
    await asyncio.sleep(moment)
    began, again = time.perf_counter(), 0
    form = {"name": big_project.name_of(number), "password": PASSWORD}
    address = {"X-Forwarded-For": f"10.{number // 250}.{number % 250}.1", "Origin": str(client.base_url)}
    while (answer := await client.post("/sign-in", data=form, headers=address)).status_code in (429, 503):
        again += 1
        await asyncio.sleep(int(answer.headers["Retry-After"]) + moment / WITHIN)
    if answer.status_code != 303:
        raise RuntimeError(f"{answer.status_code} for {form['name']}")
    return time.perf_counter() - began, again


async def all_sign_in(url: str, people: int) -> list[tuple[float, int]]:
    """Everybody within ten seconds."""
    chance = Random(people)
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
        moments = [WITHIN * chance.random() for _ in range(people)]
        return await asyncio.gather(*(sign_in(client, *one) for one in enumerate(moments)))


def sign_ins(project: Path, people: int) -> str:
    """Serve a copy of the project and let so many sign in; what that took."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copy(project, Path(folder) / "project.duckdb"))
        url, server = serve(path, Path(folder) / "log")
        try:
            done = asyncio.run(all_sign_in(url, people))
            used = cpu_seconds(server.pid)
        finally:
            server.terminate()
            server.wait(30)
    took = sorted(seconds for seconds, _ in done)
    again = sum(times > 0 for _, times in done)
    return (
        f"{people} people who sign in within {WITHIN:g} s: median {statistics.median(took):.2f} s, longest "
        f"{took[-1]:.1f} s; {again} were turned away first; server {used:.1f} s of processor, with its start"
    )


def serve(path: Path, log: Path) -> tuple[str, subprocess.Popen[bytes]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        str(Path(sys.executable).with_name("goldgrade")),
        "--project",
        str(path),
        "app",
        "--port",
        str(port),
    ]
    with log.open("wb") as out:
        server = subprocess.Popen(command, stdout=out, stderr=out)
    url = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            if httpx2.get(f"{url}/health").status_code == 200:
                return url, server
        except httpx2.TransportError:
            time.sleep(0.1)
    sys.exit(log.read_text())


def told(level: Level) -> str:
    exact = "exact" if not level.wrong_rows else ", ".join(level.wrong_rows)
    figures = f"{level.p50:.0f} | {level.p95:.0f} | {level.p99:.0f} | {level.longest:.0f}"
    load = f"{level.load[0]:.1f} → {level.load[1]:.1f}"
    begin = f"| {level.annotators} | {level.grades:,} | {level.rate:.1f}"
    begin += f" of {level.wanted:.0f}"
    cost = f"{level.server:.1f} | {level.client:.1f} | {level.peak:,.0f} | {level.slope:+.1f}"
    cost += f" | {level.pages[0]} ({level.pages[1]:.1f} s)" if level.pages[0] else " | –"
    return f"{begin} | {figures} | {cost} | {level.reopened} | {len(level.errors)} | {exact} | {load} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--step-seconds", type=float, default=15)
    parser.add_argument("--steps", type=lambda text: [int(one) for one in text.split(",")], default=STEPS)
    parser.add_argument("--most", type=int, default=max(STEPS))
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--sign-ins", type=int, default=0)
    parser.add_argument("--judged", type=int, default=0)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--lead", action="store_true")
    parser.add_argument("--client")
    parser.add_argument("--server", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.client:
        client(arguments.client, arguments.seconds, arguments.server, arguments.rate)
        return
    steps = [(number, arguments.step_seconds) for number in arguments.steps if number <= arguments.most]
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project.duckdb"
        most = max([LONG * bool(arguments.seconds), arguments.sign_ins, *(number for number, _ in steps)])
        prepare(project, most, arguments.documents, arguments.sign_ins, arguments.judged)
        print(f"{os.cpu_count()} cores for server and clients; times in ms; load: 1 minute, before → after")
        print("server, client: milliseconds of processor for a grade in each; MB: the server's at most\n")
        names = "annotators | grades | a second | p50 | p95 | p99 | longest | server | client | MB"
        print(
            f"| {names} | a minute | pages | reopened | errors | rows | load |\n|{'---:|' * 14}---|---|",
            flush=True,
        )
        if arguments.sign_ins:
            print(sign_ins(project, arguments.sign_ins), flush=True)
        failed, passed = False, None
        if arguments.seconds:
            failed = shown(run_level(project, LONG, arguments.seconds, arguments.rate, arguments.lead))
        for annotators, seconds in steps:
            level = run_level(project, annotators, seconds, arguments.rate, arguments.lead)
            failed |= shown(level)
            if level.p95 > LIMIT_MS:
                passed = annotators
                break
        print(f"\np95 passes {LIMIT_MS:.0f} ms at {passed or f'more than {arguments.most}'} annotators")
        sys.exit(failed)


def prepare(project: Path, people: int, documents: int, with_password: int, judged: int) -> None:
    """A project with a lead, so many people, and so many judgments of another round."""
    shown = max(5 * documents // 2, 100 * people)
    store = big_project.build(project, people, shown, documents)
    add_annotator(store, LEAD, "lead", PASSWORD)
    with store.transaction() as cursor:
        names = [big_project.name_of(number) for number in range(with_password)]
        everybody = "INSERT INTO passwords SELECT unnest(?::TEXT[]), 0, hash, set_at FROM passwords"
        cursor.execute(everybody, [names])
    if judged:
        fill(store, made_up(judged), "judged before")
    store.close()


def shown(level: Level) -> bool:
    """Print a level; whether anything was lost, double or refused in it."""
    print(told(level), flush=True)
    for problem in level.errors[:5]:
        print(f"  {problem}")
    return bool(level.wrong_rows or level.errors)


if __name__ == "__main__":
    main()
