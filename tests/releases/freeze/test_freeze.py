"""Freezing: the same content has the same id, other content never takes a name, nothing goes in silence."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from curation.agreement.gate import Demand, set_demand
from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.readers.fields import TrafficFields
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.consensus.consensus import read_consensus
from curation.labeling.consensus.rule import ConsensusRule, set_rule
from curation.labeling.imported import add_judgments
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.releases.card import write_card
from curation.releases.freeze import project_rows
from curation.releases.freeze.project_rows import read_rows
from curation.releases.frozen_release import load_release
from curation.releases.verify import verify
from curation.splits import graded_queries
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store, release_parts
from curation.store.release_parts import read_part
from curation.store.row_types import Query
from tests.support.freezing import export, freeze
from tests.support.gold_project import (
    DISPUTE,
    LEXICAL,
    PARTS,
    TOPICS,
    documents,
    gold_project,
    judgments,
    labelled,
    queries,
    write_corpus,
)
from tests.support.projects import add_names, new_project, rows_of, turn_clock_back
from tests.support.stored_parts import texts_of

pytestmark = pytest.mark.slow


def rows(store: Store, release_id: str, part: str) -> list[dict[str, Any]]:
    with store.reading() as cursor:
        return list(read_part(cursor, release_id, part))


def test_the_same_content_has_the_same_id_and_is_stored_once_under_any_name(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    first, again, second = (freeze(store, name) for name in ("v1", "v1", "v1-final"))
    assert (first.created, again.created, second.created) == (True, False, True)
    assert first.release_id == again.release_id == second.release_id
    assert len(first.release_id) == 64
    assert rows_of(store, "SELECT count(*) FROM events WHERE action = 'freeze'") == [(2,)]
    assert rows_of(store, "SELECT count(*) FROM release_parts") == [(len(first.parts),)]
    assert verify(store, "v1-final").intact


def test_a_project_built_again_in_another_order_freezes_to_the_same_id(tmp_path: Path) -> None:
    one = labelled(tmp_path / "one")
    other = labelled(tmp_path / "other", backwards=True)
    for store in (one, other):
        make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    first, second = freeze(one, "v1"), freeze(other, "final")
    with one.reading() as cursor:
        texts = texts_of(cursor, first.release_id)
    with other.reading() as cursor:
        assert texts_of(cursor, second.release_id) == texts
    assert first.release_id == second.release_id


SMALL_PIECES = (
    (graded_queries, "MAX_PRESENTATIONS", 7),
    (project_rows, "MAX_PRESENTATIONS", 7),
    (release_parts, "RUN_LINES", 5),
    (release_parts, "RUN_PIECE_LENGTH", 300),
    (release_parts, "PIECE", 500),
)


def test_a_release_read_in_ranges_and_kept_in_many_pieces_has_the_id_the_texts_and_the_exports_of_one_in_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("few", "many"):
        (tmp_path / name).mkdir()
    few, many = (gold_project(tmp_path / name) for name in ("few", "many"))
    first = freeze(few, "v1")
    for module, name, size in SMALL_PIECES:
        monkeypatch.setattr(module, name, size)
    second = freeze(many, "v1")
    pieces = [len(rows_of(store, "SELECT part FROM release_parts")) for store in (few, many)]
    assert pieces[0] == len(first.parts) < 2 * len(first.parts) < pieces[1]
    assert first.release_id == second.release_id
    assert load_release(few, "v1").rows("qrels") == load_release(many, "v1").rows("qrels")
    assert verify(many, "v1").intact
    for format in ("beir", "trec"):
        exported = [
            export(store, "v1", format, tmp_path / format / store.path.parent.name, reason="x").files
            for store in (few, many)
        ]
        assert exported[0] == exported[1]


def _asked_in_sessions(folder: Path) -> Store:
    """A split by session: two sessions have the same queries, and a third shares one with them."""
    store = labelled(folder)
    sessions = {
        "s1": ["kettle", "router"],
        "s2": ["kettle", "router"],
        "s3": ["router", "violin"],
        "s4": ["glacier"],
    }
    lines = [f"best {topic},{session}" for session, topics in sessions.items() for topic in topics]
    (folder / "log.csv").write_text("\n".join(["query,session", *lines]), encoding="utf-8")
    import_traffic(store, folder / "log.csv", TrafficFields(session="session"))
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, replace(LEXICAL, keys=("session",))))
    return store


def test_a_split_by_session_releases_numbers_that_every_project_gives_its_sessions(tmp_path: Path) -> None:
    one, other = _asked_in_sessions(tmp_path / "one"), _asked_in_sessions(tmp_path / "other")
    first, second = freeze(one, "v1"), freeze(other, "v1")
    assert first.release_id == second.release_id
    keys = {row["detail"].get("key") for row in load_release(one, "v1").rows("edges")}
    assert keys == {"session 2", "session 4"}


def test_an_account_that_has_no_part_in_a_release_changes_nothing_of_it(tmp_path: Path) -> None:
    reason = "The max power differs"
    store = labelled(tmp_path / "one", decided=False)
    decide_pair(store, *DISPUTE, grade=1, reason=reason)
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    first = freeze(store, "v1")
    add_names(store, "max")
    again = freeze(store, "v1")
    assert (again.created, again.release_id) == (False, first.release_id)
    assert load_release(store, "v1").rows("adjudications")[0]["reason"] == reason


def test_the_logs_of_a_sample_are_those_it_was_drawn_from_whatever_the_clock_said(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    for name, lines in (("one", ["best kettle", "a@b.example"]), ("other", ["best router", "c@d.example"])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["query", *lines]), encoding="utf-8")
        import_traffic(store, tmp_path / f"{name}.csv")
        if name == "one":
            draw_sample(store, DrawRequest(1, 0))
    turn_clock_back(store)
    with store.reading() as cursor:
        found = read_rows(cursor)
    assert (found.logs.num_rows, found.personal.to_pylist()) == (1, [{"kind": "email", "rows": 1}])


def test_qrels_are_exactly_the_consensus(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    frozen = freeze(store, "v1")
    with store.reading() as cursor:
        expected = {(p.query_id, p.document_id): (p.grade, p.how) for p in read_consensus(cursor).pairs}
    found = {
        (r["query_id"], r["document_id"]): (r["grade"], r["how"])
        for r in rows(store, frozen.release_id, "qrels")
    }
    assert found == expected
    assert found[DISPUTE] == (1, "adjudicated")
    assert frozen.grades == {"dev": 8, "test": 8}
    assert frozen.queries == {"dev": 4, "test": 4}
    assert frozen.left_out == {}


def test_no_name_of_a_person_or_a_file_is_in_a_release(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    frozen = freeze(store, "v1")
    with store.reading() as cursor:
        whole = "".join(texts_of(cursor, frozen.release_id).values())
    assert not [name for name in ("zoe", "miller", "abe", "jones", "command line", ".csv") if name in whole]
    assert {row["annotator"] for row in rows(store, frozen.release_id, "judgments")} == {"a1", "a2"}


@pytest.mark.parametrize("rule", ["majority", "dawid-skene"])
def test_other_names_of_people_and_rounds_give_the_same_release_id(tmp_path: Path, rule: str) -> None:
    names = [("zoe.miller", "abe.jones"), ("1", "annotator two")]
    frozen = set()
    for number, people in enumerate(names):
        store = labelled(tmp_path / str(number), people=people, backwards=number == 1)
        set_rule(store, ConsensusRule(rule))
        make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
        frozen.add(freeze(store, "v1").release_id)
    assert len(frozen) == 1


def revise(store: Store, folder: Path, *ids: str) -> None:
    """Import the corpus again with another text of these documents."""
    revised = [row | {"text": f"{row['text']} New."} if row["id"] in ids else row for row in documents()]
    import_corpus(store, write_corpus(folder / "revised.jsonl", revised))


def test_a_grade_of_another_version_of_its_document_is_left_out_and_counted(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    revise(store, tmp_path, "violin-2", DISPUTE[1])
    frozen = freeze(store, "v1")
    pairs = {(r["query_id"], r["document_id"]) for r in rows(store, frozen.release_id, "qrels")}
    assert not {("q-violin", "violin-2"), DISPUTE} & pairs
    assert frozen.left_out == {"pair graded on another version of the document": 2}
    assert "Left out: pair graded on another version of the document (2)." in frozen.sentences
    assert (sum(frozen.grades.values()), frozen.changed) == (14, 0)


def test_a_grade_of_another_version_is_kept_and_marked_when_that_is_allowed(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    unmarked = freeze(store, "v1", allow_changed=True)
    assert unmarked.release_id == freeze(store, "v1").release_id
    revise(store, tmp_path, "violin-2")
    frozen = freeze(store, "v2", allow_changed=True)
    marked = [row for row in rows(store, frozen.release_id, "qrels") if "version" in row]
    assert [(row["document_id"], row["version"]) for row in marked] == [("violin-2", "changed")]
    assert (sum(frozen.grades.values()), frozen.changed, frozen.left_out) == (16, 1, {})
    assert "The release keeps and marks 1 grade on a different version of the document." in frozen.sentences
    assert rows(store, frozen.release_id, "release")[0]["changed"] == 1
    judged = rows(store, frozen.release_id, "judgments")
    assert {row["document_id"] for row in judged if "version" in row} == {"violin-2"}


def test_votes_and_decisions_of_an_older_text_do_not_outweigh_one_on_the_text_of_now(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    revise(store, tmp_path, "violin-1", DISPUTE[1])
    again = [
        ImportedJudgment("q-violin", "violin-1", "new.rater", 0),
        ImportedJudgment(*DISPUTE, "new.rater", 2),
    ]
    add_judgments(store, again, "again.csv")
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    frozen = freeze(store, "v1")
    found = {row["document_id"]: row for row in rows(store, frozen.release_id, "qrels")}
    assert (found["violin-1"]["grade"], found["violin-1"]["votes"]) == (0, {"0": 1})
    assert (found[DISPUTE[1]]["grade"], found[DISPUTE[1]]["how"]) == (2, "single")
    assert (frozen.changed, frozen.left_out) == (0, {})
    (decision,) = rows(store, frozen.release_id, "adjudications")
    assert decision["version"] == "changed"
    assert rows(store, frozen.release_id, "agreement")[0]["between"]["older"] == 4


def test_where_all_grades_are_of_other_versions_the_way_out_is_named(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    revise(store, tmp_path, *(row["id"] for row in documents()))
    with pytest.raises(RefusedError, match=r"16 × pair graded on another version.*--allow-changed"):
        freeze(store, "v1")


def test_a_dispute_about_an_older_text_does_not_stop_the_freeze(tmp_path: Path) -> None:
    store = labelled(tmp_path, decided=False)
    revise(store, tmp_path, DISPUTE[1])
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    assert freeze(store, "v1").left_out == {"pair graded on another version of the document": 1}
    with pytest.raises(RefusedError, match="1 judged pair is disputed"):
        freeze(store, "v2", allow_changed=True)


def test_what_nobody_could_tell_is_told_from_what_the_reviewer_decided(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    decide_pair(store, *DISPUTE, grade=None, reason="no text to judge by")
    add_judgments(store, [ImportedJudgment("q-violin", "router-2", "zoe.miller", None)], "late.csv")
    assert freeze(store, "v1").left_out == {
        "pair without a grade: nobody could tell": 1,
        "pair without a grade: a reviewer decided so": 1,
    }


def test_queries_without_a_relevant_document_are_counted_and_the_card_says_so(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    assert freeze(store, "v1").without_relevant == {}
    assert "have no relevant document" not in write_card(load_release(store, "v1"))
    for topic, grade in (("violin", 0), ("glacier", 0)):
        decide_pair(store, f"q-{topic}", f"{topic}-1", grade=grade, reason="nothing in it")
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    frozen = freeze(store, "v2")
    assert sum(frozen.without_relevant.values()) == 2
    card = write_card(load_release(store, "v2"))
    assert "2 of 8 queries (" in card
    assert "have no relevant document (of grade 1 or more)" in card
    assert frozen.sentences[1].startswith("2 queries have no relevant document (")
    for topic in TOPICS:
        decide_pair(store, f"q-{topic}", f"{topic}-1", grade=0, reason="nothing in it")
    decide_pair(store, *DISPUTE, grade=0, reason="nothing in it")
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    assert freeze(store, "v3").sentences[1].endswith("No system can be evaluated on this release.")
    assert "No query has a relevant document (grade 1 or more)" in write_card(load_release(store, "v3"))


def test_open_disputes_stop_the_freeze_or_are_left_out_and_counted(tmp_path: Path) -> None:
    store = labelled(tmp_path, decided=False)
    make_split(store, SplitRequest(rules=LEXICAL))
    with pytest.raises(RefusedError, match=r"1 judged pair is disputed.*disputes.*--allow-disputed"):
        freeze(store, "v1")
    frozen = freeze(store, "v1", allow_disputed=True)
    assert frozen.left_out == {"disputed pair": 1}
    assert sum(frozen.grades.values()) == 15
    assert DISPUTE not in {(r["query_id"], r["document_id"]) for r in rows(store, frozen.release_id, "qrels")}


def test_what_cannot_be_frozen_is_counted_with_its_reason(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    late = Query("q-late", "late arrival", "late arrival", "imported")
    silent = Query("q-silent", "never judged", "never judged", "imported")
    unclear = ImportedJudgment("q-violin", "router-2", "zoe.miller", None)
    add_judgments(
        store, [ImportedJudgment("q-late", "glacier-2", "zoe.miller", 0), unclear], "late.csv", [late, silent]
    )
    kept = [row for row in documents() if row["id"] != "tractor-2"]
    import_corpus(store, write_corpus(tmp_path / "smaller.jsonl", kept))
    frozen = freeze(store, "v1")
    assert frozen.left_out_documents == {
        "judged pair whose document is not in the current corpus": ["tractor-2"]
    }
    assert frozen.left_out == {
        "graded pair whose query is in no part of the split": 1,
        "judged pair whose document is not in the current corpus": 1,
        "pair without a grade: nobody could tell": 1,
        "query without a grade": 1,
    }
    header = rows(store, frozen.release_id, "release")[0]
    assert header["left_out"] == frozen.left_out


def test_without_a_corpus_or_a_split_the_way_out_is_named(store: Store, tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="goldgrade import corpus"):
        freeze(store, "v1")
    with pytest.raises(RefusedError, match=r"goldgrade split"):
        freeze(labelled(tmp_path / "labelled"), "v1")


def test_labels_given_since_the_split_that_tie_its_parts_together_stop_the_freeze(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    parts = dict(rows_of(store, "SELECT query_id, part FROM split_assignments"))
    dev = next(query for query, part in parts.items() if part == "dev")
    test = next(query for query, part in parts.items() if part == "test")
    shared = ImportedJudgment(test, f"{dev.removeprefix('q-')}-1", "zoe.miller", 3)
    add_judgments(store, [shared], "later.csv")
    with pytest.raises(RefusedError, match=r"1 tie now crosses its parts.*shared document.*goldgrade split"):
        freeze(store, "v1")
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    assert freeze(store, "v1").created


@pytest.mark.parametrize("name", ["version one", "v1\n", "\nv1", "", "v/1"])
def test_a_name_with_spaces_or_line_ends_is_refused(store: Store, name: str) -> None:
    with pytest.raises(InputError, match=rf"{re.escape(repr(name))}.*no spaces"):
        freeze(store, name)


def test_an_unknown_release_is_answered_with_those_there_are(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    with pytest.raises(NotFoundError, match="goldgrade freeze NAME"):
        verify(store, "v1")
    freeze(store, "v1")
    with pytest.raises(NotFoundError, match=r"no release 'v2'. It has v1"):
        verify(store, "v2")


def strangers(store: Store) -> None:
    """A third annotator who contradicts the others everywhere, whom the two outvote: alpha falls."""
    given = [
        ImportedJudgment(row.query_id, row.document_id, "odd.one", 3 - (row.grade or 0))
        for row in judgments("x")
    ]
    add_judgments(store, given, "odd.csv")


def test_labels_without_the_agreement_that_is_demanded_are_refused_with_the_figures(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    strangers(store)
    with pytest.raises(
        RefusedError, match=r"(?s)ordinal alpha: missed: -?0\.\d{3}, 95 % .*0.667.*--override"
    ):
        freeze(store, "v1")
    assert rows_of(store, "SELECT * FROM releases") == []
    set_demand(store, Demand(alpha=-1))
    assert freeze(store, "v1").override is None


def test_an_override_is_recorded_with_its_reason_and_carried_by_the_release(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    strangers(store)
    add_names(store, "zoe", role="lead")
    frozen = freeze(store, "v1", actor="zoe", override=" a draft, to look at ")
    said = "The release was frozen despite the gate, for this reason: “a draft, to look at”."
    assert said in frozen.sentences
    told = rows(store, frozen.release_id, "release")[0]["override"]
    assert told["by"] == "somebody who judged nothing of this release"
    assert told["reason"] == "a draft, to look at"
    assert [(check["figure"], check["state"]) for check in told["against"]] == [("ordinal alpha", "missed")]
    ((detail, actor),) = rows_of(store, "SELECT detail, actor FROM events WHERE action = 'freeze'")
    ((manifest,),) = rows_of(store, "SELECT manifest FROM releases")
    with store.reading() as cursor:
        whole = "".join(texts_of(cursor, frozen.release_id).values())
    assert (actor, json.loads(detail)["override"]["reason"]) == ("zoe", "a draft, to look at")
    assert [check["state"] for check in json.loads(manifest)["gate"]] == ["missed", "not asked for"]
    assert "zoe" not in whole
    assert verify(store, "v1").intact


def test_qrels_of_one_judge_are_frozen_where_the_project_says_that_it_has_one(tmp_path: Path) -> None:
    store = new_project(tmp_path / "project.duckdb")
    import_corpus(store, write_corpus(tmp_path / "corpus.jsonl", documents()))
    add_judgments(store, judgments("nist"), "nist.qrels", queries())
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    with pytest.raises(RefusedError, match="ordinal alpha: undefined"):
        freeze(store, "v1")
    set_demand(store, Demand(single_judge=True))
    frozen = freeze(store, "v1")
    assert frozen.override is None
    (figures,) = rows(store, frozen.release_id, "agreement")
    assert [check["state"] for check in figures["gate"]] == ["not asked for", "not asked for"]
    assert "the project is set to one annotator" in figures["gate"][0]["why"]
    sql = "SELECT detail->>'$.now.single_judge' FROM events WHERE action = 'gate'"
    assert (rows_of(store, sql), verify(store, "v1").intact) == ([("true",)], True)
    assert "agreement cannot be measured" in write_card(load_release(store, "v1"))


def test_who_judged_and_overrides_appears_under_their_number(tmp_path: Path) -> None:
    ids = set()
    for lead in ("zoe.miller", "someone.else"):
        store = labelled(tmp_path / lead, people=(lead, "abe.jones"))
        make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
        strangers(store)
        with store.transaction() as cursor:
            cursor.execute("UPDATE annotators SET role = 'lead' WHERE name = ?", [lead])
        frozen = freeze(store, "v1", actor=lead, override="a draft")
        assert re.fullmatch(r"a\d", rows(store, frozen.release_id, "release")[0]["override"]["by"])
        ids.add(frozen.release_id)
    assert len(ids) == 1


def test_an_override_that_is_not_needed_changes_nothing(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    plain = freeze(store, "v1")
    assert freeze(store, "v2", override="to be safe").release_id == plain.release_id
    with pytest.raises(InputError, match="An override needs a reason"):
        freeze(store, "v3", override=" ")


def test_only_a_lead_freezes(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    add_names(store, "ada")
    with pytest.raises(RefusedError, match="lead"):
        freeze(store, "v1", actor="ada", override="I say so")


def test_the_rule_of_the_consensus_is_in_the_release_where_it_is_not_majority(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    by_majority = freeze(store, "v1")
    assert "ruled" not in rows(store, by_majority.release_id, "agreement")[0]["consensus"]
    assert "confidence" not in rows(store, by_majority.release_id, "qrels")[0]
    set_rule(store, ConsensusRule("dawid-skene"))
    frozen = freeze(store, "v2")
    told = rows(store, frozen.release_id, "agreement")[0]["consensus"]
    settings = {"rule": "dawid-skene", "least": 0.5, "start": "vote shares", "smoothing": 0.1}
    assert told["settings"] == settings
    assert told["inputs"] == {"judgments": 32}
    assert [person["annotator"] for person in told["errors"]["annotators"]] == ["a1", "a2"]
    assert {row["how"] for row in rows(store, frozen.release_id, "qrels")} == {"dawid-skene", "adjudicated"}
    set_rule(store, ConsensusRule("majority"))
    assert freeze(store, "v3").release_id == by_majority.release_id


def test_who_only_judged_in_a_pilot_has_a_number_and_no_figure(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    with store.transaction() as cursor:
        cursor.execute(
            "INSERT INTO rounds SELECT 'p', 'p', 'pilot', guide_hash, '{}', now()::TIMESTAMP, 9 FROM guides"
        )
        cursor.execute(
            "INSERT INTO presentations SELECT 'pilot', 'p', 'pia', query_id, document_id, content_hash, 0, "
            "NULL FROM presentations WHERE document_id = 'violin-1' LIMIT 1"
        )
        cursor.execute(
            "INSERT INTO judgment_events SELECT 'pilot', 0, 'grade', 1, NULL, NULL, false, guide_hash, "
            "'pia', 'pilot key', NULL, now()::TIMESTAMP, NULL, false, true FROM guides"
        )
    frozen = freeze(store, "v1")
    assert {row["annotator"] for row in rows(store, frozen.release_id, "judgments")} == {"a1", "a2", "a3"}
    agreement = rows(store, frozen.release_id, "agreement")[0]
    assert (len(agreement["within"]), agreement["between"]["annotators"]) == (2, 2)
