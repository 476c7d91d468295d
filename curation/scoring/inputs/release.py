"""A release as what runs are evaluated against: queries of some parts with their facets, and their grades.

Grades of parts that were not asked for are not in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.door import sealed_parts
from curation.errors import InputError, RefusedError
from curation.releases.coverage import ReleasedCoverage, released_coverage
from curation.releases.verify import Opened, opened
from curation.scoring.inputs.facets import Facet, coverage_facets, facets_of
from curation.scoring.inputs.pooled import PooledPairs, RecordedSample, pooled_pairs, recorded_sample
from curation.scoring.metrics.qrels import Qrels, qrels_of
from curation.sources.queries import KnownQueries
from curation.statistics.arrays import Floats
from curation.store import Query, Store
from curation.text import normalise_query

ALL = "all"
"""Instead of a part's name: every part."""


class DrawnQueries(NamedTuple):
    """How the evaluated queries were drawn, each array of shape (Q,).

    Attributes
    ----------
    stratum: the name of each query's stratum.
    traffic: how often it was asked; NaN where it is not of the release's sample.
    probability: of being drawn; NaN where it is not of the sample.
    drawn, population: stratum → queries that the sample drew from it, and that it has.
    design: 'stratified', 'pps', or None where there is no sample.
    """

    stratum: tuple[str, ...]
    traffic: Floats
    probability: Floats
    drawn: Mapping[str, int]
    population: Mapping[str, int]
    design: str | None


@dataclass(frozen=True)
class EvaluatedRelease:
    """A release's queries of some parts, their grades, and what runs may name.

    Attributes
    ----------
    parts: whose queries are evaluated; `sealed` are those of them that are sealed.
    qrels: of these queries; all arrays of shape (Q,) are in the order of its `query_ids`.
    texts: of these queries, by id.
    facets: by name; see `scoring.inputs.facets`.
    known: the queries of all parts, as run files may name them.
    documents: ids of the release's corpus.
    pooled: which pairs of these queries systems proposed.
    sealed_apart: the queries of sealed parts that are not evaluated, by id.
    coverage: of its coverage map; None where the release has none.
    pool_sample: which of their pool was drawn for judging, where the release records that.
    frozen: the release that it was made of; None in tests of figures alone.
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
    documents: frozenset[str]
    pooled: PooledPairs
    sealed_apart: frozenset[str] = frozenset()
    coverage: ReleasedCoverage | None = None
    pool_sample: RecordedSample | None = None
    frozen: Opened | None = None

    @property
    def sealed_queries(self) -> NDArray[np.bool_]:
        """Which of the queries are of a sealed part, shape (Q,)."""
        masks = [mask for part, mask in self.facets["part"].values.items() if part in self.sealed]
        return np.any(masks, axis=0) if masks else np.zeros(len(self.qrels.query_ids), bool)


def read_release(
    store: Store, name: str | Opened, split: str | None = None, relevant: int | None = None
) -> EvaluatedRelease:
    """Read what is to be evaluated against.

    Parameters
    ----------
    name: or the release as it was opened before.
    split: a part, or `ALL`; by default all parts that are not sealed.
    relevant: least grade of a relevant document; by default every grade above the scale's lowest.

    Raises
    ------
    InputError: the release has no such part, or no document could be relevant.
    NotFoundError: there is no such release.
    RefusedError: all its parts are sealed and none was named; it is not as it was frozen, or a newer goldset
        froze it.
    """
    release = opened(store, name)
    sealed = sealed_parts(release.header)
    parts = parts_of(release, split)
    rows = release.rows("queries")
    chosen = sorted((row for row in rows if row["part"] in parts), key=lambda row: str(row["query_id"]))
    ids = [row["query_id"] for row in chosen]
    inside = set(ids)
    graded = [
        (row["query_id"], row["document_id"], row["grade"])
        for row in release.rows("qrels")
        if row["query_id"] in inside
    ]
    if not graded:
        raise RefusedError(
            f"The release {release.row.name!r} has no grades in {', '.join(parts)}: nothing to evaluate."
        )
    facets = facets_of(chosen, dimensions_of(release.rows("sampling")))
    facets |= {one.name: one for one in coverage_facets(ids, release)}
    candidates, pools = release.rows("candidates"), release.rows("pools")
    documents = frozenset(row["document_id"] for row in release.rows("documents"))
    drawn = release.rows("pool_sample")
    return EvaluatedRelease(
        name=release.row.name,
        release_id=release.row.release_id,
        parts=parts,
        sealed=tuple(part for part in parts if part in sealed),
        qrels=qrels_of(graded, ids, scale_of(release.rows("guides")), relevant),
        texts={row["query_id"]: row["text"] for row in chosen},
        facets=facets,
        drawn=_drawn(chosen, release),
        known=KnownQueries([_query(row) for row in rows], {}),
        documents=documents,
        pooled=pooled_pairs(candidates, pools, inside),
        sealed_apart=frozenset(
            row["query_id"] for row in rows if row["part"] in sealed and row["part"] not in parts
        ),
        coverage=released_coverage(release),
        pool_sample=recorded_sample(drawn, candidates, pools, inside, documents),
        frozen=release,
    )


def parts_of(release: Opened, split: str | None = None) -> tuple[str, ...]:
    """The parts that `split` names: one, `ALL`, or by default all that are not sealed.

    Raises
    ------
    InputError: the release has no such part.
    RefusedError: all its parts are sealed and none was named.
    """
    sealed = sealed_parts(release.header)
    known = tuple(release.header["queries"])
    if split == ALL:
        return known
    if split is not None:
        if split not in known:
            names = ", ".join([*known, ALL])
            raise InputError(f"The release {release.row.name!r} has no part {split}; expected {names}.")
        return (split,)
    public = tuple(part for part in known if part not in sealed)
    if not public:
        raise RefusedError(
            f"All parts of the release {release.row.name!r} are sealed ({', '.join(known)}). Name one, "
            "and say why.",
            command=f'For example: --part {known[0]} --reason "why".',
        )
    return public


def scale_of(guides: Iterable[Mapping[str, Any]]) -> list[int]:
    """All grades of the guides that a release was judged with."""
    return sorted({grade["value"] for guide in guides for grade in guide["scale"]})


def dimensions_of(samples: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the strata of a release's sample were made by, in the order of their names."""
    return list(samples[0]["parameters"].get("strata", [])) if samples else []


def _drawn(rows: Sequence[Mapping[str, Any]], release: Opened) -> DrawnQueries:
    samples = release.rows("sampling")
    strata = samples[0]["report"] if samples else []
    return DrawnQueries(
        stratum=tuple(row["stratum"] for row in rows),
        traffic=_numbers(row["traffic"] for row in rows),
        probability=_numbers(row["inclusion_probability"] for row in rows),
        drawn={stratum["name"]: stratum["drawn"] for stratum in strata},
        population={stratum["name"]: stratum["population"] for stratum in strata},
        design=samples[0]["parameters"].get("design", "stratified") if samples else None,
    )


def _numbers(values: Any) -> Floats:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _query(row: Mapping[str, Any]) -> Query:
    text = str(row["text"])
    return Query(row["query_id"], text, normalise_query(text), row["source"], row.get("information_need"))
