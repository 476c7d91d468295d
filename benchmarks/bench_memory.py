"""Does a server's memory grow with the grades that it takes? RSS while people post without a pause.

On a project with 20,000 documents a server in a process of its own takes grades by /api/judgments from ten
annotators, each of whom sends the next one once the last is answered. Written after each tenth of the grades:
the server's memory (RSS), what of it is its own and in use, and how far that is above the memory after the
first tenth, when all that is read once has been read. Then once more after eight seconds without a request.

Usage: python -m benchmarks.bench_memory [grades, default 20000] [--people 10] [--documents 20000]
Smallest: python -m benchmarks.bench_memory 40 --people 2 --documents 400
Needs: minutes
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import big_project
from benchmarks.bench_load import Connection, Grade, megabytes, post_grade, serve, wrong_rows

TENTHS = 10
REST = 8.0
"""Seconds without a request: longer than an engine without a file is kept."""


async def post(url: str, name: str, cookie: str, most: int, done: list[Grade]) -> list[Grade]:
    """Send one grade after another."""
    client, own = Connection(url, cookie), []
    showings = json.loads((await client.ask("GET", "/api/presentations"))[1])["showings"]
    for number in range(most):
        grade, showings = await post_grade(client, name, number, showings)
        own.append(grade)
        done.append(grade)
    client.close()
    return own


async def post_all(
    url: str, cookies: dict[str, str], grades: int, server: int
) -> tuple[dict[str, list[Grade]], list[float]]:
    """Let everybody post; their grades, and the server's memory after each tenth."""
    done: list[Grade] = []
    each = grades // len(cookies)
    tasks = {
        name: asyncio.create_task(post(url, name, cookie, each, done)) for name, cookie in cookies.items()
    }
    memory, began = [], time.perf_counter()
    for tenth in range(1, TENTHS + 1):
        while len(done) < each * len(cookies) * tenth // TENTHS and not all(
            task.done() for task in tasks.values()
        ):
            await asyncio.sleep(0.05)
        memory.append(megabytes(server))
        seconds = time.perf_counter() - began
        print(
            f"{len(done):8,} grades {seconds:7.1f} s {memory[-1]:7.0f} MB {memory[-1] - memory[0]:+7.0f}",
            flush=True,
        )
    return {name: await task for name, task in tasks.items()}, memory


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("grades", type=int, nargs="?", default=20_000)
    parser.add_argument("--people", type=int, default=10)
    parser.add_argument("--documents", type=int, default=20_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "project.duckdb"
        store = big_project.build(
            path,
            arguments.people,
            max(arguments.grades, arguments.documents) + 10 * arguments.people,
            arguments.documents,
        )
        names = [big_project.name_of(number) for number in range(arguments.people)]
        cookies = {name: "=".join(big_project.cookie_of(store, name)) for name in names}
        store.close()
        url, server = serve(path, Path(folder) / "log")
        try:
            print(f"before: {megabytes(server.pid):.0f} MB")
            grades, memory = asyncio.run(post_all(url, cookies, arguments.grades, server.pid))
            time.sleep(REST)
            print(f"after {REST:g} s without a request: {megabytes(server.pid):.0f} MB")
        finally:
            server.terminate()
            server.wait(30)
        problems = wrong_rows(path, grades)
        print(
            f"ratio: {memory[-1] / memory[0]:.2f} times the memory after a tenth; rows: {problems or 'exact'}"
        )
        sys.exit(bool(problems))


if __name__ == "__main__":
    main()
