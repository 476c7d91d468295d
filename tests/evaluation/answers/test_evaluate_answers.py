"""Answers on a release: by its references, and by people who grade them in a project of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError, RefusedError
from curation.evaluation.answers.answers_to_grade import write_answers_to_grade
from curation.evaluation.answers.evaluate_answers import evaluate_answers
from curation.evaluation.answers.graded_answers import (
    list_neighbor_projects,
    list_neighbor_releases,
    read_answer_grades,
)
from curation.evaluation.evaluate import submit
from curation.evaluation.evaluation import AnswerEvaluation
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.system_files import SystemFile, parse_answer_files
from curation.guides.guide import store_guide
from curation.guides.guide_text import read_guide
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.reference_answers import import_answers
from curation.ingest.importers.run_import import import_run
from curation.labeling.imported import add_judgments
from curation.people.seal_access import read_openings
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.releases.frozen_release import load_release
from curation.releases.overview import read_overview
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store
from curation.store.row_types import Query
from tests.support import ROOT
from tests.support.command_line import invoke
from tests.support.freezing import freeze
from tests.support.gold_project import LEXICAL, TOPICS, gold_project, labelled
from tests.support.projects import add_names, built_once, copied, new_project, per_test, rows_of

pytestmark = pytest.mark.slow


def jsonl(path: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@copied
def with_references(folder: Path) -> Store:
    """Each topic's references are 'red TOPIC' and 'TOPIC'; but origami has none and is unanswerable."""
    store = gold_project(folder)
    rows = [{"query_id": f"q-{topic}", "answers": [f"red {topic}", topic]} for topic in TOPICS[:-1]]
    import_answers(store, jsonl(folder / "r.jsonl", rows))
    unanswerable(store, "origami")
    freeze(store, "v1")
    return store


def unanswerable(store: Store, *topics: str) -> None:
    """Somebody tags the queries of these topics."""
    with store.transaction() as cursor:
        cursor.execute(
            """INSERT INTO query_tags SELECT unnest(?::TEXT[]), 'unanswerable', 0, true, true, 'r',
            now()::TIMESTAMP""",
            [[f"q-{topic}" for topic in topics]],
        )


project = per_test(with_references)


def part(store: Store, name: str) -> list[str]:
    sql = "SELECT query_id FROM split_assignments WHERE part = ? ORDER BY query_id"
    return [row[0].removeprefix("q-") for row in rows_of(store, sql, name)]


def source(folder: Path, answers: dict[str, str], name: str = "new") -> SystemFile:
    rows = [
        {"query_id": f"q-{topic}", "answer": answer, "contexts": [f"All about the {topic}."]}
        for topic, answer in answers.items()
    ]
    return SystemFile(name, jsonl(folder / f"{name}.jsonl", rows))


def scored(store: Store, *sources: SystemFile, **options: Any) -> AnswerEvaluation:
    return evaluate_answers(store, "v1", sources, **options)


def test_exact_match_and_f1_are_means_over_queries_with_references(project: Store, tmp_path: Path) -> None:
    dev = [topic for topic in part(project, "dev") if topic != "origami"]
    answers = {dev[0]: f"The {dev[0]}!", dev[1]: f"a blue {dev[1]}"}
    evaluation = scored(project, source(tmp_path, answers))
    [system] = evaluation.systems
    assert (evaluation.parts, evaluation.with_references) == (("dev",), len(dev))
    assert system.overall["exact_match"].value == pytest.approx(1 / len(dev))
    assert system.overall["f1"].value == pytest.approx((1 + 2 / 3) / len(dev))
    assert (system.answered, system.missing, system.empty) == (2, len(dev) - 2, 0)
    assert system.overall["f1"].n == len(dev)
    by_query = dict(zip(evaluation.query_ids, system.per_query["exact_match"], strict=True))
    assert by_query[f"q-{dev[0]}"] == 1


def test_rows_of_unknown_queries_are_counted_and_second_answers_refused(
    project: Store, tmp_path: Path
) -> None:
    dev = part(project, "dev")[0]
    one = source(tmp_path, {dev: dev, "moon": "cheese"})
    assert scored(project, one).systems[0].left_out == {"unknown query": 1}
    rows = [{"query": f"best {dev}", "answer": word} for word in ("a", "b")]
    with pytest.raises(InputError, match=r"a second answer to the query .*; the first is in line 1"):
        scored(project, SystemFile("x", jsonl(tmp_path / "x.jsonl", rows)))
    with pytest.raises(InputError, match="2 files are the system 'x'"):
        parse_answer_files(["x=a.jsonl", "x=b.jsonl"])


def test_silence_is_right_for_an_unanswerable_query(project: Store, tmp_path: Path) -> None:
    everything = dict.fromkeys(TOPICS, "") | {"kettle": "kettle"}
    reason = "to see all"
    with pytest.raises(RefusedError, match="is sealed and has fewer than ten queries"):
        evaluate_answers(
            project, "v1", [source(tmp_path, everything)], EvaluateRequest("v1", "all", reason=reason)
        )
    assert "origami" in part(project, "dev")
    system = scored(project, source(tmp_path, everything)).systems[0]
    assert (system.refused.value, system.refused.n) == (1, 1)
    assert system.overall["exact_match"].n == len(part(project, "dev")) - 1
    assert system.overall["exact_match"].value == pytest.approx(1 / 3)
    assert system.empty == 2


def test_silence_is_over_all_unanswerable_queries_and_rows_not_sent_are_counted(tmp_path: Path) -> None:
    """Four are unanswerable: two have an empty answer, two have no row, which is not known to be silence."""
    store, four = labelled(tmp_path), TOPICS[:4]
    import_answers(store, jsonl(tmp_path / "r.jsonl", [{"query_id": f"q-{TOPICS[-1]}", "answers": ["x"]}]))
    unanswerable(store, *four)
    make_split(store, SplitRequest((("dev", 1.0),), 1, LEXICAL))
    freeze(store, "v1")
    file = source(tmp_path, dict.fromkeys([*four[:2], TOPICS[-1]], ""))
    [system] = evaluate_answers(store, "v1", [file], EvaluateRequest("v1", "all")).systems
    assert (system.refused.value, system.refused.n, system.unsent) == (0.5, 4, 2)
    asked = ["--project", str(store.path), "evaluate", "v1", "--answers", f"new={file.path}"]
    shown = " ".join(invoke([*asked, "--part", "all"]).stdout.split())
    assert "4 queries are unanswerable" in shown
    assert "│ 0.500 │ 2 │" in shown  # silent on unanswerable, unanswerable without a row


def test_a_release_without_references_says_how_to_get_them(tmp_path: Path) -> None:
    store = gold_project(tmp_path)
    freeze(store, "v1")
    with pytest.raises(RefusedError, match="goldgrade import answers FILE"):
        scored(store, source(tmp_path, {"kettle": "x"}))


@built_once
def many(store: Store) -> Store:
    """Forty queries with references, thirty of them in the sealed part."""
    folder = store.path.parent
    words = [f"{chr(97 + n % 26) * 5}{chr(97 + n // 26) * 7}" for n in range(40)]
    documents = [{"id": word, "title": word, "text": word} for word in words]
    import_corpus(store, jsonl(folder / "c.jsonl", documents))
    asked = [Query(f"q{word}", word, word, "imported") for word in words]
    for who in ("ada", "ben"):
        given = [ImportedJudgment(f"q{word}", word, who, n % 2) for n, word in enumerate(words)]
        add_judgments(store, given, f"{who}.csv", asked)
    rows = [{"query_id": f"q{word}", "answer": word} for word in words]
    import_answers(store, jsonl(folder / "r.jsonl", rows))
    make_split(store, SplitRequest((("dev", 0.25), ("test", 0.75)), 1, LEXICAL))
    freeze(store, "v1")
    return store


def sealed_ids(store: Store) -> list[str]:
    sql = "SELECT query_id FROM split_assignments WHERE part = 'test' ORDER BY query_id"
    return [row[0] for row in rows_of(store, sql)]


def sealed_evaluation(
    store: Store, folder: Path, name: str, answers: dict[str, str], reason: str | None = "May"
) -> AnswerEvaluation:
    rows = [{"query_id": key, "answer": said} for key, said in answers.items()]
    answered = SystemFile(name, jsonl(folder / f"{name}.jsonl", rows))
    return evaluate_answers(store, "v1", [answered], EvaluateRequest("v1", "test", reason=reason))


def test_answers_on_a_sealed_part_are_a_sealed_evaluation_with_a_reason(many: Store, tmp_path: Path) -> None:
    right = {name: name[1:] for name in sealed_ids(many)}
    with pytest.raises(RefusedError, match="sealed"):
        sealed_evaluation(many, tmp_path, "new", right, reason=None)
    evaluation = sealed_evaluation(many, tmp_path, "new", right)
    assert (evaluation.query_ids, evaluation.systems[0].per_query) == (None, None)
    assert evaluation.systems[0].overall["exact_match"].value == 1
    assert evaluation.sealed_count[1:3] == (1, 1)
    refused, stored = read_overview(many, "v1").sealed_evaluations
    assert (stored.parts, stored.reason, stored.of_answers) == (["test"], "May", True)
    assert list(stored.shown) == ["exact_match", "f1"]
    assert (refused.shown, refused.reason) == ({}, "")
    with many.reading() as cursor:
        assert read_openings(cursor, evaluation.release_id) == [], "nobody saw a reference"


def pooled(store: Store, kit: Path) -> list[tuple[str, str]]:
    """Bring in what `goldgrade answers to-grade` wrote; the pairs to grade, one id for each text."""
    import_corpus(store, kit / "corpus.jsonl")
    import_queries(store, kit / "queries.jsonl")
    import_run(store, kit / "answers.trec", "answers")
    build_pool(store, PoolRequest(["run:answers"], depth=10, random_negatives=0, seed=0))
    return rows_of(store, "SELECT query_id, document_id FROM candidates ORDER BY ALL")


def graded_project(folder: Path, kit: Path, guide: str, grades: dict[str, int]) -> Path:
    """What `goldgrade answers to-grade` wrote, graded by two people, settled and frozen as `graded`."""
    store = new_project(folder / f"{guide}.duckdb")
    with store.transaction() as cursor:
        store_guide(cursor, read_guide(ROOT / "labeling_guides" / guide))
    pairs = pooled(store, kit)
    for who in ("ada", "ben"):
        given = [ImportedJudgment(query, document, who, grades[query]) for query, document in pairs]
        add_judgments(store, given, f"{who}.csv")
    make_split(store, SplitRequest((("graded", 1.0),), 0, LEXICAL))
    freeze(store, "graded", override="a test")
    store.close()
    return store.path


def test_people_grade_answers_in_a_project_of_their_own(project: Store, tmp_path: Path) -> None:
    dev = [topic for topic in part(project, "dev") if topic != "origami"]
    new = source(tmp_path, {dev[0]: "right words", dev[1]: "", dev[2]: "wrong"})
    old = source(tmp_path, {dev[0]: "right words", dev[2]: "other", "moon": "cheese"}, "old")
    kit = write_answers_to_grade(project, "v1", [new, old], "correctness", tmp_path / "kit")
    assert (kit.answers, kit.queries) == (3, 2)
    assert kit.left_out == {"empty answer": 1, "answer that is already in the files": 1, "unknown query": 1}
    text = json.loads((tmp_path / "kit" / "corpus.jsonl").read_text().splitlines()[0])["text"]
    assert text.endswith(f"Reference answers:\n- red {min(dev[0], dev[2])}\n- {min(dev[0], dev[2])}")
    assert "new" not in (tmp_path / "kit" / "corpus.jsonl").read_text()
    graded = graded_project(
        tmp_path, tmp_path / "kit", "answer-correctness.md", {f"q-{dev[0]}": 2, f"q-{dev[2]}": 1}
    )
    grades = {"correctness": read_answer_grades("--correctness", f"{graded}=graded")}
    found = {system.name: system for system in scored(project, new, old, grades=grades).systems}
    assert found["new"].overall["correctness"][:1] == (pytest.approx((1 + 0.5) / 2),)
    assert found["new"].overall["correctness"].n == 2
    assert found["new"].ungraded == {"correctness": 0}
    assert found["old"].overall["correctness"].value == pytest.approx(0.75)
    stranger = source(tmp_path, {dev[0]: "never graded"}, "stranger")
    with pytest.raises(InputError, match="none of the answers of 'stranger' is graded"):
        scored(project, stranger, grades=grades)


def test_for_faithfulness_people_see_the_contexts(project: Store, tmp_path: Path) -> None:
    dev = part(project, "dev")[0]
    write_answers_to_grade(project, "v1", [source(tmp_path, {dev: "yes"})], "faithfulness", tmp_path / "kit")
    text = json.loads((tmp_path / "kit" / "corpus.jsonl").read_text())["text"]
    assert text == f"yes\n\nContexts:\n[1] All about the {dev}."
    with pytest.raises(InputError, match="expected correctness or faithfulness"):
        write_answers_to_grade(project, "v1", [source(tmp_path, {dev: "yes"})], "style", tmp_path / "kit")


def test_of_a_sealed_part_faithfulness_alone_is_graded_and_shown_as_one_figure(
    many: Store, tmp_path: Path
) -> None:
    """Contexts are the system's own, references are secrets of the release.

    Ten answers are word for word the same, and are graded for each query on its own.
    """
    ids = sealed_ids(many)
    said = dict(zip(ids, [*["I do not know"] * 10, *ids[10:]], strict=True))
    rows = [{"query_id": name, "answer": said[name], "contexts": [f"about {said[name]}"]} for name in ids]
    new = SystemFile("new", jsonl(tmp_path / "new.jsonl", rows))
    kit = tmp_path / "kit"
    with pytest.raises(RefusedError, match="test of the release 'v1' is sealed"):
        write_answers_to_grade(many, "v1", [new], "correctness", kit, "test")
    assert not kit.exists()
    assert write_answers_to_grade(many, "v1", [new], "faithfulness", kit, "test").answers == 30
    frozen = {row["query_id"]: row["answers"] for row in load_release(many, "v1").rows("answers")}
    written = [json.loads(line) for line in (kit / "corpus.jsonl").read_text().splitlines()]
    assert sorted(row["text"] for row in written) == sorted(
        f"{words}\n\nContexts:\n[1] about {words}" for words in said.values()
    ), f"no reference such as {frozen[ids[0]]}"
    graded = graded_project(
        tmp_path, kit, "answer-faithfulness.md", {one: place % 4 // 2 for place, one in enumerate(ids)}
    )
    grades = {"faithfulness": read_answer_grades("--faithfulness", f"{graded}=graded")}
    evaluation = evaluate_answers(
        many, "v1", [new], EvaluateRequest("v1", "test", reason="May"), grades=grades
    )
    assert evaluation.systems[0].overall["faithfulness"][:1] == (pytest.approx(7 / 30),), (
        "14 of 30 have half the highest grade"
    )
    assert evaluation.systems[0].ungraded == {"faithfulness": 0}
    assert (evaluation.query_ids, evaluation.systems[0].per_query) == (None, None)
    assert list(read_overview(many, "v1").sealed_evaluations[0].shown) == [
        "exact_match",
        "f1",
        "faithfulness",
    ]


def test_the_command_shows_retrieval_answers_and_faithfulness_together(
    project: Store, tmp_path: Path
) -> None:
    dev = [topic for topic in part(project, "dev") if topic != "origami"]
    new = source(tmp_path, {topic: topic for topic in dev})
    write_answers_to_grade(project, "v1", [new], "faithfulness", tmp_path / "kit")
    given = {f"q-{topic}": 2 - n % 2 for n, topic in enumerate(dev)}
    graded = graded_project(tmp_path, tmp_path / "kit", "answer-faithfulness.md", given)
    lines = "".join(f"q-{topic} Q0 {topic}-1 1 1 x\n" for topic in TOPICS)
    (tmp_path / "run.trec").write_text(lines, encoding="utf-8")
    path = ["--project", str(project.path), "evaluate", "v1", "--answers", f"new={new.path}"]
    project.close()
    asked = [*path, "--run", f"new={tmp_path / 'run.trec'}", "--graded", f"faithfulness={graded}=graded"]
    answer = json.loads(invoke([*asked, "--json"], catch_exceptions=False).stdout)
    assert answer["runs"][0]["overall"]["success@10"]["value"] == 1
    overall = answer["answers"]["systems"][0]["overall"]
    assert overall["exact_match"]["value"] == 1
    assert overall["faithfulness"]["n"] == len(dev)
    page = tmp_path / "report.html"
    invoke([*asked, "--out", str(page)], catch_exceptions=False)
    first, *_ = re.findall(r"<h2[^>]*>(.*?)</h2>", page.read_text(encoding="utf-8"))
    assert first == "Retrieval, answers, faithfulness"
    triple = re.search(r"<li>new: (.*?)\.</li>", page.read_text(encoding="utf-8"))
    told = [one.split(" (")[0].rpartition(" ")[0] for one in triple[1].split("; ")]
    assert told == ["retrieval, ndcg_exp@10", "exact_match", "f1", "correctness not", "faithfulness"]
    needs_a_run = invoke([*path, "--judge", "llm", "--hard-negatives"])
    assert isinstance(needs_a_run.exception, InputError)
    assert len(needs_a_run.exception.problems) == 2
    refused = invoke(["--project", path[1], "evaluate", "v1", "--graded", f"faithfulness={graded}=graded"])
    assert isinstance(refused.exception, InputError)
    add_names(project, "lee", role="lead")
    assert graded.name in list_neighbor_projects(project)
    assert list_neighbor_releases(project, graded.name) == ["graded"]
    asked_by_lead = EvaluateRequest(
        *("v1", "dev", ["mrr@10"], []),
        faithfulness=f"{graded.name}=graded",
        answers=((new.name, str(new.path)),),
    )
    done = submit(project, asked_by_lead, "lee")
    assert done.evaluation_id is not None
    with pytest.raises(InputError, match="There is no project /etc/passwd in the same folder"):
        list_neighbor_releases(project, "/etc/passwd")


def test_a_table_of_answers_has_its_columns_and_fields_named(project: Store, tmp_path: Path) -> None:
    dev = [topic for topic in part(project, "dev") if topic != "origami"]
    table = tmp_path / "new.csv"
    lines = "".join(f"q-{topic},7,{topic},All about it.\n" for topic in dev)
    table.write_text(f"asked,number,said,given\n{lines}", encoding="utf-8")
    command = ["--project", str(project.path), "evaluate", "v1", "--answers", str(table)]
    project.close()
    fields = ["--map", "query=asked", "--map", "answer=said", "--map", "context=given"]
    answer = json.loads(invoke([*command, *fields, "--json"], catch_exceptions=False).stdout)
    assert answer["answers"]["systems"][0]["overall"]["exact_match"]["value"] == 1
    unnamed = invoke(command)
    assert isinstance(unnamed.exception, InputError)
    (tmp_path / "run.trec").write_text(f"q-{dev[0]} Q0 x 1 1 x\n", encoding="utf-8")
    both = invoke([*command, "--map", "query=asked", "--run", str(tmp_path / "run.trec")])
    assert isinstance(both.exception, InputError)
    assert [problem.split(" ")[0] for problem in both.exception.problems] == ["--map"]
    alone = invoke([*command[:4], "--run", str(tmp_path / "run.trec"), "--map", "answer=said"])
    assert "--map answer is for answers" in str(alone.exception)
