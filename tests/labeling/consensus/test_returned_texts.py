"""A text that is rewritten, judged again and comes back has its own grade, not the later text's."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.consensus.consensus import PairConsensus, compute_query_consensus, read_consensus
from curation.labeling.consensus.disputes import read_case
from curation.labeling.consensus.votes import read_query_votes
from curation.relabeling.judged_pairs import JudgedPair, read_pairs
from curation.relabeling.plan import make_plan
from curation.relabeling.report import make_drift_report
from curation.relabeling.request import PlanRequest
from curation.relabeling.stored_plans import read_plan_pairs
from curation.releases.diff import compare_releases
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store, migrations, put_setting
from tests.support.freezing import freeze
from tests.support.projects import built_once
from tests.support.relabeled import PEOPLE, answer_round, judged_project, open_quarter, texts_of, write_corpus

pytestmark = pytest.mark.slow

PAIR = ("q0", "q0-d2")
AUTUMN, WINTER = date(2026, 11, 22), date(2027, 2, 1)
SEEDS = {AUTUMN: 0, WINTER: 5}
APART = Rules(query=None, paraphrase=None, document=None)


def opened(store: Store, quarter: date) -> str:
    """Open a quarter whose plan is the pair alone; the round's name."""
    plan = make_plan(store, PlanRequest(0.2, SEEDS[quarter]), quarter)
    with store.reading() as cursor:
        pairs = [(one.query_id, one.document_id) for one in read_plan_pairs(cursor, plan.plan_id)]
    assert pairs == [PAIR], "another seed draws it"
    return open_quarter(store, PEOPLE[:2], plan.plan_id, duplicates=0.0).round.round


def show(store: Store, folder: Path, version: str) -> None:
    """A corpus in which the pair's document has this version of its text, '' for the first."""
    texts = texts_of(2, 3)
    texts[PAIR[1]] += version
    write_corpus(store, folder, texts)


def pair_consensus(store: Store) -> PairConsensus:
    with store.reading() as cursor:
        found = [one for one in read_consensus(cursor).pairs if one.query_id == PAIR[0]]
        alone = compute_query_consensus(cursor, read_query_votes(cursor, PAIR[0]), PAIR[0])
    assert alone == found, "the votes of one query, read alone"
    return next(one for one in found if (one.query_id, one.document_id) == PAIR)


def judged_pairs(store: Store) -> set[tuple[str, str]]:
    with store.reading() as cursor:
        return {one.pair for one in read_pairs(cursor)}


def judged_pair(store: Store) -> JudgedPair:
    with store.reading() as cursor:
        (found,) = [pair for pair in read_pairs(cursor) if pair.pair == PAIR]
    return found


def live(store: Store, folder: Path) -> Store:
    """Grade 3 on a second text under a newer guide, in a re-labeling, and then the first text again."""
    show(store, folder, " rewritten")
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO guides SELECT 'newer', title, scale, 'newer', added_at FROM guides")
        put_setting(cursor, "guide", "newer")
    answer_round(store, opened(store, AUTUMN), lambda *_: 3)
    assert pair_consensus(store) == PairConsensus(*PAIR, 3, "majority", {3: 2}, 0, 2, 1.0)
    show(store, folder, "")
    return store


@built_once
def first(store: Store) -> Store:
    """Two people grade the pair 2 on its first text."""
    return judged_project(store, store.path.parent, queries=2, documents=3)


@built_once
def returned(store: Store) -> Store:
    """2 on the first text, 3 on the second, and then the first again."""
    return live(judged_project(store, store.path.parent, queries=2, documents=3), store.path.parent)


def test_votes_on_a_text_that_came_back_alone_count_again(returned: Store) -> None:
    assert pair_consensus(returned) == PairConsensus(*PAIR, 2, "majority", {2: 2}, 0, 2, 1.0)


def test_the_decision_on_a_text_that_came_back_counts_again(first: Store, tmp_path: Path) -> None:
    for query, document in sorted(judged_pairs(first)):
        decide_pair(first, query, document, 1, "the first text")
    live(first, tmp_path)
    assert pair_consensus(first)[2:4] == (1, "adjudicated")
    show(first, tmp_path, " rewritten")
    decide_pair(first, *PAIR, 0, "the second text")
    assert pair_consensus(first).grade == 0
    show(first, tmp_path, "")
    assert pair_consensus(first)[2:4] == (1, "adjudicated")
    case = read_case(first, *PAIR)
    assert case.dispute.decision is not None
    assert (case.dispute.decision.grade, case.dispute.decision_outdated, case.revision) == (1, False, 2)
    decide_pair(first, *PAIR, 3, "the first text, once more", seen_revision=case.revision)
    assert pair_consensus(first)[2:4] == (3, "adjudicated")


def test_age_and_guide_of_a_text_that_came_back_are_those_of_its_own_votes(
    returned: Store, tmp_path: Path
) -> None:
    found = judged_pair(returned)
    assert (found.renewed, found.guide_behind, found.document) == (None, True, "same")
    show(returned, tmp_path, " rewritten")
    found = judged_pair(returned)
    assert found.renewed is not None
    assert (found.renewed, found.guide_behind, found.grade) == ("2026-Q4", False, 3)


def test_a_text_that_nobody_judged_brings_no_votes_back_that_a_relabeling_replaced(
    returned: Store, tmp_path: Path
) -> None:
    show(returned, tmp_path, " rewritten twice")
    found = pair_consensus(returned)
    assert (found.grade, set(found.votes), found.changed) == (3, {3}, True)


def test_a_text_that_came_back_is_relabeled_when_that_round_is_whole_and_keeps_it(
    returned: Store, tmp_path: Path
) -> None:
    name = opened(returned, WINTER)
    answer_round(returned, name, lambda *_: 0, most=1)
    assert pair_consensus(returned).grade == 2
    answer_round(returned, name, lambda *_: 0)
    assert pair_consensus(returned).grade == 0
    show(returned, tmp_path, " rewritten")
    assert pair_consensus(returned).grade == 3, "the second text keeps what its re-labeling said"
    show(returned, tmp_path, "")
    assert pair_consensus(returned).grade == 0
    renewed = judged_pair(returned).renewed
    assert renewed is not None
    assert renewed == "2027-Q1"


def test_the_drift_report_says_what_the_quarter_found_whatever_text_came_back(
    returned: Store, tmp_path: Path
) -> None:
    before = make_drift_report(returned)
    assert [(one.before, one.after) for one in before.regraded] == [(2, 3)]
    show(returned, tmp_path, " rewritten")
    assert make_drift_report(returned) == before


def test_releases_tell_of_a_text_that_came_back_as_of_a_changed_document(
    returned: Store, tmp_path: Path
) -> None:
    for name, version in (("v2", " rewritten"), ("v3", "")):
        show(returned, tmp_path, version)
        make_split(returned, SplitRequest((("dev", 0.5), ("test", 0.5)), 1, APART))
        freeze(returned, name, override="for a test")
    (found,) = compare_releases(returned, "v2", "v3", "for a test").regrades
    assert [found[name] for name in ("document_id", "before", "after", "change")] == [
        *(PAIR[1], 3, 2),
        "document changed",
    ]


class Vote(NamedTuple):
    """An answer to a presentation, or one that is awaited; `place` is the order of writing."""

    document: str
    annotator: str
    round: int
    text: str
    answered: bool
    place: int


class Again(NamedTuple):
    """A pair that a round re-labels, with the text that was judged and the decisions that there were."""

    round: int
    document: str
    text: str | None
    decisions: int


class Decided(NamedTuple):
    """A decision and the text that was read."""

    document: str
    text: str | None
    revision: int


class Project(NamedTuple):
    """What was judged, and the texts of the corpus of now by document."""

    votes: Sequence[Vote]
    again: Sequence[Again]
    decided: Sequence[Decided]
    now: dict[str, str]

    def shown(self, again: Again) -> set[str] | None:
        """The texts that a re-labeling showed; None where it is not whole, or nobody was asked."""
        asked = [v for v in self.votes if (v.round, v.document) == (again.round, again.document)]
        return {v.text for v in asked} if asked and all(v.answered for v in asked) else None

    def replaced(self, again: Again, document: str, text: str | None) -> bool:
        """Whether a whole re-labeling takes the place of what was said of a text before."""
        shown = self.shown(again)
        if shown is None or again.document != document:
            return False
        return text is None or text != self.now.get(document) or text in shown

    def eligible(self, vote: Vote) -> bool:
        """Whether no re-labeling speaks against a vote."""
        for again in self.again:
            if self.replaced(again, vote.document, vote.text) and again.round > vote.round:
                return False
            own = (again.round, again.document, again.text) == (vote.round, vote.document, vote.text)
            if own and self.shown(again) is None:
                return False
        return vote.answered

    def counted_votes(self) -> set[tuple[int, bool]]:
        """Places of the votes that count, and whether each is about the text of the newest."""
        found: set[tuple[int, bool]] = set()
        for document in DOCUMENTS:
            votes = [v for v in self.votes if v.document == document and self.eligible(v)]
            about_now = [v for v in votes if v.text == self.now.get(document)]
            votes = sorted(about_now or votes, key=lambda v: (v.round, v.place))
            newest = {v.annotator: v for v in votes}
            found |= {(v.place, v.text == votes[-1].text) for v in newest.values()}
        return found

    def counted_decisions(self) -> set[tuple[str, int]]:
        """Document and revision of the decisions that count."""
        found: set[tuple[str, int]] = set()
        for document in DOCUMENTS:
            decided = [d for d in self.decided if d.document == document]
            now = self.now.get(document)
            voted = any(v.document == document and v.text == now and self.eligible(v) for v in self.votes)
            count = [
                d
                for d in decided
                if (d.text is not None or d is decided[-1])
                and not (voted and d.text not in (None, now))
                and not any(
                    self.replaced(again, document, d.text) and again.decisions > d.revision
                    for again in self.again
                )
            ]
            if count:
                found.add((document, max((d.text in (None, now), d.revision) for d in count)[1]))
        return found


DOCUMENTS, TEXTS, ROUNDS = ("d", "e"), ("first", "second", "third"), 4


@st.composite
def projects(draw: st.DrawFn) -> Project:
    document, text = st.sampled_from(DOCUMENTS), st.sampled_from(TEXTS)
    vote = st.tuples(document, st.sampled_from("xyz"), st.integers(1, ROUNDS), text, st.booleans())
    votes = [Vote(*row, place) for place, row in enumerate(draw(st.lists(vote, max_size=14)))]
    key = st.tuples(st.integers(2, ROUNDS), document)
    again = [
        Again(*one, draw(st.none() | text), draw(st.integers(0, 3)))
        for one in draw(st.lists(key, max_size=5, unique=True))
    ]
    decided = [
        Decided(one, read, revision)
        for one in DOCUMENTS
        for revision, read in enumerate(draw(st.lists(st.none() | text, max_size=3)))
    ]
    now = draw(st.dictionaries(document, text))
    return Project(votes, again, decided, now)


def write(connection: duckdb.DuckDBPyConnection, project: Project) -> None:
    """The rows of a project, in the place of those that there are."""
    for table in TABLES:
        connection.execute(f"DELETE FROM {table}")
    connection.execute("INSERT INTO settings VALUES ('corpus', 'now')")
    rows: dict[str, list[tuple[object, ...]]] = {
        "rounds VALUES (?, ?, 'labeling', 'g', '{}', TIMESTAMP '2026-01-01', ?)": [
            (f"r{n}", f"r{n}", n) for n in range(1, ROUNDS + 1)
        ],
        "snapshot_documents VALUES ('now', ?, ?)": [(d, f"{d} {t}") for d, t in project.now.items()],
        "presentations VALUES (?, ?, ?, 'q', ?, ?, ?, NULL)": [
            (f"p{v.place}", f"r{v.round}", v.annotator, v.document, f"{v.document} {v.text}", v.place)
            for v in project.votes
        ],
        "judgment_events BY NAME SELECT ? AS presentation_id, 0 AS revision, 'grade' AS kind, 1 AS grade, "
        "false AS flagged, 'g' AS guide_hash, 'a' AS author, ? AS client_key, "
        "now()::TIMESTAMP AS submitted_at": [
            (f"p{v.place}", f"p{v.place}") for v in project.votes if v.answered
        ],
        "relabeling_rounds VALUES (?, ?, ?)": [
            (f"plan {n}", f"r{n}", f"{n}") for n in {a.round for a in project.again}
        ],
        "relabeling_pairs VALUES (?, 'q', ?, 'due', '', NULL, NULL, '', ?, NULL, [], NULL, ?, NULL)": [
            (f"plan {a.round}", a.document, f"{a.document} {a.text}" if a.text else None, a.decisions)
            for a in project.again
        ],
        "adjudications VALUES ('q', ?, ?, 1, '', 'rita', now()::TIMESTAMP, ?, NULL)": [
            (d.document, d.revision, f"{d.document} {d.text}" if d.text else None) for d in project.decided
        ],
    }
    for into, values in rows.items():
        if values:
            connection.executemany(f"INSERT INTO {into}", values)


TABLES = (
    *("settings", "rounds", "snapshot_documents", "presentations", "judgment_events"),
    *("relabeling_rounds", "relabeling_pairs", "adjudications"),
)


@pytest.fixture(scope="module")
def empty() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    migrations.create(connection)
    return connection


@pytest.mark.slow
@given(projects())
def test_the_views_count_what_the_definition_in_plain_python_counts(
    empty: duckdb.DuckDBPyConnection, project: Project
) -> None:
    write(empty, project)
    votes = empty.execute("SELECT position, same_text FROM counted_judgments").fetchall()
    assert sorted(votes) == sorted(project.counted_votes())
    decisions = empty.execute("SELECT document_id, revision FROM counted_adjudications").fetchall()
    assert sorted(decisions) == sorted(project.counted_decisions())
