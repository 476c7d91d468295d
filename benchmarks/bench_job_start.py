"""How long after the click a job is under way: with a process that waits for it, and without.

Draws a sample and builds a pool with bm25 of the Icecat products and the Excite log, several times each way
in one run. Under way is a job that has said what it does, and at work one whose function has said so itself:
its imports are done and its input is read. Until both could be told apart, a page said "starting" up to
there. Beside it other processes may keep the processors busy, as people who grade do. Written: medians in
seconds, and the ratio. Needs ../shared/data beside the checkout.

Usage: python -m benchmarks.bench_job_start [times] [busy processes]
Smallest: python -m benchmarks.bench_job_start 1 0
Needs: minutes
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from curation.jobs import Jobs
from curation.people.annotators import add_annotator
from curation.steps import STEPS
from curation.store import open_store
from tests.support import GOLDSET, ROOT

DATA = ROOT.parent / "shared" / "data"
DRAW = {"size": 200, "seed": 0, "plan": {}, "limits": {"since": None, "until": None}}
POOL = {"systems": ["bm25"], "depth": 10, "random_negatives": 5, "seed": 0}
BUSY = "while True: pass"


class Start(NamedTuple):
    """Seconds after the click."""

    under_way: float
    at_work: float


def fill(project: Path) -> None:
    corpus = ("--id-field", "id", "--title-field", "title", "--body-field", "short_description")
    log = ("--no-header", "--columns", "session,time,query")
    for arguments in (
        ("init",),
        ("import", "corpus", DATA / "chorus_icecat" / "products.jsonl.gz", *corpus),
        ("import", "traffic", DATA / "excite_log" / "excite-small.log", *log),
    ):
        command = [GOLDSET, "--project", str(project), *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True)
    store = open_store(project)
    add_annotator(store, "lee", "lead", "correct horse battery")
    store.close()


def started(project: Path, ready: bool) -> dict[str, Start]:
    """The sample and the pool of a copy of the project."""
    store = open_store(Path(shutil.copy(project, project.with_name("copy.duckdb"))))
    jobs, found, after = Jobs(store), {}, None
    if ready:
        jobs.keep_ready()
    for kind, parameters in (("sample", DRAW), ("pool", POOL)):
        if ready:
            jobs.prepare()
            assert jobs._ready is not None
            assert jobs._ready.stdout is not None
            jobs._ready.stdout.readline()
        after, found[kind] = _start(jobs, kind, parameters, after)
    store.close()
    return found


def _start(jobs: Jobs, kind: str, parameters: dict[str, Any], after: str | None) -> tuple[str, Start]:
    clicked = time.perf_counter()
    job = jobs.start(kind, parameters, "lee", after)
    under_way = at_work = None
    while (running := jobs.at_work()) is not None:
        step, since = running[1].step, time.perf_counter() - clicked
        if step:
            under_way = under_way or since
        if step not in ("", STEPS[kind].first):
            at_work = at_work or since
        time.sleep(0.005)
    done = time.perf_counter() - clicked
    return job.job_id, Start(under_way or done, at_work or done)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("times", type=int, nargs="?", default=5)
    parser.add_argument("busy", type=int, nargs="?", default=0)
    asked = parser.parse_args()
    times, busy = asked.times, asked.busy
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project.duckdb"
        fill(project)
        others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(busy)]
        try:
            found = {ready: [started(project, ready) for _ in range(times)] for ready in (False, True)}
        finally:
            for other in others:
                other.kill()
                other.wait()
    print(f"{times} times each way, {busy} busy processes beside")
    for kind in ("sample", "pool"):
        for figure in Start._fields:
            before, after = (
                statistics.median(getattr(one[kind], figure) for one in found[ready])
                for ready in (False, True)
            )
            said = f"new process {before:5.2f} s, waiting {after:5.2f} s, × {after / before:.2f}"
            print(f"{kind:7} {figure.replace('_', ' '):10} {said}")


if __name__ == "__main__":
    main()
