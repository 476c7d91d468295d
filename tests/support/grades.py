"""Grades in memory: (query, document, annotator, grade), drawn by Hypothesis or simulated with noise."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import numpy as np
from hypothesis import strategies as st

from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.store import Store
from tests.support.projects import add_pairs

SCALE = (0, 1, 2, 3)
GradeRow = tuple[str, str, str, int]

judged = st.lists(
    st.tuples(
        st.sampled_from("abcdef"),
        st.sampled_from("123"),
        st.sampled_from(["ada", "ben", "cyd", "dee"]),
        st.sampled_from(SCALE),
    ),
    min_size=1,
    max_size=60,
    unique_by=lambda row: row[:3],
)


def import_grades(
    store: Store, rows: Iterable[GradeRow], source: str = "grades.csv", at: datetime | None = None
) -> None:
    """Add the rows' queries and documents to the project, then their grades, given at one time or at none."""
    given = [ImportedJudgment(*row, submitted_at=at) for row in rows]
    pairs: dict[str, list[str]] = {}
    for query, document in dict.fromkeys((one.query_id, one.document_id) for one in given):
        pairs.setdefault(query, []).append(document)
    add_pairs(store, pairs)
    add_judgments(store, given, source)


def noisy(queries: int = 30, noise: float = 0.7, seed: int = 0, people: int = 3) -> list[GradeRow]:
    """Every annotator's grade of four documents a query."""
    random = np.random.default_rng(seed)
    rows: list[GradeRow] = []
    for query in range(queries):
        for document in range(4):
            true = random.choice(4, p=[0.4, 0.3, 0.2, 0.1])
            for who in range(people):
                grade = int(np.clip(np.rint(true + random.normal(0, noise)), 0, 3))
                rows.append((f"q{query:02}", f"d{document}", f"annotator {who}", grade))
    return rows
