"""Words counted by column are those that each text has by itself."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from curation.retrieval.terms import PLAIN, Analyzer, indexed_terms
from curation.retrieval.word_counts import WordCounts, count_words


def by_document(found: WordCounts) -> list[dict[str, int]]:
    words = found.words.to_pylist()
    return [
        {words[found.numbers[at]]: int(found.counts[at]) for at in range(start, end)}
        for start, end in zip(found.starts[:-1], found.starts[1:], strict=True)
    ]


@given(
    st.lists(st.text(alphabet="abAé茶กา_9 the.\n\0", max_size=30), max_size=12),
    st.sampled_from([PLAIN, Analyzer("german"), Analyzer(kept_words=frozenset({"the", "a"}))]),
)
def test_counts_are_those_of_the_terms_of_each_text(texts: list[str], analyzer: Analyzer) -> None:
    ended = pa.chunked_array([[f"{text}\n" for text in texts]], pa.string())
    found = by_document(count_words(ended, analyzer))
    assert found == [dict(Counter(indexed_terms(text, analyzer))) for text in texts]
