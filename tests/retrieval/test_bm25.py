"""BM25: the scores of bm25s and of rank-bm25 with Lucene's idf, and no error or invented hit at the edges."""

from __future__ import annotations

from math import log, log1p
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from curation.retrieval import Bm25, Hit
from curation.retrieval.terms import (
    STOP_WORDS,
    Analyzer,
    content_words,
    indexed_terms,
    is_gram,
    searched_terms,
)
from curation.store.row_types import Document, Query
from tests.support.icecat import first_products


def documents(*texts: str) -> list[Document]:
    return [Document(f"d{number}", "", "", text) for number, text in enumerate(texts)]


def query(text: str) -> Query:
    return Query("q", text, text, "written")


def search(corpus: list[Document], text: str, depth: int = 10) -> list[Hit]:
    [hits] = Bm25(corpus).search([query(text)], depth)
    return hits


@pytest.fixture(scope="module")
def products(shared: Path) -> list[Document]:
    return [
        Document(product["id"], "", product["title"], product.get("short_description") or "")
        for product in first_products(shared, 3000)
    ]


@pytest.mark.slow
def test_scores_and_order_are_those_of_bm25s_with_the_method_lucene(products: list[Document]) -> None:
    """On 3,000 real products: every document that bm25s scores above zero, in single precision."""
    import bm25s

    products = sorted(products, key=lambda product: product.document_id)
    reference = bm25s.BM25(method="lucene", k1=1.5, b=0.75, backend="numpy")
    reference.index([content_words(product.text) for product in products], show_progress=False)
    asked = (
        "bluetooth speaker,laptop,printer ink black,hp 15 notebook,usb c cable,27 inch monitor 4k,toner toner"
    )
    for text in asked.split(","):
        scores = reference.get_scores(content_words(text)) * (1.5 + 1)
        expected = {
            product.document_id: float(score)
            for product, score in zip(products, scores, strict=True)
            if score > 0
        }
        found = search(products, text, depth=len(products))
        assert len(found) > 10
        assert {hit.document_id: hit.score for hit in found} == pytest.approx(expected, rel=1e-5)


def test_nothing_is_found_where_nothing_matches() -> None:
    corpus = documents("red shoes", "blue shoes", "green hat", "")
    engine = Bm25(corpus)
    reasons = {
        "": "the query has no words",
        "?!": "the query has no words",
        "where is the": "the query has only stop words",
        "the bicycle": "no word of the query occurs in the corpus",
    }
    for text, reason in reasons.items():
        assert engine.search([query(text)], 5) == [[]], text
        assert engine.explain_no_hits(query(text)) == reason


def test_a_word_in_every_document_has_results_and_a_rarer_word_counts_more() -> None:
    """rank-bm25's own idf gives "phone" a quarter of the average idf, as if it were rarer."""
    corpus = documents("phone case", "phone cover", "phone screen", "phone lamp", "phone phone")
    assert [hit.document_id for hit in search(corpus, "phone")] == ["d4", "d0", "d1", "d2", "d3"]
    assert [hit.document_id for hit in search(corpus, "phone cover")][:2] == ["d1", "d4"]
    assert search(documents("returns"), "returns")[0].score == pytest.approx(log1p(1 / 3))


def test_negations_numbers_and_letters_are_content() -> None:
    assert content_words("How do I use C++ without a 5 GHz router, not the new one?") == (
        "use c without 5 ghz router not new one".split()
    )
    assert not STOP_WORDS & {"not", "no", "without", "t", "s", "re", "c", "r"}


words = st.sampled_from("red blue green shoes hat coat bag the".split())
texts = st.lists(words, max_size=6).map(" ".join)
with_grams = st.lists(st.sampled_from("red hat coat the 茶 绿茶 茶壶".split()), max_size=6).map(" ".join)


def rank_bm25_scores(texts: list[str], asked: str) -> list[float]:
    """Scores of words and of grams, with Lucene's idf."""
    scores = [0.0] * len(texts)
    for of_grams in (False, True):
        terms = [[term for term in indexed_terms(text) if is_gram(term) == of_grams] for text in texts]
        if any(terms):
            reference = BM25Okapi(terms, k1=1.5, b=0.75)
            number = {term: sum(term in text for text in terms) for text in terms for term in text}
            reference.idf = {term: log(1 + (len(terms) - n + 0.5) / (n + 0.5)) for term, n in number.items()}
            reference.avgdl *= len(terms) / sum(map(bool, terms)) if of_grams else 1
            found = reference.get_scores(searched_terms(asked))
            scores = [score + more for score, more in zip(scores, found, strict=True)]
    return scores


@given(st.lists(with_grams, max_size=8), with_grams)
def test_any_small_corpus_has_the_scores_of_rank_bm25(corpus: list[str], asked: str) -> None:
    expected = {f"d{n}": score for n, score in enumerate(rank_bm25_scores(corpus, asked)) if score > 0}
    found = {hit.document_id: hit.score for hit in search(documents(*corpus), asked)}
    assert found == pytest.approx(expected, rel=1e-9)


@given(st.lists(texts, max_size=8), texts, st.integers(1, 9))
def test_a_shorter_search_is_the_beginning_of_a_deeper_one(corpus: list[str], text: str, depth: int) -> None:
    engine = Bm25(documents(*corpus))
    [short], [deep] = engine.search([query(text)], depth), engine.search([query(text)], 100)
    assert short == deep[:depth]
    assert all(hit.score > 0 for hit in deep)
    assert deep == sorted(deep, key=lambda hit: (-hit.score, hit.document_id))


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        ("电热水壶", "家用电热水壶，大容量，自动断电"),
        ("茶", "龙井绿茶礼盒"),
        ("กาต้มน้ำ", "ขายกาต้มน้ำไฟฟ้าราคาถูก"),
        ("हिन्दी किताब", "बच्चों की हिन्दी किताब"),
        ("café", "un cafe\u0301 cre\u0300me"),
    ],
)
def test_a_word_is_found_in_any_script(asked: str, held: str) -> None:
    others = ["a red hat", "黑色登山鞋", "古い本の店", "ครีมกันแดด", "दाल मखनी", "비 오는 날", "άλλο κείμενο"]
    [hits] = Bm25(documents(*others, held)).search([query(asked)], 10)
    assert hits[0].document_id == f"d{len(others)}"


def test_a_foreign_name_makes_no_description_longer() -> None:
    corpus = ["red hat", "blue hat {}", "green coat", "grey gloves", "brown shoes"]
    latin, chinese = (
        documents(*(text.format(name) for text in corpus)) for name in ("gaoxiao", "高效能系列")
    )
    assert search(chinese, "red") == search(latin, "red")
    assert search(chinese, "blue") == search(latin, "blue")
    assert [hit.document_id for hit in search(chinese, "效能")] == ["d1"]


def test_a_stemmer_finds_other_forms_and_is_told_among_the_settings() -> None:
    corpus = documents("die Häuser am See", "ein Boot", "das Wetter", "viele Schuhe")
    plain, stemmed = Bm25(corpus), Bm25(corpus, Analyzer("german"))
    assert "stemmer" not in plain.settings
    assert stemmed.settings == {**plain.settings, "stemmer": "german"}
    assert plain.search([query("Haus")], 5) == [[]]
    assert [hit.document_id for hit in stemmed.search([query("Haus")], 5)[0]] == ["d0"]


def test_kept_stop_words_are_searched_and_told_among_the_settings() -> None:
    corpus = documents("the where function", "the function", "what else")
    plain, keeping = Bm25(corpus), Bm25(corpus, Analyzer(kept_words=frozenset({"where"})))
    assert keeping.settings == {**plain.settings, "kept_words": ["where"]}
    assert plain.search([query("Where")], 5) == [[]]
    assert [hit.document_id for hit in keeping.search([query("Where")], 5)[0]] == ["d0"]
    queries = [query("what is the where function"), query("Where function"), query("function"), query("who")]
    assert plain.list_lost_words(queries) == [
        {"query": "Where function", "searched": "function", "stop_words": ["where"]},
        {
            "query": "what is the where function",
            "searched": "function",
            "stop_words": ["is", "the", "what", "where"],
        },
    ]
    assert [lost["searched"] for lost in keeping.list_lost_words(queries)] == ["where function"]
