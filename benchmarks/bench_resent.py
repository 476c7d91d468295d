"""What an answer costs that is sent again, or comes from a tab that is behind, beside one that is new.

One annotator with 5,000 items; the three kinds take turns in one process, so that all have the same machine.
Written: the median of each in milliseconds with the next three items, as Label asks for them, and the ratio
to a new answer's.

Usage: python -m benchmarks.bench_resent [answers of each kind] [documents]
Smallest: python -m benchmarks.bench_resent 2 50
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.big_project import build, name_of
from curation.labeling.judgments.judging import Submission
from curation.labeling.session.showings import next_showings
from curation.labeling.session.submit import submit
from curation.store import Store

ITEMS, AHEAD = 5_000, 3


def seconds(store: Store, who: str, answer: Submission, expected: str) -> float:
    began = time.perf_counter()
    [outcome] = submit(store, who, [answer])
    next_showings(store, who, AHEAD)
    took = time.perf_counter() - began
    assert outcome.status == expected, outcome
    return took


def main(answers: int, documents: int) -> None:
    who = name_of(0)
    kinds: dict[str, list[float]] = {"saved": [], "repeated": [], "stale": []}
    with tempfile.TemporaryDirectory() as folder:
        store = build(Path(folder) / "project.duckdb", 1, ITEMS, documents)
        for number in range(answers):
            [item, *_] = next_showings(store, who, AHEAD).showings
            answer = Submission(item.presentation_id, item.revision, "grade", f"answer-{number:06d}", 1)
            behind = replace(answer, client_key=f"behind-{number:06d}", grade=2)
            for kind, sent in (("saved", answer), ("repeated", answer), ("stale", behind)):
                kinds[kind].append(seconds(store, who, sent, kind))
        store.close()
    new = statistics.median(kinds["saved"])
    for kind, found in kinds.items():
        median = statistics.median(found)
        print(
            f"{kind:>9}: {1000 * median:6.1f} ms, {median / new:5.2f} × a new answer ({len(found)} answers)"
        )


if __name__ == "__main__":
    main(*(int(text) for text in [*sys.argv[1:], *("100", "20000")[len(sys.argv) - 1 :]]))
