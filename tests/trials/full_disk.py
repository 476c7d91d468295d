"""A full disk: no file of the process may grow beyond a random size while it writes in every way that it can.

The limit is the operating system's for one process (RLIMIT_FSIZE): a write fails with "File too large"
where a full disk says "No space left on device". After a refusal the limit is lifted, and the same process
tries again, as an app does that runs on. After all tries on a project another process looks.

What must hold: what cannot be done is refused with a `CurationError`; whatever was acknowledged is there
and intact, nothing is there in part, the doctor has no problem; and once there is room, the same process
can do what it could not, at once.
"""

from __future__ import annotations

import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from curation.core.errors import CurationError
from curation.labeling.session.queue import read_queue
from curation.store import Store, open_store
from curation.store.rows import load_arrow
from tests.support.projects import grade_next
from tests.trials.forks import Victim, in_a_fork
from tests.trials.kills import ACTS, PEOPLE, build_templates, grade_until, look_after_kill, write_batch
from tests.trials.verdict import Verdict

RULE = (
    "A full disk refuses with a sentence, loses nothing that was acknowledged, and leaves nothing half done."
)
DONE = "It limits files to a random size while a process grades, imports, freezes, exports and backs up."
BEFORE = "refused writes stayed refused until the file was opened again"
TRIES = 20
"""Tries on one project."""
OTHER = {"refused", "again", "failed"}
"""What a process says that acknowledges nothing."""


def on_a_small_disk(
    limit: int, work: Callable[[Callable[[str], None]], None], say: Callable[[str], None]
) -> None:
    """Work where no file grows beyond `limit` bytes; say what was refused, and work again with room."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
    try:
        work(say)
    except CurationError as error:
        say(f"refused {len(str(error))}")
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        work(say)
        say("again with room")


def write_once(store: Store, graded: bool, number: int, say: Callable[[str], None]) -> None:
    path = store.path
    if graded:
        grade_until(store, PEOPLE[number % 2], say, most=15)
        return
    act = ACTS[number % len(ACTS)]
    act(store, path.parent, number)
    say(f"{act.__name__[1:]} {number}")


def with_room(path: Path, graded: bool, acknowledged: set[str]) -> Verdict:
    found = look_after_kill(path, acknowledged)
    if graded:
        store = open_store(path)
        before = len(read_queue(store, PEOPLE[0], 1).showings)
        saved = [one.status for one in grade_next(store, PEOPLE[0])]
        found.demand(saved == ["saved"] * before, f"with room again, a grade is answered {saved}")
        store.close()
    return found


def trial(folder: Path, times: int, chance: Random) -> Verdict:
    """So many tries, each with a limit of its own."""
    load_arrow()
    total = Verdict()
    templates = build_templates(folder)
    for start in range(0, times, TRIES):
        graded = start // TRIES % 2 == 0
        place = folder / f"tries-{start}"
        place.mkdir()
        path = Path(shutil.copy(templates["graded" if graded else "gold"], place / "project.duckdb"))
        path.chmod(0o600)
        acknowledged: set[str] = set()
        for number in range(start, min(start + TRIES, times)):
            try_once(path, graded, number, chance, acknowledged, total)
        total.add(
            in_a_fork(lambda path=path, graded=graded, said=acknowledged: with_room(path, graded, said))
        )
        shutil.rmtree(place)
    return total


def try_once(
    path: Path, graded: bool, number: int, chance: Random, acknowledged: set[str], total: Verdict
) -> None:
    """One process on a small disk, which has room for the log, for the file, for both or for neither."""
    if not graded:
        write_batch(path.parent, number)
    size = path.stat().st_size
    limit = chance.choice(
        (1, 500, 4_000, 20_000, 100_000, size + chance.randrange(-5_000, 500_000), 4 * size)
    )

    def work(say: Callable[[str], None]) -> None:
        store = open_store(path)
        on_a_small_disk(max(1, limit), lambda said: write_once(store, graded, number, said), say)

    victim = Victim(work)
    said = victim.ended()
    for line in said:
        kind = line.partition(" ")[0]
        total.counts[kind if kind in OTHER else f"acknowledged: {kind}"] += 1
        total.demand(kind != "failed", line[-900:])
    total.counts["tries"] += 1
    acknowledged.update(line for line in said if line.partition(" ")[0] not in OTHER)
