"""Refusals tell no sealed label: two projects that differ in sealed labels alone refuse in the same words.

Requests are generated: run files and files of answers that are whole, cut, empty, of unknown documents or
wrong in a line, with all kinds of options, by an evaluator and by a lead. What is refused, with which words,
and what the log has of it must not depend on what is sealed.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from curation.core.digests import digest
from curation.core.errors import CurationError
from curation.evaluation.evaluate import submit
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.system_files import SystemFile
from curation.guides.guide_text import read_guide
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.evidence_cells import StatedEvidence
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.reference_answers import import_answers
from curation.labeling.imported import add_judgments
from curation.operations.project import init_project
from curation.releases.overview import read_overview
from curation.releases.sealed_log import set_monthly_limit
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store
from tests.support import examples
from tests.support.evaluated_project import QUERIES, Ranked, query, write_run
from tests.support.freezing import freeze
from tests.support.gold_project import write_corpus
from tests.support.projects import add_names, new_project, rows_of

REQUESTS = examples(240)
SEALED_RULES = Rules(query=None, paraphrase=None, document=None)
QUESTIONS: list[dict[str, Any]] = [
    {"baseline": "a"},
    {"baseline": "nobody"},
    {"test": "t"},
    {"test": "none"},
    {"judge": "robot"},
    {"hard_negatives": True},
    {"to_pool": 5},
]
MEASURES = (
    *(None, ["ndcg_exp@10"], ["mrr@10", "map"], ["precision@1"], ["evidence_recall@5"]),
    *(["evidence_within@9"], ["set_f1"], ["rprec"], ["judged@10"], ["nonsense"]),
    [f"recall@{n}" for n in range(1, 14)],
)


class Labels(NamedTuple):
    """What people said of sealed queries: grades of their documents, evidence, and reference answers."""

    grades: tuple[int | None, ...]
    evidence: bool
    answer: str | None


FIRST = Labels((3, 2, 1, *[0] * 7, *[None] * 4), True, "right")


SECOND = Labels((*[None] * 4, *[0] * 7, 3, 3, 3), False, None)


PLACES = len(FIRST.grades)


def documents_of(number: int) -> list[str]:
    return [f"d{number}.{place}" for place in range(PLACES)]


def lists_of(name: str) -> Ranked:
    """A system's own order of each query's documents."""
    return {
        f"q{number}": sorted(documents_of(number), key=lambda one: digest(name, number, one))
        for number in range(QUERIES)
    }


def twin(folder: Path, labels: Labels) -> Store:
    """60 queries, half of them sealed; the twins differ in sealed queries alone.

    The split is of ids alone, so it is known before anything is judged.
    """
    folder.mkdir()
    guide = folder / "guide.md"
    evidence = "\nevidence: {ask: optional, from_grade: 3}\n---\n"
    guide.write_text(read_guide().source.replace("\n---\n", evidence, 1), encoding="utf-8")
    store = init_project(folder / "project.duckdb", guide)
    rows = [
        {"id": name, "title": name, "text": f"all of {name} in some words"}
        for number in range(QUERIES)
        for name in documents_of(number)
    ]
    import_corpus(store, write_corpus(folder / "corpus.jsonl", rows))
    queries = [query(number) for number in range(QUERIES)]
    sealed = sealed_numbers(folder, queries)
    for who in ("ada", "ben"):
        given = []
        for number in range(QUERIES):
            said = labels if number in sealed else FIRST
            for name, grade in zip(documents_of(number), said.grades, strict=True):
                if grade is not None:
                    marks = (StatedEvidence(None, None, "all of"),) if said.evidence and grade == 3 else ()
                    given.append(ImportedJudgment(f"q{number}", name, who, grade, evidence=marks))
        add_judgments(store, given, f"{who}.csv", queries)
    answers = [
        {"query_id": f"q{number}", "answer": said.answer}
        for number in range(QUERIES)
        if (said := labels if number in sealed else FIRST).answer is not None
    ]
    path = folder / "references.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in answers), encoding="utf-8")
    import_answers(store, path)
    make_split(store, SplitRequest((("dev", 0.5), ("test", 0.5)), 1, SEALED_RULES))
    freeze(store, "v1", override="a twin")
    add_names(store, "vera", role="evaluator")
    add_names(store, "lee", role="lead")
    rows_of_test = rows_of(store, "SELECT query_id FROM split_assignments WHERE part = 'test'")
    assert {int(name[1:]) for (name,) in rows_of_test} == sealed
    return store


def sealed_numbers(folder: Path, queries: list[Any]) -> set[int]:
    """The queries that the split will seal."""
    store = new_project(folder / "split.duckdb")
    rows = [{"id": name, "text": name} for number in range(QUERIES) for name in documents_of(number)]
    import_corpus(store, write_corpus(folder / "ids.jsonl", rows))
    given = [ImportedJudgment(one.query_id, f"d{one.query_id[1:]}.0", "ada", 1) for one in queries]
    add_judgments(store, given, "ada.csv", queries)
    make_split(store, SplitRequest((("dev", 0.5), ("test", 0.5)), 1, SEALED_RULES))
    rows_of_test = rows_of(store, "SELECT query_id FROM split_assignments WHERE part = 'test'")
    store.close()
    return {int(name[1:]) for (name,) in rows_of_test}


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    folder = tmp_path_factory.mktemp("twins")
    stores = twin(folder / "one", FIRST), twin(folder / "other", SECOND)
    yield stores
    for store in stores:
        store.close()


def run_file(path: Path, chance: random.Random) -> Path:
    """A run: whole, with few queries, of unknown documents, with repeats, of chunks, or wrong in a line."""
    lists = lists_of(f"system {chance.randrange(9)}")
    kind = chance.choice([0, 0, 0, 0, 0, 0, *range(9)])
    if kind == 1:
        lists = {name: lists[name] for name in chance.sample(sorted(lists), chance.choice([1, 9, 10, 25]))}
    elif kind == 2:
        lists = {name: [f"nowhere {place}" for place in range(6)] for name in lists}
    elif kind == 3:  # the question whether this document was judged, among those that nobody found
        place, others = chance.randrange(PLACES), [f"d{number}.0" for number in range(10)]
        lists = {name: list(dict.fromkeys([f"d{name[1:]}.{place}", *others])) for name in lists}
    elif kind == 4:
        lists = {name: [*found[:2], found[0]] for name, found in lists.items()}
    elif kind == 5:
        lists = {f"another {name}": found for name, found in lists.items()}
    elif kind == 6:
        lists = {
            name: [f"{one}#0-{chance.randrange(1, 40)}" for one in found] for name, found in lists.items()
        }
    write_run(path, {name: [one.replace(" ", "") for one in found] for name, found in lists.items()})
    if kind == 7:
        path.write_text(
            path.read_text() + chance.choice(["q0 Q0 d0.0 1 high run\n", "q0\n", "q0 Q0 d0.0 1 1 run\n"])
        )
    elif kind == 8:
        path.write_text("")
    return path


def answer_file(path: Path, chance: random.Random) -> Path:
    """Answers: whole, few, empty ones, an unknown query, one query twice, or no answers at all."""
    rows = [
        {"query_id": f"q{number}", "answer": chance.choice(["right", "", "wrong"])}
        for number in range(QUERIES)
    ]
    kind = chance.choice([0, 0, 0, *range(5)])
    if kind == 1:
        rows = chance.sample(rows, chance.choice([1, 9, 10]))
    elif kind == 2:
        rows = [*rows, rows[0]]
    elif kind == 3:
        rows = [*rows, {"query_id": "nowhere", "answer": "right"}]
    elif kind == 4:
        rows = [{"query_id": row["query_id"], "citations": "d0.0"} for row in rows]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def generated(folder: Path, number: int) -> tuple[str, EvaluateRequest]:
    """A person and their request."""
    chance = random.Random(number)
    who = chance.choice(["vera", "vera", "vera", "lee"])
    files = [(name, str(run_file(folder / f"{number}.{name}.trec", chance))) for name in "ab"]
    answers = [("a", str(answer_file(folder / f"{number}.jsonl", chance)))]
    request = EvaluateRequest(
        "v1",
        chance.choice(["test"] * 20 + ["all", "dev", "none", None]),
        reason=chance.choice(["May"] * 20 + ["", None]),
        runs=tuple(files[: chance.choice([0, 1, 1, 1, 1, 1, 2])]),
        answers=tuple(answers[: chance.choice([0, 0, 0, 1])]),
        skip_repeated=chance.random() < 0.2,
    )
    rare = 1 if who == "lee" else 0.3
    if chance.random() < 0.4 * rare:
        request = replace(request, measures=chance.choice(MEASURES))
    if chance.random() < 0.2 * rare:
        request = replace(request, by=chance.choice([("tag",), ("source", "stratum"), ("cluster",), ("no",)]))
    if chance.random() < 0.15 * rare:
        request = replace(request, relevant=chance.choice([1, 2, 3, 4, 99]))
    if chance.random() < 0.3 * rare:
        request = replace(request, **chance.choice(QUESTIONS))
    if chance.random() < 0.1 * rare:
        request = replace(request, correctness="none.duckdb=v1")
    return who, request


def refusal(store: Store, who: str, request: EvaluateRequest) -> str:
    """The whole of what a refusal says; '' where nothing is refused."""
    try:
        submit(store, request, who)
    except CurationError as error:
        return f"{type(error).__name__}: {error} | {error.found}"
    return ""


@pytest.mark.costly("an attack by generated requests")
def test_projects_that_differ_in_sealed_labels_alone_refuse_in_the_same_words(
    twins: tuple[Store, Store], tmp_path: Path
) -> None:
    for store in twins:
        set_monthly_limit(store, 10_000, "lee")
    refused = Counter[str]()
    for number in range(REQUESTS):
        who, request = generated(tmp_path, number)
        one, other = (refusal(store, who, request) for store in twins)
        assert one == other, f"request {number} by {who}: {request}"
        refused[who] += bool(one)
    assert refused["vera"] >= REQUESTS // 3
    assert refused["lee"] >= REQUESTS // 12
    assert refused.total() <= REQUESTS - REQUESTS // 4, "many requests are answered"
    one, other = (
        [
            (row.system, row.evaluated_by, row.reason, row.refused)
            for row in read_overview(store, "v1").sealed_evaluations
        ]
        for store in twins
    )
    assert one == other, "the log tells as little"
    assert sum(row[3] is not None for row in one) >= REQUESTS * 5 // 12


def test_a_refusal_has_no_figure_of_lists(twins: tuple[Store, Store], tmp_path: Path) -> None:
    """What a run finds among judged documents, or shares with earlier runs, refuses nothing any more."""
    for store in twins:
        set_monthly_limit(store, 10_000, "lee")
        for number in range(6):
            lists = lists_of("a") | {"q1": lists_of("b")["q1"]} if number % 2 else lists_of("a")
            lists = {
                name: [found[0], *(f"no{place}" for place in range(20))] for name, found in lists.items()
            }
            path = write_run(tmp_path / f"near{number}.trec", lists)
            request = EvaluateRequest("v1", "test", reason="May", runs=(("near", str(path)),))
            assert refusal(store, "vera", request) == ""
            assert refusal(store, "lee", replace(request, measures=["precision@6", "precision@7"])) == ""


def test_the_limit_refuses_at_the_same_request(twins: tuple[Store, Store], tmp_path: Path) -> None:
    path = write_run(tmp_path / "a.trec", lists_of("a"))
    told = []
    for store in twins:
        with store.transaction() as cursor:
            cursor.execute("DELETE FROM sealed_evaluations")
        set_monthly_limit(store, 3, "lee")
        request = EvaluateRequest("v1", "test", reason="May", runs=(("a", str(path)),))
        told.append([refusal(store, "vera", request) for _ in range(5)])
    assert told[0] == told[1]
    assert [bool(one) for one in told[0]] == [False, False, False, True, True]


def test_a_figure_of_few_sealed_queries_is_no_refusal(twins: tuple[Store, Store], tmp_path: Path) -> None:
    """Evidence that no sealed query has gives measures without a value, as an evaluation of others has."""
    path = write_run(tmp_path / "a.trec", lists_of("a"))
    options = EvaluateRequest("v1", "test", ["evidence_recall@5"], reason="May")
    found = [evaluate_runs(store, "v1", [SystemFile("a", path)], options, "lee").runs[0] for store in twins]
    values = [system.overall["evidence_recall@5"] for system in found]
    assert values[0].value is not None
    assert (values[1].value, values[1].n, values[1].no_interval) == (None, 0, "fewer than 10 queries")
