"""Label with a presentation template: documents are drawn, stay inert, and are accessible."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, expect

from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.operations.project import init_project
from curation.people.accounts import add_annotator
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from tests.support import ROOT
from tests.support.accessibility import measure, passes_in_light
from tests.support.inert import CANARY, MARKUP, OVERRIDE, Watched
from tests.support.projects import import_rows
from tests.support.served import PASSWORD, Annotating, Served, Visitors

TEMPLATE = """presentation:
  body: html
  links: true
  fields:
    - {field: brand, label: Brand}
    - {field: photo, as: image}
    - {field: page, label: Page, as: link}
"""
ROWS = "".join(f"<tr><td>Gulls {number}</td><td>on cliff {number}.</td></tr>" for number in range(60))
BODY = (
    f"<h1>Gulls</h1><p>STARTHERE {MARKUP} {OVERRIDE} ENDSHERE</p>"
    f"<ul><li>Gulls fly.</li><li><a href='https://{CANARY}/x'>sea</a></li></ul>"
    f"<table><thead><tr><th>Bird</th><th>Place</th></tr></thead>{ROWS}</table>"
)
SLIPPED = f"""() => new Promise((done) => {{
  addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective));
  const loaded = () => done("loaded");
  document.body.append(Object.assign(new Image(), {{ onload: loaded, src: "https://{CANARY}/slipped" }}));
  setTimeout(() => done("nothing stopped it"), 3000);
}})"""
"""What becomes of an image that got past all else."""


def project(folder: Path) -> Path:
    """One hostile page with a table, a list and fields, for anna."""
    guide = (ROOT / "labeling_guides" / "graded-relevance.md").read_text(encoding="utf-8")
    (folder / "guide.md").write_text(guide.replace("scale:", f"{TEMPLATE}scale:", 1), encoding="utf-8")
    page = {"_id": "1", "title": "Gulls", "text": BODY, "brand": f"STARTHERE {MARKUP} ENDSHERE"}
    page |= {"photo": f"https://{CANARY}/p.png", "page": ["javascript:window.ran=1", "ftp://a"]}
    others = [{"_id": f"o{number}", "title": "Tools", "text": "A saw cuts wood."} for number in range(5)]
    store = init_project(folder / "project.duckdb", folder / "guide.md")
    import_rows(store, [page, *others], [{"_id": "q", "text": "cliff 41"}])
    build_pool(store, PoolRequest(systems=["bm25"], depth=5, random_negatives=0, seed=1))
    add_annotator(store, "anna", "annotator", PASSWORD)
    open_round(store, RoundRequest("first", ["anna"], overlap=1, duplicates=0, seed=1))
    store.close()
    return store.path


def test_a_hostile_page_is_drawn_with_its_table_and_does_nothing(chromium: Browser, tmp_path: Path) -> None:
    running = Served(project(tmp_path))
    people = Visitors(chromium, running)
    try:
        tab = Watched(people, "anna")
        measure(tab.page)
        tab.page.goto(running.url)
        label = Annotating(tab.page)
        found = label.root.locator(".found")
        expect(found.locator("th")).to_have_text(["Bird", "Place"])
        expect(found.locator("mark", has_text="41").first).to_be_visible()
        expect(found.locator(".fields")).to_contain_text(MARKUP[:40])
        expect(found.locator(".fields bdi").last).to_have_text("javascript:window.ran=1, ftp://a")
        expect(found.locator(".fields a")).to_have_count(0)
        assert tab.page.evaluate("window.ran") is None
        tab.page.keyboard.press("w")
        expect(found.locator("li")).to_have_text(["Gulls fly.", "sea"])
        expect(found.locator("li a")).to_have_attribute("rel", "noopener noreferrer nofollow")
        expect(found.locator("script, iframe, svg, style, [onerror], [onload], img")).to_have_count(0)
        passes_in_light(tab.page, "drawn document")
        assert tab.elsewhere == [], "a document made the browser ask another host"
        assert tab.page.evaluate(SLIPPED) == "img-src", "the policy let an image through"
    finally:
        people.close()
        running.stop()
