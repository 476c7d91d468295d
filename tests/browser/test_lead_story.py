"""A lead's whole path in a browser, on real products and ratings, against the same path by command.

The lead who was added on the command line signs in and never returns there: corpus, log, sample, pool,
people, judgments, decisions at the keyboard, gate, split, freeze, verify, export.
A second project gets the same files and seeds by command. Both have one release id, and the same bytes.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Browser, Page, expect

from app.ui import plain
from tests.support import icecat
from tests.support.command_line import invoke
from tests.support.projects import rows_of
from tests.support.served import DRAWN, PASSWORD, Served, settled, until

SEED = 7
RATERS = ("anna", "ben", "cara")
FIRST = ["init", "annotator add lead --role lead --password-stdin"]
"""What nobody can do in a browser: there is no project yet, and nobody who could sign in."""
REASON, OVERRIDE, TAKEN = "The pack names it", "Few queries, a trial", "Both paths"
DISPUTED = 9
UNFOLDED = "() => [...document.querySelectorAll('details')].every((one) => !one.getAnimations().length)"
DECIDED = "SELECT query_id, document_id, grade FROM adjudications WHERE reason = ? ORDER BY rowid"


@pytest.fixture
def cut(shared: Path, tmp_path: Path) -> icecat.Cut:
    return icecat.write_cut(shared, tmp_path)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    project = tmp_path / "browser.duckdb"
    by_command(project, FIRST)
    running = Served(project, jobs_inside=True)
    yield running
    running.stop()


def by_command(project: Path, commands: list[str]) -> str:
    """Run commands as a lead would; returns what the last one printed."""
    said = ""
    for command in commands:
        done = invoke(["--project", str(project), *shlex.split(command)], input=f"{PASSWORD}\n")
        assert done.exit_code == 0, f"{command}: {done.output}"
        said = done.stdout
    return said


class Leading:
    """A lead's tab, which goes from page to page by the menus and links of the app."""

    def __init__(self, browser: Browser, served: Served) -> None:
        self.page: Page = browser.new_context().new_page()
        # nothing scrolls: a list of options closes when its page does
        self.page.set_viewport_size({"width": 1440, "height": 1600})
        self.page.emulate_media(reduced_motion="reduce")
        self.page.goto(served.url)
        self.page.get_by_label("Name").fill("lead")
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()

    def to(self, menu: str, name: str) -> None:
        """Open a page by its menu."""
        self.page.get_by_test_id("stTopNav").get_by_role("button", name=menu).click()
        self.page.get_by_role("menuitem", name=name, exact=True).click()
        expect(self.page).to_have_title(f"{name} · goldset")
        settled(self.page)

    def choose(self, name: str) -> None:
        """Choose a step, a stage or a kind of file."""
        self.page.get_by_role("radio", name=name, exact=True).click()
        settled(self.page)

    def unfold(self, heading: str) -> None:
        """Open what is folded, and wait until it is: until then what is in it moves away under a click."""
        self.page.get_by_text(heading).click()
        until(self.page, UNFOLDED)

    def press(self, name: str, then: str) -> None:
        """Press a button of a page that is whole; what follows says so."""
        settled(self.page)
        self.page.get_by_role("button", name=name, exact=True).click()
        expect(self.page.get_by_text(then).first).to_be_visible()
        settled(self.page)

    def follow(self, name: str) -> None:
        """Go on where the page offers it, by a link or by a button."""
        link = self.page.get_by_role("link", name=name, exact=True)
        link.or_(self.page.get_by_role("button", name=name, exact=True)).click()

    def fill(self, label: str, value: str) -> None:
        field = self.page.get_by_label(label, exact=True)
        expect(field).to_have_count(1)  # that of the step before may still be there
        field.fill(value)
        field.press("Tab")

    def pick(self, label: str, option: str) -> None:
        self.page.get_by_role("combobox", name=label).click()
        self.page.get_by_role("option", name=option, exact=True).click()
        settled(self.page)

    def give(self, kind: str, file: Path) -> None:
        """Give a file of a kind where the page asks for that, and see its first rows."""
        asks = self.page.get_by_test_id("stFileUploader").filter(has_text=f"{kind}: JSON")
        asks.locator("input[type=file]").set_input_files(file)
        expect(self.page.get_by_text(re.compile(r"The first \d+ rows"))).to_be_visible()
        settled(self.page)

    def bring(self, then: str) -> None:
        """Import the file: a dry run first, then what it said."""
        run, bring = (
            self.page.get_by_role("button", name=name, exact=True) for name in ("Check the file", "Import")
        )
        run.click()
        expect(bring).to_be_enabled()
        bring.click()
        expect(self.page.get_by_text(then).first).to_be_visible()
        settled(self.page)


def bring_in(lead: Leading, cut: icecat.Cut) -> None:
    """Home leads to the corpus, the corpus to the log, the log to the sample; then the pool."""
    page = lead.page
    expect(page.locator(".gs-next")).to_contain_text("Import")
    lead.follow("Import a corpus")
    lead.give("Corpus", cut.corpus)
    lead.bring("The corpus now has 195 documents.")
    lead.follow("Import traffic")
    lead.give("Traffic", cut.traffic)
    lead.bring("Imported")
    lead.follow("Draw a sample")
    expect(page.get_by_role("button", name="Draw the sample")).to_be_visible()
    lead.fill("Queries to draw", str(len(icecat.FEW)))
    lead.fill("Seed", str(SEED))
    lead.press("Draw the sample", "Drew 7 queries")
    lead.to("Data", "Pool")
    systems = page.get_by_role("combobox", name="Systems")
    systems.press("Backspace")  # dense and hybrid, last to first: they would load a model
    systems.press("Backspace")
    lead.fill("Seed", str(SEED))
    lead.press("Build the pool", "The pool has 95 candidates")


def judge(lead: Leading, cut: icecat.Cut) -> None:
    """Three people, their judgments, and what they disagree on decided."""
    page = lead.page
    lead.to("Settings", "People")
    for name in RATERS:
        lead.fill("Name", name)
        lead.fill("Password", PASSWORD)
        lead.press("Add", f"{name} is here as annotator.")
    lead.to("Data", "Import")
    lead.choose("Judgments")
    lead.give("Judgments", cut.ratings)
    for column, name in zip(icecat.RATERS, RATERS, strict=True):
        lead.pick(f"Who gave the grades in “{plain(column)}”", name)
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
    expect(page.get_by_role("heading", name="In force: Majority")).to_be_visible()
    lead.choose("Gate")
    lead.unfold("Change the thresholds")
    lead.fill("Lower end of alpha's interval must reach", "0.6")
    lead.press("Set the gate", "The gate is set.")
    lead.choose("Split")
    lead.fill("Part 1, % of queries", "60")
    lead.fill("Part 2, % of queries", "40")
    lead.fill("Seed", str(SEED))
    lead.unfold("Which queries stay together")
    page.get_by_text("Paraphrases stay together", exact=True).click()
    lead.press("Preview the split", "Nothing crosses")
    lead.press("Store this split", "This split is in force.")
    lead.choose("Freeze")
    lead.fill("Name of the release", "v1")
    lead.fill("Why you freeze against the gate", OVERRIDE)
    lead.press("Freeze the release", "Froze v1: 7 queries, 135 grades")
    lead.press("Open v1", "Frozen on")
    lead.press("Verify every line", "v1 is what was frozen")


def export(lead: Leading) -> Path:
    """The zip file of the release, with its sealed grades for a reason."""
    page = lead.page
    lead.choose("Export")
    lead.fill("Why you take sealed grades", TAKEN)
    lead.press("Prepare the export", "Download v1-beir.zip")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download v1-beir.zip").click()
    return waiting.value.path()


def the_same(cut: icecat.Cut, out: Path, decided: list[tuple[str, str, int]]) -> list[str]:
    """The commands of the same path."""
    rated = f"{cut.ratings} --query-field query --document-field docid"
    whose = ",".join(f"{column}={name}" for column, name in zip(icecat.RATERS, RATERS, strict=True))
    return [
        *FIRST,
        f"import corpus {cut.corpus} --id-field id --title-field title --body-field short_description",
        f"import traffic {cut.traffic} --query-field query --count-field count",
        f"sample --size {len(icecat.FEW)} --seed {SEED}",
        f"pool --systems bm25 --depth 10 --random-negatives 5 --seed {SEED}",
        *(f"annotator add {name} --role annotator --password-stdin" for name in RATERS),
        f"import judgments {rated} --annotator-columns {whose}",
        *(
            f"adjudicate decide {query} {document} --grade {grade} --reason '{REASON}' --by lead"
            for query, document, grade in decided
        ),
        "gate --alpha 0.6",
        f"split --dev 0.6 --test 0.4 --seed {SEED} --no-paraphrase",
        f"freeze v1 --override '{OVERRIDE}' --by lead",
        "verify v1",
        f"export v1 --format beir --out {out} --reason '{TAKEN}' --by lead",
    ]


@pytest.mark.slow
def test_a_lead_goes_from_an_empty_project_to_an_exported_release_in_the_browser_as_by_command(
    browser: Browser, served: Served, cut: icecat.Cut, tmp_path: Path
) -> None:
    lead = Leading(browser, served)
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
        json.loads(by_command(one, ["release show v1 --json"]))["release_id"]
        for one in (served.project, project)
    }
    assert len(ids) == 1
