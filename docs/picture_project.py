"""The project of the pictures: this Python's documentation strings, with people at work on them.

It is made of the demo's own sample (documentation strings, written traffic, two readers' grades). Four people
have worked on a round for days, somebody practises, and evaluators have scored runs: BM25's, the same with
its first places turned, and the same in random order. People ask about the guide and write reference answers.
Then comes a second quarter, with what is due, and a coverage map.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from curation.core.digests import digest
from curation.evaluation.evaluate import submit as submit_runs
from curation.evaluation.llm_judges.judge_import import import_judge
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.baselines import BaselineRequest, write_baselines
from curation.guides.drafts import save_draft
from curation.guides.guide_text import read_guide
from curation.guides.questions import answer_question, ask_about_item
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.decision_lines import read_decision_lines
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.readers.fields import JudgmentFields
from curation.labeling.consensus.adjudication import import_decisions
from curation.labeling.imported import import_judgments
from curation.labeling.judging import Submission
from curation.labeling.requests import AnswerTaskRequest, PracticeRequest, RoundRequest
from curation.labeling.rounds.create_practice import open_practice
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.item_views import ItemView
from curation.labeling.session.query_answers import answer_query
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.labeling.written_answers.create_task import open_answer_task
from curation.labeling.written_answers.writing import read_writing_queue, write_answer
from curation.operations.project import init_project
from curation.operations.second_quarter import CORPUS_FIELDS, TRAFFIC_FIELDS, import_second_quarter
from curation.operations.stdlib_corpus import write_stdlib_corpus
from curation.people.accounts import add_annotator
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.queries.coverage.report import find_coverage
from curation.queries.coverage.writing.tasks import open_tasks
from curation.queries.requests import CoverageRequest
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.queries.tag_rules import find_tags
from curation.relabeling.plan import make_plan
from curation.relabeling.request import PlanRequest
from curation.releases.freeze.freeze import freeze
from curation.releases.requests import FreezeRequest
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store, utc_now
from tests.support import ROOT
from tests.support.served import PASSWORD

SAMPLE = ROOT / "data" / "sample"
PEOPLE = {
    "ada": "annotator",
    "grace": "annotator",
    "joan": "annotator",
    "mary": "annotator",
    "hedy": "annotator",
    "rosalind": "reviewer",
    "lead": "lead",
    "vera": "evaluator",
    "walt": "evaluator",
}
SEED = 7
DAYS = 4
"""Days for which the round has been open, a session of each person on every one of them."""


def build(folder: Path) -> Path:
    """The project that is looked at."""
    store = init_project(folder / "goldgrade.duckdb")
    write_stdlib_corpus(folder / "corpus.jsonl")
    import_corpus(store, folder / "corpus.jsonl", CORPUS_FIELDS)
    import_traffic(store, SAMPLE / "traffic.csv", TRAFFIC_FIELDS)
    draw_sample(store, DrawRequest(60, SEED))
    find_tags(store)
    build_pool(store, PoolRequest(["bm25"], depth=8, random_negatives=3, seed=SEED))
    for name, role in PEOPLE.items():
        add_annotator(store, name, role, PASSWORD)
    columns = JudgmentFields(query="query", document="document", annotator="annotator", grade="grade")
    import_judgments(store, SAMPLE / "judgments.csv", columns, skip_unknown=True)
    decisions = SAMPLE / "adjudications.csv"
    import_decisions(store, read_decision_lines(decisions), source=decisions)
    make_split(store, SplitRequest((("dev", 0.7), ("test", 0.3)), SEED))
    freeze(
        store,
        FreezeRequest(
            "sample", allow_disputed=True, override="A picture of a release, not one to measure by."
        ),
    )
    open_round(
        store, RoundRequest("autumn", ["ada", "grace", "joan", "mary"], overlap=2, duplicates=0.08, seed=SEED)
    )
    with store.transaction() as cursor:  # it was opened some days ago, and people have worked on it since
        cursor.execute("UPDATE rounds SET opened_at = ? WHERE name = 'autumn'", [ago(DAYS)])
    for name, answers in (("ada", 160), ("grace", 140), ("joan", 100), ("mary", 80)):
        grade(store, name, answers)
    open_practice(store, PracticeRequest("warm-up", ["hedy"], queries=8, seed=SEED))
    evaluated(store, folder)
    judged(store, folder / "judge.csv")
    asked_and_answered(store)
    renewed(store, folder / "corpus.jsonl")
    store.close()
    return store.path


def evaluated(store: Store, folder: Path) -> None:
    """Score BM25's run and two others that are made of it: its first five places turned, and shuffled."""
    write_baselines(store, BaselineRequest("sample", ["bm25"], folder / "runs", depth=20))
    with (folder / "runs" / "bm25.trec").open(encoding="utf-8") as file:
        lines = [line.split() for line in file]
    systems = {
        "bm25": lambda rank, name: rank,
        "bm25-turned": lambda rank, name: 6 - rank if rank < 6 else rank,
        "shuffled": lambda rank, name: int(digest(name)[:6], 16),
    }
    for system, order in systems.items():
        path = folder / "runs" / f"{system}.trec"
        rows = [f"{q} Q0 {d} 0 {-order(int(rank), d)} {system}\n" for q, _, d, rank, *_ in lines]
        path.write_text("".join(rows), encoding="utf-8")
    asked = EvaluateRequest("sample", "dev", ["ndcg_exp@10", "mrr@10", "recall@10"], ["stratum"])
    files = tuple((name, str(folder / "runs" / f"{name}.trec")) for name in systems)
    submit_runs(store, replace(asked, runs=files[2:]), "walt")
    submit_runs(store, replace(asked, runs=files[:2]), "vera")


def judged(store: Store, path: Path) -> None:
    """Import the grades of two language models: the first reader's, some of them changed."""
    with (SAMPLE / "judgments.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["annotator"] == "reader-1"]
    for judge, every in (("llama-large", 6), ("llama-small", 2)):
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("query", "document", "grade"))
            for row in rows:
                is_changed = int(digest(judge, row["query"], row["document"])[:6], 16) % every == 0
                grade = (int(row["grade"]) + 1) % 4 if is_changed else row["grade"]
                writer.writerow((row["query"], row["document"], grade))
        columns = JudgmentFields(query="query", document="document", grade="grade")
        import_judge(store, path, judge, columns, skip_unknown=True)


def asked_and_answered(store: Store) -> None:
    """Two questions about the guide, one of them answered; a draft of the next one; and reference answers."""
    at_item = read_queue(store, "ada", 1).showings[0].presentation_id
    asked = ask_about_item(store, "ada", "Is a page of another version a 2 or a 1?", at_item)
    ask_about_item(store, "grace", "Does the title alone count as an answer?")
    answer_question(store, asked, "A 2, where the function is the same.", "lead")
    save_draft(store, read_guide().source.replace("Useful", "Of use"), "lead", None)
    open_answer_task(store, AnswerTaskRequest("pilot", ["ada", "grace", "lead"], most=5, show="pool"))
    for name in ("ada", "grace"):
        query = read_writing_queue(store, name)[0][0]
        write_answer(store, name, query, f"With the csv module, says {name}.", [0], 0)


def renewed(store: Store, corpus: Path) -> None:
    """A quarter later: another corpus and log, what is judged again, and which regions no query tests."""
    import_second_quarter(store, corpus, SAMPLE / "traffic.csv")
    make_plan(store, PlanRequest(0.15, SEED))
    find_coverage(store, CoverageRequest(SEED))
    open_tasks(store, 3, ["lead"], seed=SEED)


def ago(days: float) -> datetime:
    return utc_now() - timedelta(days=days)


def grade(store: Store, name: str, answers: int) -> None:
    """Answer as somebody would, in a session a day; the last ends before the last document of a query."""
    for days in range(DAYS - 1, -1, -1):
        session(store, name, answers // DAYS, ago(days) - timedelta(minutes=30))
    at = utc_now() - timedelta(minutes=5)
    while not (item := read_queue(store, name, 1).showings[0]).asks_about_query:
        at += timedelta(milliseconds=on_screen(item, name))
        submit_judgments(store, name, [answer(item, name, at)])


def session(store: Store, name: str, answers: int, at: datetime) -> None:
    """So many answers from a time on, each some seconds after the one before."""
    items, done = read_queue(store, name, answers).showings, []
    for item in items:
        at += timedelta(milliseconds=on_screen(item, name) + 900)
        done.append(answer(item, name, at))
    submit_judgments(store, name, done)
    for item in items:
        if item.asks_about_query:
            said = ("yes", "partly", "no")[draw(item, name) % 3]
            answer_query(store, name, item.presentation_id, said, f"{name} {item.presentation_id}")


def on_screen(item: ItemView, name: str) -> int:
    """Milliseconds for which somebody looks at an item."""
    return 3_500 + draw(item, name) % 14_000


def answer(item: ItemView, name: str, at: datetime) -> Submission:
    """An answer that depends on the item and, one time in six, on the person."""
    chance = draw(item, name)
    marked = sum(part.marked for part in (*item.title, *item.passage))
    value = min(3, (marked + 1) // 2)
    if chance % 6 == 0:
        value = (value + 1 + chance // 7 % 3) % 4
    told: dict[str, Any] = {
        "note": "Right module, but another function." if chance % 19 == 0 else None,
        "flagged": chance % 23 == 0,
    }
    identity = (item.presentation_id, item.revision)
    key, active = f"{name} {item.presentation_id}", on_screen(item, name)
    told |= {"submitted_at": at, "shown_at": at - timedelta(milliseconds=active)}
    if chance % 29 == 0:
        return Submission(*identity, "cannot_tell", key, reason="query unclear", active_ms=active, **told)
    return Submission(*identity, "grade", key, value, active_ms=active, **told)


def draw(item: ItemView, name: str) -> int:
    return int(digest(name, item.query, "".join(part.text for part in item.title))[:8], 16)
