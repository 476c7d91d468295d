"""Reciprocal rank fusion, with values worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from curation.core.progress import silent
from curation.retrieval import Bm25, Hit, Hybrid, fuse
from curation.store.row_types import Document, Query


def ranked(*names: str) -> list[Hit]:
    return [Hit(name, 100.0 - rank) for rank, name in enumerate(names)]


def test_scores_are_sums_of_reciprocal_ranks() -> None:
    fused = fuse([ranked("a", "b", "c"), ranked("c", "a")])
    assert fused == [
        Hit("a", pytest.approx(1 / 61 + 1 / 62)),
        Hit("c", pytest.approx(1 / 63 + 1 / 61)),
        Hit("b", pytest.approx(1 / 62)),
    ]


def test_ties_are_ordered_by_document_id_and_lists_have_no_order() -> None:
    one, other, third = ranked("b", "a"), ranked("a", "b"), ranked("c", "d", "a")
    assert [hit.document_id for hit in fuse([one, other])] == ["a", "b"]
    assert fuse([one, other, third]) == fuse([third, other, one])
    assert fuse([]) == fuse([[], []]) == []


def test_the_first_ten_do_not_depend_on_how_many_are_asked_for() -> None:
    corpus = [Document(f"d{n:03}", "", "", "red " * (n % 7) + "hat " * (n % 5) + f"w{n}") for n in range(400)]
    asked = [Query("q", "red hat", "red hat", "written")]
    bm25 = Bm25(corpus)
    hybrid = Hybrid([bm25, Titles(corpus)])
    [deep] = hybrid.search(asked, 1000)
    assert hybrid.search(asked, 10) == [deep[:10]]
    assert hybrid.settings["parts"] == {"bm25": bm25.settings, "titles": {}}


class Titles:
    """A second system: every document in reverse order of its id."""

    name = "titles"
    settings: dict[str, object] = {}  # noqa: RUF012

    def __init__(self, documents: Sequence[Document]) -> None:
        self.ids = sorted((document.document_id for document in documents), reverse=True)

    def search(self, queries: Sequence[Query], depth: int, progress: object = silent) -> list[list[Hit]]:
        return [ranked(*self.ids[:depth]) for _ in queries]

    def explain_no_hits(self, query: Query) -> str:
        return "the corpus is empty"
