"""Which entities a query is about: those that it names, and those that are near in meaning.

By phrase: an entity whose name is in the query, word by word; a name inside a longer one that is found at the
same place does not count. By meaning: as an entity of the graph is joined, to the `MOST_BY_MEANING` entities
with the highest cosine, from `LEAST_COSINE` on. `queries.coverage.matching` says which of their clusters are
C(q).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from curation.core.words import words
from curation.queries.coverage.entities import singular, singular_name
from curation.queries.coverage.phrases import LONGEST
from curation.retrieval.embeddings import Vectors

if TYPE_CHECKING:
    from curation.retrieval.embeddings import Vectors
from curation.queries.coverage.entity_graph import LEAST_COSINE, NEIGHBOURS, nearest

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
