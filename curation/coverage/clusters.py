"""The entity graph: each entity joined to its nearest neighbours by meaning.

Two entities are joined if one is among the `NEIGHBOURS` nearest of the other and their cosine is
`LEAST_COSINE` or more; the cosine is the weight. Cosines are rounded to six decimals before they are
compared, as in `retrieval.dense`, and equal ones are ordered by place, so that the graph depends on the
vectors alone.

Clusters of the entity graph: the strata of coverage, by Leiden (Traag et al. 2019).

Leiden maximises modularity with a resolution γ: a higher γ gives more and smaller clusters. An entity without
a neighbour, isolated, is a cluster of its own. A region is a cluster with at least `LEAST_DOCUMENTS`
documents: a part of the corpus that deserves a query. Clusters with fewer, most of them isolated entities,
are counted
apart. Clusters are numbered from the largest, by documents, then entities, then their first entity.

Which entities a query is about: those that it names, and those that are near in meaning.

By phrase: an entity whose name is in the query, word by word; a name inside a longer one that is found at the
same place does not count. By meaning: as an entity of the graph is joined, to the `MOST_BY_MEANING` entities
with the highest cosine, from `LEAST_COSINE` on. `coverage.matching` says which of their clusters are C(q).

The resolution γ: how fine the clusters are, by a rule, and how far they hold for other seeds and draws.

For each γ several seeds give a partition each. The adjusted Rand index (Hubert and Arabie 1985) between them
says how far the seed decides; isolated entities, on which all partitions agree, are not counted.

The recovered share says how much of the corpus is in regions that other draws of it give, too. Four fifths
of the documents are drawn, several times. The graph of the entities that a draw has is clustered with the
same γ. Each region is compared with the cluster of the draw that agrees with it best, by the Jaccard index
of the entities that both could have (C. Hennig 2007, Cluster-wise assessment of cluster stability,
Computational Statistics & Data Analysis 52, with subsets instead of the bootstrap). The share is the mean
of these over the corpus, each region by its mass, and 0 for what is in no region. A γ that is too high
loses twice: regions fall apart, and more of the corpus is in clusters that are too small for one. A
document has a mass of 1, spread evenly over its entities.

The rule takes the finest γ whose recovered share is at most one standard error below the best of all tried:
as fine as the corpus bears. That is the one-standard-error rule (L. Breiman et al. 1984, Classification and
Regression Trees, section 3.4.3), as chooseR applies it to resolutions of clusterings (Patterson-Cross,
Levine and Menon 2021, BMC Bioinformatics 22:39).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, combinations, repeat
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.coverage import LEAST_DOCUMENTS
from curation.coverage.names import naming_entities
from curation.coverage.phrases import LONGEST, Entity, singular, singular_name
from curation.errors import RefusedError
from curation.progress import Progress, silent
from curation.retrieval.embeddings import Vectors
from curation.statistics.arrays import Floats, Ints
from curation.text import digest
from curation.words import words

if TYPE_CHECKING:
    from curation.retrieval.embeddings import Vectors

RESOLUTIONS = (1.0, 2.0, 5.0, 10.0, 15.0, 25.0, 40.0, 60.0)
SEEDS = 3
DRAWS = 5
DRAWN = 0.8
"""Share of the documents that a draw has."""


class GraphDraw(NamedTuple):
    """The entities of some of the documents, and the graph of them.

    Attributes
    ----------
    kept: their places in the whole graph, ascending; node i of `graph` is kept[i].
    """

    kept: Ints
    graph: EntityGraph


class Partitions(NamedTuple):
    """The partitions of one graph at one resolution.

    Attributes
    ----------
    labels: the cluster of each entity, one array (entities,) a seed; the first is of the seed asked for.
    rand_index: mean adjusted Rand index over the pairs of seeds; None without two entities that are joined.
    recovered: the share of the corpus in regions that each draw of its documents gives again, for the first
        seed; empty where nothing can be drawn.
    """

    resolution: float
    labels: list[Ints]
    rand_index: float | None
    recovered: tuple[float, ...] = ()

    @property
    def recovered_share(self) -> float | None:
        """The mean over the draws; None without any."""
        return round(fmean(self.recovered), 6) if self.recovered else None


def find_partitions(
    graph: EntityGraph,
    of_documents: Mapping[str, Sequence[int]],
    least_documents: int,
    seed: int,
    resolutions: Sequence[float] = RESOLUTIONS,
    progress: Progress = silent,
) -> list[Partitions]:
    """Partitions at each resolution, by the seeds `seed`, `seed` + 1, …

    Parameters
    ----------
    of_documents: document id → places of its entities.
    least_documents: of a region.
    """
    found = []
    joined = graph.degrees > 0
    draws = draw_graphs(graph, of_documents, seed)
    masses = entity_masses(graph.nodes, of_documents)
    for done, resolution in enumerate(sorted(set(resolutions)), 1):
        graphs = [*repeat(graph, SEEDS), *(draw.graph for draw in draws)]
        seeds = [*range(seed, seed + SEEDS), *repeat(seed, len(draws))]
        parts = _partition_all(graphs, resolution, seeds)
        labels, again = parts[:SEEDS], parts[SEEDS:]
        documents = documents_of(labels[0], of_documents)
        is_region = np.array([held >= least_documents for held in documents], bool)
        recovered = recovered_shares(labels[0], is_region, masses, draws, again)
        index = mean_rand_index([part[joined] for part in labels])
        found.append(Partitions(resolution, labels, index, tuple(recovered)))
        progress("coverage: clusters", done, len(set(resolutions)))
    return found


def documents_of(labels: Ints, of_documents: Mapping[str, Sequence[int]]) -> Ints:
    """The number of documents of each cluster, shape (clusters,)."""
    clusters = int(labels.max(initial=-1)) + 1
    documents = np.repeat(np.arange(len(of_documents)), [len(held) for held in of_documents.values()])
    of_entities = labels[np.fromiter(chain.from_iterable(of_documents.values()), np.int64)]
    return np.bincount(np.unique(documents * clusters + of_entities) % max(1, clusters), minlength=clusters)


def mean_rand_index(partitions: Sequence[Ints]) -> float | None:
    """The adjusted Rand index averaged over the pairs; None if there is no pair or nothing to part."""
    if len(partitions) < 2 or len(partitions[0]) < 2:
        return None
    from sklearn.metrics import adjusted_rand_score

    pairs = combinations(partitions, 2)
    return round(float(np.mean([adjusted_rand_score(one, other) for one, other in pairs])), 6)


def choose_resolution(partitions: Sequence[Partitions]) -> float:
    """The resolution of the rule at the head of this module; the lowest where nothing was drawn."""
    drawn = [tried for tried in partitions if tried.recovered]
    if not drawn:
        return min(tried.resolution for tried in partitions)
    best = max(drawn, key=lambda tried: (fmean(tried.recovered), tried.resolution))
    error = stdev(best.recovered) / sqrt(len(best.recovered)) if len(best.recovered) > 1 else 0.0
    least = fmean(best.recovered) - error
    return max(tried.resolution for tried in drawn if fmean(tried.recovered) >= least)


def draw_graphs(
    graph: EntityGraph, of_documents: Mapping[str, Sequence[int]], seed: int, draws: int = DRAWS
) -> list[GraphDraw]:
    """The graphs of several draws; none where there are fewer than two documents with an entity."""
    ids = sorted(document_id for document_id, held in of_documents.items() if held)
    if len(ids) < 2:
        return []
    key = int(digest("coverage draws", seed)[:16], 16)
    random = np.random.Generator(np.random.PCG64(key))
    found = []
    for _ in range(draws):
        drawn = random.permutation(len(ids))[: max(1, round(DRAWN * len(ids)))]
        kept = np.unique(np.concatenate([np.array(of_documents[ids[place]]) for place in drawn]))
        found.append(GraphDraw(kept, _of_entities(graph, kept)))
    return found


def recovered_shares(
    labels: Ints,
    is_region: NDArray[np.bool_],
    masses: Floats,
    draws: Sequence[GraphDraw],
    partitions: Sequence[Ints],
) -> list[float]:
    """The recovered share of each draw, between 0 and 1.

    Parameters
    ----------
    labels: the cluster of each entity in the whole graph, shape (entities,).
    is_region: of each cluster, shape (clusters,).
    masses: of each entity, shape (entities,).
    partitions: of the graph of each draw.
    """
    shares = np.bincount(labels, masses, len(is_region)) * is_region / masses.sum()
    found = []
    for draw, again in zip(draws, partitions, strict=True):
        found.append(round(float(shares @ _best_overlaps(labels[draw.kept], again, len(is_region))), 6))
    return found


def entity_masses(entities: int, of_documents: Mapping[str, Sequence[int]]) -> Floats:
    """The mass of each entity, shape (entities,)."""
    masses = np.zeros(entities)
    for _, held in sorted(of_documents.items()):
        masses[list(held)] += 1 / max(1, len(held))
    return masses


def _partition_all(graphs: Sequence[EntityGraph], resolution: float, seeds: Sequence[int]) -> list[Ints]:
    """A partition of each graph by its seed, on all processors: Leiden leaves the interpreter to others."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(partition, graphs, repeat(resolution), seeds))


def _of_entities(graph: EntityGraph, kept: Ints) -> EntityGraph:
    number = np.full(graph.nodes, -1)
    number[kept] = np.arange(len(kept))
    first, second = number[graph.first], number[graph.second]
    both = (first >= 0) & (second >= 0)
    return EntityGraph(len(kept), first[both], second[both], graph.weights[both])


def _best_overlaps(labels: Ints, others: Ints, clusters: int) -> Floats:
    """The highest Jaccard index of each cluster with one of the others; 0 if it has no entity here."""
    pairs, common = np.unique(np.stack([labels, others]), axis=1, return_counts=True)
    sizes, other_sizes = np.bincount(labels, minlength=clusters), np.bincount(others)
    either = sizes[pairs[0]] + other_sizes[pairs[1]] - common
    best = np.zeros(clusters)
    np.maximum.at(best, pairs[0], common / either)
    return best


NEIGHBOURS = 50
LEAST_COSINE = 0.5
_CELLS = 8_000_000  # cosines that are held at once


class EntityGraph(NamedTuple):
    """An undirected weighted graph without loops.

    Attributes
    ----------
    nodes: entities, with and without neighbours.
    first, second: the ends of each edge once, first < second, in ascending order; shape (edges,).
    weights: cosines, shape (edges,).
    """

    nodes: int
    first: Ints
    second: Ints
    weights: NDArray[np.float64]

    @property
    def degrees(self) -> Ints:
        """Neighbours of each entity, shape (nodes,); 0: isolated."""
        return np.bincount(np.concatenate([self.first, self.second]), minlength=self.nodes)

    def matrix(self) -> Any:
        """The symmetric adjacency matrix, CSR of shape (nodes, nodes)."""
        from scipy.sparse import csr_array

        ends = (np.concatenate([self.first, self.second]), np.concatenate([self.second, self.first]))
        found = csr_array(
            (np.concatenate([self.weights, self.weights]), ends), shape=(self.nodes, self.nodes)
        )
        found.sort_indices()
        return found


def join_neighbours(
    vectors: Vectors,
    neighbours: int = NEIGHBOURS,
    least_cosine: float = LEAST_COSINE,
    progress: Progress = silent,
) -> EntityGraph:
    """The graph of unit vectors, shape (entities, dimension), computed in blocks of exact cosines."""
    count = len(vectors)
    firsts, seconds, weights = [], [], []
    block = max(1, _CELLS // max(1, count))
    for start in range(0, count, block):
        cosines = np.round((vectors[start : start + block] @ vectors.T).astype(np.float64), 6)
        for row, values in enumerate(cosines, start):
            near = nearest(values, neighbours, least_cosine, without=row)
            firsts.append(np.full(len(near), row))
            seconds.append(near)
            weights.append(values[near])
        progress("coverage: graph", min(start + block, count), count)
    return _undirected(count, _joined(firsts), _joined(seconds), np.concatenate([np.zeros(0), *weights]))


def nearest(cosines: NDArray[np.float64], most: int, least_cosine: float, without: int | None = None) -> Ints:
    """The places of the `most` highest cosines from `least_cosine` on, best first, equal ones by place."""
    near = np.flatnonzero(cosines >= least_cosine)
    if without is not None:
        near = near[near != without]
    return near[np.lexsort((near, -cosines[near]))][:most]


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _undirected(nodes: int, ones: Ints, others: Ints, weights: NDArray[np.float64]) -> EntityGraph:
    """Each edge once, whichever of its ends named it; of two weights the greater."""
    first, second = np.minimum(ones, others), np.maximum(ones, others)
    order = np.lexsort((-weights, second, first))
    first, second, weights = first[order], second[order], weights[order]
    new = np.ones(len(first), bool)
    new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    return EntityGraph(nodes, first[new], second[new], weights[new])


SMALL_ONLY, NO_CLUSTER = "in small clusters only", "in no cluster"
"""What queries are called that are in no region."""
ITERATIONS = 3
"""Cycles of Leiden, each on the result of the one before."""


class Cluster(NamedTuple):
    """A stratum of the corpus.

    Attributes
    ----------
    number: from 0, the largest first.
    name: its naming entities (`curation.coverage.names`).
    entities: their places: those that name it, then by the weight of their edges inside the cluster.
    documents: ids of the documents with one of the entities, ascending.
    is_region: whether it has as many documents as a region needs; otherwise it is counted apart.
    """

    number: int
    name: str
    entities: tuple[int, ...]
    documents: tuple[str, ...]
    is_region: bool


def partition(graph: EntityGraph, resolution: float, seed: int) -> Ints:
    """The cluster of each entity, shape (nodes,), numbered by first entity; isolated entities have one each.

    Raises
    ------
    RefusedError: graspologic-native is not installed.
    """
    if not len(graph.first):
        return np.arange(graph.nodes)
    try:
        from graspologic_native import leiden_csr
    except ImportError as error:
        raise RefusedError("Coverage needs graspologic-native: pip install graspologic-native.") from error
    joined = np.flatnonzero(graph.degrees)
    matrix = graph.matrix()[joined][:, joined].tocsr()
    matrix.sort_indices()
    _, found = leiden_csr(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float64),
        len(joined),
        resolution=resolution,
        iterations=ITERATIONS,
        seed=seed,
    )
    return _by_first_entity(graph.nodes, joined, found)


def _by_first_entity(nodes: int, joined: Ints, found: Mapping[int, int] | Sequence[int]) -> Ints:
    labels = np.arange(nodes) + nodes  # isolated entities: all different, and none of Leiden's
    labels[joined] = [found[place] for place in range(len(joined))]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), np.int64)
    numbers[np.argsort(first)] = np.arange(len(first))
    return numbers[inverse]


def make_clusters(
    labels: Ints,
    graph: EntityGraph,
    entities: Sequence[Entity],
    of_documents: Mapping[str, Sequence[int]],
    least_documents: int = LEAST_DOCUMENTS,
) -> list[Cluster]:
    """The clusters of a partition with their documents and names, the largest first.

    Parameters
    ----------
    labels: the cluster of each entity, shape (entities,).
    of_documents: document id → places of its entities.
    """
    members: dict[int, list[int]] = {}
    for place, label in enumerate(labels.tolist()):
        members.setdefault(label, []).append(place)
    documents: dict[int, set[str]] = {label: set() for label in members}
    for document_id, held in of_documents.items():
        for place in held:
            documents[int(labels[place])].add(document_id)
    inside = _weights_inside(graph, labels)
    ordered = sorted(members, key=lambda at: (-len(documents[at]), -len(members[at]), members[at]))
    naming = naming_entities([members[label] for label in ordered], labels, entities, of_documents)
    found = []
    for number, (label, first) in enumerate(zip(ordered, naming, strict=True)):
        central = sorted(members[label], key=lambda place: (place not in first, -inside[place], place))
        name = ", ".join(entities[place].name for place in first)
        is_region = len(documents[label]) >= least_documents
        found.append(
            Cluster(
                number, name, (*first, *central[len(first) :]), tuple(sorted(documents[label])), is_region
            )
        )
    return found


def _weights_inside(graph: EntityGraph, labels: Ints) -> list[float]:
    """The sum of the weights of each entity's edges within its cluster."""
    same = labels[graph.first] == labels[graph.second]
    ends = np.concatenate([graph.first[same], graph.second[same]])
    weights = np.concatenate([graph.weights[same], graph.weights[same]])
    totals: list[float] = np.round(np.bincount(ends, weights, graph.nodes), 6).tolist()
    return totals


MOST_BY_MEANING = NEIGHBOURS


class EntityMatch(NamedTuple):
    """Places of entities that a query may be about; one entity may be found both ways.

    Attributes
    ----------
    by_phrase: ascending.
    by_meaning: the nearest first; ascending where a map of before matched them.
    kept: those that a language model kept, ascending; None: none was asked, or has answered.
    """

    by_phrase: tuple[int, ...]
    by_meaning: tuple[int, ...]
    kept: tuple[int, ...] | None = None

    @property
    def entities(self) -> tuple[int, ...]:
        return tuple(sorted({*self.by_phrase, *self.by_meaning}))


def match_queries(
    texts: Sequence[str],
    names: Sequence[str],
    query_vectors: Vectors,
    entity_vectors: Vectors,
    most: int = MOST_BY_MEANING,
) -> list[EntityMatch]:
    """The entities of each query, in the order of the texts.

    Parameters
    ----------
    names: of the entities, normalised.
    query_vectors: unit vectors, shape (texts, dimension).
    entity_vectors: unit vectors, shape (names, dimension).
    most: entities by meaning.
    """
    places = {singular_name(name): place for place, name in enumerate(names)}
    longest = max((name.count(" ") + 1 for name in names), default=LONGEST)
    found = []
    for text, vector in zip(texts, query_vectors, strict=True):
        cosines = np.round((entity_vectors @ vector).astype(np.float64), 6)
        near = nearest(cosines, most, LEAST_COSINE) if words(text) else np.zeros(0, np.int64)
        found.append(EntityMatch(named_entities(text, places, longest), tuple(near.tolist())))
    return found


def named_entities(text: str, places: Mapping[str, int], longest: int = LONGEST) -> tuple[int, ...]:
    """Places of the entities that a text names; `places` is `singular_name` → place, `longest` its words."""
    found = list(map(singular, words(text)))
    spans = []
    for start in range(len(found)):
        for end in range(min(len(found), start + longest), start, -1):
            if " ".join(found[start:end]) in places:
                spans.append((start, end))
                break  # shorter ones from here are inside it
    furthest, named = 0, set()
    for start, end in spans:
        if end > furthest:  # else it is inside one that began before
            named.add(places[" ".join(found[start:end])])
            furthest = end
    return tuple(sorted(named))
