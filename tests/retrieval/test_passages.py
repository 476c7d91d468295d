"""Passages: every word in one of them, none longer than the window, cuts between words, kept once."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.digests import digest
from curation.core.request import DEFAULT_MODEL
from curation.retrieval import Bm25, Dense, Hit, Hybrid, passages
from curation.retrieval.embeddings import embed
from curation.retrieval.passages import Cutter, cut, cut_documents, find_cutter, passage_text
from curation.store import Store
from curation.store.row_types import Document, Query
from tests.support.pool_project import put_vectors

WORD = re.compile(r"\S+")


def pieces_of(text: str) -> list[tuple[int, int]]:
    """Word pieces of at most four characters."""
    return [
        (start, min(start + 4, word.end()))
        for word in WORD.finditer(text)
        for start in range(word.start(), word.end(), 4)
    ]


def count(store: Store, table: str) -> int:
    with store.reading() as cursor:
        return int(cursor.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])


def query(text: str) -> Query:
    return Query("q", text, text, "written")


texts = st.lists(
    st.sampled_from(["a", "word", "longer", "extraordinarily", "End.", "Why?", "line\n", "  "]), max_size=80
).map(" ".join)


@given(texts, st.integers(4, 20), st.integers(0, 8))
def test_passages_cover_the_text_in_order_and_fit(text: str, room: int, overlap: int) -> None:
    pieces = pieces_of(text)
    spans = cut(text, pieces, room, overlap)
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    assert all(text[a:b].strip() == "" for (_, a), (b, _) in pairwise(spans))
    assert [s for s, _ in spans] == sorted({s for s, _ in spans})
    for start, end in spans:
        assert sum(start <= a and b <= end for a, b in pieces) <= room
    if len(pieces) <= room:
        assert spans == [(0, len(text))]


@given(texts, st.integers(12, 30))
def test_no_word_is_cut_where_words_are_shorter_than_half_a_window(text: str, room: int) -> None:
    for start, end in cut(text, pieces_of(text), room, room // 4):
        assert start == 0 or text[start - 1].isspace()
        assert end == len(text) or text[end].isspace()


def test_cuts_are_at_the_ends_of_sentences_where_there_are_any() -> None:
    text = "One two three. Four five six. Seven eight nine. Ten eleven twelve."
    words = [match.span() for match in WORD.finditer(text)]
    assert [text[slice(*span)] for span in cut(text, words, 8, 0)] == [
        "One two three. Four five six.",
        "Seven eight nine. Ten eleven twelve.",
    ]


def test_passages_after_the_first_are_embedded_with_their_title() -> None:
    document = Document("d", "", "Lamp", "Bright. Cheap.")
    assert passage_text(document, (0, 12)) == "Lamp\nBright."
    assert passage_text(document, (13, 19)) == "Lamp\nCheap."
    assert passage_text(Document("d", "", "", "Bright. Cheap."), (8, 14)) == "Cheap."


def test_a_document_scores_what_its_best_passage_does_and_names_it(store: Store) -> None:
    """Cuts and vectors are stored: neither model nor tokeniser is used."""
    body = "first part " * 30 + "second part " * 30
    document, cutter = Document("long", "", "Title", body), find_cutter(DEFAULT_MODEL)
    short = Document("short", "", "", "a short one")
    spans = [(0, 335), (336, len(document.text))]
    passages._keep(store, cutter, [digest(document.title, document.body)], [spans])
    parts = [passage_text(document, span) for span in spans]
    put_vectors(store, "document", {parts[0]: [0, 1], parts[1]: [0.8, 0.6], short.text: [0.6, 0.8]})
    put_vectors(store, "query", {"asked": [1, 0], "other": [0, 1]})
    engine = Dense(store, [short, document])
    assert engine.search([query("asked")], 5) == [[Hit("long", 0.8, spans[1]), Hit("short", 0.6)]]
    assert engine.search([query("other")], 1) == [[Hit("long", 1.0, spans[0])]]
    fused = Hybrid([Bm25([short, document]), engine]).search([query("asked")], 5)[0]
    assert {hit.document_id: hit.passage for hit in fused} == {"long": spans[1], "short": None}


def test_the_settings_name_window_and_overlap(store: Store) -> None:
    settings = Dense(store, []).settings
    assert settings["passages"] == {"best": "max", "overlap": 64, "window": 256}


@pytest.mark.slow
@pytest.mark.usefixtures("embedding_model")
def test_what_stands_at_the_end_of_a_long_document_is_found_and_kept_once(store: Store) -> None:
    filler = "The committee met on Tuesday and approved the minutes of the meeting before. " * 40
    corpus = [
        Document("long", "", "Minutes", filler + "Finally a kitten purred on the table.\n"),
        Document("short", "", "Minutes", "The committee met on Tuesday."),
    ]
    engine = Dense(store, corpus)
    [[first, *_]] = engine.search([query("a small cat that purrs")], 5)
    assert first.document_id == "long"
    assert first.passage is not None
    assert "kitten purred" in corpus[0].text[slice(*first.passage)]
    spans = cut_documents(store, corpus, find_cutter(DEFAULT_MODEL))
    assert [len(cut) > 1 for cut in spans] == [True, False]
    distinct = {passage_text(d, span) for d, cut in zip(corpus, spans, strict=True) for span in cut}
    assert count(store, "embeddings") == len(distinct) + 2  # the query and the probe
    assert count(store, "passages") == 1
    whole = embed(store, [corpus[1].text])
    assert count(store, "embeddings") == len(distinct) + 2
    assert np.linalg.norm(whole[0]) == pytest.approx(1, abs=1e-5)
    again = Dense(store, corpus)
    assert again.search([query("a small cat that purrs")], 5)[0][0] == first
    assert (count(store, "passages"), count(store, "embeddings")) == (1, len(distinct) + 2)


def test_a_model_that_reads_texts_of_any_length_gets_whole_documents(store: Store) -> None:
    cutter = Cutter(find_cutter(DEFAULT_MODEL).model, None)
    long = Document("d", "", "", "word " * 5_000)
    assert cut_documents(store, [long], cutter) == [[(0, len(long.text))]]
