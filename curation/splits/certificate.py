"""The certificate: an exhaustive look for what crosses a split, after the fact.

It shares no code with the grouping, so that a mistake there cannot hide here: it has its own shingles and
its own comparison of all with all, part against part, and imports none of the modules that look for ties.
Tests check both: what it imports, and that the two definitions of a shingle agree on any text. Only what a
number or model name is (`numbers`) is defined once, and the figures of the `rules`; what was told apart by
names is shown.

Two texts are compared by the sets of their shingles (Jaccard), through a product of the sparse incidence
matrices of two parts, in blocks; embeddings by the product of the vectors themselves. What was cut by name
may lie above a threshold; nothing else may.

A. Broder (1997), On the resemblance and containment of documents.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from curation.progress import Progress, silent
from curation.splits.numbers import compared_text, names
from curation.splits.rules import DECIMALS, SESSIONS

if TYPE_CHECKING:
    from curation.splits.material import Material
    from curation.splits.rules import Rules

QUERY_TEXT = "query text"
PARAPHRASE = "paraphrase"
SHARED_DOCUMENT = "shared document"
NEAR_DUPLICATE = "near-duplicate document"
SAME_KEY = "same key"
SAME_TIME_BLOCK = "same time block"

EXCERPT = 280

_ROWS = 256
_EPOCH = datetime(1970, 1, 1)
_WORD = re.compile(r"\w+")
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Block = tuple[Ints, Ints, Floats]


@dataclass(frozen=True, order=True)
class Crossing:
    """Two queries (query_a < query_b) in different parts that give each other away, and the documents that
    make it so: the shared one; the two similar ones, that of query_a first; or none."""

    query_a: str
    query_b: str
    kind: str
    similarity: float
    documents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """The two most similar texts across the parts: ids (of queries or documents) and how the texts begin."""

    first: str
    second: str
    similarity: float
    first_text: str
    second_text: str


@dataclass(frozen=True)
class Check:
    """What the look for one kind of tie found.

    Attributes
    ----------
    threshold: from which similarity on a pair is a leak; None where the kind is not looked for, and the
        figure is for information only, or where a tie has no degrees.
    looked_for: whether a pair of this kind is a leak.
    compared: pairs across the parts: of texts; or of queries, documents and keys that could be shared.
    highest: the most similar pair that is not cut by name; None where no two have anything in common.
    told_apart: the most similar pair of queries that name different numbers or models, where the rules tell
        those apart.
    crossing, cut: pairs found that are leaks (of each text the closest), and that were cut by name.
    """

    kind: str
    looked_for: bool
    threshold: float | None
    compared: int
    highest: Pair | None
    told_apart: Pair | None
    crossing: int
    cut: int


@dataclass(frozen=True)
class Findings:
    """What was found across the split.

    Attributes
    ----------
    leaks: what crosses and must not. Empty exactly when nothing crosses that was not cut by name.
    residual: what crosses because it was cut by name.
    """

    checks: tuple[Check, ...]
    leaks: tuple[Crossing, ...]
    residual: tuple[Crossing, ...]

    def check(self, kind: str) -> Check | None:
        """The check of one kind; None where it was not made."""
        return next((check for check in self.checks if check.kind == kind), None)


class _Looked(NamedTuple):
    check: Check
    leaks: list[Crossing]
    residual: list[Crossing]


class _Side(NamedTuple):
    """The numbers of the texts in two parts that are compared with each other."""

    first: Ints
    second: Ints


def certify(
    material: Material, parts: Mapping[str, str], rules: Rules, progress: Progress = silent
) -> Findings:
    """Compare everything in one part with everything in the others.

    Parameters
    ----------
    parts: query id → part, for every query of the material.
    """
    cut = {frozenset(pair) for pair in rules.cut}
    looked = [_query_texts(material, parts, rules, cut, progress)]
    if material.vectors is not None:
        looked.append(_paraphrases(material, parts, rules, cut, progress))
    looked.append(_shared_documents(material, parts, rules.shared, cut))
    looked.append(_documents(material, parts, rules, cut, progress))
    if rules.keys:
        looked.append(_same(SAME_KEY, _key_holders(material, rules.keys), parts, cut))
    if rules.time_block is not None:
        looked.append(_same(SAME_TIME_BLOCK, _block_holders(material, rules.time_block), parts, cut))
    return Findings(
        tuple(found.check for found in looked),
        tuple(sorted(leak for found in looked for leak in found.leaks)),
        tuple(sorted(tie for found in looked for tie in found.residual)),
    )


def character_shingles(text: str) -> frozenset[str]:
    """Three letters in a row of the folded text; a shorter one is its own shingle, an empty one has none."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    if len(folded) < 3:
        return frozenset([folded]) if folded else frozenset()
    return frozenset(map("".join, zip(folded, folded[1:], folded[2:], strict=False)))


def word_shingles(text: str) -> frozenset[str]:
    """Three words in a row; a shorter text is one shingle, a text without words has none."""
    found = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    if len(found) < 3:
        return frozenset([" ".join(found)]) if found else frozenset()
    return frozenset(map(" ".join, zip(found, found[1:], found[2:], strict=False)))


def _query_texts(
    material: Material, parts: Mapping[str, str], rules: Rules, cut: set[frozenset[str]], progress: Progress
) -> _Looked:
    ids = sorted(material.queries)
    texts = [material.queries[name] for name in ids]
    compared = [compared_text(text, rules.numbers) for text in texts]
    sides = _sides([parts[name] for name in ids])
    blocks = _shared_shingles([character_shingles(text) for text in compared], sides, "query texts", progress)
    return _looked(QUERY_TEXT, rules.query, ids, texts, sides, blocks, _apart(texts, rules), cut)


def _paraphrases(
    material: Material, parts: Mapping[str, str], rules: Rules, cut: set[frozenset[str]], progress: Progress
) -> _Looked:
    ids = sorted(material.queries)
    texts = [material.queries[name] for name in ids]
    sides = _sides([parts[name] for name in ids])
    blocks = _cosines(np.asarray(material.vectors, dtype=np.float64), sides, progress)
    return _looked(PARAPHRASE, rules.paraphrase, ids, texts, sides, blocks, _apart(texts, rules), cut)


def _documents(
    material: Material, parts: Mapping[str, str], rules: Rules, cut: set[frozenset[str]], progress: Progress
) -> _Looked:
    """Relevant documents, in each part where one is relevant; a document is not compared with itself."""
    queries: dict[tuple[str, str], list[str]] = {}
    for query_id in sorted(material.relevant):
        for document_id in material.relevant[query_id]:
            queries.setdefault((document_id, parts[query_id]), []).append(query_id)
    holders = sorted(queries)
    ids = [document_id for document_id, _ in holders]
    texts = [material.documents[document_id] for document_id in ids]
    sides = _sides([part for _, part in holders])
    blocks = _shared_shingles([word_shingles(text) for text in texts], sides, "documents", progress)
    sieve = _Sieve(rules.document, len(ids), _cut_documents(material, holders, queries, cut))
    same = np.unique(ids, return_inverse=True)[1] if ids else np.zeros(0, dtype=np.int64)
    for first, second, similarity in blocks:
        other = same[first] != same[second]
        sieve.take(first[other], second[other], similarity[other])

    def crossing(found: tuple[float, int, int]) -> Iterator[Crossing]:
        similarity, one, other = found
        pairs = [(a, b) for a in queries[holders[one]] for b in queries[holders[other]]]
        free = [pair for pair in pairs if frozenset(pair) not in cut]
        for a, b in free[:1] or pairs:
            (query_a, document_a), (query_b, document_b) = sorted([(a, ids[one]), (b, ids[other])])
            yield Crossing(query_a, query_b, NEAR_DUPLICATE, similarity, (document_a, document_b))

    leaks = [leak for found in sieve.leaks for leak in crossing(found)]
    residual = [tie for found in sieve.residual for tie in crossing(found)]
    check = Check(
        NEAR_DUPLICATE, rules.document is not None, rules.document, _compared(sides),
        _pair(sieve.highest, ids, texts), None, len(sieve.leaks), len(residual),
    )  # fmt: skip
    return _Looked(check, leaks, residual)


def _cut_documents(
    material: Material,
    holders: Sequence[tuple[str, str]],
    queries: Mapping[tuple[str, str], list[str]],
    cut: set[frozenset[str]],
) -> set[tuple[int, int]]:
    """Pairs of documents whose queries are all cut from each other, by their numbers."""
    part_numbers: dict[str, list[int]] = {}
    for number, (_, part) in enumerate(holders):
        part_numbers.setdefault(part, []).append(number)
    of_query: dict[str, list[int]] = {}
    for number, holder in enumerate(holders):
        for query_id in queries[holder]:
            of_query.setdefault(query_id, []).append(number)
    found = set()
    for one, other in (sorted(pair) for pair in cut if len(pair) == 2):
        for first in of_query.get(one, ()):
            for second in of_query.get(other, ()):
                across = ((a, b) for a in queries[holders[first]] for b in queries[holders[second]])
                if all(frozenset(pair) in cut for pair in across):
                    found.add((min(first, second), max(first, second)))
    return found


def _shared_documents(
    material: Material, parts: Mapping[str, str], looked_for: bool, cut: set[frozenset[str]]
) -> _Looked:
    holders: dict[str, list[str]] = {}
    for query_id in sorted(material.relevant):
        for document_id in material.relevant[query_id]:
            holders.setdefault(document_id, []).append(query_id)
    return _same(SHARED_DOCUMENT, holders, parts, cut, looked_for)


def _key_holders(material: Material, kinds: Iterable[str]) -> dict[str, list[str]]:
    wanted = set(kinds)
    holders: dict[str, list[str]] = {}
    for query_id in sorted(material.keys):
        keys = sorted(material.keys[query_id])
        popular = sum(kind == "session" for kind, _ in keys) > SESSIONS
        for kind, value in keys:
            if kind in wanted and not (kind == "session" and popular):
                holders.setdefault(f"{kind}: {value}", []).append(query_id)
    return holders


def _block_holders(material: Material, seconds: int) -> dict[str, list[str]]:
    holders: dict[str, list[str]] = {}
    for query_id in sorted(material.times):
        since = (material.times[query_id] - _EPOCH).total_seconds()
        holders.setdefault(str(int(since // seconds)), []).append(query_id)
    return holders


def _same(
    kind: str,
    holders: Mapping[str, Sequence[str]],
    parts: Mapping[str, str],
    cut: set[frozenset[str]],
    looked_for: bool = True,
) -> _Looked:
    """Queries that have the same document, key or block; for each two parts one pair that is not cut, or all
    that are. `holders`: name of what they have → query ids."""
    leaks: list[Crossing] = []
    residual: list[Crossing] = []
    compared = crossing = 0
    for name in sorted(holders):
        by_part: dict[str, list[str]] = {}
        for query_id in holders[name]:
            by_part.setdefault(parts[query_id], []).append(query_id)
        compared += len(by_part) > 1
        for one, other in combinations(sorted(by_part), 2):
            documents = (name,) if kind == SHARED_DOCUMENT else ()
            pairs = ((min(a, b), max(a, b)) for a in by_part[one] for b in by_part[other])
            free = next((pair for pair in pairs if frozenset(pair) not in cut), None)
            crossing += free is not None
            if not looked_for:
                continue
            if free is not None:
                leaks.append(Crossing(*free, kind, 1.0, documents))
            gone = _torn(cut, frozenset(by_part[one]), frozenset(by_part[other]))
            residual += [Crossing(*pair, kind, 1.0, documents) for pair in gone]
    check = Check(kind, looked_for, None, compared, None, None, crossing, len(residual))
    return _Looked(check, leaks, residual)


def _torn(cut: Iterable[frozenset[str]], one: frozenset[str], other: frozenset[str]) -> list[tuple[str, str]]:
    """The pairs that are cut and have one query on each side; by the cuts, which are few, and not by the
    pairs, which grow with the square of the queries."""
    across = (pair for pair in cut if len(pair & one) == len(pair & other) == 1)
    return sorted((min(pair), max(pair)) for pair in across)


def _looked(
    kind: str,
    threshold: float | None,
    ids: Sequence[str],
    texts: Sequence[str],
    sides: Sequence[_Side],
    blocks: Iterable[Block],
    named: Ints | None,
    cut: set[frozenset[str]],
) -> _Looked:
    """The blocks' pairs of queries, sifted."""
    number = {name: place for place, name in enumerate(ids)}
    known = (sorted(number[name] for name in pair if name in number) for pair in cut)
    sieve = _Sieve(threshold, len(ids), {(pair[0], pair[1]) for pair in known if len(pair) == 2}, named)
    for block in blocks:
        sieve.take(*block)
    leaks = [Crossing(ids[a], ids[b], kind, similarity) for similarity, a, b in sieve.leaks]
    residual = [Crossing(ids[a], ids[b], kind, similarity) for similarity, a, b in sieve.residual]
    highest, apart = (_pair(found, ids, texts) for found in (sieve.highest, sieve.told_apart))
    check = Check(
        kind, threshold is not None, threshold, _compared(sides), highest, apart, len(leaks), len(residual)
    )
    return _Looked(check, leaks, residual)


def _pair(found: tuple[float, int, int] | None, ids: Sequence[str], texts: Sequence[str]) -> Pair | None:
    if found is None:
        return None
    similarity, first, second = found
    return Pair(ids[first], ids[second], similarity, texts[first][:EXCERPT], texts[second][:EXCERPT])


class _Sieve:
    """Keeps of all pairs the highest, and those at or above the threshold: of each text the closest.

    Attributes
    ----------
    highest, told_apart: similarity and the two numbers, the smaller one first.
    leaks, residual: the same, in a list; `residual` are pairs in `cut`.
    """

    def __init__(
        self, threshold: float | None, size: int, cut: set[tuple[int, int]], named: Ints | None = None
    ) -> None:
        self.highest: tuple[float, int, int] | None = None
        self.told_apart: tuple[float, int, int] | None = None
        self.leaks: list[tuple[float, int, int]] = []
        self.residual: list[tuple[float, int, int]] = []
        self._threshold = threshold
        self._size = size
        self._cut = np.array(sorted(low * size + high for low, high in cut), dtype=np.int64)
        self._named = named

    def take(self, first: Ints, second: Ints, similarity: Floats) -> None:
        """Look at some pairs, by their numbers."""
        low, high = np.minimum(first, second), np.maximum(first, second)
        cut = apart = np.zeros(len(low), dtype=bool)
        if len(self._cut):
            cut = np.isin(low * self._size + high, self._cut)
        if self._named is not None:
            apart = self._named[low] != self._named[high]
            self.told_apart = _higher(self.told_apart, low, high, similarity, apart & ~cut)
        free = ~apart & ~cut
        self.highest = _higher(self.highest, low, high, similarity, free)
        if self._threshold is None:
            return
        over = similarity >= self._threshold
        self.residual += _listed(low, high, similarity, np.flatnonzero(over & cut & ~apart))
        places = np.flatnonzero(over & free)
        order = places[np.lexsort((high[places], -similarity[places], first[places]))]
        closest = np.unique(first[order], return_index=True)[1]
        self.leaks += _listed(low, high, similarity, order[closest])


def _listed(low: Ints, high: Ints, similarity: Floats, places: Ints) -> list[tuple[float, int, int]]:
    return list(zip(similarity[places].tolist(), low[places].tolist(), high[places].tolist(), strict=True))


def _higher(
    known: tuple[float, int, int] | None, low: Ints, high: Ints, similarity: Floats, among: NDArray[np.bool_]
) -> tuple[float, int, int] | None:
    """The higher of a pair that is known and the highest of a block; of equal ones the first by number."""
    places = np.flatnonzero(among)
    if not len(places):
        return known
    top = similarity[places].max()
    if top <= 0 or (known is not None and top < known[0]):
        return known
    found = min(_listed(low, high, similarity, places[similarity[places] == top]))
    return found if known is None else min(known, found, key=lambda pair: (-pair[0], pair[1:]))


def _sides(part_of: Sequence[str]) -> list[_Side]:
    """Each two parts."""
    labels = np.array(part_of, dtype=object)
    numbers = [np.flatnonzero(labels == part).astype(np.int64) for part in sorted(set(part_of))]
    return [_Side(first, second) for first, second in combinations(numbers, 2)]


def _compared(sides: Iterable[_Side]) -> int:
    return sum(len(side.first) * len(side.second) for side in sides)


def _shared_shingles(
    sets: Sequence[frozenset[str]], sides: Sequence[_Side], what: str, progress: Progress
) -> Iterator[Block]:
    """The Jaccard similarity of all pairs that share a shingle."""
    sizes = np.array([len(shingles) for shingles in sets], dtype=np.int64)
    vocabulary = {shingle: place for place, shingle in enumerate(sorted(frozenset[str]().union(*sets)))}
    rows = np.repeat(np.arange(len(sets)), sizes)
    columns = np.fromiter((vocabulary[s] for shingles in sets for s in shingles), np.int64, int(sizes.sum()))
    ones = np.ones(len(rows), dtype=np.int32)
    has = sparse.coo_array((ones, (rows, columns)), shape=(len(sets), max(1, len(vocabulary)))).tocsr()
    for side in sides:
        other = has[side.second].T.tocsr()
        for start in range(0, len(side.first), _ROWS):
            numbers = side.first[start : start + _ROWS]
            shared = (has[numbers] @ other).tocoo()
            first, second = numbers[shared.coords[0]], side.second[shared.coords[1]]
            yield first, second, shared.data / (sizes[first] + sizes[second] - shared.data)
            progress(f"checking {what} across the parts", start + len(numbers), len(side.first))


def _cosines(vectors: Floats, sides: Sequence[_Side], progress: Progress) -> Iterator[Block]:
    """The rounded cosine of all pairs."""
    for side in sides:
        for start in range(0, len(side.first), _ROWS):
            numbers = side.first[start : start + _ROWS]
            cosines = np.round(vectors[numbers] @ vectors[side.second].T, DECIMALS)
            first = np.repeat(numbers, len(side.second))
            yield first, np.tile(side.second, len(numbers)), cosines.ravel()
            progress("checking paraphrases across the parts", start + len(numbers), len(side.first))


def _apart(texts: Sequence[str], rules: Rules) -> Ints | None:
    """A number for each text, the same where the numbers and models that it names are; None where those do
    not tell texts apart."""
    if rules.numbers != "apart":
        return None
    codes: dict[frozenset[str], int] = {}
    return np.array([codes.setdefault(names(text), len(codes)) for text in texts], dtype=np.int64)
