"""A small shop for pictures: documents with a table and an image, and two people who answer at random."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

from curation.core.digests import digest
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.query_import import import_queries
from curation.labeling.judging import Submission
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.item_views import ItemView
from curation.labeling.session.query_answers import answer_query
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.operations.project import init_project
from curation.people.accounts import add_annotator
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.store import Store, utc_now
from tests.support import ROOT
from tests.support.served import PASSWORD

IMAGES = "https://images.example"
TEMPLATE = """presentation:
  body: html
  links: true
  fields:
    - {field: brand, label: Brand}
    - {field: price, label: Price}
    - {field: photo, as: image}
"""
THINGS = ("kettle", "teapot", "mug", "toaster", "lamp", "backpack")
KINDS = ("steel", "glass", "travel", "mini")
PACE = timedelta(milliseconds=400)
PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" width="320" height="220">
<rect width="320" height="220" fill="#d9e6e3"/>
<path d="M90 170h140l-18-110H108zM230 90q50 0 40 40t-52 20" fill="none" stroke="#1f6b66" stroke-width="12"/>
</svg>"""
"""What the images' host would send; nothing is fetched for a picture."""


def build(folder: Path) -> Path:
    """The shop: a round that ada and grace answered at random every 0.4 s, and one that waits for joan."""
    guide = (ROOT / "labeling_guides" / "graded-relevance.md").read_text(encoding="utf-8")
    (folder / "guide.md").write_text(guide.replace("scale:", f"{TEMPLATE}scale:", 1), encoding="utf-8")
    store = init_project(folder / "goldgrade.duckdb", folder / "guide.md")
    goods = [product(kind, thing) for thing in THINGS for kind in KINDS]
    lines = {
        "corpus": goods,
        "queries": [{"_id": f"q-{thing}", "text": f"{thing} steel"} for thing in THINGS],
    }
    for name, rows in lines.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    import_corpus(store, folder / "corpus.jsonl")
    import_queries(store, folder / "queries.jsonl")
    build_pool(store, PoolRequest(["bm25"], depth=8, random_negatives=2, seed=1))
    for name, role in {"lead": "lead", "ada": "annotator", "grace": "annotator", "joan": "annotator"}.items():
        add_annotator(store, name, role, PASSWORD)
    open_round(store, RoundRequest("autumn", ["ada", "grace", "joan"], overlap=3, duplicates=0, seed=1))
    for name in ("ada", "grace"):
        at_random(store, name)
    store.close()
    return store.path


def product(kind: str, thing: str) -> dict[str, str]:
    """A page of the shop."""
    size = int(digest(kind, thing)[:4], 16)
    table = "".join(
        f"<tr><td>{name}</td><td>{value}</td></tr>"
        for name, value in (
            ("Material", kind),
            ("Weight", f"{300 + size % 900} g"),
            ("Height", f"{8 + size % 40} cm"),
            ("Warranty", "2 years"),
        )
    )
    body = (
        f"<p>A {kind} {thing} for every day, in {size % 5 + 2} colours.</p>"
        f"<table><thead><tr><th>Property</th><th>Value</th></tr></thead>{table}</table>"
        f"<ul><li>Dishwasher-safe</li><li>Fits the other {kind} pieces</li></ul>"
    )
    return {
        "_id": f"{kind}-{thing}",
        "title": f"{kind.title()} {thing}",
        "text": body,
        "brand": ("Nordlys", "Harrow", "Tamaki")[size % 3],
        "price": f"€ {9 + size % 80}.90",
        "photo": f"{IMAGES}/{kind}-{thing}.svg",
    }


def at_random(store: Store, name: str) -> None:
    """Answer all that waits for somebody, as a script would that reads nothing."""
    at = utc_now() - timedelta(hours=1)
    while items := read_queue(store, name, 40).showings:
        done = []
        for item in items:
            at += PACE
            done.append(chance(item, name, at))
        submit_judgments(store, name, done)
        for item in items:
            if item.asks_about_query:
                answer_query(store, name, item.presentation_id, "yes", f"{name} {item.presentation_id}")


def chance(item: ItemView, name: str, at: datetime) -> Submission:
    value = int(digest(name, item.presentation_id)[:6], 16) % 4
    told = {"submitted_at": at, "shown_at": at - PACE}
    key = f"{name} {item.presentation_id}"
    return Submission(item.presentation_id, item.revision, "grade", key, value, active_ms=380, **told)
