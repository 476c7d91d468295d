"""The certificate: an exhaustive look for what crosses a split, after the fact.

It shares the definition of a shingle with the grouping, and nothing of its search: every text of one part is
compared with every text of the others by counting, along posting lists, how many shingles they share. Of
texts with the same shingles in the same part two stand for all: they are equally similar to everything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.progress import Progress, silent
from curation.splits.edges import QUERY_TEXT, SHARED_DOCUMENT, Edge, Thresholds, edge_between
from curation.splits.material import Material
from curation.splits.similarity import Shingles, character_shingles, word_shingles


@dataclass(frozen=True)
class Closest:
    """The two most similar texts on different sides, by query or document id."""

    first: str
    second: str
    similarity: float


@dataclass(frozen=True)
class Certificate:
    """What was found across the split.

    Attributes
    ----------
    queries, documents: the closest pair of query texts and of relevant documents that lie in different parts;
        None where no two share a shingle.
    leaks: what crosses and must not: shared relevant documents, and pairs at or above the thresholds, of each
        text the closest one. Empty exactly when nothing crosses.
    """

    queries: Closest | None
    documents: Closest | None
    leaks: tuple[Edge, ...]


class _Text(NamedTuple):
    """A query or document, and the part that it lies in."""

    name: str
    part: str
    shingles: Shingles


class _Crossing(NamedTuple):
    """Two similar texts in different parts."""

    first: _Text
    second: _Text
    similarity: float


def certify(
    material: Material, parts: Mapping[str, str], thresholds: Thresholds, progress: Progress = silent
) -> Certificate:
    """Compare everything on one side with everything on the others.

    Parameters
    ----------
    parts: query id → part, for every query of the material.
    """
    crossing = set(_shared_across(material, parts))
    queries = (_Text(name, parts[name], character_shingles(text)) for name, text in material.queries.items())
    nearest_query, close = _across(queries, thresholds.query, progress)
    crossing |= {Edge(pair.first.name, pair.second.name, QUERY_TEXT, pair.similarity) for pair in close}
    query_in = {
        (document_id, parts[query_id]): query_id
        for document_id, queries in material.queries_of.items()
        for query_id in reversed(queries)
    }
    documents = (_Text(*key, word_shingles(material.documents[key[0]])) for key in query_in)
    nearest_document, close = _across(documents, thresholds.document, progress)
    for pair in close:
        first, second = ((query_in[text[:2]], text.name) for text in (pair.first, pair.second))
        crossing.add(edge_between(first, second, pair.similarity))
    return Certificate(nearest_query, nearest_document, tuple(sorted(crossing)))


def _shared_across(material: Material, parts: Mapping[str, str]) -> list[Edge]:
    """One edge for each document and each two parts in which it is relevant."""
    found = []
    for document_id, queries in material.queries_of.items():
        first_of: dict[str, str] = {}
        for query_id in queries:
            first_of.setdefault(parts[query_id], query_id)
        names = sorted(first_of.values())
        found += [Edge(a, b, SHARED_DOCUMENT, 1.0, (document_id,)) for a in names for b in names if a < b]
    return found


def _across(
    given: Iterable[_Text], threshold: float, progress: Progress
) -> tuple[Closest | None, list[_Crossing]]:
    """The closest pair across parts, and for each text its closest later one at or above the threshold."""
    texts = _twice_at_most(sorted(given, key=lambda text: text[:2]))
    part_of = np.unique([text.part for text in texts], return_inverse=True)[1]
    name_of = np.unique([text.name for text in texts], return_inverse=True)[1]
    sizes = np.array([len(text.shingles) for text in texts], dtype=np.int64)
    postings = _postings([text.shingles for text in texts])
    closest: Closest | None = None
    close: list[_Crossing] = []
    for number, text in enumerate(texts):
        holders = np.concatenate([postings[shingle] for shingle in text.shingles])
        shared = np.bincount(holders, minlength=len(texts))
        shared[: number + 1] = 0
        shared[(part_of == part_of[number]) | (name_of == name_of[number])] = 0
        similarity = shared / (sizes + sizes[number] - shared)
        best = int(similarity.argmax())
        found = _Crossing(text, texts[best], float(similarity[best]))
        if found.similarity > (closest.similarity if closest else 0.0):
            closest = Closest(text.name, found.second.name, found.similarity)
        if shared[best] and found.similarity >= threshold:
            close.append(found)
        progress("checking across the parts", number + 1, len(texts))
    return closest, close


def _twice_at_most(texts: Sequence[_Text]) -> list[_Text]:
    """The texts that have shingles; of equal ones in a part two, so that one is left to compare with where a
    document that lies in both parts must not be compared with itself."""
    times: Counter[tuple[str, Shingles]] = Counter()
    kept = []
    for text in texts:
        times[text[1:]] += 1
        if text.shingles and times[text[1:]] <= 2:
            kept.append(text)
    return kept


def _postings(sets: Sequence[Shingles]) -> dict[str, NDArray[np.int64]]:
    """Shingle → numbers of the texts that have it."""
    holders: dict[str, list[int]] = defaultdict(list)
    for number, shingles in enumerate(sets):
        for shingle in shingles:
            holders[shingle].append(number)
    return {shingle: np.array(numbers, dtype=np.int64) for shingle, numbers in holders.items()}
