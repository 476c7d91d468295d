"""A guide that asks for evidence at grades 2 and 3, and the gold project with marks."""

from __future__ import annotations

from pathlib import Path

from curation.evaluation.evaluate import submit
from curation.evaluation.request import EvaluateRequest
from curation.guides.guide_text import parse_guide
from curation.ingest.importers.evidence_cells import StatedEvidence
from curation.labeling.imported import add_judgments
from curation.labeling.rounds.use_guide import use_guide
from curation.people.accounts import add_annotator
from curation.store import Store
from tests.support.evaluated_project import write_run
from tests.support.freezing import freeze
from tests.support.gold_project import TOPICS, gold_project, judgments
from tests.support.projects import copied

GUIDE = """---
title: Marked
evidence: {{ask: {ask}, from_grade: 2}}
scale:
  - {{value: 0, name: Not relevant, key: "0", colour: "#a8323e", definition: No.}}
  - {{value: 1, name: Related, key: "1", colour: "#a04a08", definition: Near.}}
  - {{value: 2, name: Relevant, key: "2", colour: "#2b62a8", definition: In part.}}
  - {{value: 3, name: Fully relevant, key: "3", colour: "#1c6e45", definition: Whole.}}
---
Mark the sentences that say it.
"""


@copied
def marked_project(folder: Path) -> Store:
    """The gold project; zoe marked "All about" in each first document, abe "about the"."""
    store = gold_project(folder)
    use_guide(store, parse_guide(GUIDE.format(ask="optional")))
    for who, quote in {"zoe.miller": "All about", "abe.jones": "about the"}.items():
        mark(store, who, quote)
    return store


@copied
def frozen_marks(folder: Path) -> Store:
    """The same with its release v1."""
    store = marked_project(folder)
    freeze(store, "v1")
    return store


def mark(store: Store, who: str, quote: str, *only: str) -> None:
    """One person's evidence in the relevant documents, or in these of them."""
    given = [one for one in judgments(who) if one.grade == 3 and (not only or one.document_id in only)]
    marks = (StatedEvidence(None, None, quote),)
    add_judgments(store, [one._replace(evidence=marks) for one in given], f"{who}.csv")


CHUNKS = {"near": ("1#0-6", "1#6-9"), "far": ("2#0-7", "1#10-13"), "whole": ("1",)}
"""What systems return for each topic: parts of its documents, or a whole one."""


def evaluated_chunks(folder: Path) -> tuple[Store, str]:
    """The same with `CHUNKS` evaluated on dev by the lead lee, and the evaluation's id."""
    store = frozen_marks(folder)
    add_annotator(store, "lee", "lead", None, "lee@example.org")
    runs = []
    for name, chunks in CHUNKS.items():
        lists = {f"q-{topic}": [f"{topic}-{chunk}" for chunk in chunks] for topic in TOPICS}
        runs.append((name, str(write_run(folder / f"{name}.trec", lists))))
    request = EvaluateRequest("v1", "dev", ["evidence_recall@5"], runs=tuple(runs))
    return store, str(submit(store, request, "lee").evaluation_id)
