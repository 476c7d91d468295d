"""Query text: two queries whose texts are nearly the same, by the Jaccard similarity of character 3-grams."""

from __future__ import annotations

from curation.similarity.pairs import alike
from curation.similarity.shingles import CHARACTERS, character_shingles
from curation.splits.numbers import compared_text
from curation.splits.rules import LEAST_THRESHOLD
from curation.splits.ties.kind import FoundTies, Threshold, TieKind, TieSearch

LABEL = "query text"


def find(search: TieSearch) -> FoundTies:
    """Pairs of queries at or above the threshold."""
    assert search.rules.query is not None
    texts = (compared_text(search.inputs.queries[name], search.rules.numbers) for name in search.ids)
    found = alike(
        map(character_shingles, texts),
        search.rules.query,
        progress=search.progress,
        labels=search.labels,
        single=search.named_places,
    )
    return search.of_similar_queries(found.links, LABEL, found.pairs, found.method)


TIE = TieKind(
    label=LABEL,
    setting="query",
    parameter="query_threshold",
    find=find,
    threshold=Threshold(LEAST_THRESHOLD, "a Jaccard similarity"),
    fixed={"query_shingles": f"{CHARACTERS} characters"},
    minhashed=lambda inputs: len(inputs.queries),
)
