"""The first hour in a browser: a lead with a folder of files, and a team with a CSV of HTML documents.

Nobody returns to a terminal. The first lead opens the link that `goldgrade app` printed. A lead alone goes
from a folder of 300 files to two scored systems. A team of two judges what a log and a pool bring, and
decides. Documents are on screen as their markup says.
"""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.command_line import invoke
from tests.support.document_folder import write_site
from tests.support.leading import Leading
from tests.support.projects import rows_of
from tests.support.served import DRAWN, Annotating, Served, settled

SUBJECTS = ("tea", "milk", "bread", "wheels", "clouds", "copper", "glass", "violins", "maps", "bees")
VERBS = ("grow", "store", "repair")
QUERIES = ("grow tea", "store milk", "repair wheels")
PEOPLE = ("ada", "ben")
REASON = "It is about another one"
ASKED = (
    "store copper,repair wheels,paint boats,weigh tea,sell maps,test ropes,cool milk,"
    "clean drums,grow seeds,ship glass,count bees,lend clocks,mend paper,heat bread"
).split(",")
"""Queries that each name one document of `write_site`; ten of them become the part dev."""
FIRST_SENTENCE = (
    r"bm25 1\.000, site_search 0\.\d{3}: difference 0\.\d{3} \(.+\), p [\d.]+; "
    r"10\s% and 50\s% of the top 10 are judged\."
)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    project = tmp_path / "first.duckdb"
    assert invoke(["--project", str(project), "init"]).exit_code == 0
    with Served(project, jobs_inside=True) as running:
        yield running


def written(path: Path, *rows: tuple[object, ...]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def corpus(folder: Path) -> Path:
    """Thirty documents as a shop of abstracts exports them."""
    documents = [
        (
            f"{subject}-{verb}",
            f"{verb.title()} {subject}",
            f"A. Lee, B. {subject.title()}",
            f"Journal of {subject}",
            f"<p>How people <b>{verb}</b> {subject}.</p><ul><li>in winter</li><li>in summer</li></ul>",
        )
        for subject in SUBJECTS
        for verb in VERBS
    ]
    return written(
        folder / "abstracts.csv", ("doc_id", "headline", "authors", "source", "body_html"), *documents
    )


def set_up(browser: Browser, served: Served) -> Leading:
    """The first lead, by the link in the terminal."""
    link = re.search(r"http\S+/join\S+", served.log.read_text())
    assert link is not None
    lead = Leading(browser, link[0])
    lead.page.get_by_label("Name").fill("lead")
    lead.choose_password()
    return lead


def bring_in(lead: Leading, folder: Path) -> None:
    """The corpus, how its documents are shown, and the log; then a sample of it and a pool."""
    page = lead.page
    lead.follow("Import documents")
    lead.give("Corpus", corpus(folder))
    expect(page.get_by_role("combobox", name="Text format")).to_have_value("HTML")
    lead.bring("The guide now shows documents as HTML.")
    lead.follow("See how documents are shown")
    expect(page.get_by_role("article").get_by_role("listitem").first).to_have_text("in winter")
    fields = page.get_by_role("combobox", name="Fields below the title")
    fields.click()
    page.get_by_role("option", name="authors").click()
    fields.press("Escape")
    expect(page.get_by_role("article").get_by_text("authors").first).to_be_visible()
    lead.press("Publish", "is the current guide")
    lead.to("Data", "Import")
    lead.choose("Traffic")
    log = [("Search term", "Searches", "Last searched"), *((text, 9, "2026-09-01") for text in QUERIES)]
    lead.give("Traffic", written(folder / "log.csv", *log))
    lead.bring("Imported")
    lead.follow("Draw a sample")
    expect(page.get_by_role("button", name="Draw the sample")).to_be_visible()
    lead.fill("Queries to draw", str(len(QUERIES)))
    lead.press("Draw the sample", f"Drew {len(QUERIES)} queries")
    lead.choose("Pool")
    lead.fill("Documents from each system", "2")
    lead.unfold("More options")
    lead.fill("Random negatives for each query", "0")
    lead.press("Build the pool", "The pool has 6 candidates")


def open_round(lead: Leading) -> list[str]:
    """A round of two people; the links by which they join."""
    lead.to("Settings", "Team")
    links = [lead.invite(name) for name in PEOPLE]
    lead.to("Quality", "Rounds")
    lead.fill("Round name", "first")
    lead.unfold("More options")
    lead.fill("Share of blind duplicates", "0")
    lead.page.get_by_role("button", name="Open the round", exact=True).click()
    expect(lead.page.get_by_text("Pairs complete")).to_be_visible()
    return links


def judge(browser: Browser, link: str, other: bool) -> None:
    """Six items by keys: what the query names is relevant, nothing else; `other` sees the last otherwise."""
    person = Leading(browser, link)
    person.choose_password()
    tab = Annotating(person.page)
    expect(tab.root.locator(".text li").first).to_have_text("in winter")
    expect(tab.root.locator(".fields")).to_contain_text("authors")
    for left in reversed(range(6)):
        tab.wait_for_item()
        query, title = (tab.root.locator(one).inner_text() for one in (".query", ".title"))
        same = query.casefold() == title.casefold()
        tab.press("3" if same != (other and not left) else "0")
    tab.saved()


def decide(lead: Leading) -> None:
    page: Page = lead.page
    lead.to("Judge", "Adjudicate")
    deciding = page.locator(".deciding")
    expect(deciding).to_have_attribute("data-phase", "item")
    expect(deciding.locator(".text li").first).to_have_text("in winter")
    page.evaluate(DRAWN)
    page.wait_for_timeout(170)
    page.keyboard.press("0")
    page.keyboard.type(REASON)
    page.keyboard.press("Enter")
    expect(deciding.locator(".saved")).to_have_text("Saved")


def start(lead: Leading, folder: Path) -> None:
    """The folder, pasted queries, and the one button of Home."""
    page = lead.page
    lead.follow("Import documents")
    expect(page.get_by_text("a folder of documents")).to_be_visible()
    settled(page)
    lead.drop(write_site(folder))
    expect(page.get_by_role("cell", name="hidden files")).to_be_visible()
    lead.press("Import", "The corpus now has 294 documents.")
    lead.follow("Continue on Home")
    lead.follow("Paste or import queries")
    page.get_by_label("Or paste queries").fill("\n".join(ASKED))
    lead.press("Import these queries", f"{len(ASKED)} queries: {len(ASKED)} added")
    lead.follow("Open the first round")
    lead.fill("Documents for each query", "1")
    lead.press("Open the first round", "The round first is open for lead")
    lead.follow("Grade the first document")


def grade_item(tab: Annotating) -> None:
    """One item by a key: the document that the query names is exactly it."""
    tab.wait_for_item()
    query, title = (tab.root.locator(one).inner_text() for one in (".query", ".title"))
    tab.press("3" if query.casefold() == title.casefold() else "0")


def finish_round(tab: Annotating) -> None:
    for _ in ASKED[1:]:
        grade_item(tab)
    tab.saved()
    expect(tab.root).to_have_attribute("data-phase", "nothing")


def release(lead: Leading) -> None:
    lead.follow("Next step on Home")
    lead.follow("Split the queries")
    lead.unfold("Which queries stay together")
    lead.page.get_by_text("Paraphrases stay together", exact=True).click()
    lead.press("Preview the split", "No tie crosses")
    lead.press("Use this split", "This is the current split.")
    lead.choose("Freeze")
    lead.fill("Release name", "v1")
    lead.fill("Reason to freeze despite the gate", "A trial")
    lead.press("Freeze the release", "Froze v1")


def evaluate(lead: Leading, folder: Path) -> None:
    """BM25, and the table of a search whose columns only people understand."""
    page = lead.page
    lead.follow("Score systems on v1")
    expect(page).to_have_title("Evaluate · goldgrade")
    settled(page)
    lead.pick("Systems of the project", "bm25")
    page.keyboard.press("Escape")
    rows = []
    for number, (verb, subject) in enumerate(text.split() for text in ASKED):
        hits = [f"guides/{subject}/{one}-{subject}" for one in (verb, "sort")]
        rows += [
            (f"{verb} {subject}", hit, place) for place, hit in enumerate(hits[:: 1 - number % 2 * 2], 1)
        ]
    run = written(folder / "site_search.csv", ("what was typed", "hit", "position"), *rows)
    page.locator("input[type=file]").first.set_input_files(run)
    lead.pick("Query (needed)", "what was typed")
    lead.pick("Document (needed)", "hit")
    lead.press("Evaluate", "Download the report")
    expect(page.get_by_text(re.compile(FIRST_SENTENCE))).to_be_visible()


@pytest.mark.slow
def test_a_lead_alone_goes_from_a_folder_of_300_files_to_two_scored_systems(
    browser: Browser, served: Served, tmp_path: Path
) -> None:
    began = time.monotonic()
    lead = set_up(browser, served)
    start(lead, tmp_path / "site")
    tab = Annotating(lead.page)
    grade_item(tab)
    print(f"\nfirst grade after {time.monotonic() - began:.1f} s")
    finish_round(tab)
    release(lead)
    evaluate(lead, tmp_path)


@pytest.mark.slow
def test_two_people_judge_a_csv_of_html_documents_and_the_lead_decides(
    browser: Browser, served: Served, tmp_path: Path
) -> None:
    lead = set_up(browser, served)
    bring_in(lead, tmp_path)
    for place, link in enumerate(open_round(lead)):
        judge(browser, link, other=place > 0)
    decide(lead)
    assert rows_of(served.store, "SELECT count(*) FROM judgment_events") == [(12,)]
    assert rows_of(served.store, "SELECT grade, reason FROM adjudications") == [(0, REASON)]
