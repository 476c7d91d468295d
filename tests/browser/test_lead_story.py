"""A lead's whole path in a browser, on real products and ratings, against the same path by command.

The lead who was added on the command line signs in and never returns there: corpus, log, sample, pool,
people, judgments, decisions at the keyboard, gate, split, freeze, verify, export.
A second project gets the same files and seeds by command. Both have one release id, and the same bytes.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Browser, Page, expect

from app.ui import literal
from tests.support import icecat
from tests.support.command_line import invoke
from tests.support.leading import Leading
from tests.support.projects import rows_of
from tests.support.served import DRAWN, PASSWORD, Served

SEED = 7
RATERS = ("anna", "ben", "cara")
FIRST = ["init", "people add lead --role lead --password-stdin"]
"""What nobody can do in a browser: there is no project yet, and nobody who could sign in."""
REASON, OVERRIDE, TAKEN = "The pack names it", "Few queries, a trial", "Both paths"
DISPUTED = 9
DECIDED = "SELECT query_id, document_id, grade FROM adjudications WHERE reason = ? ORDER BY rowid"


@pytest.fixture
def cut(shared: Path, tmp_path: Path) -> icecat.Cut:
    return icecat.write_cut(shared, tmp_path)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    project = tmp_path / "browser.duckdb"
    by_command(project, FIRST)
    with Served(project, jobs_inside=True) as running:
        yield running


def by_command(project: Path, commands: list[str]) -> str:
    """Run commands as a lead would; returns what the last one printed."""
    said = ""
    for command in commands:
        done = invoke(["--project", str(project), *shlex.split(command)], input=f"{PASSWORD}\n")
        assert done.exit_code == 0, f"{command}: {done.output}"
        said = done.stdout
    return said


def bring_in(lead: Leading, cut: icecat.Cut) -> None:
    """Home leads to the corpus, the corpus to the log, the log to the sample; then the pool."""
    page = lead.page
    lead.follow("Import documents")
    lead.give("Corpus", cut.corpus)
    lead.bring("The corpus now has 195 documents.")
    lead.follow("Import traffic")
    lead.give("Traffic", cut.traffic)
    lead.bring("Imported")
    lead.follow("Draw a sample")
    expect(page.get_by_role("button", name="Draw the sample")).to_be_visible()
    lead.fill("Queries to draw", str(len(icecat.FEW)))
    lead.unfold("More options")
    lead.fill("Seed", str(SEED))
    lead.press("Draw the sample", "Drew 7 queries")
    lead.choose("Pool")
    expect(page.get_by_role("button", name="Build the pool")).to_be_visible()  # Sample has more options, too
    lead.unfold("More options")
    lead.fill("Seed", str(SEED))
    lead.press("Build the pool", "The pool has 95 candidates")


def judge(lead: Leading, cut: icecat.Cut) -> None:
    """Three people, their judgments, and what they disagree on decided."""
    page = lead.page
    lead.to("Settings", "Team")
    for name in RATERS:
        lead.invite(name)
    lead.to("Data", "Import")
    lead.choose("Something else")
    lead.choose("Judgments")
    lead.give("Judgments", cut.ratings)
    for column, name in zip(icecat.RATERS, RATERS, strict=True):
        lead.pick(f"Who gave the grades in “{literal(column)}”", name)
    lead.bring("405 new judgments")
    lead.to("Judge", "Adjudicate")
    decide(page)


def decide(page: Page) -> None:
    """Each disputed pair by keys: a grade, the reason, Enter."""
    deciding, shown = page.locator(".deciding"), ""
    for left in reversed(range(DISPUTED)):
        expect(deciding).to_have_attribute("data-phase", "item")
        expect(deciding).not_to_have_attribute("data-pair", shown)
        shown = deciding.get_attribute("data-pair") or ""
        page.evaluate(DRAWN)
        page.wait_for_timeout(170)
        page.keyboard.press(str(left % 4))
        page.keyboard.type(REASON)
        page.keyboard.press("Enter")
        expect(deciding.locator(".count")).to_have_text(f"{left} disputed")
    expect(deciding).to_have_attribute("data-phase", "nothing")
    expect(deciding.locator(".saved")).to_have_text("Saved")


def release(lead: Leading) -> None:
    """What the gate asks, the split, the freeze."""
    page = lead.page
    lead.to("Release", "Releases")
    lead.choose("Rule")
    expect(page.get_by_role("heading", name="Current rule: Majority")).to_be_visible()
    lead.choose("Gate")
    lead.unfold("Change the thresholds")
    lead.fill("Lower end of alpha's 95 % interval, at least", "0.6")
    lead.press("Set the gate", "Thresholds saved.")
    lead.choose("Split")
    lead.fill("Part 1, % of queries", "60")
    lead.fill("Part 2, % of queries", "40")
    lead.unfold("More options")
    lead.fill("Seed", str(SEED))
    lead.unfold("Which queries stay together")
    page.get_by_text("Paraphrases stay together", exact=True).click()
    lead.press("Preview the split", "No tie crosses")
    lead.press("Use this split", "This is the current split.")
    lead.choose("Freeze")
    lead.fill("Release name", "v1")
    lead.fill("Reason to freeze despite the gate", OVERRIDE)
    lead.press("Freeze the release", "Froze v1: 7 queries, 135 grades")
    lead.press("Open v1", "Frozen on")
    lead.press("Verify every line", "v1 is intact")


def export(lead: Leading) -> Path:
    """The zip file of the release, with its sealed grades for a reason."""
    page = lead.page
    lead.pick("Show", "Export")
    lead.pick("Parts to include", "test")
    lead.fill("Reason for opening the test grades", TAKEN)
    lead.press("Prepare the export", "Download v1-beir.zip")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download v1-beir.zip").click()
    return waiting.value.path()


def the_same(cut: icecat.Cut, out: Path, decided: list[tuple[str, str, int]]) -> list[str]:
    """The commands of the same path."""
    rated = f"{cut.ratings} --map query=query --map document=docid"
    whose = ",".join(f"{column}={name}" for column, name in zip(icecat.RATERS, RATERS, strict=True))
    return [
        *FIRST,
        f"import corpus {cut.corpus} --map id=id --map title=title --map body=short_description",
        f"import traffic {cut.traffic} --map query=query --map count=count",
        f"sample --size {len(icecat.FEW)} --seed {SEED}",
        f"pool --systems bm25 --depth 10 --random-negatives 5 --seed {SEED}",
        *(f"people add {name} --role annotator --password-stdin" for name in RATERS),
        f"import judgments {rated} --annotator-columns {whose}",
        *(
            f"decide {query} {document} --grade {grade} --reason '{REASON}' --as lead"
            for query, document, grade in decided
        ),
        "gate --alpha 0.6",
        f"split --part dev=0.6 --part test=0.4 --seed {SEED} --no-paraphrase",
        f"freeze v1 --override '{OVERRIDE}' --as lead",
        "verify v1",
        f"export v1 --format beir --out {out} --reason '{TAKEN}' --as lead",
    ]


@pytest.mark.slow
def test_a_lead_goes_from_an_empty_project_to_an_exported_release_in_the_browser_as_by_command(
    browser: Browser, served: Served, cut: icecat.Cut, tmp_path: Path
) -> None:
    lead = Leading(browser, served.url)
    lead.sign_in()
    bring_in(lead, cut)
    judge(lead, cut)
    release(lead)
    downloaded = export(lead)

    decided = rows_of(served.store, DECIDED, REASON)
    assert len(decided) == DISPUTED
    project, out = tmp_path / "commands.duckdb", tmp_path / "out"
    by_command(project, the_same(cut, out, decided))
    written = {
        path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()
    }
    with ZipFile(downloaded) as archive:
        received = {name.removeprefix("v1-beir/"): archive.read(name) for name in archive.namelist()}
    assert {
        "corpus.jsonl",
        "queries.jsonl",
        "manifest.json",
        "qrels/dev.tsv",
        "qrels/test.tsv",
    } <= written.keys()
    assert received.keys() == written.keys()
    for name in written:
        assert received[name] == written[name], name
    ids = {
        json.loads(by_command(one, ["releases v1 --json"]))["release_id"] for one in (served.project, project)
    }
    assert len(ids) == 1
