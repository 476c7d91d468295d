"""C(q) by each rule of `queries.coverage.coverage_map`, against the regions of relevant documents.

"Right" is the share of a query's regions that its relevant documents have, too; "by chance" the same with
the relevant documents of the other queries; "recall" the share of the regions of relevant documents that the
query has. All three are means over queries. MSC, SCC and ZQC are of regions, at the resolution by rule.

MED, CISI and Icecat are projects in PROJECT_FOLDER. A project is made once and then read again, with the
embeddings that it has stored.

Usage: python -m benchmarks.coverage_matching PROJECT_FOLDER [collections ...]
Smallest: python -m benchmarks.coverage_matching build/coverage med
Needs: the embedding model
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from curation.core.progress import silent
from curation.core.request import DEFAULT_MODEL
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.query_import import import_queries
from curation.ingest.readers.fields import CorpusFields
from curation.operations.project import init_project
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.matched_queries import match_queries
from curation.queries.coverage.matching import ALTERNATIVES, EntityMatch, MatchingRule
from curation.queries.coverage.measures import Clusters, measure_coverage
from curation.queries.coverage.report import find_coverage
from curation.queries.coverage.stored_map import read_current_map_id, read_map
from curation.queries.requests import CoverageRequest
from curation.store import Store, open_store
from tests.support import ROOT
from tests.support.smart import qrels, records

SHARED = ROOT.parent / "shared" / "data"
SMART = ("med", "cisi")
COLLECTIONS = (*SMART, "icecat")
ICECAT_FIELDS = CorpusFields(id="id", title="title", body=("short_description",))
HEAD = (
    "| C(q) by | right | by chance | recall | regions of a query | in no region | MSC | SCC | ZQC |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
)


class CoverageCollection(NamedTuple):
    """A project, and the grades of its queries: query id → document → grade."""

    name: str
    store: Store
    grades: dict[str, dict[str, int]]

    @property
    def relevant(self) -> dict[str, list[str]]:
        """Query id → its relevant documents: those above grade 0."""
        return {
            query_id: sorted(document_id for document_id, grade in graded.items() if grade > 0)
            for query_id, graded in self.grades.items()
        }


def collection(name: str, folder: Path) -> CoverageCollection:
    """The collection as a project in the folder, made if it is not there."""
    path = folder / f"{name}.duckdb"
    if name in SMART:
        stem = SHARED / "smart" / name / name.upper()
        texts = records(stem.with_suffix(".QRY"))
        grades = qrels(stem.with_suffix(".REL"))
    else:
        texts, grades = rated_queries()
    store = open_store(path) if path.exists() else _made(name, path, texts)
    return CoverageCollection(name, store, grades)


def _made(name: str, path: Path, texts: Mapping[str, str]) -> Store:
    store = init_project(path)
    if name in SMART:
        documents = records(SHARED / "smart" / name / f"{name.upper()}.ALL")
        import_corpus(store, _written(path.with_suffix(".documents.jsonl"), documents))
    else:
        import_corpus(store, SHARED / "chorus_icecat" / "products.jsonl.gz", ICECAT_FIELDS)
    import_queries(store, _written(path.with_suffix(".queries.jsonl"), texts))
    return store


def _written(path: Path, texts: Mapping[str, str]) -> Path:
    lines = (json.dumps({"id": key, "text": text}) + "\n" for key, text in texts.items())
    path.write_text("".join(lines), encoding="utf-8")
    return path


def rated_queries() -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """The rated queries of the Icecat products by id, and their grades from 0 to 3."""
    with (SHARED / "chorus_icecat" / "Broad_Query_Set_rated.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    ids = {text: f"i{number:03}" for number, text in enumerate(sorted({row["query"] for row in rows}), 1)}
    grades: dict[str, dict[str, int]] = {query_id: {} for query_id in ids.values()}
    for row in rows:
        grades[ids[row["query"]]][row["docid"]] = int(float(row["rating"]))
    return {query_id: text for text, query_id in ids.items()}, grades


class RuleFigures(NamedTuple):
    """What a rule gives; means over the queries that have regions and relevant documents in one."""

    right: float
    by_chance: float
    recall: float
    regions: float
    nowhere: int


def table(found: CoverageCollection) -> str:
    """The rules on one collection, by the map of the rule for γ."""
    find_coverage(found.store, CoverageRequest(seed=0))
    with found.store.reading() as cursor:
        made = read_map(cursor, read_current_map_id(cursor))
    asked = match_queries(found.store, made, DEFAULT_MODEL, silent)
    matches = {query.query_id: asked.matches[query.normalised] for query in asked.queries}
    return HEAD + "".join(_row(rule, found, made, matches) for rule in ALTERNATIVES)


def _row(
    rule: MatchingRule, found: CoverageCollection, made: CoverageMap, matches: Mapping[str, EntityMatch]
) -> str:
    regions = frozenset(made.regions)
    own = {key: rule.find_clusters(match, made.cluster_of) & regions for key, match in matches.items()}
    relevant = {key: frozenset().union(*_of_documents(made, found.relevant.get(key, ()))) for key in own}
    figures = rule_figures(own, {key: held & regions for key, held in relevant.items() if held & regions})
    measured = measure_coverage(
        made.regions, list(_of_documents(made, made.document_entities)), [*own.values()]
    )
    shares = " | ".join(f"{value:.2f}" for value in figures[:3])
    cells = (f"{figures.regions:.1f}", f"{figures.nowhere}", f"{measured.msc:.2f}", f"{measured.scc:.2f}")
    return f"| {rule.name} | {shares} | {' | '.join(cells)} | {measured.zqc} |\n"


def _of_documents(made: CoverageMap, documents: Sequence[str] | Mapping[str, object]) -> Iterator[Clusters]:
    return (made.find_clusters(made.document_entities.get(name, ())) for name in documents)


def rule_figures(own: Mapping[str, Clusters], relevant: Mapping[str, Clusters]) -> RuleFigures:
    """The figures from C(q) and from the clusters of the relevant documents."""
    known = [key for key in relevant if own[key]]
    right = [len(own[key] & relevant[key]) / len(own[key]) for key in known]
    others = [
        len(own[key] & relevant[other]) / len(own[key]) for key in known for other in relevant if other != key
    ]
    recall = [len(own[key] & held) / len(held) for key, held in relevant.items()]
    sizes = [len(held) for held in own.values()]
    means = [float(np.mean(values)) for values in (right, others, recall, sizes)]
    return RuleFigures(*means, nowhere=sizes.count(0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("collections", nargs="*", default=SMART)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.collections:
        print(f"\n{name}\n\n{table(collection(name, arguments.folder))}", flush=True)


if __name__ == "__main__":
    main()
