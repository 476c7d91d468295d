"""Adjudication: disputes without names, decisions with reasons, appended and never changed."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.ingest.importers.decision_lines import DecisionLine, read_decision_lines
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.known_queries import find_query_id
from curation.ingest.readers.fields import DecisionFields
from curation.labeling.consensus.adjudication import (
    DECIDED,
    NO_GRADE,
    REPEATED,
    UNDISPUTED,
    UNJUDGED,
    decide_pair,
    import_decisions,
)
from curation.labeling.consensus.consensus import read_consensus
from curation.labeling.consensus.decisions import read_recent_decisions
from curation.labeling.consensus.disputes import Opinion, find_disputes, read_case
from curation.labeling.imported import add_judgments
from curation.people.accounts import add_annotator
from curation.store import Store, append, put_setting
from tests.support.command_line import invoke
from tests.support.projects import PASSWORD, add_pairs, built_once, rows_of

pytestmark = pytest.mark.slow

RATINGS = {
    "agreed": [2, 2, 2],
    "near": [2, 3, None],
    "far": [0, 3, None],
    "three ways": [0, 1, 3],
    "majority": [0, 3, 3],
}


@built_once
def judged(store: Store) -> Store:
    """One query, three raters: 'near', 'far' and 'three ways' are disputed."""
    add_pairs(store, {"q": [*RATINGS, "unjudged"]})
    rows = [
        ImportedJudgment("q", document, f"rater-{n}", grade, note=f"note {grade}" if grade == 0 else None)
        for document, grades in RATINGS.items()
        for n, grade in enumerate(grades)
    ]
    add_judgments(store, rows, "three.csv")
    return store


@pytest.fixture
def grace(store: Store) -> str:
    return add_annotator(store, "grace", "reviewer", PASSWORD).name


def decisions(store: Store) -> list[tuple[str, int, int | None, str, str]]:
    sql = "SELECT document_id, revision, grade, reason, reviewer FROM adjudications ORDER BY ALL"
    return rows_of(store, sql)


def event_details(store: Store, action: str) -> list[tuple[str, dict]]:
    rows = rows_of(store, "SELECT actor, detail FROM events WHERE action = ?", action)
    return [(actor, json.loads(detail)) for actor, detail in rows]


def proposals(*rows: tuple[str, str], reason: str = "read again") -> list[DecisionLine]:
    return [
        DecisionLine(line, "q", document, grade, reason) for line, (document, grade) in enumerate(rows, 2)
    ]


def test_disputes_are_listed_by_what_a_decision_would_change(judged: Store) -> None:
    found = find_disputes(judged)
    assert [(item.document_id, item.weight, len(set(item.grades))) for item in found] == [
        ("far", 1.5, 2),
        ("three ways", 1.0, 3),
        ("near", 0.5, 2),
    ]
    assert [item.grades for item in found] == [(0, 3), (0, 1, 3), (2, 3)]
    assert found[0].opinions == (
        Opinion(0, None, "note 0"),
        Opinion(3, None, None),
        Opinion(None, None, None),
    )
    assert found[0].cannot_tell == 1


def test_a_dispute_of_an_often_asked_query_comes_first(store: Store) -> None:
    add_pairs(store, {"often": ["a"], "rarely": ["b"], "unknown": ["c"]})
    pairs = {("often", "a"): (1, 2), ("rarely", "b"): (0, 3), ("unknown", "c"): (0, 1)}
    given = [
        ImportedJudgment(*pair, f"rater {number}", grade)
        for pair, grades in pairs.items()
        for number, grade in enumerate(grades)
    ]
    add_judgments(store, given, "all.csv")
    with store.transaction() as cursor:
        put_setting(cursor, "sample", "s")
        drawn = {"query_id": ["often", "rarely"], "traffic": [90, 10], "inclusion_probability": [1.0, 1.0]}
        append(cursor, "sample_queries", {**drawn, "sample_id": ["s"] * 2, "stratum": ["head"] * 2})
    assert [(item.query_id, item.weight) for item in find_disputes(store)] == [
        ("often", 45.0),
        ("unknown", 25.0),  # like the median of 90 and 10
        ("rarely", 15.0),
    ]


def test_a_reviewer_sees_no_annotators_name(judged: Store) -> None:
    seen = [*map(asdict, find_disputes(judged)), asdict(read_case(judged, "q", "far"))]
    assert "rater" not in json.dumps(seen)


def test_a_case_has_what_a_reviewer_needs_to_read(judged: Store) -> None:
    case = read_case(judged, "q", "far")
    assert (case.dispute.query, case.dispute.title, case.document.body) == ("q", "far", "The body of far.")
    assert (case.revision, case.dispute.decision) == (0, None)
    assert read_case(judged, "q", "majority").dispute.grades == (0, 3, 3)


def test_a_decision_settles_the_pair_and_is_kept_with_author_and_reason(judged: Store, grace: str) -> None:
    decision = decide_pair(judged, "q", "far", 1, "  Names the part only. ", grace)
    assert (decision.revision, decision.grade, decision.reason) == (0, 1, "Names the part only.")
    assert decisions(judged) == [("far", 0, 1, "Names the part only.", "grace")]
    assert [item.document_id for item in find_disputes(judged)] == ["three ways", "near"]
    case = read_case(judged, "q", "far")
    assert (case.revision, case.dispute.decision) == (1, decision)
    detail = {"query_id": "q", "document_id": "far", "grade": 1, "revision": 0}
    assert event_details(judged, "adjudicate") == [("grace", detail)]


def test_settled_pairs_are_listed_on_request_with_their_decision(judged: Store) -> None:
    decide_pair(judged, "q", "far", 1, "why")
    found = {item.document_id: item.decision for item in find_disputes(judged, include_settled=True)}
    assert found.keys() == {"three ways", "far", "near"}
    assert found["far"] is not None
    assert found["far"].grade == 1


def test_a_second_decision_is_appended_and_counts(judged: Store) -> None:
    decide_pair(judged, "q", "far", 1, "first thought")
    assert decide_pair(judged, "q", "far", None, "second thought").revision == 1
    assert [row[1:3] for row in decisions(judged)] == [(0, 1), (1, None)]
    with judged.reading() as cursor:
        standing = {pair.document_id: pair for pair in read_consensus(cursor).pairs}
    assert (standing["far"].grade, standing["far"].how) == (None, "adjudicated")


@pytest.mark.parametrize(
    ("grade", "reason", "words"),
    [(7, "why", r"grade 7 is not .* \(0, 1, 2, 3\)"), (2, "  ", "needs a reason"), (2, "x" * 4001, "4,000")],
)
def test_a_decision_that_breaks_a_rule_changes_nothing(
    judged: Store, grade: int, reason: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        decide_pair(judged, "q", "far", grade, reason)
    assert decisions(judged) == []


def test_only_judged_pairs_are_decided(judged: Store) -> None:
    for query, document in (("q", "unjudged"), ("q", "nowhere"), ("other", "far")):
        with pytest.raises(NotFoundError, match="Nobody has judged"):
            decide_pair(judged, query, document, 2, "why")
    assert decisions(judged) == []


def test_a_file_decides_its_disputed_pairs_only(judged: Store) -> None:
    decide_pair(judged, "q", "three ways", 3, "before")
    rows = proposals(("agreed", "0"), ("far", "1"), ("three ways", "2"), ("unjudged", "2"), ("near", ""))
    result = import_decisions(judged, rows)
    assert result.decided == 1
    assert result.left_out == {UNDISPUTED: 1, DECIDED: 1, UNJUDGED: 1, NO_GRADE: 1}
    assert [row[:3] for row in decisions(judged)] == [("far", 0, 1), ("three ways", 0, 3)]
    ((actor, detail),) = event_details(judged, "adjudicate from a file")
    assert (actor, detail["decided"]) == ("command line", 1)


def test_with_every_pair_a_file_decides_all_that_are_judged(judged: Store) -> None:
    decide_pair(judged, "q", "far", 3, "before")
    rows = proposals(("agreed", "0"), ("far", "1"), ("unjudged", "2"))
    assert import_decisions(judged, rows, every_pair=True).decided == 2
    assert [row[:3] for row in decisions(judged)] == [("agreed", 0, 0), ("far", 0, 3), ("far", 1, 1)]
    again = import_decisions(judged, rows, every_pair=True)
    assert (again.decided, again.left_out) == (0, {REPEATED: 2, UNJUDGED: 1})


def test_all_problems_of_a_file_come_together_and_nothing_is_decided(judged: Store) -> None:
    rows = proposals(("far", "1"), ("near", "9"), ("near", "x"), ("far", "2"))
    with pytest.raises(InputError) as caught:
        import_decisions(
            judged, [*rows, DecisionLine(6, "q", "three ways", "2", "")], source=Path("final.csv")
        )
    lines = str(caught.value).splitlines()
    assert [line.split(":")[1] for line in lines[:4]] == [" line 3", " line 4", " line 5", " line 6"]
    assert lines[0].startswith("final.csv: line 3: grade 9 is not on the guide's scale")
    assert decisions(judged) == []


def test_queries_are_known_by_text_unless_several_share_it(judged: Store) -> None:
    columns = {"source": ["written"] * 2, "metadata": ["{}"] * 2}
    with judged.transaction() as cursor:
        texts = {"text": ["Far  Away"] * 2, "normalised": ["far away"] * 2}
        append(cursor, "queries", {"query_id": ["a", "b"], **texts, **columns})
        assert find_query_id(cursor, " Q ") == "q"
        with pytest.raises(InputError, match=r"several queries have the text 'far away' \(a, b\)"):
            find_query_id(cursor, "far away")


def test_a_file_whose_name_for_a_query_may_mean_two_decides_nothing(judged: Store) -> None:
    columns = {
        "query_id": ["b"],
        "text": ["Q"],
        "normalised": ["q"],
        "source": ["written"],
        "metadata": ["{}"],
    }
    with judged.transaction() as cursor:
        cursor.execute("UPDATE queries SET text = 'far away', normalised = 'far away' WHERE query_id = 'q'")
        append(cursor, "queries", columns)
    with pytest.raises(InputError, match="line 2: 'q' is the id of the query 'far away', and the text of"):
        import_decisions(judged, proposals(("far", "1")))
    assert decisions(judged) == []
    by_id = [line._replace(fields=DecisionFields("query_id")) for line in proposals(("far", "1"))]
    assert import_decisions(judged, by_id).decided == 1


def test_grades_in_a_file_may_be_written_as_floats(judged: Store) -> None:
    assert import_decisions(judged, proposals(("far", "3.0"))).decided == 1
    assert decisions(judged)[0][2] == 3


@pytest.mark.slow
def test_the_campaigns_final_ratings_decide_its_disputes(store: Store, shared: Path) -> None:
    path = shared / "chorus_icecat/Broad_Query_Set_individual_ratings.csv"
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    pairs: dict[str, list[str]] = {}
    for row in rows:
        pairs.setdefault(row["query"], []).append(row["docid"])
    add_pairs(store, pairs)
    raters = ("agent_1", "agent_2", "agent_3")
    ratings = [
        ImportedJudgment(row["query"], row["docid"], who, int(row[f"{who}_rating"]))
        for row in rows
        for who in raters
    ]
    add_judgments(store, ratings, path.name)
    wanted = {
        (row["query"], row["docid"]): int(row["final_rating"])
        for row in rows
        if len({row[f"{who}_rating"] for who in raters}) == len(raters)
    }
    assert len(find_disputes(store)) == len(wanted) == 124
    found = read_decision_lines(path, reason="final rating of the campaign")
    result = import_decisions(store, found, source=path)
    assert (result.decided, result.left_out) == (124, {UNDISPUTED: 3064})
    with store.reading() as cursor:
        counts = read_consensus(cursor)
    assert counts.counts.disputed == 0
    assert {(p.query_id, p.document_id): p.grade for p in counts.pairs if p.how == "adjudicated"} == wanted


def test_a_file_without_the_named_field_is_refused_with_the_fields_it_has(
    judged: Store, tmp_path: Path
) -> None:
    path = tmp_path / "final.csv"
    path.write_text("query,doc,grade\nq,far,1\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"(?s)documents' ids: name it with --map document=COLUMN.*'query', 'doc', 'grade'"
    ):
        read_decision_lines(path, reason="why")


def test_the_command_lists_and_decides(judged: Store, tmp_path: Path) -> None:
    def goldgrade(*words: str) -> dict:
        return json.loads(invoke(["--project", str(judged.path), *words, "--json"]).stdout)

    listed = goldgrade("disputes", "--limit", "1")
    assert (listed["total"], len(listed["disputes"]), listed["disputes"][0]["document_id"]) == (3, 3, "far")
    decided = goldgrade("decide", "q", "far", "--grade", "2", "--reason", "why")
    assert (decided["grade"], decided["reviewer"]) == (2, "command line")
    assert goldgrade("decide", "q", "near", "--unjudgeable", "--reason", "cut off")["grade"] is None
    path = tmp_path / "final.csv"
    path.write_text("query,document,grade,why\nq,three ways,1,half of it\n", encoding="utf-8")
    decided = goldgrade("decide", "--file", str(path), "--map", "reason=why")
    assert (decided["decided"], decided["left_out"]) == (1, {})
    assert (decided["fields"]["reason"], decided["fields"]["columns"][-1]) == ("why", "why")
    assert goldgrade("disputes")["total"] == 0


@pytest.mark.parametrize(
    "words",
    [["q", "far"], ["q", "far", "--grade", "1", "--unjudgeable"], ["q"], ["q", "far", "--file", "x.csv"]],
)
def test_a_decision_that_is_not_fully_named_is_a_usage_error(judged: Store, words: list[str]) -> None:
    command = ["--project", str(judged.path), "decide", *words, "--reason", "why"]
    assert invoke(command).exit_code == 2


def test_who_saw_an_older_state_learns_what_was_decided_and_why(judged: Store, grace: str) -> None:
    mia = add_annotator(judged, "mia", "reviewer", PASSWORD).name
    decide_pair(judged, "q", "far", 2, "It names the part", mia, seen_revision=0)
    with pytest.raises(RefusedError, match=r"mia decided this pair .* grade 2, because “It names the part”"):
        decide_pair(judged, "q", "far", 1, "Not the whole", grace, seen_revision=0)
    assert [row[1:3] for row in decisions(judged)] == [(0, 2)]
    assert decide_pair(judged, "q", "far", 1, "Not the whole", grace, seen_revision=1).revision == 1


def test_a_retried_decision_counts_once_whatever_revision_it_saw(judged: Store, grace: str) -> None:
    first = decide_pair(judged, "q", "far", 1, "why", grace, seen_revision=0)
    assert decide_pair(judged, "q", "far", 1, "why", grace, seen_revision=0) == first
    assert len(decisions(judged)) == len(event_details(judged, "adjudicate")) == 1


def test_a_reviewers_last_decisions_are_their_own_current_ones(judged: Store, grace: str) -> None:
    decide_pair(judged, "q", "far", 1, "one", grace)
    decide_pair(judged, "q", "near", 2, "two", grace)
    decide_pair(judged, "q", "three ways", 2, "not grace's")
    decide_pair(judged, "q", "near", None, "taken over")
    mine = read_recent_decisions(judged, grace)
    assert [one.document_id for one in mine] == ["far"]
    decide_pair(judged, "q", "near", 3, "taken back", grace)
    newest = read_recent_decisions(judged, grace, limit=1)
    assert [(one.document_id, one.revision) for one in newest] == [("near", 2)]


class Interrupted(list[DecisionLine]):
    """Proposals during whose reading somebody else does something, the first time."""

    def __init__(self, rows: list[DecisionLine], deed: Callable[[], object]) -> None:
        super().__init__(rows)
        self.deeds = [deed]

    def __iter__(self) -> Iterator[DecisionLine]:
        if self.deeds:
            self.deeds.pop()()
        return super().__iter__()


def test_a_decision_made_while_a_file_is_planned_is_not_overruled(judged: Store) -> None:
    """The database is free meanwhile; what it rests on is looked at again before anything is written."""
    rows = Interrupted(
        proposals(("far", "2"), ("three ways", "2")),
        lambda: decide_pair(judged, "q", "far", 3, "I was first"),
    )
    decided = import_decisions(judged, rows)
    assert (decided.decided, decided.left_out) == (1, {DECIDED: 1})
    assert decisions(judged) == [
        ("far", 0, 3, "I was first", "command line"),
        ("three ways", 0, 2, "read again", "command line"),
    ]


def test_decisions_that_never_come_to_rest_are_not_raced(judged: Store) -> None:
    rows = Interrupted(proposals(("three ways", "2")), lambda: None)

    def again() -> None:
        rows.deeds.append(again)
        decide_pair(judged, "q", "far", len(decisions(judged)) % 2, "to and fro")

    rows.deeds = [again]
    with pytest.raises(RefusedError, match="Other reviewers decided pairs"):
        import_decisions(judged, rows)
    assert {row[0] for row in decisions(judged)} == {"far"}
