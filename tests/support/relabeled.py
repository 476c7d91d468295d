"""A small judged project whose quarters pass: corpora, judgments and answers with times of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from curation.core.digests import digest
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.readers.fields import TrafficFields
from curation.labeling.imported import add_judgments
from curation.labeling.judging import Submission
from curation.labeling.session.submit import submit_judgments
from curation.relabeling.open_quarter import QuarterOpened, open_plan
from curation.relabeling.request import QuarterRequest
from curation.store import Store
from curation.store.row_types import Query
from tests.support.gold_project import write_corpus as write_lines
from tests.support.projects import add_names, rows_of

PEOPLE = ("ada", "ben", "cyd", "dee")
FIRST = datetime(2026, 1, 12, 9, 0)
Grader = Callable[[str, str, str], int]
"""Annotator, query id and document id → a grade."""


def write_corpus(store: Store, folder: Path, texts: Mapping[str, str]) -> None:
    """Make these documents (id → text) the whole corpus."""
    rows = [{"id": name, "title": name, "text": text} for name, text in texts.items()]
    import_corpus(store, write_lines(folder / "corpus.jsonl", rows))


def write_log(store: Store, folder: Path, name: str, counts: Mapping[str, int]) -> None:
    """Import a log of texts and how often each was asked."""
    path = folder / f"{name}.csv"
    rows = (f"{text},{count}\n" for text, count in counts.items())
    path.write_text(f"query,count\n{''.join(rows)}", encoding="utf-8")
    import_traffic(store, path, TrafficFields(query="query", count="count"))


def texts_of(queries: int, documents: int) -> dict[str, str]:
    """Document id → text; documents of a query are `q0-d0` and so on."""
    return {
        f"q{query}-d{number}": f"the text of document {number} about topic {query}, first version"
        for query in range(queries)
        for number in range(documents)
    }


def first_grade(_who: str, _query: str, document: str) -> int:
    return int(document.rpartition("d")[2]) % 4


def judged_project(
    store: Store,
    folder: Path,
    queries: int = 6,
    documents: int = 5,
    grader: Grader = first_grade,
    at: datetime | None = FIRST,
) -> Store:
    """Queries with documents of their own, all judged by two people under the guide in force."""
    texts = texts_of(queries, documents)
    write_corpus(store, folder, texts)
    add_names(store, *PEOPLE)
    asked = [Query(f"q{n}", f"topic {n}", f"topic {n}", "imported") for n in range(queries)]
    given = [
        ImportedJudgment(query, document, who, grader(who, query, document), submitted_at=at)
        for document in texts
        for query in [document.partition("-")[0]]
        for who in PEOPLE[:2]
    ]
    add_judgments(store, given, "first.csv", asked)
    return store


def open_quarter(
    store: Store, people: tuple[str, ...], plan: str | None = None, **more: Any
) -> QuarterOpened:
    """Open a plan, by default the newest one."""
    return open_plan(store, QuarterRequest(people, plan, **more))


def answer_round(
    store: Store, name: str, grader: Grader, at: datetime | None = None, most: int | None = None
) -> int:
    """Answer what is open in a round, in the order of presentations; returns how many were answered."""
    rows = rows_of(store, _OPEN, name)[:most]
    for who in sorted({row[1] for row in rows}):
        own = [row for row in rows if row[1] == who]
        given = [
            Submission(
                presentation,
                revision,
                "grade",
                digest(presentation, revision),
                grader(who, query, document),
                submitted_at=at + timedelta(seconds=20 * place) if at else None,
            )
            for place, (presentation, _, query, document, revision) in enumerate(own)
        ]
        outcomes = submit_judgments(store, who, given)
        assert [one.status for one in outcomes] == ["saved"] * len(given), outcomes
    return len(rows)


_OPEN = """
SELECT p.presentation_id, p.annotator, p.query_id, p.document_id, coalesce(s.next_revision, 0)
FROM live_presentations p JOIN rounds r USING (round_id)
LEFT JOIN presentation_states s USING (presentation_id)
WHERE r.name = ? AND NOT coalesce(s.answered, false)
ORDER BY p.annotator, p.position
"""
