"""A quarter in a browser: a lead opens it, an annotator grades blind, the lead freezes and reads the diff.

The documents of a query have one text and one title, and were graded 0 and 3. So what a screen gets for two
of them may differ in the ids of the presentations and in nothing else.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Response, WebSocket, expect

from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.round_states import set_round_state
from curation.operations.project import init_project
from curation.people.accounts import add_annotator
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store
from curation.store.row_types import Query
from tests.support.accessibility import measure, passes, passes_in_both_schemes, passes_in_light
from tests.support.freezing import freeze
from tests.support.projects import rows_of
from tests.support.relabeled import answer_round
from tests.support.served import PASSWORD, Annotating, Served, settled, sign_in

TOPICS, DOCUMENTS = 4, 10
REMARK = "REMARK-OF-THEN"
PAST = (REMARK, "grace", "relabeling", "Re-label", "majority", "spring.csv", "winter", r"20\d\d-Q\d")
"""Words of the past: who judged, their remarks, the file, the release, the plan and its round."""
OLD_GRADES = "SELECT query_id, document_id, grade FROM relabeling_pairs"
SHOWN = """
SELECT presentation_id, query_id, document_id FROM presentations JOIN rounds USING (round_id)
WHERE kind = 'labeling' AND name <> 'winter'
"""
ITEM = """() => {
  const item = document.querySelector('.st-key-grading [data-testid=stBidiComponentIsolated]')
    .shadowRoot.querySelector('.item').cloneNode(true);
  const said = ['.place', '.trace'].map((name) => item.querySelector(name).textContent);
  item.querySelectorAll('.place, .trace').forEach((spot) => spot.remove());
  return [item.outerHTML, ...said];
}"""
"""An item as it is drawn, and apart from it which of the query it is, and what was answered last."""
ID = re.compile(r"[0-9a-f]{32,64}")
OWN = ("presentation_id", "asks_about_query", "item_number")
"""What the items of one query differ in: all of it follows from their order."""


def write_documents(store: Store, folder: Path, rewritten: int) -> None:
    """The documents of the first topics have another text than at first."""
    path = folder / "corpus.jsonl"
    rows = [
        {
            "id": f"q{t}-d{d}",
            "title": f"Topic {t}",
            "text": f"{'Rewritten' if t < rewritten else 'All'} about {t}.",
        }
        for t in range(TOPICS)
        for d in range(DOCUMENTS)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    import_corpus(store, path)


def grade_then(document: str) -> int:
    """Each topic has both grades, and half of the topics begin with either."""
    return 3 * ((int(document[1]) + int(document[-1])) % 2)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A release of the spring, judged by ada and grace, and a corpus with other texts for half."""
    store = init_project(tmp_path / "project.duckdb")
    write_documents(store, tmp_path, rewritten=0)
    for name, role in (("ada", "annotator"), ("lee", "lead")):
        add_annotator(store, name, role, PASSWORD)
    queries = [Query(f"q{n}", f"topic {n}", f"topic {n}", "imported") for n in range(TOPICS)]
    given = [
        ImportedJudgment(
            f"q{t}",
            f"q{t}-d{d}",
            who,
            grade_then(f"q{t}-d{d}"),
            submitted_at=datetime(2026, 2, 2, 9, 0),
            note=REMARK,
        )
        for t in range(TOPICS)
        for d in range(DOCUMENTS)
        for who in ("ada", "grace")
    ]
    add_judgments(store, given, "spring.csv", queries)
    open_round(store, RoundRequest("winter", ["ada"], overlap=1, duplicates=0, again=True))
    answer_round(store, "winter", lambda _, __, document: grade_then(document), datetime(2026, 2, 3, 9, 0))
    set_round_state(store, "winter", "closed")
    make_split(store, SplitRequest((("dev", 1.0),), 1, Rules(query=None, paraphrase=None, document=None)))
    freeze(store, "v1", override="judged outside of goldgrade")
    write_documents(store, tmp_path, rewritten=TOPICS // 2)
    store.close()
    with Served(store.path) as running:
        yield running


class Heard:
    """All that the server says to a tab, as text: bodies of answers and messages of its socket."""

    def __init__(self, page: Page) -> None:
        self.items: dict[str, str] = {}
        self.answers: list[dict[str, Any]] = []
        self.said: list[str] = []
        self._answers: list[Response] = []
        page.on("response", lambda answer: self._answers.append(answer))
        page.on("websocket", self._listen)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda data: self.said.append(str(data)))

    def read(self) -> None:
        """Read the answers that have come, and find the items in them."""
        for answer in self._answers:
            if answer.request.resource_type in ("script", "font", "image", "stylesheet"):
                continue
            text = answer.text()
            self.said.append(text)
            if "/api/" in answer.url:
                self._find(json.loads(text))
            if "/api/history" in answer.url:
                self.answers += json.loads(text)["answers"]
        self._answers.clear()

    def _find(self, found: object) -> None:
        if isinstance(found, dict):
            if "passage" in found:
                self.items[found["presentation_id"]] = json.dumps(
                    {name: value for name, value in found.items() if name not in OWN}
                )
            for value in found.values():
                self._find(value)
        elif isinstance(found, list):
            for value in found:
                self._find(value)


def plan_and_open(page: Page) -> None:
    page.get_by_text("Change the size").click()
    slider = page.get_by_role("slider")
    slider.focus()
    slider.press("End")  # 20 %
    page.get_by_label("Annotators for each pair", exact=True).fill("1")
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.get_by_text(re.compile(r"Planned \d{4}-Q\d: 8 of 40 pairs"))).to_be_visible()
    settled(page)
    passes(page, "preview")
    page.get_by_role("button", name="Open the round").click()
    expect(page.get_by_text(re.compile(r"Opened .* as the round .*: 8 pairs to judge again"))).to_be_visible()


def search_history(page: Page, url: str) -> Heard:
    """In another tab Ada lists and searches what she answered in the winter, while items are open to her.

    What she graded 0 and 3 then looks the same but for its topic.
    """
    heard = Heard(page)
    page.goto(url)
    root = Annotating(page).root
    page.keyboard.press("h")
    lines = root.locator(".history .line")
    expect(lines).to_have_count(TOPICS)
    page.keyboard.press("/")
    page.keyboard.type("topic")
    expect(lines).to_have_count(TOPICS)
    expect(root.locator(".withheld")).to_be_visible()
    shown = [ID.sub("", line) for line in lines.evaluate_all("lines => lines.map((line) => line.outerHTML)")]
    heard.read()
    said = [json.dumps(one | {"showing": None}) for one in heard.answers]
    assert len({re.sub("[Tt]opic [0-9]", "", line) for line in shown}) == len(set(said)) == 1
    return heard


def grade_blind(browser: Browser, served: Served) -> None:
    """Ada grades all that she is given with 2, and nothing that she gets depends on what was."""
    page = sign_in(browser, served, "ada").new_page()
    heard = Heard(page)
    page.goto(served.url)
    ada, drawn = Annotating(page), {}
    history = search_history(page.context.new_page(), served.url)
    presentations = {name: (query, document) for name, query, document in rows_of(served.store, SHOWN)}
    beside: dict[str, list[str]] = {}
    for _ in presentations:
        ada.wait_for_item()
        shown, (markup, *beside[shown]) = ada.shown, page.evaluate(ITEM)
        drawn[shown] = ID.sub("", markup)
        assert ada.press("2") == shown
    ada.saved()
    heard.read()
    everything = "".join([*heard.said, *history.said, *drawn.values(), *chain(*beside.values())])
    for word in PAST:
        found = re.search(word, everything)
        assert found is None, f"{word}: {everything[max(0, found.start() - 200) : found.end() + 200]}"
    assert heard.items.keys() >= presentations.keys()
    old = {(query, document): grade for query, document, grade in rows_of(served.store, OLD_GRADES)}
    screens: dict[str, set[str]] = defaultdict(set)
    grades: dict[str, set[int]] = defaultdict(set)
    for name, (query, document) in presentations.items():
        if (query, document) in old:
            screens[query].add(heard.items[name] + drawn[name])
            grades[query].add(old[query, document])
    assert any(len(found) == 2 for found in grades.values()), "pairs that were graded 0 and 3"
    assert {len(found) for found in screens.values()} == {1}
    assert beside == beside_items(presentations, list(drawn))


def beside_items(presentations: dict[str, tuple[str, str]], order: list[str]) -> dict[str, list[str]]:
    """What is beside each item that is graded 2: which of its query it is, and the answer before it."""
    told, before = {}, ""
    total = Counter(presentations[name][0] for name in order)
    shown: Counter[str] = Counter()
    for name in order:
        query, _ = presentations[name]
        shown[query] += 1
        place = f"  ·  document {shown[query]} of {total[query]}" if total[query] > 1 else ""
        told[name] = [place, before]
        before = f"Last: 2 UsefulTopic {query.removeprefix('q')}"
    return told


def test_a_lead_opens_a_quarter_an_annotator_grades_blind_and_the_lead_freezes_and_reads_what_changed(
    browser: Browser, served: Served
) -> None:
    page = sign_in(browser, served, "lee").new_page()
    measure(page)
    page.goto(f"{served.url}/releases?stage=Re-label")
    due = "6 of 40 pairs should be judged again this quarter: 4 whose document changed, 2 by chance"
    expect(page.get_by_text(due)).to_be_visible()
    page.goto(f"{served.url}/releases?stage=Re-label&why=Document changed")
    expect(page.locator(".gs-difference del").first).to_be_visible()
    settled(page)
    passes_in_both_schemes(page, "text difference")
    plan_and_open(page)
    grade_blind(browser, served)
    page.goto(f"{served.url}/releases?stage=Re-label&quarter=Report")
    expect(page.get_by_text("8 of 8 pairs are judged again: 8 comparable")).to_be_visible()
    expect(page.get_by_text("8 of 8 pairs now have a different grade")).to_be_visible()
    settled(page)
    passes_in_light(page, "report")
    page.goto(f"{served.url}/releases?stage=Freeze")
    page.get_by_label("Release name", exact=True).fill("v2")
    page.get_by_role("checkbox", name="Keep grades of a different version").check(force=True)
    page.get_by_role("textbox", name="Reason to freeze despite the gate").fill("one person a pair")
    page.get_by_role("button", name="Freeze the release").click()
    expect(page.get_by_text(re.compile("Froze v2: 4 queries, 40 grades"))).to_be_visible()
    page.get_by_role("button", name="Open v2").click()
    expect(page.get_by_role("button", name="Verify every line")).to_be_visible()
    page.goto(f"{served.url}/releases?view=Difference")
    old = [grade for _, _, grade in rows_of(served.store, OLD_GRADES)]
    told = f"8 differ ({old.count(0)} higher, {old.count(3)} lower)"
    expect(page.get_by_text(told).first).to_be_visible()
    expect(page.get_by_role("cell", name="document changed").first).to_be_visible()
    settled(page)
    passes(page, "difference")
