"""Query text: two queries whose texts are nearly the same, by the Jaccard similarity of character 3-grams.

Texts are compared as they are written, and then with their words in the order of the alphabet, so that
punctuation and the order of words hide nothing (`core.similarity.rewording`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from curation.core.similarity.pairs import PairCollector, alike
from curation.core.similarity.rewording import NAME, essentials, reworded_shingles
from curation.core.similarity.shingles import CHARACTERS, character_shingles, distinct
from curation.splits.numbers import compared_text
from curation.splits.ties.kind import FoundTies, TieKind, TieSearch

LABEL = "query text"


def find(search: TieSearch) -> FoundTies:
    """Pairs of queries at or above the threshold."""
    assert search.rules.query is not None
    texts = [compared_text(search.inputs.queries[name], search.rules.numbers) for name in search.ids]
    found = alike(
        map(character_shingles, texts),
        search.rules.query,
        search.compare,
        progress=search.progress,
        labels=search.labels,
        single=search.named_places,
        apart=search.grouped_places,
    )
    written = search.of_similar_queries(found.links, LABEL, found.pairs, found.method)
    reworded = _reworded(search, texts)
    further = {"query_rewording": NAME} if reworded.edges else {}
    return FoundTies(written.edges + reworded.edges, written.ties + reworded.ties, found.method, {}, further)


def _reworded(search: TieSearch, texts: Sequence[str]) -> FoundTies:
    """Pairs that are below the threshold as they are written, and not once reworded."""
    threshold = search.rules.query
    assert threshold is not None
    places = range(len(texts))
    sets, class_of = distinct(map(reworded_shingles, texts), single=places)
    place_of = np.flatnonzero(class_of >= 0)
    written = distinct((character_shingles(texts[place]) for place in place_of.tolist()), single=places)[0]
    labels = [essentials(text) for text in texts]
    if search.labels is not None:
        labels = [f"{label}\n{name}" for label, name in zip(labels, search.labels, strict=True)]
    label_of = np.unique(np.asarray(labels, dtype=np.str_), return_inverse=True)[1]
    collected = PairCollector(len(texts), search.named_places, search.grouped_places)
    for links in search.compare(sets, threshold, search.progress):
        first, second = place_of[links.first], place_of[links.second]
        apart = written.similarity(links.first, links.second) < threshold
        new = links._replace(first=first, second=second).at(apart & (label_of[first] == label_of[second]))
        collected.add(new)
    return search.of_similar_queries(collected.links(), LABEL, collected.pairs, "")


TIE = TieKind(
    label=LABEL,
    setting="query",
    parameter="query_threshold",
    find=find,
    is_threshold=True,
    fixed={"query_shingles": f"{CHARACTERS} characters"},
    minhashed=True,
)
