"""A release of a project with a coverage map: three regions, and two of them have queries enough for figures.

Twelve queries are about tea, twelve about ships, three about both, two about the moon, and one about nothing
that the corpus has. Vectors are by hand, so that no model is needed.
"""

from __future__ import annotations

from pathlib import Path

from curation.core.digests import digest
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.queries.coverage.report import find_coverage
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store
from tests.support.coverage_project import COARSE, TEXTS, put_entity_vectors, put_vectors
from tests.support.evaluated_project import write_run
from tests.support.freezing import freeze
from tests.support.pool_project import put_texts
from tests.support.projects import copied, new_project

FEW_TIES = Rules(query=1.0, paraphrase=None, document=None, shared=False)
"""All queries are in one part, so it does not matter what ties them."""


def _text(query_id: str, about: str) -> str:
    return f"{digest('word', query_id)[:12]} {about}"


ABOUT = {
    **{f"tea{number:02}": ("tea pot",) for number in range(12)},
    **{f"ship{number:02}": ("ship mast",) for number in range(12)},
    **{f"both{number}": ("tea pot", "ship mast") for number in range(3)},
    **{f"moon{number}": ("moon light",) for number in range(2)},
    "none": ("sonnets",),
}
QUERIES = {query_id: _text(query_id, " ".join(about)) for query_id, about in ABOUT.items()}


def relevant(query_id: str) -> list[str]:
    """Two or four relevant documents of the topic; of every second query of tea or ships also another's."""
    if query_id == "none":
        return ["moon3"]
    if query_id.startswith("both"):
        return ["tea0", "ship0"]
    topic, number = query_id.rstrip("0123456789"), int(query_id[len(query_id.rstrip("0123456789")) :])
    found = [f"{topic}{place}" for place in range((2, 2, 4)[number % 3])]
    other = {"tea": "ship0", "ship": "moon0"}.get(topic)
    return [*found, other] if other is not None and number % 2 == 0 else found


def grades(query_id: str) -> dict[str, int]:
    """Document → grade: 3 where it is relevant, 0 for two others of the query's topic or the moon's."""
    found = dict.fromkeys(relevant(query_id), 3)
    others = [document_id for document_id in sorted(TEXTS) if document_id not in found]
    return found | dict.fromkeys(others[:2], 0)


@copied
def covered_project(folder: Path, part: str = "dev") -> Store:
    """The project, with its release v1 whose queries are all in one part; 'test' is sealed."""
    store = labelled(folder)
    find_coverage(store, COARSE)
    make_split(store, SplitRequest(((part, 1.0),), 1, FEW_TIES))
    freeze(store, "v1")
    return store


def labelled(folder: Path) -> Store:
    """The project before it had a map or a split."""
    store = new_project(folder / "project.duckdb")
    put_texts(store, folder, TEXTS, QUERIES)
    put_entity_vectors(store)
    put_vectors(store, "query", list(QUERIES.values()))
    for who in ("ada", "ben"):
        given = [
            ImportedJudgment(query_id, document_id, who, grade)
            for query_id in QUERIES
            for document_id, grade in grades(query_id).items()
        ]
        add_judgments(store, given, f"{who}.csv", [])
    return store


def ranked(query_id: str, *, good: bool) -> list[str]:
    """A list of all judged documents, the relevant ones first or last."""
    return sorted(
        grades(query_id), key=lambda name: (-grades(query_id)[name] if good else grades(query_id)[name], name)
    )


def write_runs(folder: Path) -> list[str]:
    """Two run files: `tea` is good where a query is about tea only, `ship` where it is about ships."""
    found = []
    for system in ("tea", "ship"):
        lists = {query_id: ranked(query_id, good=query_id.startswith(system)) for query_id in QUERIES}
        found.append(str(write_run(folder / f"{system}.trec", lists)))
    return found
