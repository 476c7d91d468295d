"""The demo: a whole project about the standard library of the running Python, built with the functions that
commands call.

The corpus is read from the installed standard library, and the traffic was written for the demo. Two readers'
sample grades and evidence give figures of agreement, pairs to adjudicate and a release, and allow a
comparison of runs that rank chunks (`data/sample/README.md`). A second quarter (`operations.second_quarter`)
comes after the release, so that re-labeling is due. The project is built under another name and renamed at
the end, so an interrupted build leaves no half project.

No step of the demo needs embeddings, so the demo is ready in seconds.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from curation.core.progress import Progress, silent
from curation.evaluation.evaluate import submit
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.baselines import BaselineRequest, write_baselines
from curation.guides.guide import current_guide
from curation.guides.guide_editing import replace_values
from curation.guides.guide_text import parse_guide
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.decision_lines import read_decision_lines
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.readers.fields import JudgmentFields
from curation.labeling.consensus.adjudication import import_decisions
from curation.labeling.imported import import_judgments
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import OpenedRound, open_round
from curation.labeling.rounds.use_guide import use_guide
from curation.operations.project import init_project
from curation.operations.second_quarter import CORPUS_FIELDS, TRAFFIC_FIELDS, import_second_quarter
from curation.operations.stdlib_corpus import write_stdlib_corpus
from curation.people.accounts import add_annotator
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.releases.freeze.freeze import freeze
from curation.releases.requests import FreezeRequest
from curation.splits.request import SplitRequest
from curation.splits.rules import RULES
from curation.splits.split import make_split
from curation.store import Store

PEOPLE = {"ada": "annotator", "grace": "annotator", "lead": "lead"}
PASSWORD = "gold-standard"  # noqa: S105 - printed at each start, for a project on this machine only
ROUND = "first"
RELEASE = "sample"
CHUNKS = ("30/10", "100/25")
SEED = 7
QUERIES = 60
Say = Callable[[str], None]


def build_demo(
    folder: Path,
    sample: Path,
    say: Say = lambda _: None,
    progress: Progress = silent,
    modules: Collection[str] | None = None,
) -> tuple[Path, bool]:
    """Make the demo project in `folder` unless the folder has one; return its file, and whether it is new.

    Parameters
    ----------
    sample: the folder with traffic.csv and judgments.csv.
    say: called with each step as a sentence.
    modules: the modules whose documentation is the corpus; None is the whole standard library.
    """
    project, building = folder / "goldgrade.duckdb", folder / "building"
    shutil.rmtree(building, ignore_errors=True)  # the remains of an interrupted build
    if project.is_file():
        return project, False
    building.mkdir(parents=True)
    store = init_project(building / "goldgrade.duckdb")
    _fill_project(store, building, sample, modules, say, progress)
    store.close()
    store.path.rename(project)
    shutil.rmtree(building)
    return project, True


def _fill_project(
    store: Store, folder: Path, sample: Path, modules: Collection[str] | None, say: Say, progress: Progress
) -> None:
    say("reading the documentation strings of the standard library")
    corpus, log = folder / "corpus.jsonl", sample / "traffic.csv"
    documents = write_stdlib_corpus(corpus, modules)
    import_corpus(store, corpus, CORPUS_FIELDS, progress=progress)
    traffic = import_traffic(store, log, TRAFFIC_FIELDS, progress=progress)
    say(f"{documents:,} documents; {traffic.rows:,} rows of traffic; drawing {QUERIES} queries")
    draw_sample(store, DrawRequest(QUERIES, SEED))
    pool = build_pool(store, PoolRequest(["bm25"], 10, 5, SEED), progress=progress)
    for name, role in PEOPLE.items():
        add_annotator(store, name, role, PASSWORD)
    say(f"{pool.candidates:,} candidates; importing the sample grades and opening a round")
    _ask_for_evidence(store)
    _import_sample_grades(store, sample)
    _evaluate_chunk_sizes(store, folder / "runs", progress)
    later_corpus, later_log = import_second_quarter(store, corpus, log, progress)
    changes = f"{later_corpus.changed:,} documents changed, {later_corpus.removed:,} are gone"
    traffic_rows = f"{later_log.rows:,} rows of traffic"
    say(f"a second quarter: {changes}; {traffic_rows} (`goldgrade relabel plan --due`)")
    opened = _open_round(store)
    say(f"round “{ROUND}”: {opened.presentations:,} presentations for {len(opened.per_annotator)} annotators")


def _import_sample_grades(store: Store, sample: Path) -> None:
    """Import the grades of two people, and a third person's decisions on half of the disputes; then freeze a
    release.

    A document of a different Python version may lack a marked quote.
    """
    fields = JudgmentFields("query", "document", annotator="annotator", grade="grade", evidence="evidence")
    import_judgments(store, sample / "judgments.csv", fields, skip_unknown=True)
    decisions = sample / "adjudications.csv"
    proposals = read_decision_lines(decisions)
    import_decisions(store, proposals, source=decisions)
    make_split(store, SplitRequest((("dev", 0.7), ("test", 0.3)), SEED, replace(RULES, paraphrase=None)))
    freeze(store, FreezeRequest(RELEASE, allow_disputed=True))


def _evaluate_chunk_sizes(store: Store, folder: Path, progress: Progress) -> None:
    """Score BM25 runs over chunks of two sizes against the evidence of the release."""
    request = BaselineRequest(RELEASE, ["bm25"], folder, depth=100, chunks=CHUNKS)
    written = write_baselines(store, request, actor="lead", progress=progress)
    runs = tuple((run.system, str(run.file)) for run in written.runs)
    submit(store, EvaluateRequest(RELEASE, part="dev", runs=runs), "lead", progress)


def _ask_for_evidence(store: Store) -> None:
    """Change the guide so that it invites annotators to mark evidence for high grades."""
    guide = store.read(current_guide)
    rule = {"evidence": {"ask": "optional", "from_grade": guide.values[-2]}}
    use_guide(store, parse_guide(replace_values(guide.source, rule, guide.body)))


def _open_round(store: Store) -> OpenedRound:
    annotators = [name for name, role in PEOPLE.items() if role == "annotator"]
    return open_round(store, RoundRequest(ROUND, annotators, overlap=2, duplicates=0.08, seed=SEED))
