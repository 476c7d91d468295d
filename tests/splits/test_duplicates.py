"""Near-duplicate groups of the corpus, and identical documents as one item for annotators."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from curation.core.errors import InputError, RefusedError
from curation.core.similarity.near_duplicates import DuplicateGroup
from curation.core.similarity.pairs import EXACTLY
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.query_import import import_queries
from curation.labeling.judgments.imported import add_judgments
from curation.labeling.rounds.create_round import open_round
from curation.people.annotators import add_annotator
from curation.pooling.pool import build_pool
from curation.splits.duplicates import corpus_duplicates
from curation.store import Store

LONG = "a usb cable of two metres with gold plated plugs and a sleeve of woven nylon in the colour"


def add_corpus(store: Store, folder: Path, bodies: Mapping[str, str]) -> None:
    rows = [{"id": name, "title": "", "text": body} for name, body in bodies.items()]
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    import_corpus(store, folder / "corpus.jsonl")


def test_groups_say_whether_they_are_identical_or_near_and_how_near(store: Store, tmp_path: Path) -> None:
    bodies = {
        "c": f"{LONG} blue",
        "a": f"{LONG} red",
        "b": f"{LONG} red",
        "y": "one text twice",
        "x": "one text twice",
        "z": "nothing like it",
        "empty": "?!",
    }
    add_corpus(store, tmp_path, bodies)
    report = corpus_duplicates(store)
    words = len(f"{LONG} red".split())
    assert report.groups == (
        DuplicateGroup(("a", "b", "c"), False, pytest.approx((words - 3) / (words - 1))),
        DuplicateGroup(("x", "y"), True, 1.0),
    )
    assert (report.documents, report.pairs, report.grouped, report.identical_groups) == (7, 4, 5, 1)
    assert report.method == EXACTLY
    assert report.left_out == {"without a word, which were compared with none": 1}
    assert [group.documents for group in corpus_duplicates(store, 0.95).groups] == [("a", "b"), ("x", "y")]


def test_texts_that_differ_in_letters_only_outside_their_words_are_near_not_identical(
    store: Store, tmp_path: Path
) -> None:
    add_corpus(store, tmp_path, {"a": "one text, twice", "b": "One text twice!"})
    assert corpus_duplicates(store).groups == (DuplicateGroup(("a", "b"), False, 1.0),)


def test_a_corpus_and_a_threshold_are_needed(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"A threshold of 1\.2"):
        corpus_duplicates(store, 1.2)
    with pytest.raises(RefusedError, match="import corpus"):
        corpus_duplicates(store)
    add_corpus(store, tmp_path, {"a": "alone"})
    assert corpus_duplicates(store).groups == ()


def prepared(store: Store, folder: Path) -> None:
    bodies = {"d1": "red usb cable", "d2": "red usb cable", "d3": "usb hub", "d4": "usb stick"}
    add_corpus(store, folder, bodies | {f"other {number}": f"paper of sort {number}" for number in range(6)})
    (folder / "queries.csv").write_text("id,query\nq,usb\n", encoding="utf-8")
    import_queries(store, folder / "queries.csv")
    add_annotator(store, "ann", "annotator", "a long password")


def shown(store: Store, name: str) -> list[str]:
    """The documents that the round shows, repeats aside."""
    open_round(store, name, ["ann"], overlap=1, duplicates=0.0, seed=1)
    with store.reading() as cursor:
        rows = cursor.execute(
            "SELECT document_id FROM presentations JOIN rounds USING (round_id) WHERE name = ? ORDER BY 1",
            [name],
        ).fetchall()
    return [document for (document,) in rows]


def test_identical_documents_reach_an_annotator_once(store: Store, tmp_path: Path) -> None:
    prepared(store, tmp_path)
    build_pool(store, ["bm25"], depth=4, random_negatives=0, seed=1)
    assert shown(store, "first") == ["d1", "d3", "d4"]


def test_what_was_judged_under_an_identical_documents_id_before_the_pool_is_not_shown_again(
    store: Store, tmp_path: Path
) -> None:
    prepared(store, tmp_path)
    add_judgments(store, [ImportedJudgment("q", "d2", "rater", 3)], "old.csv")
    build_pool(store, ["bm25"], depth=4, random_negatives=0, seed=1)
    assert shown(store, "first") == ["d3", "d4"]


def test_what_was_judged_under_an_identical_documents_id_after_the_pool_is_not_shown_again(
    store: Store, tmp_path: Path
) -> None:
    prepared(store, tmp_path)
    build_pool(store, ["bm25"], depth=4, random_negatives=0, seed=1)
    add_judgments(store, [ImportedJudgment("q", "d2", "rater", 3)], "old.csv")
    assert shown(store, "first") == ["d3", "d4"]


def test_a_second_round_shows_no_text_of_the_first_under_another_id(store: Store, tmp_path: Path) -> None:
    prepared(store, tmp_path)
    build_pool(store, ["bm25"], depth=4, random_negatives=0, seed=1)
    assert shown(store, "first") == ["d1", "d3", "d4"]
    add_judgments(store, [ImportedJudgment("q", "d2", "rater", 3)], "late.csv")
    with pytest.raises(RefusedError):
        shown(store, "second")
