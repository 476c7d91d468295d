"""Copies of judged texts: what a system would reach if documents with the same text shared a grade.

A corpus may hold a text under several ids, and people judge one of them. A run that returns another one gets
nothing for it, although somebody judged the text. A copy has the title and the body of a document that has a
grade for the query, and no grade itself. Where ids of one text have different grades, no copy gets one. A
query with a filter is left out, because a copy may be outside it.

Copies are looked for among the documents that systems returned, to the depth of the measures. The figures on
a sealed part are not given, because they would tell which documents have grades.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from curation.core.arrow import numbers
from curation.core.text import amount, decimal
from curation.evaluation.figures.means import MeasureFigure, mean_figures
from curation.evaluation.scoring.inputs.release import EvaluatedRelease
from curation.evaluation.scoring.metrics.measures import Measure
from curation.evaluation.scoring.metrics.qrels import UNJUDGED, Qrels, RunRows, qrels_of, rank
from curation.evaluation.scoring.metrics.run_scores import mean_scores, score_rows

DEEPEST = 100
"""Ranks in which copies are looked for, where a measure looks at the whole list."""
SHARE = (
    "A release that is frozen with the grades of identical texts shared gives copies the grade of their text."
)

Pair = tuple[str, str]


class SharedCopies(NamedTuple):
    """What one system loses because copies of judged texts have no grade.

    Attributes
    ----------
    copies: places of its lists with such a copy. queries: how many have any.
    figures: measure → figure if documents with the same text shared a grade; none for chunks and subtopics.
    """

    copies: int
    queries: int
    figures: Mapping[str, MeasureFigure]

    def sentence(self, system: str) -> str:
        """What has to be known, for people."""
        places = amount(self.copies, "copy of a judged text has", "copies of judged texts have")
        known = {name: figure.value for name, figure in self.figures.items() if figure.value is not None}
        shown = ", ".join(f"{name} {decimal(value)}" for name, value in known.items())
        queries = amount(self.queries, "query", "queries")
        return (
            f"{system}: {places} no grade, in {queries}, so the system gains nothing there. "
            f"If documents with the same text shared a grade: {shown}. {SHARE}"
        )


def shared_copies(
    runs: Mapping[str, Sequence[RunRows]], release: EvaluatedRelease, measures: Sequence[Measure]
) -> dict[str, SharedCopies]:
    """What each system would reach with the grades of copies; only systems that returned any."""
    scored = [
        measure
        for measure in measures
        if not measure.of_chunks and measure.alpha is None and measure.kind != "judged"
    ]
    if release.bodies is None or release.sealed or not scored:
        return {}
    depth = min(DEEPEST, max(one.depth or DEEPEST for one in scored))
    unjudged = {name: [_unjudged(rows, release, depth) for rows in of] for name, of in runs.items()}
    wanted = {pair for found in unjudged.values() for pairs in found for pair in pairs}
    grades = _grades_of_copies(wanted, release)
    if not grades:
        return {}
    qrels = _with_grades(release.qrels, grades)
    found = {}
    for name, lists in unjudged.items():
        copies = [pair for pairs in lists for pair in pairs if pair in grades]
        if copies:
            documents = [rows._replace(chunks=None) for rows in runs[name]]
            scores = mean_scores([score_rows(rows, qrels, scored) for rows in documents])
            queries = len({query for query, _ in copies})
            found[name] = SharedCopies(len(copies), queries, mean_figures([scores])[0])
    return found


def _unjudged(rows: RunRows, release: EvaluatedRelease, depth: int) -> list[Pair]:
    """The documents of the corpus that a run returned without a grade, of queries without a filter."""
    ranking = rank(rows._replace(chunks=None), release.qrels)
    places = np.flatnonzero((ranking.grade == UNJUDGED) & (ranking.rank <= depth))
    documents = rows.documents.take(numbers(ranking.order[places])).to_pylist()
    queries = [release.qrels.query_ids[query] for query in ranking.query[places].tolist()]
    return [
        (query, document)
        for query, document in zip(queries, documents, strict=True)
        if document in release.documents and query not in release.filtered
    ]


def _grades_of_copies(unjudged: set[Pair], release: EvaluatedRelease) -> dict[Pair, int]:
    """The grade that each of these pairs has under another id of its text."""
    queries = {query for query, _ in unjudged}
    graded = [row for row in _rows(release.qrels) if row[0] in queries]
    assert release.bodies is not None
    text = release.bodies.text_sums({document for _, document in unjudged} | {row[1] for row in graded})
    by_text: dict[Pair, set[int]] = {}
    for query, document, grade in graded:
        if document in text:
            by_text.setdefault((query, text[document]), set()).add(grade)
    found = {}
    for query, document in unjudged:
        grades = by_text.get((query, text.get(document, "")), set())
        if len(grades) == 1:
            [found[query, document]] = grades
    return found


def _with_grades(qrels: Qrels, grades: Mapping[Pair, int]) -> Qrels:
    rows = [*_rows(qrels), *((query, document, grade) for (query, document), grade in grades.items())]
    return qrels_of(rows, qrels.query_ids, qrels.scale, qrels.relevant)


def _rows(qrels: Qrels) -> list[tuple[str, str, int]]:
    documents = qrels.documents.to_pylist()
    queries = [qrels.query_ids[query] for query in qrels.query.tolist()]
    names = [documents[document] for document in qrels.document.tolist()]
    return list(zip(queries, names, qrels.grade.tolist(), strict=True))
