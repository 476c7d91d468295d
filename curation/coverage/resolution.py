"""The resolution γ: how fine the clusters are, by a rule, and how far they depend on it and on the seed.

For each γ several seeds give a partition each. The adjusted Rand index (Hubert and Arabie 1985) between them
says how far the seed decides; loners, on which all partitions agree, are not counted. The rule takes the γ
with the most regions among those where the index is `STABLE` or more on average, of equal ones the lowest: as
fine as the corpus bears while another seed tells nearly the same. Where no γ is that stable it takes the most
stable.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from curation.coverage.clusters import partition
from curation.coverage.graph import EntityGraph, Ints
from curation.progress import Progress, silent

RESOLUTIONS = (1.0, 2.0, 5.0, 10.0, 15.0, 25.0, 40.0, 60.0)
SEEDS = 3
STABLE = 0.8


class Partitions(NamedTuple):
    """The partitions of one graph at one resolution.

    Attributes
    ----------
    labels: the cluster of each entity, one array (entities,) a seed; the first is of the seed asked for.
    rand_index: mean adjusted Rand index over the pairs of seeds; None without two entities that are joined.
    """

    resolution: float
    labels: list[Ints]
    rand_index: float | None


def find_partitions(
    graph: EntityGraph,
    seed: int,
    resolutions: Sequence[float] = RESOLUTIONS,
    seeds: int = SEEDS,
    progress: Progress = silent,
) -> list[Partitions]:
    """Partitions at each resolution, by the seeds `seed`, `seed` + 1, …"""
    found = []
    joined = graph.degrees > 0
    for done, resolution in enumerate(sorted(set(resolutions)), 1):
        labels = [partition(graph, resolution, seed + step) for step in range(seeds)]
        found.append(Partitions(resolution, labels, mean_rand_index([part[joined] for part in labels])))
        progress("coverage: clusters", done, len(set(resolutions)))
    return found


def mean_rand_index(partitions: Sequence[Ints]) -> float | None:
    """The adjusted Rand index averaged over the pairs; None if there is no pair or nothing to part."""
    if len(partitions) < 2 or len(partitions[0]) < 2:
        return None
    from sklearn.metrics import adjusted_rand_score

    pairs = combinations(partitions, 2)
    return round(float(np.mean([adjusted_rand_score(one, other) for one, other in pairs])), 6)


def choose_resolution(partitions: Sequence[Partitions], regions: Sequence[int]) -> float:
    """The resolution of the rule at the head of this module; `regions` are those of the first seed."""
    counted = list(zip(partitions, regions, strict=True))
    stable = [pair for pair in counted if pair[0].rand_index is not None and pair[0].rand_index >= STABLE]
    if stable:
        return min(stable, key=lambda pair: (-pair[1], pair[0].resolution))[0].resolution
    return min(partitions, key=lambda part: (-(part.rand_index or 0.0), part.resolution)).resolution
