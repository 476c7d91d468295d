"""A release against which runs are scored: the queries in some of its parts, with their grades."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.core.characters import normalise_query
from curation.core.errors import InputError, RefusedError
from curation.core.spans import Span
from curation.core.statistics.arrays import Floats
from curation.evaluation.scoring.drawn_queries import DrawnQueries, find_drawn_queries
from curation.evaluation.scoring.evidence import EvidenceRanges, make_evidence_ranges
from curation.evaluation.scoring.facets import SYNTHETIC, Facet, make_facets
from curation.evaluation.scoring.pinned_bodies import PinnedBodies
from curation.evaluation.scoring.pooled_pairs import PooledPairs, read_pooled_pairs
from curation.evaluation.scoring.qrels import Qrels, make_qrels
from curation.ingest.importers.known_queries import KnownQueries
from curation.people.seal_access import list_sealed_parts
from curation.releases.coverage import ReleasedCoverage, read_coverage
from curation.releases.frozen_release import FrozenRelease, load_release
from curation.releases.seal import refuse_not_in_file
from curation.store import Query, Store

MIN_QUERIES = 10
"""A stratum with fewer queries has no results, and a comparison with fewer queries has no verdict."""

ONLY_SYNTHETIC = "synthetic queries"
"""The mark among the parts of an evaluation of synthetic queries, which leaderboards keep apart."""
ALL = "all"
"""Name that stands for all parts together."""


@dataclass(frozen=True)
class EvaluatedRelease:
    """The queries in some of a release's parts with their grades, and the query names that runs may use.

    Attributes
    ----------
    parts: the parts whose queries are evaluated.
    sealed: the sealed parts among these.
    qrels: the grades of these queries; all arrays of shape (Q,) are in the order of its `query_ids`.
    texts: query id → text.
    facets: the facets of these queries by name; see `evaluation.scoring.facets`.
    known: the queries of all parts, which run files may name.
    documents: the ids of the release's corpus; None for qrels without a corpus.
    pooled: the pairs that systems proposed for these queries.
    sealed_apart: the ids of queries of sealed parts that are not evaluated.
    coverage: the release's coverage; None if the release has no coverage map.
    apart: number of queries of these parts that are left out, because they are synthetic and the evaluated
        queries are not, or the reverse.
    frozen: the release itself; None in tests of statistics alone.
    """

    name: str
    release_id: str
    parts: tuple[str, ...]
    sealed: tuple[str, ...]
    qrels: Qrels
    texts: Mapping[str, str]
    facets: Mapping[str, Facet]
    drawn: DrawnQueries
    known: KnownQueries
    documents: frozenset[str] | None
    pooled: PooledPairs
    sealed_apart: frozenset[str] = frozenset()
    coverage: ReleasedCoverage | None = None
    frozen: FrozenRelease | None = None
    bodies: PinnedBodies | None = None
    apart: int = 0

    @property
    def mark(self) -> str | None:
        """Return the mark of a release frozen despite the gate; None for other releases."""
        return self.frozen.mark if self.frozen else None

    @property
    def sealed_queries(self) -> NDArray[np.bool_]:
        """Make a mask that is True for queries in sealed parts, shape (Q,)."""
        masks = [mask for part, mask in self.facets["part"].values.items() if part in self.sealed]
        return np.any(masks, axis=0) if masks else np.zeros(len(self.qrels.query_ids), bool)


def read_release(
    store: Store,
    name: str | FrozenRelease,
    split: str | None = None,
    relevant: int | None = None,
    synthetic: bool | None = None,
) -> EvaluatedRelease:
    """Read the parts of a release on which runs will be evaluated.

    Parameters
    ----------
    name: the name of the release, or the release itself.
    split: a part, or `ALL`; by default all parts that are not sealed.
    relevant: the lowest grade of a relevant document; by default every grade above the scale's lowest.
    synthetic: True for the queries that a language model wrote, False for the other queries if there are any,
        None for all queries.

    Raises
    ------
    InputError: the release lacks this part or synthetic queries, or no document could be relevant.
    NotFoundError: no release has this name.
    RefusedError: all parts are sealed and no part was named; the release is not as it was frozen, or a newer
        goldgrade froze it.
    """
    release = load_release(store, name)
    all_sealed = list_sealed_parts(release.header)
    parts = choose_parts(release, split)
    sealed = tuple(part for part in parts if part in all_sealed)
    if release.file is not None:
        _refuse_sealed_of_file(release, sorted(sealed))
    rows = release.rows("queries")
    chosen_rows = sorted((row for row in rows if row["part"] in parts), key=lambda row: str(row["query_id"]))
    chosen_rows, apart = _choose_source(chosen_rows, synthetic)
    ids = [row["query_id"] for row in chosen_rows]
    query_ids = set(ids)
    qrel_rows = [row for row in release.rows("qrels") if row["query_id"] in query_ids]
    graded = [(row["query_id"], row["document_id"], row["grade"]) for row in qrel_rows]
    if not graded:
        raise RefusedError(
            f"The release {release.row.name!r} has no grades in {', '.join(parts)}: nothing to evaluate."
        )
    qrels = make_qrels(graded, ids, read_scale(release.rows("guides")), relevant)
    qrels = replace(qrels, evidence=_read_evidence(release, ids, graded, bool(sealed)))
    return EvaluatedRelease(
        name=release.row.name,
        release_id=release.row.release_id,
        parts=(*parts, ONLY_SYNTHETIC) if synthetic else parts,
        sealed=sealed,
        qrels=qrels,
        texts={row["query_id"]: row["text"] or row["query_id"] for row in chosen_rows},
        facets=make_facets(chosen_rows, release.rows),
        drawn=_find_drawn_queries(chosen_rows, release),
        known=KnownQueries([make_query(row) for row in rows], {}),
        documents=frozenset(release.versions) if release.has_documents else None,
        pooled=read_pooled_pairs(release.rows("candidates"), release.rows("pool_sample"), query_ids),
        sealed_apart=frozenset(
            row["query_id"] for row in rows if row["part"] in all_sealed and row["part"] not in parts
        ),
        coverage=read_coverage(release),
        frozen=release,
        bodies=PinnedBodies(store, release) if release.has_documents else None,
        apart=apart,
    )


def _choose_source(rows: list[dict[str, Any]], synthetic: bool | None) -> tuple[list[dict[str, Any]], int]:
    """Choose either the synthetic or the other queries, because both are never averaged together, and count
    the queries left out."""
    of_model = [row for row in rows if row["source"] == SYNTHETIC]
    if synthetic and not of_model:
        raise InputError("No query of these parts was written by a language model.")
    if synthetic is None or len(of_model) in (0, len(rows)):
        return rows, 0
    chosen = of_model if synthetic else [row for row in rows if row["source"] != SYNTHETIC]
    return chosen, len(rows) - len(chosen)


def _read_evidence(
    release: FrozenRelease, query_ids: Sequence[str], graded: Sequence[tuple[str, str, int]], sealed: bool
) -> EvidenceRanges | None:
    """Read the evidence for evaluated queries; None if nobody marked any.

    A refusal must not reveal whether sealed queries have evidence. With a sealed part, the result is
    therefore None only if the whole release has no evidence.
    """
    grades = {(query, document): grade for query, document, grade in graded}
    marked: dict[tuple[str, str], list[Span]] = {}
    has_evidence = False
    for row in release.walk("evidence"):
        has_evidence = True
        pair = (row["query_id"], row["document_id"])
        if pair in grades:
            marked.setdefault(pair, []).append((row["start"], row["end"]))
    return make_evidence_ranges(marked, grades, query_ids) if marked or (sealed and has_evidence) else None


def _refuse_sealed_of_file(release: FrozenRelease, sealed: Sequence[str]) -> None:
    """Reject the evaluation of sealed parts of a packed release, which has no log of sealed evaluations."""
    refuse_not_in_file(release, sealed)
    if sealed:
        raise RefusedError(
            f"{', '.join(sealed)} is sealed: the project logs each evaluation of a sealed part, and a "
            "release file has no log. Evaluate the part in the project, or choose another part."
        )


def choose_parts(release: FrozenRelease, split: str | None = None) -> tuple[str, ...]:
    """Choose the part named by `split`, all parts for `ALL`, or by default all unsealed parts.

    Raises
    ------
    InputError: the release lacks this part.
    RefusedError: all parts are sealed and no part was named.
    """
    sealed = list_sealed_parts(release.header)
    all_parts = tuple(release.header["queries"])
    if split == ALL:
        return all_parts
    if split is not None:
        if split not in all_parts:
            names = ", ".join([*all_parts, ALL])
            raise InputError(f"The release {release.row.name!r} has no part {split}; expected {names}.")
        return (split,)
    public = tuple(part for part in all_parts if part not in sealed)
    if not public:
        raise RefusedError(
            f"All parts of the release {release.row.name!r} are sealed ({', '.join(all_parts)}). Name a "
            "part, and give a reason.",
            command=f'For example: --part {all_parts[0]} --reason "why".',
        )
    return public


def read_scale(guides: Iterable[Mapping[str, Any]]) -> list[int]:
    """Collect all grades in the guides under which a release was judged."""
    return sorted({grade["value"] for guide in guides for grade in guide["scale"]})


def _find_drawn_queries(rows: Sequence[Mapping[str, Any]], release: FrozenRelease) -> DrawnQueries:
    samples = release.rows("sampling")
    strata = samples[0]["report"] if samples else []
    return find_drawn_queries(
        [row["stratum"] for row in rows],
        _to_floats(row["traffic"] for row in rows),
        _to_floats(row["inclusion_probability"] for row in rows),
        drawn={stratum["name"]: stratum["drawn"] for stratum in strata},
        population={stratum["name"]: stratum["population"] for stratum in strata},
        design=samples[0]["parameters"].get("design", "stratified") if samples else None,
    )


def _to_floats(values: Any) -> Floats:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def make_query(row: Mapping[str, Any]) -> Query:
    """Make a query from a row of a release's table 'queries'."""
    text = str(row["text"])
    return Query(row["query_id"], text, normalise_query(text), row["source"], row.get("information_need"))
