"""A release as what runs are evaluated against: queries of some parts with their facets, and their grades.

Grades of parts that were not asked for are not in it.

Facets: by what the evaluated queries can be distinguished, for figures of each kind.

    stratum   what the sample calls it; 'imported', 'written' or 'synthetic' for others
    band, length, field:F …
              one dimension of the strata, where the sample has it
    segment   where the query was asked most often
    tag       each tag; a query with two tags is in both values, one without any in 'no tag'
    source, part
    cluster, grid
              regions of the corpus and the 3 × 3 grid, where the release has a coverage map

`type` is short for stratum and tag, as in agreement by type. Where a language model wrote some of the
queries, they are always distinguished by source.

A query is in every region of the corpus that it is about. The grid is the thirds of dispersion Δ and of
alignment J, as the release has their boundaries. Regions without an evaluated query are values too: what
systems reach there is unknown. Queries that are in no region, or have no cell, are counted under a value of
their own, which is no stratum of the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.door import sealed_parts
from curation.errors import InputError, RefusedError
from curation.filters.query_filter import OUTDATED
from curation.releases.coverage import ReleasedCoverage, released_coverage
from curation.releases.seal import refuse_not_in_file
from curation.releases.verify import Opened, opened
from curation.sampling.designs import BETWEEN
from curation.scoring.inputs.bodies import PinnedBodies
from curation.scoring.inputs.pooled import PooledPairs, RecordedSample, pooled_pairs, recorded_sample
from curation.scoring.metrics.evidence import EvidenceRanges, evidence_ranges
from curation.scoring.metrics.qrels import Qrels, qrels_of
from curation.sources.queries import KnownQueries
from curation.spans import Span
from curation.statistics.arrays import Floats, Mask
from curation.store import Query, Store
from curation.text import normalise_query

LEAST = 10
"""Queries of a kind without which it has no figures."""
NO_SEGMENT = "no segment"
NO_TAG = "no tag"
OTHER = "not sampled"
"""What dimensions of strata call a query that is of no stratum of the sample."""
SOURCE, SYNTHETIC = "source", "synthetic"
SHORT_FOR = {"type": ("stratum", "tag")}
CLUSTER, GRID = "cluster", "grid"
COVERAGE = (CLUSTER, GRID)
"""Facets of the release's coverage map."""
NO_COVERAGE = (
    "the release has no coverage map, which says what the clusters and the grid are. Map the corpus and "
    "freeze a release after it"
)

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Facet:
    """A way to tell queries apart.

    Attributes
    ----------
    values: value → which of the Q queries have it, shape (Q,); ordered by value, regions from the largest.
    outside: values of the queries that are in no stratum; they are none themselves.
    """

    name: str
    values: Mapping[str, Mask]
    outside: tuple[str, ...] = ()


def facet_names(dimensions: Sequence[str], covered: bool = False) -> tuple[str, ...]:
    """The facets by which queries of one part can be distinguished.

    Parameters
    ----------
    dimensions: what the strata of the release's sample were made by.
    covered: whether the release has a coverage map.
    """
    own = [name for name in dimensions if name not in COVERAGE]
    return tuple(dict.fromkeys(["stratum", "tag", *own, "segment", "source", *(COVERAGE if covered else ())]))


def facets_of(rows: Sequence[Row], dimensions: Sequence[str]) -> dict[str, Facet]:
    """The facets of queries, as a release has them.

    Parameters
    ----------
    dimensions: what the strata of the release's sample were made by.
    """
    found = [_one("stratum", rows, lambda row: str(row["stratum"]))]
    for place, dimension in enumerate(dimensions):
        if dimension not in ("segment", *COVERAGE):  # `cluster` is what the release's own map says
            found.append(_one(dimension, rows, _component(place, len(dimensions))))
    found.append(_one("segment", rows, lambda row: row.get("segment") or NO_SEGMENT))
    found += [
        _one(SOURCE, rows, lambda row: str(row["source"])),
        _one("part", rows, lambda row: str(row["part"])),
    ]
    found.append(Facet("tag", _several(rows, lambda row: row.get("tags") or [NO_TAG])))
    return {facet.name: facet for facet in found}


def chosen_facets(facets: Mapping[str, Facet], names: Iterable[str]) -> list[Facet]:
    """The facets of these names, and `source` where some of the queries are synthetic.

    Raises
    ------
    InputError: names that are no facets of these queries.
    """
    wanted = list(dict.fromkeys(one for name in names for one in SHORT_FOR.get(name, (name,))))
    problems = [
        f"{name!r}: {NO_COVERAGE}" if name in COVERAGE else f"{name!r} is no facet of the release's queries"
        for name in wanted
        if name not in facets
    ]
    if problems:
        raise InputError(problems, way_out=f"Facets: {', '.join([*SHORT_FOR, *facets])}.")
    if SOURCE in facets and SYNTHETIC in facets[SOURCE].values and SOURCE not in wanted:
        wanted.append(SOURCE)
    return [facets[name] for name in wanted]


def _one(name: str, rows: Sequence[Row], value: Callable[[Row], str]) -> Facet:
    return Facet(name, _several(rows, lambda row: [value(row)]))


def _several(rows: Sequence[Row], values: Callable[[Row], Iterable[str]]) -> dict[str, Mask]:
    masks: dict[str, Mask] = {}
    for place, row in enumerate(rows):
        for value in values(row):
            masks.setdefault(value, np.zeros(len(rows), bool))[place] = True
    return dict(sorted(masks.items()))


def _component(place: int, number: int) -> Callable[[Row], str]:
    """One dimension of a stratum's name."""

    def read(row: Row) -> str:
        if row.get("inclusion_probability") is None:
            return OTHER
        parts = str(row["stratum"]).split(BETWEEN)
        return parts[place] if len(parts) == number else str(row["stratum"])

    return read


NO_CELL = "no relevant document in a cluster"


def all_facets(queries: Sequence[Row], part_rows: Callable[[str], Sequence[Row]]) -> dict[str, Facet]:
    """The facets of a release's queries, with those of its coverage map.

    Parameters
    ----------
    queries: the evaluated ones; masks are in their order.
    part_rows: the rows of a part of the release.
    """
    facets = facets_of(queries, dimensions_of(part_rows("sampling")))
    return facets | {one.name: one for one in _coverage_facets(queries, part_rows)}


def _coverage_facets(queries: Sequence[Row], part_rows: Callable[[str], Sequence[Row]]) -> list[Facet]:
    """The facets `cluster` and `grid` of queries; none where the release has no coverage."""
    coverage = part_rows("coverage")
    if not coverage:
        return []
    of = {row["query_id"]: row for row in part_rows("query_coverage")}
    rows = [of[row["query_id"]] for row in queries]
    return [_clusters(rows, coverage[0]["clusters"]), _grid(rows)]


def cell_name(dispersion: int | None, alignment: int | None) -> str:
    """What a cell of the grid is called, by its thirds from 0."""
    from curation.coverage.measures import third_name

    thirds = {"Δ": dispersion, "J": alignment}
    return ", ".join(f"{name} {third_name(third)}" for name, third in thirds.items() if third is not None)


def _clusters(rows: Sequence[Row], clusters: Sequence[Mapping[str, Any]]) -> Facet:
    from curation.coverage.clusters import NO_CLUSTER, SMALL_ONLY

    held = [frozenset(row["clusters"]) for row in rows]
    regions = {cluster["number"]: cluster["name"] for cluster in clusters if cluster["region"]}
    values = {
        f"{number} {name}": np.array([number in own for own in held]) for number, name in regions.items()
    }
    outside = np.array([not own.intersection(regions) for own in held])
    nowhere = np.array([not own for own in held])
    rest = {SMALL_ONLY: outside & ~nowhere, NO_CLUSTER: nowhere}
    return _facet(CLUSTER, values, rest)


def _grid(rows: Sequence[Row]) -> Facet:
    from curation.coverage.measures import possible_cells

    cells = [None if row["cell"] is None else tuple(row["cell"]) for row in rows]
    possible = possible_cells([cell for cell in cells if cell is not None])
    values = {cell_name(*place): np.array([cell == place for cell in cells]) for place in possible}
    rest = {NO_CELL: np.array([cell is None for cell in cells])}
    return _facet(GRID, values, rest)


def _facet(name: str, values: dict[str, Mask], rest: Mapping[str, Mask]) -> Facet:
    held = {value: mask for value, mask in rest.items() if mask.any()}
    return Facet(name, values | held, outside=tuple(held))


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
    frozen: the release that it was made of; None in tests of figures alone. bodies: of its documents.
    filtered: the queries with a filter, by id.
    outdated: pairs whose document is outside the filter, and nearly the text of a relevant one.
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
    bodies: PinnedBodies | None = None
    filtered: frozenset[str] = frozenset()
    outdated: frozenset[tuple[str, str]] = frozenset()

    @property
    def mark(self) -> str | None:
        """That it was frozen against the gate, where it was."""
        return self.frozen.mark if self.frozen else None

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
    if release.file is not None:
        _refuse_sealed_of_file(release, sorted(set(parts).intersection(sealed)))
    rows = release.rows("queries")
    chosen = sorted((row for row in rows if row["part"] in parts), key=lambda row: str(row["query_id"]))
    ids = [row["query_id"] for row in chosen]
    inside = set(ids)
    rows_of_grades = [row for row in release.rows("qrels") if row["query_id"] in inside]
    graded = [(row["query_id"], row["document_id"], row["grade"]) for row in rows_of_grades]
    if not graded:
        raise RefusedError(
            f"The release {release.row.name!r} has no grades in {', '.join(parts)}: nothing to evaluate."
        )
    candidates, pools = release.rows("candidates"), release.rows("pools")
    documents = frozenset(row["document_id"] for row in release.rows("documents"))
    drawn = release.rows("pool_sample")
    qrels = qrels_of(graded, ids, scale_of(release.rows("guides")), relevant)
    return EvaluatedRelease(
        name=release.row.name,
        release_id=release.row.release_id,
        parts=parts,
        sealed=tuple(part for part in parts if part in sealed),
        qrels=replace(qrels, evidence=_evidence(release, ids, graded, bool(set(parts).intersection(sealed)))),
        texts={row["query_id"]: row["text"] for row in chosen},
        facets=all_facets(chosen, release.rows),
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
        bodies=PinnedBodies(store, release),
        filtered=frozenset(row["query_id"] for row in chosen if row.get("filter")),
        outdated=frozenset(
            (row["query_id"], row["document_id"]) for row in rows_of_grades if row.get("how") == OUTDATED
        ),
    )


def _evidence(
    release: Opened, query_ids: Sequence[str], graded: Sequence[tuple[str, str, int]], sealed: bool
) -> EvidenceRanges | None:
    """Where documents hold evidence for these queries; None where nobody marked any.

    Whether sealed queries have any is not told by what is refused: for these it is None where the whole
    release has none.
    """
    grades = {(query, document): grade for query, document, grade in graded}
    marked: dict[tuple[str, str], list[Span]] = {}
    some = False
    for row in release.walk("evidence"):
        some = True
        pair = (row["query_id"], row["document_id"])
        if pair in grades:
            marked.setdefault(pair, []).append((row["start"], row["end"]))
    return evidence_ranges(marked, grades, query_ids) if marked or (sealed and some) else None


def _refuse_sealed_of_file(release: Opened, sealed: Sequence[str]) -> None:
    """Stop where sealed parts would be evaluated without a log of it."""
    refuse_not_in_file(release, sealed)
    if sealed:
        raise RefusedError(
            f"{', '.join(sealed)} is sealed: who scores a run on it is written down in the project, and a "
            "file has no such log. Evaluate it there, or choose another part."
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
