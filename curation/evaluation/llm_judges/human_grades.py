"""Human grades: people's grades of pairs, against which a judge is compared.

The grades come from the live project, or from parts of a release. Queries that a release seals are left
out, unless the parts are named with a reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from curation.agreement.breakdowns import QueryTypes, read_query_types
from curation.agreement.grades import Grades, make_grades, read_grades
from curation.evaluation.scoring.evidence import Pair, PairGrades
from curation.evaluation.scoring.release import choose_parts, read_scale
from curation.guides.guide import current_guide
from curation.labeling.consensus.consensus import read_consensus
from curation.people.seal_access import list_sealed_parts, read_sealed_queries
from curation.releases.freeze.project_rows import NOT_COUNTED
from curation.releases.frozen_release import FrozenRelease, load_release
from curation.releases.part_rows import Rows
from curation.releases.seal import open_sealed
from curation.store import Cursor, Store

CONFLICTING_ROUNDS = "people's grade of a pair that the same annotator graded differently in two rounds"
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
    """People's grades of pairs, from the project or from a release.

    Attributes
    ----------
    release: the name of the release; None for the live project.
    parts: the parts of the release that count.
    scale: the grades of the scale, ascending.
    consensus: pair → grade; None for a pair without a consensus (disputed, or nobody could tell).
    versions: pair → the version of the document that was judged.
    annotator_grades: the grades of these pairs by annotator.
    types: query ids by tag, stratum and segment.
    query_ids: the queries of the parts; None for the live project, where all queries but `sealed` count.
    sealed: queries that are left out because a release seals them.
    left_out: reason → number of grades.
    """

    release: str | None
    parts: tuple[str, ...]
    scale: tuple[int, ...]
    consensus: PairGrades
    versions: Mapping[Pair, str]
    annotator_grades: Grades
    types: QueryTypes
    query_ids: frozenset[str] | None
    sealed: frozenset[str]
    left_out: Mapping[str, int]

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
        release=None,
        parts=(),
        scale=current_guide(cursor).values,
        consensus=grades,
        versions={pair: versions[pair] for pair in grades if pair in versions},
        annotator_grades=read_grades(cursor),
        types=read_query_types(cursor) | {"segment": _group_by_name(segments)},
        query_ids=None,
        sealed=sealed,
        left_out={},
    )


def read_release_grades(
    store: Store, name: str, split: str | None, purpose: str, reason: str | None, actor: str
) -> HumanGrades:
    """Read people's grades from a release: from one part, from `all` parts, or by default from the unsealed
    parts.

    Raises
    ------
    InputError: the release lacks this part.
    NotFoundError: no release has this name, or the project does not know the actor.
    RefusedError: sealed grades are read without a reason, or by a person who is not a lead; all parts are
        sealed; the release is not as it was frozen.
    """
    release = load_release(store, name)
    parts = choose_parts(release, split)
    open_sealed(store, name, purpose, reason, actor, parts)
    queries = [row for row in release.rows("queries") if row["part"] in parts]
    query_ids = {row["query_id"] for row in queries}
    versions = {row["document_id"]: row["content_hash"] for row in release.rows("documents")}
    grades = {
        (row["query_id"], row["document_id"]): row["grade"]
        for row in release.rows("qrels")
        if row["query_id"] in query_ids and "version" not in row
    }
    annotator_grades, left_out = _read_annotator_grades(release, grades)
    closed_parts = set(list_sealed_parts(release.header)).difference(parts)
    return HumanGrades(
        release=name,
        parts=parts,
        scale=tuple(read_scale(release.rows("guides"))),
        consensus=grades,
        versions={pair: versions[pair[1]] for pair in grades},
        annotator_grades=annotator_grades,
        types=_group_queries_by_type(queries),
        query_ids=frozenset(query_ids),
        sealed=frozenset(row["query_id"] for row in release.rows("queries") if row["part"] in closed_parts),
        left_out=left_out,
    )


def _read_annotator_grades(release: FrozenRelease, pairs: PairGrades) -> tuple[Grades, dict[str, int]]:
    """Read annotators' grades of these pairs, except grades from blind duplicates, from pilot rounds and for
    older texts."""
    rounds = {row["round"]: row["kind"] for row in release.rows("rounds")}
    votes: dict[tuple[str, str, str], set[int]] = defaultdict(set)
    for row in release.rows("judgments"):
        counts = row["kind"] == "grade" and not row["duplicate"] and "version" not in row
        pair = (row["query_id"], row["document_id"])
        if counts and pair in pairs and rounds[row["round"]] not in NOT_COUNTED:
            votes[*pair, row["annotator"]].add(row["grade"])
    rows = [(*key, next(iter(grades))) for key, grades in sorted(votes.items()) if len(grades) == 1]
    conflicting = Counter({CONFLICTING_ROUNDS: len(votes) - len(rows)})
    return make_grades(rows), dict(+conflicting)


def _group_queries_by_type(queries: Rows) -> QueryTypes:
    tags = _group_by_name((row["query_id"], tag) for row in queries for tag in row["tags"] or [])
    strata = _group_by_name((row["query_id"], row["stratum"]) for row in queries)
    segments = _group_by_name((row["query_id"], row["segment"]) for row in queries if row["segment"])
    return {"tag": tags, "stratum": strata, "segment": segments}


def _group_by_name(rows: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Group pairs (query id, name) by name, in the order of the names."""
    groups: dict[str, set[str]] = defaultdict(set)
    for query_id, name in rows:
        groups[name].add(query_id)
    return {name: frozenset(groups[name]) for name in sorted(groups)}
