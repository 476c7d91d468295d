"""The demo: a whole project on this Python's documentation strings, made by the functions of the commands.

The corpus is read from the installed standard library, the traffic was written for the demo, and sample
grades and evidence by two readers let agreement, adjudication and releases show something, and runs of chunks
be compared (`data/sample/README.md`).
After the release comes a second quarter, with another corpus and log, so that re-labeling is due.
The project is built under another name and renamed at the end: an interrupted build leaves nothing half.

Nothing here needs embeddings, so that it is ready in seconds; the command starts coverage as a job.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from curation.core.characters import normalise_query
from curation.core.digests import digest
from curation.core.progress import Progress, silent
from curation.evaluation.evaluate import submit
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.baselines import write_baselines
from curation.guides.guide import current_guide
from curation.guides.guide_text import parse_guide, with_values
from curation.ingest.importers.corpus import CorpusImport, import_corpus
from curation.ingest.importers.decision_lines import read_decision_lines
from curation.ingest.importers.traffic.traffic_import import TrafficImport, import_traffic
from curation.ingest.readers.fields import CorpusFields, JudgmentFields, TrafficFields
from curation.labeling.consensus.adjudication import decide_many
from curation.labeling.imported import import_judgments
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import RoundOpened, open_round
from curation.labeling.rounds.guide_in_force import put_in_force
from curation.operations.project import init_project
from curation.operations.stdlib_corpus import write_stdlib_corpus
from curation.people.annotators import add_annotator
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.queries.requests import DrawRequest
from curation.queries.sampling.draw import draw_sample
from curation.releases.freeze.freeze import freeze
from curation.releases.requests import FreezeRequest
from curation.splits.request import RULES, SplitRequest
from curation.splits.split import make_split
from curation.store import Store

PEOPLE = {"ada": "annotator", "grace": "annotator", "lead": "lead"}
PASSWORD = "gold-standard"  # noqa: S105 - printed at each start, for a project on this machine only
ROUND, RELEASE = "first", "sample"
CHUNKS = ("30/10", "100/25")
SEED = 7
QUERIES = 60
LATER = timedelta(weeks=13)
CHANGED, GONE = 10, 25
"""One document in so many is cut short, and one in so many is gone."""
LEFT, RISING, NEW = 6, 6, 60
"""One query in so many is not asked any more, and one in so many is asked three times as often; the name of
one document in so many is a new query."""
KEPT = 0.6
"""How much of a text that is cut short stays, at most."""


def build_demo(
    folder: Path,
    sample: Path,
    say: Callable[[str], None] = lambda _: None,
    progress: Progress = silent,
    modules: Collection[str] | None = None,
) -> tuple[Path, bool]:
    """Make the demo project in `folder`, unless it is there already: its file, and whether it was made now.

    Parameters
    ----------
    sample: the folder with traffic.csv and judgments.csv.
    say: called with each step as a sentence.
    modules: those whose documentation is the corpus; None for the whole standard library.
    """
    project, building = folder / "goldgrade.duckdb", folder / "building"
    shutil.rmtree(building, ignore_errors=True)  # what an interrupted build has left
    if project.is_file():
        return project, False
    building.mkdir(parents=True)
    store = init_project(building / "goldgrade.duckdb")
    _fill(store, building, sample, modules, say, progress)
    store.close()
    store.path.rename(project)
    shutil.rmtree(building)
    return project, True


def _fill(
    store: Store,
    folder: Path,
    sample: Path,
    modules: Collection[str] | None,
    say: Callable[[str], None],
    progress: Progress,
) -> None:
    say("reading the documentation strings of the standard library")
    corpus, documents = folder / "corpus.jsonl", CorpusFields(group="group")
    number = write_stdlib_corpus(corpus, modules)
    import_corpus(store, corpus, documents, progress=progress)
    fields = TrafficFields(query="query", time="time", segment="segment", count="count")
    traffic = import_traffic(store, sample / "traffic.csv", fields, progress=progress)
    say(f"{number:,} documents; {traffic.rows:,} rows of traffic; drawing {QUERIES} queries")
    draw_sample(store, DrawRequest(QUERIES, SEED))
    pool = build_pool(store, PoolRequest(["bm25"], 10, 5, SEED), progress=progress)
    for name, role in PEOPLE.items():
        add_annotator(store, name, role, PASSWORD)
    say(f"{pool.candidates:,} candidates; bringing the sample grades and opening a round")
    _ask_for_evidence(store)
    _bring_sample_grades(store, sample)
    _compare_chunks(store, folder / "runs", progress)
    texts, log = import_second_quarter(store, corpus, sample / "traffic.csv", documents, fields, progress)
    say(
        f"a second quarter: {texts.changed:,} documents changed, {texts.removed:,} are gone; "
        f"{log.rows:,} rows of traffic (`goldgrade relabel plan --due`)"
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
    make_split(store, SplitRequest((("dev", 0.7), ("test", 0.3)), SEED, replace(RULES, paraphrase=None)))
    freeze(store, FreezeRequest(RELEASE, allow_disputed=True))


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
    return open_round(store, RoundRequest(ROUND, names, overlap=2, duplicates=0.08, seed=SEED))


def import_second_quarter(
    store: Store,
    corpus: Path,
    traffic: Path,
    corpus_fields: CorpusFields,
    traffic_fields: TrafficFields,
    progress: Progress = silent,
) -> tuple[CorpusImport, TrafficImport]:
    """Write the second quarter next to the corpus of the first one, and import it.

    Parameters
    ----------
    corpus: JSON lines with id and body. traffic: CSV with time, query, segment, count.
    """
    folder = corpus.parent
    texts = write_later_corpus(corpus, folder / "corpus-2.jsonl")
    log = write_later_traffic(traffic, corpus, folder / "traffic-2.csv")
    later_corpus = import_corpus(store, texts, corpus_fields, progress=progress)
    return later_corpus, import_traffic(store, log, traffic_fields, progress=progress)


def write_later_corpus(corpus: Path, path: Path) -> Path:
    """The corpus without the documents that are gone, and with some texts cut short."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in _documents(corpus):
            if _chosen("gone", row["id"], GONE):
                continue
            if _chosen("changed", row["id"], CHANGED):
                row["body"] = cut_short(row["body"])
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


def cut_short(text: str) -> str:
    """The beginning of a text, to the last line or else the last word before `KEPT` of it."""
    beginning = text[: int(len(text) * KEPT)]
    whole = beginning.rpartition("\n")[0].rstrip() or beginning.rpartition(" ")[0].rstrip()
    return whole or beginning


def write_later_traffic(traffic: Path, corpus: Path, path: Path) -> Path:
    """The log thirteen weeks later, with other counts, and with names from the corpus that are new in it."""
    with traffic.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known = {normalise_query(row["query"]) for row in rows}
    names = [row["id"] for row in _documents(corpus) if _chosen("new", row["id"], NEW)]
    new = [name for name in names if normalise_query(name) not in known]
    later = [*_shifted(rows), *_asked(new, datetime.fromisoformat(rows[0]["time"]) + LATER)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["time", "query", "segment", "count"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(later)
    return path


def _shifted(rows: list[dict[str, str]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        text = normalise_query(row["query"])
        if _chosen("left", text, LEFT):
            continue
        times = 3 if _chosen("rising", text, RISING) else 1
        time = datetime.fromisoformat(row["time"]) + LATER
        yield {**row, "time": time.isoformat(), "count": int(row["count"]) * times}


def _asked(names: list[str], first: datetime) -> Iterator[dict[str, Any]]:
    for hour, name in enumerate(names):
        count = 1 + int(digest("count", name)[:4], 16) % 12
        time = (first + timedelta(hours=hour)).isoformat()
        yield {"time": time, "query": name, "segment": "docs-site", "count": count}


def _documents(corpus: Path) -> Iterator[dict[str, Any]]:
    with corpus.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _chosen(what: str, name: str, one_of: int) -> bool:
    return int(digest(what, name)[:8], 16) % one_of == 0
