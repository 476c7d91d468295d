"""C(q) by each rule of `coverage.matching`, against the regions of the documents that people found relevant.

"Right" is the share of a query's regions that its relevant documents have, too; "by chance" the same with
the relevant documents of the other queries; "recall" the share of the regions of relevant documents that the
query has. All three are means over queries. MSC, SCC and ZQC are of regions, at the resolution by rule.

Usage: python -m benchmarks.coverage_matching PROJECT_FOLDER [collections ...]
Smallest: python -m benchmarks.coverage_matching build/coverage med
Needs: the embedding model
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.coverage_collections import SMART, CoverageCollection, collection
from curation.coverage.clusters import EntityMatch
from curation.coverage.coverage_map import CoverageMap, MapSettings, map_in_force, read_map
from curation.coverage.matching import ALTERNATIVES, MatchingRule
from curation.coverage.measures import Clusters, measure_coverage
from curation.coverage.report import find_coverage, match_asked
from curation.progress import silent
from curation.retrieval.embeddings import DEFAULT_MODEL

HEAD = (
    "| C(q) by | right | by chance | recall | regions of a query | in no region | MSC | SCC | ZQC |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
)


class RuleFigures(NamedTuple):
    """What a rule gives; means over the queries that have regions and relevant documents in one."""

    right: float
    by_chance: float
    recall: float
    regions: float
    nowhere: int


def table(found: CoverageCollection) -> str:
    """The rules on one collection, by the map of the rule for γ."""
    find_coverage(found.store, MapSettings(seed=0))
    with found.store.reading() as cursor:
        made = read_map(cursor, map_in_force(cursor))
    asked = match_asked(found.store, made, DEFAULT_MODEL, silent)
    matches = {query.query_id: asked.matches[query.normalised] for query in asked.queries}
    return HEAD + "".join(_row(rule, found, made, matches) for rule in ALTERNATIVES)


def _row(
    rule: MatchingRule, found: CoverageCollection, made: CoverageMap, matches: Mapping[str, EntityMatch]
) -> str:
    regions = frozenset(made.regions)
    own = {key: rule.clusters(match, made.cluster_of) & regions for key, match in matches.items()}
    relevant = {key: frozenset().union(*_of_documents(made, found.relevant.get(key, ()))) for key in own}
    figures = rule_figures(own, {key: held & regions for key, held in relevant.items() if held & regions})
    measured = measure_coverage(made.regions, list(_of_documents(made, made.of_documents)), [*own.values()])
    shares = " | ".join(f"{value:.2f}" for value in figures[:3])
    cells = (f"{figures.regions:.1f}", f"{figures.nowhere}", f"{measured.msc:.2f}", f"{measured.scc:.2f}")
    return f"| {rule.name} | {shares} | {' | '.join(cells)} | {measured.zqc} |\n"


def _of_documents(made: CoverageMap, documents: Sequence[str] | Mapping[str, object]) -> Iterator[Clusters]:
    return (made.clusters_of(made.of_documents.get(name, ())) for name in documents)


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
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name in asked.collections:
        print(f"\n{name}\n\n{table(collection(name, asked.folder))}", flush=True)


if __name__ == "__main__":
    main()
