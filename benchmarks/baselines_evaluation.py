"""What do bm25, dense and hybrid reach on MEDLINE, CISI and Icecat? Writes docs/evaluation-baselines.md.

Each collection becomes a project with a release; `goldset run` and `goldset evaluate` do the rest. MEDLINE
and CISI name relevant documents alone, so all others count as not relevant, as everybody takes them. Icecat's
pairs were graded 0 to 3 by three raters, and a part of what the systems find has no grade. The splits of
MEDLINE and CISI know no tie but the same text, because nothing is tuned here. Needs ../shared/data beside the
checkout; dense embeds 19,406 products: twenty minutes of processor time.

Usage: python -m benchmarks.baselines_evaluation [--only NAME] [--lexical NAME] [--keep FOLDER]
Smallest: python -m benchmarks.baselines_evaluation --only smart/med --lexical smart/med
Needs: minutes

--keep keeps the projects in FOLDER, with their embeddings, or goes on from those that are there. --only makes
the table of one collection and prints it. --lexical runs bm25 alone on a collection, and the page says so.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation, EvaluationOptions
from curation.labeling.judgments.imported import add_judgments
from curation.project import init_project
from curation.releases.freeze.freeze import freeze
from curation.scoring.baselines import write_baselines
from curation.scoring.inputs.system_runs import named_runs
from curation.sources.corpus import import_corpus
from curation.sources.judgments import ImportedJudgment
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Query, Store, open_store
from curation.text import normalise_query
from tests.support import GOLDSET, ROOT, icecat
from tests.support.gold_project import write_corpus
from tests.support.smart import qrels, records

TARGET = ROOT / "docs" / "evaluation-baselines.md"
SHARED = ROOT.parent / "shared" / "data"
SYSTEMS = ("bm25", "dense", "hybrid")
MEASURES = ("ndcg_exp@10", "ndcg@10", "mrr@10", "map", "recall@100", "success@10")
PARTS = {"first": 0.5, "second": 0.5}

HEAD = """# Baselines

What bm25, dense (all-MiniLM-L6-v2) and hybrid reach on three public collections. `goldset run` makes the
runs and `goldset evaluate` scores them. Intervals are 95 %, over queries. *Judged* is the share of the first
ten documents that have a grade. *ms* is the median time of a search in milliseconds. Index and embeddings
were made before, those of the queries too. Written by `python -m benchmarks.baselines_evaluation`.
"""


class Collection(NamedTuple):
    """A collection as a project with a release v1.

    Attributes
    ----------
    about: what to know of it, for the page.
    """

    name: str
    about: str
    fill: Callable[[Path], None]


def smart(name: str, file: str) -> Callable[[Path], None]:
    """A function that makes a project of a SMART collection."""

    def fill(project: Path) -> None:
        folder = SHARED / "smart" / name
        store = init_project(project, ROOT / "labeling_guides" / "binary-relevance.md").store
        documents = [
            {"id": f"d{number}", "text": text} for number, text in records(folder / f"{file}.ALL").items()
        ]
        import_corpus(store, write_corpus(project.with_suffix(".jsonl"), documents))
        judged = qrels(folder / f"{file}.REL")
        texts = {number: text for number, text in records(folder / f"{file}.QRY").items() if number in judged}
        queries = [
            Query(f"q{number}", text, normalise_query(text), "imported") for number, text in texts.items()
        ]
        given = [
            ImportedJudgment(f"q{number}", f"d{document}", "collection", 1)
            for number in texts
            for document in judged[number]
        ]
        add_judgments(store, given, f"{file}.REL", queries)
        make_split(store, PARTS, 0, Rules(query=1.0, paraphrase=None, document=None, shared=False))
        freeze(store, "v1", override="a public collection, judged once")
        store.close()

    return fill


def icecat_project(project: Path) -> None:
    """The path of tests/support/icecat.py up to the release."""
    folder = project.parent
    icecat.write_traffic(SHARED, folder / "traffic.csv")
    for command in icecat.path(SHARED, folder):
        if not command.startswith(("verify", "export", "agreement", "adjudicate list")):
            done = subprocess.run(
                [GOLDSET, "--project", str(project), *shlex.split(command)],
                capture_output=True,
                text=True,
                input="a long password\n",
                check=False,
            )
            if done.returncode:
                sys.exit(f"failed: {command}\n{done.stderr}")


COLLECTIONS = (
    Collection(
        "smart/med",
        "MEDLINE: 1,033 abstracts and 30 long questions. Only relevant documents are listed; all others "
        "count as not relevant.",
        smart("med", "MED"),
    ),
    Collection(
        "smart/cisi",
        "CISI: 1,460 abstracts of library science and 76 questions, some a page long. Only relevant "
        "documents are listed; all others count as not relevant.",
        smart("cisi", "CISI"),
    ),
    Collection(
        "chorus_icecat",
        "Icecat: 19,406 electronics products and 135 shop searches, graded 0 to 3 by three raters. Other "
        "systems proposed the graded pairs. So a part of what these find has no grade, and counts as not "
        "relevant.",
        icecat_project,
    ),
)


def evaluated(collection: Collection, folder: Path, systems: Sequence[str]) -> Evaluation:
    """The figures of the systems; the project is made where it is not there."""
    own = folder / collection.name.replace("/", "-")
    own.mkdir(parents=True, exist_ok=True)
    project = own / "project.duckdb"
    if not project.exists():
        collection.fill(project)
    store = open_store(project)
    written = write_baselines(store, "v1", systems, own / "runs", replace=True)
    found = _scored(store, [str(run.file) for run in written.runs])
    store.close()
    return found


def _scored(store: Store, runs: list[str]) -> Evaluation:
    options = EvaluationOptions(split="all", measures=MEASURES)
    return evaluate_runs(store, "v1", named_runs(runs), options, "baselines of a public collection")


def table(collection: Collection, found: Evaluation) -> str:
    """The collection's section of the page."""
    lines = [
        f"\n## {collection.name}\n",
        f"{collection.about}\n",
        f"{found.queries} queries; {found.without_relevant} without a relevant document are left out. "
        f"Relevant: grade {found.relevant_grade} and above. Release `{found.release_id[:12]}`.\n",
        "| system | " + " | ".join(MEASURES) + " | judged | ms |",
        "|---" * (len(MEASURES) + 3) + "|",
        *_rows(found),
    ]
    return "\n".join(lines) + "\n"


def _rows(found: Evaluation) -> Iterator[str]:
    for system in found.runs:
        figures = [system.overall[measure] for measure in found.measures]
        cells = [
            f"{one.value:.3f}"
            + ("" if one.low is None or one.high is None else f" ({one.low:.3f} – {one.high:.3f})")
            for one in figures
            if one.value is not None
        ]
        judged = f"{figures[0].judged or 0:.0%}"
        yield f"| {system.name} | {' | '.join(cells)} | {judged} | {_milliseconds(system)} |"


def _milliseconds(system: EvaluatedSystem) -> str:
    seconds = system.files[0].seconds
    return "–" if seconds is None or seconds.median is None else f"{1000 * seconds.median:.1f}"


def _section(collection: Collection, folder: Path, systems: Sequence[str]) -> str:
    rest = ", ".join(name for name in SYSTEMS if name not in systems)
    note = f"\nNot run here: {rest} (`--lexical`).\n" if rest else ""
    return table(collection, evaluated(collection, folder, systems)) + note


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=[collection.name for collection in COLLECTIONS])
    parser.add_argument("--lexical", action="append", default=[])
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep or Path(scratch)
        sections = [
            _section(collection, folder, SYSTEMS[:1] if collection.name in asked.lexical else SYSTEMS)
            for collection in COLLECTIONS
            if asked.only in (None, collection.name)
        ]
    if asked.only:
        print(*sections)
    else:
        TARGET.write_text(HEAD + "".join(sections), encoding="utf-8")
        print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
