"""Torn writes: a process is killed in the middle of its n-th write to the project, for each n of each step.

SIGKILL ends a write between two pages, which happens by chance once in hundreds of kills. Here a library that
is loaded before the C library counts the writes to files of a project, does a part of one, and sends the
signal. The steps: two people grade, an import, a freeze, an export, a backup. Each ends with the project let
go of. After every third the process that opens what is left, and mends it, is torn, too.

What must hold: the project opens and can be read whole, every grade and import that was acknowledged is there
once and none by half, and nothing is left beside the project but a log.
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

from curation.operations.content import read_all_rows
from curation.store import open_store
from curation.store.on_disk.checkpoints import kept_blocks
from tests.support import ROOT
from tests.trials import kills
from tests.trials.forks import Victim, in_a_fork
from tests.trials.kills import PEOPLE, Say
from tests.trials.verdict import Verdict, main

RULE = (
    "A write that is torn by a kill costs nothing that was acknowledged, and no project that does not open."
)
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
Step = Callable[[Path, Say], None]


def grade(path: Path, say: Say) -> None:
    """Two people grade, and the file is let go of: with a checkpoint."""
    store = open_store(path)
    for name in PEOPLE:
        kills.grade_until(store, name, say, most=2)
    store.close()


def _act(number: int) -> Step:
    def work(path: Path, say: Say) -> None:
        store = open_store(path)
        kills.ACTS[number](store, path.parent, number)
        store.close()
        say(f"{kills.KINDS[number]} {number}")

    return work


STEPS: dict[str, tuple[str, Step]] = {
    "grade": ("graded", grade),
    **{kind: ("gold", _act(number)) for number, kind in enumerate(kills.KINDS)},
}


def torn_once(template: Path, folder: Path, step: Step, at: int, part: int, twice: bool) -> Verdict:
    """Tear one write of a step on a copy of a project, and look at what is left."""
    folder.mkdir()
    path = Path(shutil.copy(template, folder / "project.duckdb"))
    said = Victim(lambda say: _armed(at, part, lambda: step(path, say))).ended()
    found = Verdict()
    found.counts["left blocks of a checkpoint"] += kept_blocks(path).exists()
    if twice:
        Victim(lambda say: _armed(1 + at % 3, part, lambda: _open(path))).ended()
    found.add(in_a_fork(lambda: look(path, said)))
    shutil.rmtree(folder)
    return found


def look(path: Path, said: list[str]) -> Verdict:
    """What the next process finds."""
    found = Verdict()
    found.counts["acknowledged"] += len(said)
    found.demand(not any(line.startswith("failed") for line in said), f"a step failed by itself: {said}")
    try:
        with open_store(path).reading() as cursor:
            read_all_rows(cursor)
        found.add(kills.look_at_rows(open_store(path), said))
    except Exception as error:
        found.broken.append(f"{type(error).__name__}: {error}")
    open_store(path).close()
    found.demand(not kept_blocks(path).exists(), "blocks of a checkpoint are left")
    return found


def trial(folder: Path, times: int, chance: Random) -> Verdict:
    """Tear so many writes, in a process that has the library; nothing where no C compiler is."""
    compiler = shutil.which("cc")
    if compiler is None:
        return Verdict()
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
    templates = kills.build_templates(folder)
    writes = {name: _writes_of(templates[kind], folder / name, step) for name, (kind, step) in STEPS.items()}
    places = [(name, at) for name in STEPS for at in range(1, writes[name] + 1)]
    if times < len(places):
        places = chance.sample(places, times)
    total = Verdict()
    total.counts.update({f"writes of {name}": number for name, number in writes.items()})
    for number in range(times):
        name, at = places[number % len(places)]
        kind, step = STEPS[name]
        part = chance.choice((0, 1, 25, 50, 99))
        total.add(torn_once(templates[kind], folder / str(number), step, at, part, number % 3 == 2))
        total.counts["torn"] += 1
    return total


def _writes_of(template: Path, folder: Path, step: Step) -> int:
    folder.mkdir()
    path = Path(shutil.copy(template, folder / "project.duckdb"))

    def work() -> int:
        _library().tear(0, 0)
        step(path, lambda line: None)
        return int(_library().writes())

    return in_a_fork(work)


def _armed(at: int, part: int, work: Callable[[], None]) -> None:
    _library().tear(at, part)
    work()


def _open(path: Path) -> None:
    with open_store(path).reading():
        pass
    open_store(path).close()


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)


if __name__ == "__main__":
    if "LD_PRELOAD" in os.environ:
        with tempfile.TemporaryDirectory(dir=sys.argv[1]) as place:
            outcome = tear_all(Path(place), int(sys.argv[2]), Random(int(sys.argv[3])))
        print(json.dumps([outcome.counts, outcome.broken]))
    else:
        main(trial, RULE, 1000)
