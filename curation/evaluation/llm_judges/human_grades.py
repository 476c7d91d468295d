"""People's grades that a judge is compared with: of the live project, or of parts of a release.

Queries that a release seals are left out, unless the parts are asked for with a reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from curation.agreement.between.grades import Grades, Types, grades_of, read_grades, read_types
from curation.evaluation.scoring.inputs.release import parts_of, scale_of
from curation.guides.guide import current_guide
from curation.labeling.consensus.consensus import consensus
from curation.people.seal_access import sealed_parts, sealed_queries
from curation.releases.release_rows import NOT_COUNTED, Table
from curation.releases.seal import open_sealed
from curation.releases.verify import FrozenRelease, load_release
from curation.store import COMMAND_LINE, Cursor, Store

PairKey = tuple[str, str]
TWICE = "people's grade of a pair that the same annotator graded differently in two rounds"
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
    """What people say about pairs.

    Attributes
    ----------
    release: its name; None for the live project. parts: those of its parts that count.
    scale: ascending.
    consensus: the grade of each judged pair; None where none came of it (disputed, nobody could tell).
    versions: the version of the document that each of these pairs is read by.
    given: each annotator's grades of them.
    types: query ids by tag, stratum and segment.
    inside: the queries of these parts; None for the live project, where all but `sealed` count.
    sealed: queries that are left out because a release seals them.
    left_out: reason → number.
    """

    release: str | None
    parts: tuple[str, ...]
    scale: tuple[int, ...]
    consensus: Mapping[PairKey, int | None]
    versions: Mapping[PairKey, str]
    given: Grades
    types: Types
    inside: frozenset[str] | None
    sealed: frozenset[str]
    left_out: Mapping[str, int]

    def given_for(self, pairs: Collection[PairKey]) -> Grades:
        """Each annotator's grades of these pairs alone."""
        queries = [self.given.query_ids[query] for query in self.given.unit_queries.tolist()]
        chosen = [pair in pairs for pair in zip(queries, self.given.documents, strict=True)]
        return self.given.only(np.asarray(chosen, dtype=bool)[self.given.units])


def live_grades(cursor: Cursor) -> HumanGrades:
    """People's grades of the live project, without queries that a release seals."""
    sealed = frozenset(sealed_queries(cursor))
    found = {
        (pair.query_id, pair.document_id): pair.grade
        for pair in consensus(cursor).pairs
        if pair.query_id not in sealed
    }
    versions = {
        (query, document): version for query, document, version in cursor.execute(_VERSIONS).fetchall()
    }
    segments = cursor.execute(_SEGMENTS).fetchall()
    return HumanGrades(
        release=None,
        parts=(),
        scale=current_guide(cursor).values,
        consensus=found,
        versions={pair: versions[pair] for pair in found if pair in versions},
        given=read_grades(cursor),
        types=read_types(cursor)._replace(segments=_grouped(segments)),
        inside=None,
        sealed=sealed,
        left_out={},
    )


def release_grades(
    store: Store,
    name: str,
    split: str | None,
    purpose: str,
    reason: str | None = None,
    actor: str = COMMAND_LINE,
) -> HumanGrades:
    """People's grades of a release: of a part, of all (`all`), or of those that are not sealed.

    Raises
    ------
    InputError: the release has no such part.
    NotFoundError: there is no such release, or the project does not know the actor.
    RefusedError: sealed grades are wanted without a reason or by somebody who is no lead; all parts are
        sealed; the release is not as it was frozen.
    """
    release = load_release(store, name)
    chosen = parts_of(release, split)
    open_sealed(store, name, purpose, reason, actor, chosen)
    queries = [row for row in release.rows("queries") if row["part"] in chosen]
    inside = {row["query_id"] for row in queries}
    pins = {row["document_id"]: row["content_hash"] for row in release.rows("documents")}
    found = {
        (row["query_id"], row["document_id"]): row["grade"]
        for row in release.rows("qrels")
        if row["query_id"] in inside and "version" not in row
    }
    given, left_out = _judgments(release, found)
    return HumanGrades(
        release=name,
        parts=chosen,
        scale=tuple(scale_of(release.rows("guides"))),
        consensus=found,
        versions={pair: pins[pair[1]] for pair in found},
        given=given,
        types=_types(queries),
        inside=frozenset(inside),
        sealed=_left_sealed(release, chosen),
        left_out=left_out,
    )


def _left_sealed(release: FrozenRelease, chosen: Collection[str]) -> frozenset[str]:
    """The queries of the sealed parts that were not opened."""
    closed = set(sealed_parts(release.header)).difference(chosen)
    return frozenset(row["query_id"] for row in release.rows("queries") if row["part"] in closed)


def _judgments(release: FrozenRelease, pairs: Mapping[PairKey, int | None]) -> tuple[Grades, dict[str, int]]:
    """Each annotator's grades of these pairs: no blind duplicates, no pilots, no older texts."""
    rounds = {row["round"]: row["kind"] for row in release.rows("rounds")}
    said: dict[tuple[str, str, str], set[int]] = defaultdict(set)
    for row in release.rows("judgments"):
        counts = row["kind"] == "grade" and not row["duplicate"] and "version" not in row
        pair = (row["query_id"], row["document_id"])
        if counts and pair in pairs and rounds[row["round"]] not in NOT_COUNTED:
            said[*pair, row["annotator"]].add(row["grade"])
    rows = [(*key, next(iter(grades))) for key, grades in sorted(said.items()) if len(grades) == 1]
    twice = Counter({TWICE: len(said) - len(rows)})
    return grades_of(rows), dict(+twice)


def _types(queries: Table) -> Types:
    tags = _grouped((row["query_id"], tag) for row in queries for tag in row["tags"] or [])
    strata = _grouped((row["query_id"], row["stratum"]) for row in queries)
    segments = _grouped((row["query_id"], row["segment"]) for row in queries if row["segment"])
    return Types(tags, strata, segments)


def _grouped(rows: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Query id and name → the queries of each name, by name."""
    found: dict[str, set[str]] = defaultdict(set)
    for query_id, name in rows:
        found[name].add(query_id)
    return {name: frozenset(found[name]) for name in sorted(found)}
