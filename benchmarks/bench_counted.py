"""What does the view of the judgments that count cost on 1,000,000 of them, beside other ways to say it?

The project of `bench_consensus`: 200,000 pairs, each graded by 5 of 25 annotators, once with the judged texts
in force and once with older ones. Each way runs in turn in one process and must find the same rows.
Seconds by the clock and of the processors, the least of the repetitions: for all judgments, and for those
of one pair.

Usage: python -m benchmarks.bench_counted [--judgments 1000000] [--repetitions 5]
Smallest: python -m benchmarks.bench_counted --judgments 500 --repetitions 1
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.bench_consensus import project
from curation.store import Cursor, Store

ANTI_JOIN = """
WITH eligible AS MATERIALIZED (FROM eligible_judgments),
older AS (
    SELECT query_id, document_id, arg_max(content_hash, (round_sequence, written)) AS content_hash
    FROM eligible WHERE NOT in_force GROUP BY query_id, document_id)
SELECT e.*, e.in_force OR e.content_hash = o.content_hash AS same_text
FROM eligible e LEFT JOIN older o USING (query_id, document_id)
WHERE NOT EXISTS (
    FROM eligible n
    WHERE n.query_id = e.query_id AND n.document_id = e.document_id AND n.in_force AND NOT e.in_force)
  AND NOT EXISTS (
    FROM eligible l
    WHERE l.query_id = e.query_id AND l.document_id = e.document_id AND l.annotator = e.annotator
      AND l.in_force = e.in_force AND (l.round_sequence, l.written) > (e.round_sequence, e.written))
"""
AGGREGATES = """
WITH eligible AS MATERIALIZED (FROM eligible_judgments),
pairs AS (
    SELECT query_id, document_id, bool_or(in_force) AS in_force,
           arg_max(content_hash, (in_force, round_sequence, written)) AS content_hash
    FROM eligible GROUP BY query_id, document_id),
newest AS (
    SELECT arg_max(written, (in_force, round_sequence, written)) AS written
    FROM eligible GROUP BY annotator, query_id, document_id)
SELECT e.*, e.content_hash = p.content_hash AS same_text
FROM eligible e JOIN pairs p USING (query_id, document_id, in_force) SEMI JOIN newest USING (written)
"""
WAYS = {
    "the view": "FROM counted_judgments",
    "anti-join": ANTI_JOIN,
    "aggregates": AGGREGATES,
}
ALL = "SELECT count(*), sum(grade), sum(written), min(annotator), sum(same_text::INT) FROM ({})"
ONE = "SELECT count(*), sum(grade) FROM ({}) WHERE query_id = 'q000100' AND document_id = 'd00010001'"

_IN_FORCE = """
INSERT INTO snapshot_documents SELECT DISTINCT 'now', document_id, 'h' || document_id FROM presentations;
UPDATE presentations SET content_hash = 'h' || document_id;
INSERT OR REPLACE INTO settings VALUES ('corpus', 'now');
"""


def timed(cursor: Cursor, sql: str) -> tuple[tuple[float, float], object]:
    """Seconds by the clock and of the processors, and the row."""
    started, worked = time.perf_counter(), time.process_time()
    row = cursor.execute(sql).fetchall()
    return (time.perf_counter() - started, time.process_time() - worked), row


def compare(store: Store, texts: str, repetitions: int) -> None:
    """A line for each way; refuses ways that differ."""
    best: dict[tuple[str, str], tuple[float, float]] = {}
    found: dict[str, list[object]] = {ALL: [], ONE: []}
    with store.reading() as cursor:
        for _ in range(repetitions):
            for name, way in WAYS.items():
                for sql, rows in found.items():
                    seconds, row = timed(cursor, sql.format(way))
                    best[name, sql] = min(best.get((name, sql), seconds), seconds, key=lambda two: two[1])
                    rows.append(row)
    assert all(row == rows[0] for rows in found.values() for row in rows), "the ways differ"
    for name in WAYS:
        figures = " | ".join(f"{figure:.2f}" for sql in found for figure in best[name, sql])
        print(f"| {texts} | {name} | {figures} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--judgments", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = project(Path(folder), asked.judgments)
        print("| texts | way | seconds | of processors | one pair: seconds | of processors |")
        print("|---|---|---:|---:|---:|---:|")
        compare(store, "older", asked.repetitions)
        with store.transaction() as cursor:
            cursor.execute(_IN_FORCE)
        compare(store, "in force", asked.repetitions)


if __name__ == "__main__":
    main()
