"""What does the page of a query cost at 1,000,000 judgments, beside a plain Streamlit table of the same rows?

The project of `bench_consensus` (2,000 queries, 100 documents each, every document graded by 5 of 25 people),
with a corpus, three systems' ranks and the texts of the queries. Both pages are run by Streamlit's AppTest in
one process, in turn, another query each time: the page of the query, whole, and a page that reads the grades
of the query's documents with one statement and shows them as `st.dataframe`. Milliseconds by the clock and of
the processors, medians; then the reads of the page alone.

Usage: python -m benchmarks.bench_query_page [--judgments 1000000] [--queries 15]
Smallest: python -m benchmarks.bench_query_page --judgments 500 --queries 1
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from streamlit.testing.v1 import AppTest

from app.context import PROJECT
from benchmarks.bench_consensus import project
from curation.queries.documents import read_documents
from curation.store import Store
from curation.store.rows import Annotator

LEAD = Annotator("lead", "lead", False)
_FILL = """
INSERT INTO queries
SELECT DISTINCT query_id, 'words of ' || query_id, 'words of ' || query_id, 'written', NULL, '{}'
FROM presentations;
UPDATE presentations SET content_hash = 'h' || document_id;
INSERT INTO documents
SELECT DISTINCT content_hash, document_id, 'Title of ' || document_id,
       repeat('words of the text of ' || document_id || ' ', 30), NULL, NULL, NULL, '{}'
FROM presentations;
INSERT INTO snapshot_documents SELECT 'now', document_id, content_hash FROM documents;
INSERT INTO settings VALUES ('corpus', 'now');
INSERT INTO candidates SELECT DISTINCT query_id, document_id FROM presentations;
INSERT INTO pools VALUES ('p', 'now', '{}', '{}', now()::TIMESTAMP);
INSERT INTO candidate_sources
SELECT 'p', query_id, document_id, system, (hash(document_id, system) % 100)::INT + 1, 0.5, NULL, NULL
FROM candidates, (VALUES ('bm25'), ('dense'), ('hybrid')) s(system);
"""


def query_page(store: Store, query_id: str) -> AppTest:
    """The page of a query, run."""

    def script(annotator):  # type: ignore[no-untyped-def]  # its text alone is run
        from app.views.query import page

        page.show(annotator)

    shown = AppTest.from_function(script, kwargs={"annotator": LEAD}, default_timeout=120)
    shown.query_params["id"] = query_id
    return shown.run()


def plain_page(store: Store, query_id: str) -> AppTest:
    """A plain table of the same documents, run."""

    def script(query_id):  # type: ignore[no-untyped-def]  # its text alone is run
        import streamlit as st

        from app.context import project_store

        with project_store().reading() as cursor:
            rows = cursor.execute(
                "SELECT document_id, list(grade) FROM counted_judgments "
                "WHERE query_id = ? GROUP BY document_id",
                [query_id],
            ).fetchall()
        st.title(query_id)
        st.dataframe({"Document": [row[0] for row in rows], "Grades": [str(row[1]) for row in rows]})

    return AppTest.from_function(script, kwargs={"query_id": query_id}, default_timeout=120).run()


def reads(store: Store, query_id: str) -> object:
    """What the page reads, without Streamlit."""
    return read_documents(store, query_id, LEAD)


PAGES: dict[str, Callable[[Store, str], object]] = {
    "the page of a query": query_page,
    "a plain Streamlit table": plain_page,
    "the reads of the page alone": reads,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--judgments", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=15)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = project(Path(folder), asked.judgments)
        with store.transaction() as cursor:
            cursor.execute(_FILL)
            ids = [row[0] for row in cursor.execute("SELECT query_id FROM queries ORDER BY ALL").fetchall()]
        before, os.environ[PROJECT] = os.environ.get(PROJECT), str(store.path)
        spent: dict[str, list[tuple[float, float]]] = {name: [] for name in PAGES}
        for number in range(asked.queries + 1):
            for name, run in PAGES.items():
                started, worked = time.perf_counter(), time.process_time()
                shown = run(store, ids[number * 7 % len(ids)])
                seconds = (time.perf_counter() - started, time.process_time() - worked)
                assert not isinstance(shown, AppTest) or not shown.exception, shown
                spent[name] += [seconds] if number else []  # the first run imports
        if before is None:
            del os.environ[PROJECT]
        else:
            os.environ[PROJECT] = before
        store.close()
    print(f"{asked.judgments:,} judgments\n\n| page | ms | processor ms |\n|---|---:|---:|")
    found = {}
    for name, each in spent.items():
        found[name] = [1000 * median(one) for one in zip(*each, strict=True)]
        print(f"| {name} | {found[name][0]:.0f} | {found[name][1]:.0f} |")
    page, table = found["the page of a query"], found["a plain Streamlit table"]
    ratios = [one / other for one, other in zip(page, table, strict=True)]
    print(f"\nthe page ÷ the plain table: {ratios[0]:.2f} by the clock, {ratios[1]:.2f} of the processors")


if __name__ == "__main__":
    main()
