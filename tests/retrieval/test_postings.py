"""The search with numba and the one without: the same rows and the same doubles, whatever the texts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.retrieval import Bm25, postings
from curation.retrieval.postings import choose_search, search_compiled, search_numpy
from curation.store.row_types import Document
from tests.support.icecat import first_products

HOSTILE = [
    "",
    "?!",
    "the of",
    "red hat",
    "red hat",
    "RED red red",
    "家用电热水壶",
    "กาต้มน้ำ",
    "كِتَاب",
    "café 茶",
]


def assert_same(texts: Sequence[str], asked: Sequence[str], depths: Sequence[int]) -> None:
    documents = [Document(f"d{place:05}", "", "", text) for place, text in enumerate(texts)]
    engine = Bm25(documents)
    numbers = [engine._find_words(text) for text in asked]
    for depth in depths:
        compiled, plain = (
            search(engine._load_postings(), numbers, depth) for search in (search_compiled, search_numpy)
        )
        for (rows, scores), (expected_rows, expected) in zip(compiled, plain, strict=True):
            assert rows.tolist() == expected_rows.tolist()
            assert scores.tobytes() == expected.tobytes()


@pytest.fixture(scope="module")
def _numba() -> None:
    pytest.importorskip("numba", reason="numba is not installed (extra fast)")


@pytest.mark.costly("compares both searches on 2,500 products")
@pytest.mark.usefixtures("_numba")
def test_real_products_are_ranked_alike(shared: Path) -> None:
    """A part is there twice, so that scores are equal at every cut."""
    products = first_products(shared, 2000)
    texts = [f"{product['title']} {product.get('short_description') or ''}" for product in products]
    asked = [*(product["title"] for product in products[::20]), "toner toner", "bluetooth speaker"]
    assert_same([*texts, *texts[:500]], asked, (1, 7, 100, 5000))


@pytest.mark.costly("numba compiles the search at its first use")
@pytest.mark.usefixtures("_numba")
@given(
    st.lists(st.sampled_from(HOSTILE), max_size=40),
    st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=4),
)
def test_hostile_texts_are_ranked_alike(texts: list[str], asked: list[str]) -> None:
    assert_same(texts, [*asked, " ".join(asked)], (1, 3, 1000))


@pytest.mark.slow
@pytest.mark.usefixtures("_numba")
def test_a_word_may_be_in_a_document_more_often_than_two_bytes_count() -> None:
    assert_same(["w " * 70_000 + "tea", "w tea", "hat", "coat", "shoe"], ["w", "tea w"], (5,))


def test_numba_is_used_where_it_is_worth_its_start_and_numpy_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = postings.Postings(
        *([np.zeros(1)] * 2), np.array([0, postings.MAX_NUMPY_POSTINGS + 1]), *([np.zeros(1)] * 3)
    )
    monkeypatch.setitem(sys.modules, "curation.retrieval.kernel", None)
    monkeypatch.delattr("curation.retrieval.kernel", raising=False)
    postings._import_kernel.cache_clear()
    assert choose_search(held, [[0]]) is search_numpy
    monkeypatch.undo()
    postings._import_kernel.cache_clear()
    assert choose_search(held, [[]]) is search_numpy
    pytest.importorskip("numba", reason="numba is not installed (extra fast)")
    assert choose_search(held, [[0]]) is search_compiled
