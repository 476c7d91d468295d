"""What do the consensus and consistency of 1,000,000 judgments cost, from DuckDB to the figures?

A made-up project: 200,000 pairs of 2,000 queries, each graded by 5 of 25 annotators, and 20,000 blind
duplicates. Every rule's counts, and in the same run those by the way that they replace (one Python object a
pair, as `settled` makes it for releases), with the ratio; then consistency with its details. Seconds by the
clock and of the processors, and the peak of the process's memory.

Usage: python -m benchmarks.bench_consensus [--judgments 1000000]
Smallest: python -m benchmarks.bench_consensus --judgments 500
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from curation.agreement.annotators.intra_annotator import (
    intra_agreement,
    read_repeats,
    read_showings,
    self_consistency,
)
from curation.project import init_project
from curation.settling.consensus import counted, settled
from curation.settling.votes import RULES, ConsensusRule, Votes, read_votes
from curation.store import Store

PEOPLE, VOICES, DOCUMENTS, SHARE_TWICE = 25, 5, 100, 0.02
SCALE = (0, 1, 2, 3)

# Nothing but hashes of numbers: the same rows on any machine.
_FILL = """
CREATE TEMP TABLE drawn AS
SELECT 'q' || lpad((pair // {documents})::TEXT, 6, '0') AS query_id,
       'd' || lpad(pair::TEXT, 8, '0') AS document_id,
       'annotator ' || lpad(((pair + voice * 7) % {people})::TEXT, 2, '0') AS annotator,
       least(3, greatest(0, (hash(pair) % 4)::INT + CASE hash(pair, voice) % 10
           WHEN 0 THEN -1 WHEN 1 THEN 1 WHEN 2 THEN 1 ELSE 0 END)) AS grade,
       pair * {voices} + voice AS number, hash(pair, voice, 'again') % 100 < {twice} AS twice,
       hash(pair, voice, 'other') % 10 AS other
FROM range({pairs}) p(pair), range({voices}) v(voice);
INSERT INTO rounds SELECT 'r', 'first', 'labeling', value, '{{}}', now()::TIMESTAMP, 1
FROM settings WHERE name = 'guide';
INSERT INTO presentations
SELECT 'p' || number, 'r', annotator, query_id, document_id, 'h', number, NULL FROM drawn
UNION ALL
SELECT 'again' || number, 'r', annotator, query_id, document_id, 'h', number + 10_000_000, 'p' || number
FROM drawn WHERE twice;
INSERT INTO judgment_events
SELECT id, 0, 'grade', grade, NULL, NULL, false, 'g', annotator, id, NULL,
       TIMESTAMP '2026-01-01' + to_seconds(place), 4000, false, true
FROM (SELECT 'p' || number AS id, grade, annotator, number AS place FROM drawn
      UNION ALL
      SELECT 'again' || number, CASE WHEN other = 0 THEN 3 - grade ELSE grade END, annotator,
             number + 10_000_000 FROM drawn WHERE twice);
"""


def project(folder: Path, judgments: int) -> Store:
    """A project with so many judgments."""
    store = init_project(folder / "project.duckdb").store
    sizes = {"documents": DOCUMENTS, "people": PEOPLE, "voices": VOICES, "twice": int(100 * SHARE_TWICE)}
    with store.transaction() as cursor:
        cursor.execute(_FILL.format(pairs=judgments // VOICES, **sizes))
    return store


def timed(what: str, run: Callable[[], object]) -> float:
    """Run, print seconds by the clock and of the processors, and the memory's peak."""
    started, worked = time.perf_counter(), time.process_time()
    run()
    seconds, work = time.perf_counter() - started, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {what} | {seconds:.2f} | {work:.2f} | {peak:,.0f} |", flush=True)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--judgments", type=int, default=1_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = project(Path(folder), asked.judgments)
        print("| step | seconds | processor seconds | peak MB so far |\n|---|---:|---:|---:|")

        read: list[Votes] = []

        def reading() -> None:
            with store.reading() as cursor:
                read.append(read_votes(cursor))

        def consistency() -> object:
            with store.reading() as cursor:
                repeats, showings = read_repeats(cursor), read_showings(cursor)
            return [intra_agreement(row) for row in repeats], [
                self_consistency(row, SCALE) for row in showings
            ]

        timed("reading the votes, first time", reading)
        timed("reading the votes", reading)
        votes = read[-1]
        seconds = {
            rule: timed(
                f"counts, {rule}", lambda rule=rule: counted(votes._replace(rule=ConsensusRule(rule)))
            )
            for rule in RULES
        }
        slow = timed("counts by an object a pair, majority", lambda: settled(votes).counts)
        timed("consistency, read and in detail", consistency)
        print(f"\nobjects ÷ arrays, majority: {slow / seconds['majority']:.1f}")


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
