"""A project whose sealed pairs have what no open one has: a rare grade, and rare words in notes and reasons.

Whatever shows the grade `CANARY`, or a word with `WORD` in it, shows what people said of a sealed pair. So
does whatever names a document of a sealed pair without listing all pairs alike.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from curation.evaluation.llm_judges.judge_import import import_judge
from curation.guides.guide_text import read_guide
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.evidence_cells import StatedEvidence
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.run_import import import_run
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.readers.fields import JudgmentFields, TrafficFields
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.imported import add_judgments
from curation.labeling.judging import Submission
from curation.labeling.requests import AnswerTaskRequest, PracticeRequest, RoundRequest
from curation.labeling.rounds.create_practice import open_practice
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.round_states import set_round_state
from curation.labeling.session.submit import submit_judgments
from curation.labeling.written_answers.create_task import open_answer_task
from curation.labeling.written_answers.writing import read_writing_item, read_writing_queue, write_answer
from curation.negatives.audit import open_audit
from curation.negatives.requests import AuditRequest
from curation.operations.project import init_project
from curation.people.accounts import add_annotator
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.relabeling.plan import make_plan
from curation.relabeling.request import PlanRequest
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store
from tests.support.evaluated_project import write_run
from tests.support.freezing import freeze
from tests.support.gold_project import write_corpus
from tests.support.projects import PASSWORD, add_names, rows_of
from tests.support.relabeled import answer_round, open_quarter

CANARY, WORD = 97, "zyzzogeton"
"""A grade, and a word, that only sealed pairs have."""
QUERIES = 28
MARKED = re.compile(r"(?<!w)ort\d\d wort\d\d a t(?!ext)")
"""Marked in the first document of a sealed pair: in its text, letters come before and after it."""
APART = Rules(query=None, paraphrase=None, document=None)
PEOPLE = {
    "ada": "annotator",
    "ben": "annotator",
    "fay": "annotator",
    "gil": "annotator",
    "rosa": "reviewer",
    "lee": "lead",
    "vera": "evaluator",
}
SIGN_IN = ("ada", "rosa", "lee", "vera")
SECOND = ("cyd", "dee", "eve")


class SealedProject(NamedTuple):
    """The project, its folder of files, and its sealed queries; the first document of each has the canary."""

    store: Store
    folder: Path
    sealed: tuple[str, ...]

    @property
    def documents(self) -> set[str]:
        """The documents of sealed pairs."""
        return {f"z{query}-{letter}" for query in self.sealed for letter in "abc"} | {"zboth"}

    @property
    def open(self) -> str:
        """A query that is not sealed."""
        return next(f"q{n:02}" for n in range(QUERIES) if f"q{n:02}" not in self.sealed)


def build_sealed_project(folder: Path) -> SealedProject:
    """Two rounds, v1, votes and decisions on its sealed pairs, v2, and work of every other kind."""
    guide = folder / "guide.md"
    source = read_guide().source.replace("value: 3", f"value: {CANARY}")
    takes_evidence = source.replace(
        "\n---\n", f"\nevidence: {{ask: optional, from_grade: {CANARY}}}\n---\n", 1
    )
    guide.write_text(takes_evidence, encoding="utf-8")
    store = init_project(folder / "project.duckdb", guide)
    _import(store, folder)
    for name, role in PEOPLE.items():
        if name in SIGN_IN:
            add_annotator(store, name, role, PASSWORD)
        else:
            add_names(store, name, role=role)
    add_names(store, *SECOND)
    build_pool(store, PoolRequest(["bm25", "run:old"], 3, 2, 1))
    _practise(store, folder)
    open_round(store, RoundRequest("try", ["ada", "ben"], pilot=True, queries=4, seed=3))
    open_round(store, RoundRequest("first", ["ada", "ben"], duplicates=0.1, seed=1))
    for name in ("try", "first"):
        answer_round(store, name, _first_grade)
    make_split(store, SplitRequest((("dev", 0.5), ("test", 0.5)), 1, APART))
    freeze(store, "v1", allow_disputed=True, override="A project to search.")
    rows = rows_of(store, "SELECT query_id FROM split_assignments WHERE part = 'test' ORDER BY query_id")
    project = SealedProject(store, folder, tuple(row[0] for row in rows))
    _judge_sealed(project)
    _renew(project)
    return project


def _import(store: Store, folder: Path) -> None:
    words = {f"q{n:02}": f"wort{n:02}" for n in range(QUERIES)}
    rows = [
        {
            "id": f"z{query}-{letter}",
            "title": f"About {query} {letter}",
            "text": f"{word} {word} {letter} text.",
        }
        for query, word in words.items()
        for letter in "abc"
    ]
    rows.append({"id": "zboth", "title": "Both", "text": " ".join(words.values())})
    files = {
        "corpus.jsonl": rows,
        "queries.jsonl": [{"id": query, "text": f"{word} thing"} for query, word in words.items()],
        "traffic.jsonl": [{"query": f"{word} thing", "count": 9} for word in [*words.values(), "newer"]],
        "answers.jsonl": [{"query_id": query, "answer": f"an answer {query}"} for query in words],
        "split.jsonl": [
            {"chunk_id": f"c{place}", "document_id": row["id"], "chunk_text": row["text"]}
            for place, row in enumerate(rows)
        ],
        "nuggets.jsonl": [{"query_id": query, "nugget": "a fact", "importance": "okay"} for query in words],
        "judge.jsonl": [
            {"query": query, "document": f"z{query}-{letter}", "grade": grade}
            for query in words
            for letter, grade in zip("abc", (2, 1, 0), strict=True)
        ],
    }
    for name, lines in files.items():
        write_corpus(folder / name, lines)
    lists = {query: [f"z{query}-{letter}" for letter in "cba"] for query in words}
    write_run(folder / "old.trec", lists)
    import_corpus(store, folder / "corpus.jsonl")
    import_queries(store, folder / "queries.jsonl")
    import_traffic(store, folder / "traffic.jsonl", TrafficFields(query="query", count="count"))
    import_run(store, folder / "old.trec", "old")
    import_judge(store, folder / "judge.jsonl", "robot", JudgmentFields())


def _first_grade(who: str, query: str, document: str) -> int:
    """A query's third document is not relevant, as are others' documents; on the second annotators differ."""
    own = document.startswith(f"z{query}-")
    return {"a": 1, "b": 2 if who == "ada" else 0}.get(document[-1], 0) if own else 0


def _practise(store: Store, folder: Path) -> None:
    """Practice on pairs that are sealed afterwards, answered by ada before."""
    lines = [
        {"query": f"q{n:02}", "document": f"zq{n:02}-a", "grade": CANARY, "explanation": f"{WORD} explained"}
        for n in range(QUERIES)
    ]
    file = write_corpus(folder / "known.jsonl", lines)
    open_practice(store, PracticeRequest("warm-up", ["ada"], queries=QUERIES, pass_mark=0.1, file=file))
    answer_round(store, "warm-up", lambda *_: 1)
    set_round_state(store, "warm-up", "closed", "command line", "done")


def _judge_sealed(project: SealedProject) -> None:
    """Three more people find the first document of sealed pairs excellent, and two the second."""
    store = project.store
    given = []
    for query in project.sealed:
        for who in SECOND:
            best = (query, f"z{query}-a", who, CANARY, f"{WORD} note of {who}")
            given.append(ImportedJudgment(*best, evidence=(_evidence(query),)))
        given += [ImportedJudgment(query, f"z{query}-b", who, CANARY, f"{WORD} b") for who in SECOND[:2]]
    for query in project.sealed[:2]:
        given += [ImportedJudgment(query, "zboth", who, CANARY) for who in SECOND]
    add_judgments(store, given, "second.csv")
    for query in project.sealed[:4]:
        decide_pair(store, query, f"z{query}-b", CANARY, f"{WORD} decided", "rosa")
    names = (*project.sealed[:2], project.open)
    open_answer_task(store, AnswerTaskRequest("faq", ["ben", "fay"], queries=names, show="pool"))
    for who in ("ben", "fay"):
        for one in read_writing_queue(store, who)[0]:
            query = read_writing_item(store, who, one).query
            alike, apart = (f"wort{name[1:]}" in query for name in project.sealed[:2])
            said = f"{WORD} {'alike' if alike else who} answer" if alike or apart else "an open answer"
            write_answer(store, who, one, said, [0], 0)


def _evidence(query: str) -> StatedEvidence:
    """A part of the first document of a query, which begins and ends within a word."""
    word = f"wort{query[1:]}"
    quote = f"{word[1:]} {word} a t"
    return StatedEvidence(1, 1 + len(quote), quote)


def _renew(project: SealedProject) -> None:
    """A second release, a plan that judges pairs again, flags and notes on them, and an audit."""
    store = project.store
    make_split(store, SplitRequest((("dev", 0.5), ("test", 0.5)), 1, APART))
    freeze(store, "v2", allow_disputed=True, override="A project to search.")
    plan = make_plan(store, PlanRequest(0.2, 5))
    open_quarter(store, SECOND, plan.plan_id, name="again", duplicates=0.0)
    rows = rows_of(
        store,
        "SELECT presentation_id, annotator, query_id, document_id FROM live_presentations "
        "JOIN rounds USING (round_id) WHERE name = 'again' ORDER BY ALL",
    )
    for number, (presentation, who, query, document) in enumerate(rows):
        sealed = query in project.sealed
        note = f"{WORD} flagged" if sealed else "flagged"
        grade = _again(project, query, document)
        one = Submission(presentation, 0, "grade", f"answer {number:04}", grade, note=note, flagged=True)
        (done,) = submit_judgments(store, who, [one])
        assert done.status == "saved", done
    open_audit(store, AuditRequest(["fay"], size=40, seed=1, depth=10, systems=["bm25"]))
    answer_round(store, "audit-1", lambda _, query, __: CANARY if query in project.sealed[:4] else 0)


def _again(project: SealedProject, query: str, document: str) -> int:
    """The canary for documents of sealed queries; so no document ties a sealed query to an open one."""
    return CANARY if query in project.sealed and document.startswith(f"z{query}-") else 0
