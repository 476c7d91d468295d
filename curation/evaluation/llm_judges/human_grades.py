"""Human grades: people's grades of pairs, against which a judge is compared.

The grades come from the live project, without the queries that a release seals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from curation.agreement.breakdowns import QueryTypes, read_query_types
from curation.agreement.grades import Grades, read_grades
from curation.evaluation.scoring.evidence import Pair, PairGrades
from curation.guides.guide import current_guide
from curation.labeling.consensus.consensus import read_consensus
from curation.people.seal_access import read_sealed_queries
from curation.store import Cursor

_SEGMENTS = "SELECT query_id, metadata->>'segment' FROM queries WHERE metadata->>'segment' IS NOT NULL"
_VERSIONS = """
WITH corpus AS (
    SELECT document_id, content_hash FROM snapshot_documents
    WHERE snapshot_id = (SELECT value FROM settings WHERE name = 'corpus'))
SELECT query_id, document_id, coalesce(v.content_hash, a.content_hash, s.content_hash)
FROM judged_versions v FULL JOIN counted_adjudications a USING (query_id, document_id)
LEFT JOIN corpus s USING (document_id)
WHERE coalesce(v.content_hash, a.content_hash, s.content_hash) IS NOT NULL
"""


@dataclass(frozen=True)
class HumanGrades:
    """People's grades of pairs in the project.

    Attributes
    ----------
    scale: the grades of the scale, ascending.
    consensus: pair → grade; None for a pair without a consensus (disputed, or nobody could tell).
    versions: pair → the version of the document that was judged.
    annotator_grades: the grades of these pairs by annotator.
    types: query ids by tag, stratum and segment.
    sealed: queries that are left out because a release seals them.
    """

    scale: tuple[int, ...]
    consensus: PairGrades
    versions: Mapping[Pair, str]
    annotator_grades: Grades
    types: QueryTypes
    sealed: frozenset[str]

    def select_grades(self, pairs: Collection[Pair]) -> Grades:
        """Keep only the annotators' grades of these pairs."""
        grades = self.annotator_grades
        queries = [grades.query_ids[query] for query in grades.unit_queries.tolist()]
        unit_pairs = zip(queries, grades.documents, strict=True)
        is_selected = np.asarray([pair in pairs for pair in unit_pairs], bool)
        return grades.select(is_selected[grades.units])


def read_live_grades(cursor: Cursor) -> HumanGrades:
    """Read people's current grades from the project, except for queries that a release seals."""
    sealed = frozenset(read_sealed_queries(cursor))
    pairs = [pair for pair in read_consensus(cursor).pairs if pair.query_id not in sealed]
    grades = {(pair.query_id, pair.document_id): pair.grade for pair in pairs}
    rows = cursor.execute(_VERSIONS).fetchall()
    versions = {(query, document): version for query, document, version in rows}
    segments = cursor.execute(_SEGMENTS).fetchall()
    return HumanGrades(
        scale=current_guide(cursor).values,
        consensus=grades,
        versions={pair: versions[pair] for pair in grades if pair in versions},
        annotator_grades=read_grades(cursor),
        types=read_query_types(cursor) | {"segment": _group_by_name(segments)},
        sealed=sealed,
    )


def _group_by_name(rows: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Group pairs (query id, name) by name, in the order of the names."""
    groups: dict[str, set[str]] = defaultdict(set)
    for query_id, name in rows:
        groups[name].add(query_id)
    return {name: frozenset(groups[name]) for name in sorted(groups)}
