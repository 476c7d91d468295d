"""Torn writes: a process is killed in the middle of its n-th write to the project, for each n of each step.

SIGKILL ends a write between two pages, which happens by chance once in hundreds of kills. Here a library that
is loaded before the C library counts the writes to files of a project, does a part of one, and sends the
signal. The steps come from `steps`, people who grade through the served app among them. Each ends with the
project let go of. After every third the process that opens what is left, and mends it, is torn, too.

What must hold is what must hold after a kill of a step, and nothing is left beside the project but a log.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from curation.store.checkpoints import journal_path
from tests.support import ROOT
from tests.trials.forks import Victim, in_a_fork
from tests.trials.steps import Step, build, copy_of, look, open_older
from tests.trials.verdict import Verdict

RULE = (
    "A write that is torn by a kill costs nothing that was acknowledged, and no project that does not open."
)
DONE = (
    "It kills the process in the middle of a write of each kind, "
    "and sometimes also the process that repairs the file."
)
BEFORE = "3 of 4 tears left a project that did not open"
LIBRARY = r"""
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static long at, pages, seen;
void tear(long number, long part) { pages = part; seen = 0; at = number; }
long writes(void) { return seen; }
static size_t counted(int file, size_t size) {
    char link[64], name[4096] = {0};
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (readlink(link, name, sizeof name - 1) < 0 || !strstr(name, ".duckdb")) return size;
    if (__sync_add_and_fetch(&seen, 1) != at) return size;
    return size / 4096 * pages / 100 * 4096;
}
#define TEAR(call) { size_t part = counted(file, size); ssize_t done = (call); \
    if (part < size) kill(getpid(), SIGKILL); return done; }
ssize_t write(int file, const void *from, size_t size) TEAR(syscall(SYS_write, file, from, part))
ssize_t pwrite64(int file, const void *from, size_t size, off64_t to)
    TEAR(syscall(SYS_pwrite64, file, from, part, to))
ssize_t pwrite(int file, const void *from, size_t size, off64_t to)
    TEAR(syscall(SYS_pwrite64, file, from, part, to))
"""


def torn_once(step: Step, folder: Path, at: int, part: int, twice: bool) -> Verdict:
    """Tear one write of a step on a copy of its project, and look at what is left."""
    path = copy_of(step.template, folder)
    said = Victim(lambda say: _armed(at, part, lambda: step.work(path, say))).ended()
    found = Verdict()
    found.counts["left blocks of a checkpoint"] += journal_path(path).exists()
    if twice:
        Victim(lambda say: _armed(1 + at % 3, part, lambda: open_older(path, say))).ended()
    found.add(in_a_fork(lambda: look(path, step, said)))
    shutil.rmtree(folder)
    return found


def trial(folder: Path, times: int, chance: Random) -> Verdict:
    """Tear so many writes, in a process that has the library."""
    compiler = shutil.which("cc")
    if compiler is None:
        return Verdict(skipped="there is no C compiler (cc) here to build the library that tears writes")
    source, library = folder / "tear.c", folder / "tear.so"
    source.write_text(LIBRARY)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    command = [
        sys.executable,
        "-m",
        "tests.trials.torn",
        str(folder),
        str(times),
        str(chance.getrandbits(32)),
    ]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        return Verdict(broken=[done.stderr])
    counts, broken = json.loads(done.stdout.splitlines()[-1])
    found = Verdict(broken=broken)
    found.counts.update(counts)
    return found


def tear_all(folder: Path, times: int, chance: Random) -> Verdict:
    """Every write of every step in turn, and from the first again; how much of it is written is chance."""
    steps = build(folder, times)
    writes = {name: _writes_of(step, folder / "counted") for name, step in steps.items()}
    places = [(name, at) for name in steps for at in range(1, writes[name] + 1)]
    if times < len(places):
        places = chance.sample(places, times)
    total = Verdict()
    total.counts.update({"steps": len(steps), "writes": sum(writes.values())})
    for number in range(times):
        name, at = places[number % len(places)]
        part = chance.choice((0, 1, 25, 50, 99))
        found = torn_once(steps[name], folder / str(number), at, part, number % 3 == 2)
        total.counts.update(found.counts)
        total.broken += [f"{name}, write {at}: {sentence}" for sentence in found.broken]
        total.counts["torn"] += 1
    return total


def _writes_of(step: Step, folder: Path) -> int:
    path = copy_of(step.template, folder)

    def work() -> int:
        _library().tear(0, 0)
        step.work(path, lambda line: None)
        return int(_library().writes())

    found = in_a_fork(work)
    shutil.rmtree(folder)
    return found


def _armed(at: int, part: int, work: Callable[[], None]) -> None:
    _library().tear(at, part)
    work()


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)


if __name__ == "__main__":  # with the library, as `trial` starts it
    with tempfile.TemporaryDirectory(dir=sys.argv[1]) as place:
        outcome = tear_all(Path(place), int(sys.argv[2]), Random(int(sys.argv[3])))
    print(json.dumps([outcome.counts, outcome.broken]))
