"""A project in which every page has something to show, and the pages with what says that they are there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from urllib.parse import urljoin

import numpy as np
from playwright.sync_api import Page, expect

from app.navigation import all_pages
from curation.guides.drafts import save_draft
from curation.guides.guide_text import read_guide
from curation.guides.questions import answer_question, ask_about_item
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.readers.lines import clean_text
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.consensus.disputes import find_disputes
from curation.labeling.judging import Submission
from curation.labeling.requests import AnswerTaskRequest, RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.query_answers import answer_query
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.labeling.written_answers.create_task import open_answer_task
from curation.labeling.written_answers.writing import read_writing_queue as answering_queue
from curation.labeling.written_answers.writing import write_answer
from curation.operations.project import init_project
from curation.people.accounts import add_annotator
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.queries.coverage.clusters import Cluster
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.entities import Entity
from curation.queries.coverage.matched_queries import write_matches
from curation.queries.coverage.matching import EntityMatch
from curation.queries.coverage.partitions import Partitions
from curation.queries.coverage.stored_map import write_map
from curation.queries.coverage.writing.tasks import open_tasks
from curation.queries.coverage.writing.writing_queue import read_writing_queue, write_task
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store
from curation.store.documents import current_snapshot
from tests.support.freezing import freeze
from tests.support.projects import import_rows
from tests.support.served import PASSWORD, Served, settled

PEOPLE = {"anna": "annotator", "ben": "annotator", "rosa": "reviewer", "lee": "lead"}
HEADINGS = {
    **{f"/{page.address}": page.title for page in all_pages() if page.shows_title},
    "/queries?part=All queries": "Queries",
    "/rounds?part=Open a round": "Rounds",
    "/agreement?round=gulls": "Agreement",
    **{f"/write?part={part}": "Write" for part in ("Answers", "Decide", "Tasks")},
    **{f"/queries?part={part}": "Queries" for part in ("Pool", "Coverage")},
    **{f"/releases?stage=Re-label&quarter={part}": "Releases" for part in ("Due", "Choose pairs", "Report")},
    "/label?show=consistency": "My consistency",
    "/query?id=q0": "gulls 0",
    "/query?id=q0&shown=Releases": "gulls 0",
    "/releases?stage=Releases&view=Card": "Releases",
    "/releases?stage=Releases&view=Export": "Releases",
    **{f"/releases?stage={stage}": "Releases" for stage in ("Rule", "Gate", "Split", "Freeze")},
    **{
        f"/settings?part=Guide&show={part}": "Settings"
        for part in ("Document", "Edit", "Publish", "Versions", "Questions")
    },
    **{f"/settings?part={part}": "Settings" for part in ("Backup", "Notices")},
    **{f"/queries?part=Coverage&of={part}": "Queries" for part in ("Regions", "Written", "Method")},
}
"""The pages besides Label and Adjudicate, each as the lead sees it."""
LOOPS = ("/", "/adjudicate")


def build(folder: Path, words: str, note: str, long_text: str = "") -> Path:
    """A project whose titles, texts, queries, needs and notes hold `words`, judged in part and in dispute."""
    store = init_project(folder / "project.duckdb")
    documents = [
        {"_id": f"d{n}", "title": f"Gulls {n} {words}", "text": f"Gulls {n} fly. {words} " * 3, "url": note}
        for n in range(8)
    ]
    documents.append({"_id": "long", "title": "Long gulls", "text": f"Gulls. {words} {long_text}", "url": ""})
    queries = [{"_id": f"q{n}", "text": f"gulls {n} {words}", "information_need": words} for n in range(3)]
    import_rows(store, documents, queries)
    build_pool(store, PoolRequest(["bm25"], depth=6, random_negatives=9, seed=1))
    for name, role in PEOPLE.items():
        add_annotator(store, name, role, PASSWORD)
    open_round(store, RoundRequest("gulls", ["anna", "ben"], overlap=2, duplicates=0, seed=3))
    _judge(store, note)
    _write_answers(store, words)
    _ask_about_the_guide(store, words)
    _cover(store, words)
    store.close()
    return store.path


def _judge(store: Store, note: str) -> None:
    for name, value in (("anna", 0), ("ben", 3)):
        for place, item in enumerate(read_queue(store, name, 18).showings):
            kind = "cannot_tell" if place == 3 else "grade"
            title = "".join(part.text for part in item.title)
            agreed = {**dict.fromkeys("0246", 2), "u": 0}  # alike for both, whatever their orders
            done = submit_judgments(
                store,
                name,
                [
                    Submission(
                        item.presentation_id,
                        item.revision,
                        kind,
                        f"{name} {item.presentation_id}",
                        None if kind == "cannot_tell" else agreed.get(title[6:7], value),
                        reason="other" if kind == "cannot_tell" else None,
                        note=note,
                        flagged=place % 4 == 0,
                    )
                ],
            )
            assert done[0].status == "saved", done
            answer_query(store, name, item.presentation_id, "no", f"{name} answers {item.presentation_id}")
    first = find_disputes(store)[0]
    decide_pair(store, first.query_id, first.document_id, 1, note, "rosa")
    make_split(store, SplitRequest((("test", 1.0),), 1, Rules(paraphrase=None)))
    freeze(store, "first", allow_disputed=True, override="A project to look at.")


def _ask_about_the_guide(store: Store, words: str) -> None:
    """Two questions, one of them answered, and the lead's draft of the next guide."""
    said = words.replace("\0", "")
    ask_about_item(store, "anna", said, read_queue(store, "anna", 1).showings[0].presentation_id)
    asked = ask_about_item(store, "ben", said)
    answer_question(store, asked, said, "lee")
    source = read_guide().source.replace("Useful", "In part")
    save_draft(store, f"{source}\nOur [rules of style](https://rules.invalid/).\n", "lee", None)


def _write_answers(store: Store, words: str) -> None:
    """Two people differ on a query; the lead is to write for the others and has written for one."""
    open_answer_task(store, AnswerTaskRequest(words, ["anna", "ben"], queries=["q0"], show="pool"))
    open_answer_task(store, AnswerTaskRequest("wings", ["lee"], 1, queries=["q1", "q2"], show="pool"))
    for name in ("anna", "ben", "lee"):
        words_of = words.replace("\0", name) if words.strip() else name
        write_answer(store, name, answering_queue(store, name)[0][0], words_of, [0, 1], 0)


def _cover(store: Store, words: str) -> None:
    """A coverage map of two regions, one of them a gap, with tasks for the lead and one that is done."""
    parameters = {"extractor": {"name": "phrases"}, "model": "by hand", "seed": 0, "resolution": 1.0}
    documents = [tuple(f"d{n}" for n in held) for held in (range(4), range(4, 8))]
    with store.reading() as cursor:
        snapshot = current_snapshot(cursor)
        queries = read_active_queries(cursor)
    found = CoverageMap(
        map_id="map of every page",
        snapshot_id=snapshot,
        parameters={**parameters, "chosen": "given", "least_documents": 3, "matching": {}},
        entities=[Entity(f"gulls {n} {words}", words) for n in range(2)],
        neighbours=[1, 1],
        document_entities={name: (place,) for place, held in enumerate(documents) for name in held},
        clusters=[Cluster(n, f"gulls {n} {words}", (n,), documents[n], True) for n in range(2)],
        partitions=[Partitions(1.0, [np.array([0, 1])], None)],
        left_out={},
    )
    with store.transaction() as cursor:
        write_map(cursor, found)
        write_matches(cursor, found.map_id, {query.normalised: EntityMatch((0,), ()) for query in queries})
    open_tasks(store, 3, ["lee"], seed=1)
    with store.reading() as cursor:
        task = read_writing_queue(cursor, "lee").task
    write_task(store, task.task_id, clean_text(f"gulls written {words}", Counter()), "lee")


FOLLOWED = """async (address) => {
  const [app, state] = [document.querySelector(".stApp"), { attributeFilter: ["data-test-script-state"] }];
  const asked = new Promise((done) => {
    new MutationObserver(() => done(true)).observe(app, state);
    setTimeout(() => done(false), 20_000);
  });
  const link = document.body.appendChild(document.createElement("a"));
  Object.assign(link, { className: "gs-page", href: address });
  link.click();
  link.remove();
  return await asked;
}"""
"""Follows a link of the app to an address, in the tab's session; whether the app asks for the page then."""


def visit(page: Page, served: Served, path: str) -> None:
    """Go to the address of a page and wait until it is whole."""
    page.goto(f"{served.url}{path}")
    wait_for(page, path)


def go_to(page: Page, path: str) -> None:
    """Go to a page by a link of the page before, and wait until it is whole.

    By its address where the tab asks for nothing, as on a machine that is too busy for its server.
    """
    if not page.evaluate(FOLLOWED, path):
        page.goto(urljoin(page.url, path))
    wait_for(page, path)


def wait_for(page: Page, path: str) -> None:
    if path in LOOPS:
        # First it says that it loads, in words that are still fading in.
        loaded = re.compile("welcome|item|question|nothing")
        expect(page.locator(".grading")).to_have_attribute("data-phase", loaded, timeout=30_000)
    else:
        named = not path.startswith("/query?")  # else the heading is the query, words and all
        heading = page.get_by_role("heading", name=HEADINGS[path], exact=named).first
        heading.wait_for(timeout=30_000)  # `expect` would write down the whole page at each look
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    settled(page)
