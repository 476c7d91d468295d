"""Does the order of the gaps cover more? CISI's own queries, offered by gaps and at random, as a table.

The set starts with 30 random queries of the collection's 112. The others are then added one by one: at
random, or by the gaps. By the gaps, the largest region without a query is taken, by its documents, and one
of the remaining queries that are about it, drawn at random; where there is none, the next gap; where no gap
can be filled, any query. MSC over regions after 30, 60 and 100 queries: mean over the seeds and half of its
95 % interval (Student's t), and that of the difference within seeds. Queries were not written for the gaps,
so this is what the order alone is worth, and what no query of the collection is about stays a gap.

Usage: python -m benchmarks.coverage_trial PROJECT_FOLDER
Smallest: python -m benchmarks.coverage_trial build/coverage
Needs: the embedding model
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import t

from benchmarks.coverage_collections import collection
from curation.coverage.clusters import documents_of
from curation.coverage.coverage_map import MapSettings, map_in_force, read_map
from curation.coverage.matching import rule_of
from curation.coverage.measures import Clusters
from curation.coverage.report import find_coverage, match_asked
from curation.progress import silent
from curation.retrieval.embeddings import DEFAULT_MODEL
from curation.store import Store

SIZES = (30, 60, 100)
SEEDS = 50
RESOLUTIONS = (2.0, 10.0, 25.0, 60.0)
ORDERS = ("random", "gaps")


class TrialRow(NamedTuple):
    """MSC after each of `SIZES`, over the seeds.

    Attributes
    ----------
    order: 'random', 'gaps', or 'difference': of the two, seed by seed.
    halves: of the 95 % intervals.
    """

    resolution: float
    order: str
    means: list[float]
    halves: list[float]


def trial(store: Store, seeds: int = SEEDS) -> list[TrialRow]:
    """Both orders at several resolutions of the map by the rule."""
    find_coverage(store, MapSettings(seed=0))
    with store.reading() as cursor:
        found = read_map(cursor, map_in_force(cursor))
    asked = match_asked(store, found, DEFAULT_MODEL, silent)
    rows = []
    for tried in found.partitions:
        if tried.resolution not in RESOLUTIONS:
            continue
        labels = tried.labels[0]
        documents = documents_of(labels, found.of_documents)
        regions = np.flatnonzero(documents >= found.parameters["least_documents"])
        by_size = regions[np.argsort(-documents[regions], kind="stable")].tolist()
        held = [
            clusters & frozenset(by_size)
            for clusters in asked.of_queries(rule_of(found.parameters), labels.tolist())
        ]
        rows += _rows(tried.resolution, held, by_size, seeds)
    return rows


def _rows(resolution: float, held: Sequence[Clusters], by_size: Sequence[int], seeds: int) -> list[TrialRow]:
    found = {
        order: np.array([_shares(order, held, by_size, seed) for seed in range(seeds)]) for order in ORDERS
    }
    found["difference"] = found["gaps"] - found["random"]
    factor = t.ppf(0.975, seeds - 1) / np.sqrt(seeds)
    return [
        TrialRow(
            resolution,
            order,
            values.mean(axis=0).tolist(),
            (factor * values.std(axis=0, ddof=1)).tolist(),
        )
        for order, values in found.items()
    ]


def _shares(order: str, held: Sequence[Clusters], by_size: Sequence[int], seed: int) -> list[float]:
    """MSC after each of `SIZES` queries; both orders of a seed start alike."""
    random = np.random.default_rng(seed)
    left = random.permutation(len(held)).tolist()
    chosen, left = left[: SIZES[0]], left[SIZES[0] :]
    touched = set().union(*(held[place] for place in chosen))
    shares = [len(touched) / len(by_size)]
    for size in range(SIZES[0] + 1, SIZES[-1] + 1):
        place = _of_gaps(left, touched, held, by_size) if order == "gaps" else left[0]
        left.remove(place)
        touched |= held[place]
        if size in SIZES:
            shares.append(len(touched) / len(by_size))
    return shares


def _of_gaps(left: Sequence[int], touched: set[int], held: Sequence[Clusters], by_size: Sequence[int]) -> int:
    """The first of the remaining queries, which are in random order, that is about the largest gap."""
    for region in by_size:
        if region not in touched:
            for place in left:
                if region in held[place]:
                    return place
    return left[0]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    print(f"| γ | order | {' | '.join(f'MSC at {size}' for size in SIZES)} |")
    for row in trial(collection("cisi", asked.folder).store):
        cells = [f"{mean:.3f} ± {half:.3f}" for mean, half in zip(row.means, row.halves, strict=True)]
        print(f"| {row.resolution:g} | {row.order} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
