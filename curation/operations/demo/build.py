"""The demo: a whole project on this Python's documentation strings, made by the functions of the commands.

The corpus is read from the installed standard library, the traffic was written for the demo, and sample
grades and evidence by two readers let agreement, adjudication and releases show something, and runs of chunks
be compared (`data/sample/README.md`).
After the release comes a second quarter, with another corpus and log, so that re-labeling is due.
The project is built under another name and renamed at the end: an interrupted build leaves nothing half.

Nothing here needs embeddings, so that it is ready in seconds; the command starts coverage as a job.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from curation.core.progress import Progress, silent
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.baselines import write_baselines
from curation.evaluation.submission import submit
from curation.guides.front_matter import with_values
from curation.guides.guide import current_guide
from curation.guides.parse_guide import parse_guide
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.decisions import read_decision_lines
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.readers.fields import CorpusFields, JudgmentFields, TrafficFields
from curation.labeling.consensus.adjudication import decide_many
from curation.labeling.judgments.imported import import_judgments
from curation.labeling.rounds.create_round import RoundOpened, open_round
from curation.labeling.rounds.guide_in_force import put_in_force
from curation.operations.demo.second_quarter import import_second_quarter
from curation.operations.demo.stdlib_corpus import write_stdlib_corpus
from curation.operations.project import init_project
from curation.people.annotators import add_annotator
from curation.pooling.pool import build_pool
from curation.queries.sampling.sample import draw_sample
from curation.releases.freeze.freeze import freeze
from curation.splits.request import RULES
from curation.splits.split import make_split
from curation.store import Store

PEOPLE = {"ada": "annotator", "grace": "annotator", "lead": "lead"}
PASSWORD = "gold-standard"  # noqa: S105 - printed at each start, for a project on this machine only
ROUND, RELEASE = "first", "sample"
CHUNKS = ("30/10", "100/25")
SEED = 7
QUERIES = 60


@dataclass(frozen=True)
class Demo:
    """A demo project that is ready to be served."""

    project: Path
    built: bool
    seconds: float


def build_demo(
    folder: Path,
    sample: Path,
    say: Callable[[str], None] = lambda _: None,
    progress: Progress = silent,
    modules: Collection[str] | None = None,
) -> Demo:
    """Make the demo project in `folder`, unless it is there already.

    Parameters
    ----------
    sample: the folder with traffic.csv and judgments.csv.
    say: called with each step as a sentence.
    modules: those whose documentation is the corpus; None for the whole standard library.
    """
    project = folder / "goldgrade.duckdb"
    if project.is_file():
        return Demo(project, built=False, seconds=0.0)
    started = time.monotonic()
    building = folder / "building"
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    store = init_project(building / "goldgrade.duckdb").store
    _fill(store, building, sample, modules, say, progress)
    store.close()
    store.path.rename(project)
    shutil.rmtree(building)
    return Demo(project, built=True, seconds=time.monotonic() - started)


def _fill(
    store: Store,
    folder: Path,
    sample: Path,
    modules: Collection[str] | None,
    say: Callable[[str], None],
    progress: Progress,
) -> None:
    say("reading the documentation strings of the standard library")
    corpus = write_stdlib_corpus(folder / "corpus.jsonl", modules)
    documents = CorpusFields(group="group")
    import_corpus(store, corpus.path, documents, progress=progress)
    fields = TrafficFields(query="query", time="time", segment="segment", count="count")
    traffic = import_traffic(store, sample / "traffic.csv", fields, progress=progress)
    say(f"{corpus.documents:,} documents; {traffic.rows:,} rows of traffic; drawing {QUERIES} queries")
    draw_sample(store, QUERIES, SEED)
    pool = build_pool(store, ["bm25"], 10, 5, SEED, progress=progress)
    for name, role in PEOPLE.items():
        add_annotator(store, name, role, PASSWORD)
    say(f"{pool.candidates:,} candidates; bringing the sample grades and opening a round")
    _ask_for_evidence(store)
    _bring_sample_grades(store, sample)
    _compare_chunks(store, folder / "runs", progress)
    texts, log = import_second_quarter(
        store, corpus.path, sample / "traffic.csv", documents, fields, progress
    )
    say(
        f"a second quarter: {texts.changed:,} documents changed, {texts.removed:,} are gone; "
        f"{log.rows:,} rows of traffic (`goldgrade relabel status`)"
    )
    opened = _open_first(store)
    say(f"round “{ROUND}”: {opened.presentations:,} presentations for {len(opened.per_annotator)} annotators")


def _bring_sample_grades(store: Store, sample: Path) -> None:
    """Two readers' grades and marks, and a third one's decisions on half of their disputes; split, frozen.

    Documents of another Python may lack a quote.
    """
    fields = JudgmentFields("query", "document", annotator="annotator", grade="grade", evidence="evidence")
    import_judgments(store, sample / "judgments.csv", fields, skip_unknown=True)
    decisions = sample / "adjudications.csv"
    proposals = read_decision_lines(decisions)
    decide_many(store, proposals, source=decisions)
    make_split(store, {"dev": 0.7, "test": 0.3}, SEED, replace(RULES, paraphrase=None))
    freeze(store, RELEASE, allow_disputed=True)


def _compare_chunks(store: Store, folder: Path, progress: Progress) -> None:
    """BM25 over chunks of several sizes, scored against the evidence of the release."""
    written = write_baselines(
        store, RELEASE, ["bm25"], folder, depth=100, chunks=CHUNKS, actor="lead", progress=progress
    )
    runs = tuple((run.system, str(run.file)) for run in written.runs)
    submit(store, EvaluateRequest(RELEASE, part="dev", runs=runs), "lead", progress)


def _ask_for_evidence(store: Store) -> None:
    """Who gives a high grade may mark the sentences that show it."""
    with store.reading() as cursor:
        guide = current_guide(cursor)
    rule = {"evidence": {"ask": "optional", "from_grade": guide.values[-2]}}
    put_in_force(store, parse_guide(with_values(guide.source, rule, guide.body)))


def _open_first(store: Store) -> RoundOpened:
    names = [name for name, role in PEOPLE.items() if role == "annotator"]
    return open_round(store, ROUND, names, overlap=2, duplicates=0.08, seed=SEED)
