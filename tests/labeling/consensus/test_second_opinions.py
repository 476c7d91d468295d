"""One more opinion: blind for everybody, asked for once, and the dispute rests until it is in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.guides.guide import current_guide
from curation.guides.questions import ask_guide, guide_questions
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.consensus.adjudication import decide
from curation.labeling.consensus.disputes import dispute, disputes
from curation.labeling.consensus.second_opinions import ask_opinion, awaited_opinions
from curation.labeling.judgments.imported import add_judgments
from curation.labeling.judgments.judging import Submission
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.lifecycle import close_round
from curation.labeling.rounds.status import round_status
from curation.labeling.session.queue import next_showings
from curation.labeling.session.submit import submit
from curation.labeling.transfers.reassignment import reassign
from curation.people.annotators import add_annotator
from curation.store import Store, open_store
from tests.support.command_line import invoke
from tests.support.projects import PASSWORD, add_pairs, add_people

PEOPLE = ("ada", "ben", "cleo", "dora")
PAIRS = {f"q{n}": ["one", "two"] for n in range(4)}
PAIR = ("q0", "one")


def answer(store: Store, who: str, grade: int, only: tuple[str, str] | None = None) -> int:
    """Answer what somebody has open, or one pair of it; how many that was."""
    with store.reading() as cursor:
        rows = cursor.execute(
            """
            SELECT p.presentation_id, p.query_id, p.document_id
            FROM live_presentations p LEFT JOIN presentation_states s USING (presentation_id)
            WHERE p.annotator = ? AND NOT coalesce(s.answered, false)
            """,
            [who],
        ).fetchall()
    mine = [row[0] for row in rows if only is None or row[1:] == only]
    done = submit(store, who, [Submission(one, 0, "grade", f"key of {one}", grade) for one in mine])
    assert {outcome.status for outcome in done} <= {"saved"}
    return len(done)


def holders(store: Store, pair: tuple[str, str]) -> dict[str, int]:
    with store.reading() as cursor:
        sql = """
            SELECT annotator, count(*) FROM live_presentations
            WHERE query_id = ? AND document_id = ? GROUP BY annotator
            """
        return dict(cursor.execute(sql, list(pair)).fetchall())


@pytest.fixture(scope="module")
def template(empty_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A round of four people, two for each pair, in which one pair is disputed and nothing else answered."""
    path = tmp_path_factory.mktemp("disputed") / "project.duckdb"
    store = open_store(Path(shutil.copy(empty_project, path)))
    add_pairs(store, PAIRS)
    add_people(store, *PEOPLE)
    add_annotator(store, "rosa", "reviewer", PASSWORD)
    open_round(store, "first", PEOPLE, overlap=2, duplicates=0, seed=1)
    for grade, who in zip((0, 3), sorted(holders(store, PAIR)), strict=True):
        assert answer(store, who, grade, PAIR) == 1
    assert [(item.query_id, item.document_id) for item in disputes(store)] == [PAIR]
    store.close()
    return path


@pytest.fixture
def disputed(template: Path, tmp_path: Path) -> Iterator[tuple[Store, tuple[str, str]]]:
    """The project of the template, and its disputed pair."""
    store = open_store(Path(shutil.copy(template, tmp_path / "disputed.duckdb")))
    yield store, PAIR
    store.close()


def test_an_opinion_goes_to_somebody_who_never_had_the_pair(disputed: tuple[Store, tuple[str, str]]) -> None:
    store, pair = disputed
    before = holders(store, pair)
    asked = ask_opinion(store, *pair, "rosa")
    assert (asked.query_id, asked.document_id, asked.round) == (*pair, "first")
    (new,) = set(holders(store, pair)) - set(before)
    assert new in PEOPLE
    assert all(count == 1 for count in holders(store, pair).values())
    assert not set(PEOPLE) & set(map(str, asked)), "the reviewer is not told who"


def test_the_dispute_rests_until_the_opinion_is_in_and_returns_with_it(
    disputed: tuple[Store, tuple[str, str]],
) -> None:
    store, pair = disputed
    before = holders(store, pair)
    ask_opinion(store, *pair, "rosa")
    assert disputes(store) == []
    with store.reading() as cursor:
        assert list(awaited_opinions(cursor)) == [pair]
    (new,) = set(holders(store, pair)) - set(before)
    answer(store, new, 1, pair)
    assert [item.grades for item in disputes(store)] == [(0, 1, 3)]


def test_an_opinion_that_settles_the_pair_ends_the_dispute(disputed: tuple[Store, tuple[str, str]]) -> None:
    store, pair = disputed
    before = holders(store, pair)
    ask_opinion(store, *pair, "rosa")
    (new,) = set(holders(store, pair)) - set(before)
    answer(store, new, 3, pair)
    assert disputes(store) == []
    assert dispute(store, *pair).dispute.grades == (0, 3, 3)


def test_the_annotators_item_looks_like_any_other(disputed: tuple[Store, tuple[str, str]]) -> None:
    store, pair = disputed
    before = holders(store, pair)
    ask_opinion(store, *pair, "rosa")
    (new,) = set(holders(store, pair)) - set(before)
    showings = next_showings(store, new, 100).showings
    item = showings[-1]
    assert (item.query, item.kind, item.revision) == (pair[0], "work", 0)
    assert len(item.presentation_id) == len(showings[0].presentation_id)
    assert "opinion" not in str(item)


def test_asking_again_while_it_is_awaited_changes_nothing(disputed: tuple[Store, tuple[str, str]]) -> None:
    store, pair = disputed
    first = ask_opinion(store, *pair, "rosa")
    assert ask_opinion(store, *pair, "rosa") == first
    assert sum(holders(store, pair).values()) == 3


def test_when_nobody_is_left_it_is_refused_with_a_way_out(disputed: tuple[Store, tuple[str, str]]) -> None:
    store, pair = disputed
    for grade in (1, 2):
        before = holders(store, pair)
        ask_opinion(store, *pair, "rosa")
        (new,) = set(holders(store, pair)) - set(before)
        answer(store, new, grade, pair)
    with pytest.raises(RefusedError, match="Nobody is left in first"):
        ask_opinion(store, *pair, "rosa")
    assert len(disputes(store)) == 1


def test_who_has_fewest_open_items_is_asked(disputed: tuple[Store, tuple[str, str]]) -> None:
    store, pair = disputed
    free = sorted(set(PEOPLE) - set(holders(store, pair)))
    answer(store, free[-1], 2)
    ask_opinion(store, *pair, "rosa")
    assert free[-1] in holders(store, pair)


def test_a_closed_round_brings_no_opinion(disputed: tuple[Store, tuple[str, str]]) -> None:
    store, pair = disputed
    close_round(store, "first")
    with pytest.raises(RefusedError, match="first is closed"):
        ask_opinion(store, *pair, "rosa")


def test_a_dispute_returns_when_the_round_is_closed_without_the_opinion(
    disputed: tuple[Store, tuple[str, str]],
) -> None:
    store, pair = disputed
    ask_opinion(store, *pair, "rosa")
    close_round(store, "first")
    assert len(disputes(store)) == 1


def test_an_opinion_that_was_reassigned_is_still_awaited(disputed: tuple[Store, tuple[str, str]]) -> None:
    store, pair = disputed
    before = holders(store, pair)
    ask_opinion(store, *pair, "rosa")
    (new,) = set(holders(store, pair)) - set(before)
    (other,) = set(PEOPLE) - set(holders(store, pair))
    reassign(store, "first", new, [other])
    assert other in holders(store, pair)
    assert disputes(store) == []
    answer(store, other, 3, pair)
    with store.reading() as cursor:
        assert awaited_opinions(cursor) == {}


def test_a_pair_with_an_opinion_to_come_is_not_complete(disputed: tuple[Store, tuple[str, str]]) -> None:
    store, pair = disputed
    assert round_status(store, "first").complete == 1
    ask_opinion(store, *pair, "rosa")
    status = round_status(store, "first")
    assert (status.complete, status.candidates) == (0, 8)


def test_only_judged_undecided_pairs_are_sent_back_and_only_by_reviewers(
    disputed: tuple[Store, tuple[str, str]],
) -> None:
    store, pair = disputed
    with pytest.raises(NotFoundError, match="Nobody has judged"):
        ask_opinion(store, "q1", "one", "rosa")
    with pytest.raises(RefusedError, match="reviewer or lead"):
        ask_opinion(store, *pair, "ada")
    decide(store, *pair, 2, "why", "rosa")
    with pytest.raises(RefusedError, match="This pair is decided"):
        ask_opinion(store, *pair, "rosa")
    assert sum(holders(store, pair).values()) == 2


def test_imported_disputes_are_nobodys_to_be_shown(store: Store) -> None:
    add_pairs(store, {"q": ["one"]})
    rows = [ImportedJudgment("q", "one", f"rater-{grade}", grade) for grade in (0, 3)]
    add_judgments(store, rows, "two.csv")
    with pytest.raises(RefusedError, match="imported: no round of this project shows it"):
        ask_opinion(store, "q", "one")


def test_a_question_about_the_guide_is_kept_once_with_its_version(
    disputed: tuple[Store, tuple[str, str]],
) -> None:
    store, pair = disputed
    first = ask_guide(store, *pair, "  Do parts   count? ", "rosa")
    assert ask_guide(store, *pair, "Do parts count?", "rosa") == first
    with store.reading() as cursor:
        (kept,) = guide_questions(cursor)
        assert kept.guide_hash == current_guide(cursor).guide_hash
    assert (kept.words, kept.query, kept.title, kept.author, kept.in_force) == (
        "Do parts count?",
        "q0",
        "one",
        "rosa",
        True,
    )


def test_a_question_needs_words_and_a_reviewer(disputed: tuple[Store, tuple[str, str]]) -> None:
    store, pair = disputed
    with pytest.raises(InputError, match="say in a few words"):
        ask_guide(store, *pair, "  ", "rosa")
    with pytest.raises(RefusedError, match="reviewer or lead"):
        ask_guide(store, *pair, "why", "ada")
    with pytest.raises(NotFoundError, match="No round has shown"):
        ask_guide(store, "q0", "nowhere", "why", "rosa")


def test_the_commands_send_back_and_list_questions(disputed: tuple[Store, tuple[str, str]]) -> None:
    store, pair = disputed

    def goldgrade(*words: str) -> dict:
        result = invoke(["--project", str(store.path), *words, "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    assert goldgrade("adjudicate", "send-back", *pair)["round"] == "first"
    assert goldgrade("adjudicate", "list")["total"] == 0
    question = goldgrade("adjudicate", "unclear", *pair, "--question", "Do parts count?")
    (listed,) = goldgrade("guide", "questions")["questions"]
    assert (listed["question_id"], listed["author"]) == (question["question_id"], "command line")
