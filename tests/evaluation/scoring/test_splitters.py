"""Splitters: every word is in a chunk, and chunks are cut where they say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError
from curation.core.words import word_starts
from curation.evaluation.scoring.splitters import splitters_named
from tests.support import examples

TEXTS = st.text(st.sampled_from("ab .\n#`水"), max_size=60)


def cut(name: str, body: str) -> list[str]:
    return [body[start:end] for start, end in splitters_named([name])[0].split(body)]


def test_windows_overlap_by_words_and_end_with_the_text() -> None:
    body = " one two, three four five. "
    assert cut("2", body) == ["one two,", "three four", "five."]
    assert cut("3/1", body) == ["one two, three", "three four five."]
    assert cut("9", body) == ["one two, three four five."]
    assert cut("2", "水火風土") == ["水火", "風土"]


def test_sentences_are_those_of_the_script() -> None:
    assert cut("sentence", "One is 1.5 m. Two!\nThree") == ["One is 1.5 m.", "Two!", "Three"]
    assert cut("sentence", "水。火。") == ["水。", "火。"]


def test_headings_begin_chunks_but_not_in_code() -> None:
    body = "before\n# One\ntext\n```\n# no heading\n```\n## Two\n#tag"
    assert cut("heading", body) == ["before", "# One\ntext\n```\n# no heading\n```", "## Two\n#tag"]
    assert cut("heading", "plain") == ["plain"]


@settings(max_examples=examples(40))
@given(TEXTS, st.sampled_from(["3", "4/3", "sentence", "heading"]))
def test_every_word_is_in_a_chunk(body: str, name: str) -> None:
    spans = splitters_named([name])[0].split(body)
    assert all(
        0 <= start < end <= len(body) and body[start:end].strip() == body[start:end] for start, end in spans
    )
    assert spans == sorted(spans)
    for place in word_starts(body):
        assert any(start <= place < end for start, end in spans)


@pytest.mark.parametrize("name", ["0", "50/50", "50/60", "words", "-1"])
def test_a_name_that_is_no_splitter_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"--chunks {name}: it is no splitter"):
        splitters_named(["200/50", name])
