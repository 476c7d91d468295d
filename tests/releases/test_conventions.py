"""A release that an older goldset froze says why it would have another id now, where that concerns it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from curation.adjudication.adjudication import decide
from curation.labeling.judgments.imported import add_judgments
from curation.releases.conventions import CONVENTIONS
from curation.releases.freeze.freeze import freeze
from curation.releases.verify import opened, verify
from curation.sources.corpus import import_corpus
from curation.sources.judgments import ImportedJudgment
from curation.splits.split import make_split
from curation.store import Store
from curation.store.rows import Query
from curation.text import canonical_json
from tests.support.gold_project import (
    LEXICAL,
    PARTS,
    add_pool,
    freeze_as_older,
    frozen_project,
    write_corpus,
)
from tests.support.projects import new_project

QUERIES = 40
GOOD = ("ada", "ben", "cyd")
Notes = Callable[..., tuple[str, ...]]


def texts(revised: bool = False) -> list[dict[str, str]]:
    """A document a query, each of its own; one is Thai."""
    plain = [f"All about number {number * 7919}, and word{number} besides." for number in range(QUERIES)]
    plain[2] = "กาต้มน้ำไฟฟ้าสำหรับบ้าน"
    if revised:
        plain[0] += " And more."
        plain[1] += " And more."
    return [{"id": f"d-{number}", "title": "", "text": text} for number, text in enumerate(plain)]


def judged(
    who: str, grades: Sequence[int], documents: Sequence[int] = range(QUERIES)
) -> list[ImportedJudgment]:
    return [
        ImportedJudgment(f"q-{n}", f"d-{n}", who, grade) for n, grade in zip(documents, grades, strict=True)
    ]


@pytest.fixture(scope="module")
def concerned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A project that all conventions concern, with its release v1 of now."""
    folder = tmp_path_factory.mktemp("concerned")
    store = new_project(folder / "project.duckdb")
    import_corpus(store, write_corpus(folder / "corpus.jsonl", texts()))
    asked = [f"query {number * 104729}" for number in range(QUERIES)]
    asked[2] = "กาต้มน้ำ"
    queries = [Query(f"q-{number}", text, text, "imported") for number, text in enumerate(asked)]
    grades = [number * 7 % 4 for number in range(QUERIES)]
    for who in GOOD:
        add_judgments(store, judged(who, grades), f"{who}.csv", queries)
    add_judgments(store, judged("zed", [1] * QUERIES), "zed.csv")
    decide(store, "q-1", "d-1", 2, "as ada says")
    import_corpus(store, write_corpus(folder / "revised.jsonl", texts(revised=True)))
    add_judgments(store, judged("eve", [3], [0]), "eve.csv")
    add_pool(store, {("q-2", "d-2"): 1}, settings='{"systems": {"bm25": {}}}')
    make_split(store, PARTS, 1, LEXICAL)
    freeze(store, "v1", allow_changed=True, allow_disputed=True, override="to test it")
    yield store
    store.close()


def test_a_release_of_now_has_no_notes_whatever_its_content_is(concerned: Store) -> None:
    assert verify(concerned, "v1").notes == ()


@pytest.fixture
def older(concerned: Store) -> Notes:
    """The notes about a release that an older goldset froze; the project is as before after the test."""
    concerned.close()
    whole = concerned.path.read_bytes()

    def notes(lacks: str, *changes: tuple[str, str, str]) -> tuple[str, ...]:
        follows = {one.name for one in CONVENTIONS} - {lacks}
        freeze_as_older(concerned, "v1", changes, follows)
        verified = verify(concerned, "older")
        concerned.close()
        concerned.path.write_bytes(whole)
        assert verified.intact
        return verified.notes

    return notes


def test_votes_about_two_texts_and_decisions_about_the_older_one_are_named(older: Notes) -> None:
    mixed, unmarked = older("votes", ("adjudications", ',"version":"changed"', ""))
    assert mixed == (
        "Two texts of a document were judged (1 pair), and the votes about both count. Since then those "
        "about the text of now count alone, so a release frozen now has another id."
    )
    assert unmarked.startswith("Decisions about an older text are not marked (1 pair).")


def test_an_older_form_of_the_content_is_named(older: Notes) -> None:
    (note,) = older("form", ("release", '"format":2', '"format":1'))
    assert note.startswith("Its content has form 1, without sealed parts")


def test_percentile_intervals_of_few_queries_are_named(older: Notes) -> None:
    (note,) = older("intervals")
    assert note.startswith("Its intervals of agreement are percentiles, on 39 queries.")


def test_percentile_intervals_of_many_queries_are_those_of_now(older: Notes) -> None:
    assert older("intervals", ("agreement", '"queries":39', '"queries":100')) == ()


def test_repeats_of_somebody_who_gives_one_grade_are_named_where_there_are_any(
    older: Notes, concerned: Store
) -> None:
    """The one who gave 1 to everything has nothing else that tells them from the others."""
    rows = opened(concerned, "v1").rows("agreement")[0]["within"]
    grades = {row["annotator"]: set[int]() for row in rows}
    for row in opened(concerned, "v1").rows("judgments"):
        grades[row["annotator"]].add(row["grade"])
    (same,) = (who for who, given in grades.items() if given == {1})
    (good, *_) = (who for who, given in grades.items() if len(given) == 4)

    def repeated(who: str) -> tuple[str, str, str]:
        row = next(canonical_json(row) for row in rows if row["annotator"] == who)
        assert '"n":0' in row
        return "agreement", row, row.replace('"n":0', '"n":6')

    assert older("repeats") == ()
    assert older("repeats", repeated(good)) == ()
    (note,) = older("repeats", repeated(same))
    assert note.startswith("Its gate counts the repeats of an annotator whose grades agree with nobody's")


def test_words_that_were_cut_otherwise_are_named_in_splits_and_in_pools(older: Notes) -> None:
    (note,) = older("words")
    assert note.startswith("Older goldsets cut some of its texts into other words")


def test_a_split_that_compares_no_documents_and_a_pool_without_words_cut_nothing(older: Notes) -> None:
    as_before = ("split", ',"words":"by script 1"', "")
    no_documents = ("split", '"document_threshold":0.8', '"document_threshold":null')
    no_words = ("pools", '"systems":{"bm25":{}}', '"systems":{"dense":{}}')
    assert older("words", as_before, no_documents, no_words) == ()
    assert len(older("words", as_before, no_words)) == 1
    assert len(older("words", as_before, no_documents)) == 1


def test_paraphrases_of_other_scripts_are_named_where_they_were_looked_for(older: Notes) -> None:
    looked_for = ("split", '"paraphrase_threshold":null', '"paraphrase_threshold":0.8')
    assert older("paraphrases") == ()
    (note,) = older("paraphrases", looked_for)
    assert "in other scripts than Latin" in note


def test_what_does_not_concern_a_release_is_not_said_of_it(tmp_path: Path) -> None:
    """English texts of one version, and two annotators who never repeat and nearly always agree."""
    store = frozen_project(tmp_path)
    freeze_as_older(store, "v1")
    assert [note.partition(" are ")[0] for note in verify(store, "older").notes] == [
        "Its intervals of agreement"
    ]
