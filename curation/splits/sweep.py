"""The threshold sweep: how groups grow as a threshold falls, and where they explode.

Components explode at a threshold: of 3,000 templated queries the largest group is 297 at 0.65 and 2,369 at
0.60. One search at the lowest threshold gives all steps: the strongest spanning forest, taken from a
similarity on, has the same groups as all ties from there on. The other kinds stay as the rules have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from curation.errors import InputError
from curation.progress import Progress, silent
from curation.splits.edges import NEAR_DUPLICATE, PARAPHRASE, QUERY_TEXT, find_edges
from curation.splits.groups import leakage_groups
from curation.splits.material import Material
from curation.splits.rules import Rules, problems

KINDS = (QUERY_TEXT, PARAPHRASE, NEAR_DUPLICATE)
"""The kinds that have a threshold."""
THRESHOLDS = (0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5)


class Step(NamedTuple):
    """What the groups would be at a threshold.

    Attributes
    ----------
    largest: queries in the largest group; `share` of all queries.
    single: queries that are tied to no other.
    """

    kind: str
    threshold: float
    groups: int
    largest: int
    share: float
    single: int


def sweep(
    material: Material,
    rules: Rules,
    thresholds: Sequence[float] = THRESHOLDS,
    kinds: Sequence[str] = KINDS,
    progress: Progress = silent,
) -> tuple[Step, ...]:
    """The groups at each threshold of each kind, from the highest threshold down.

    Of all kinds paraphrases are left out where the material has no embeddings.

    Raises
    ------
    InputError: a threshold or kind that is none, or paraphrases alone without embeddings.
    """
    ordered = sorted({round(threshold, 6) for threshold in thresholds}, reverse=True)
    if set(kinds) == {PARAPHRASE} and material.vectors is None:
        raise InputError("--kind paraphrase: paraphrases are not looked for; leave --no-paraphrase out")
    kinds = [kind for kind in dict.fromkeys(kinds) if kind != PARAPHRASE or material.vectors is not None]
    wrong = [f"the kind {kind!r}: expected one of {', '.join(KINDS)}" for kind in kinds if kind not in KINDS]
    for kind in kinds:
        wrong += [text for threshold in ordered for text in problems(_with(rules, kind, threshold))]
    if wrong or not ordered:
        raise InputError(list(dict.fromkeys(wrong)) or "no threshold was given; expected at least one")
    return tuple(step for kind in kinds for step in _steps(material, rules, kind, ordered, progress))


def _steps(
    material: Material, rules: Rules, kind: str, thresholds: Sequence[float], progress: Progress
) -> list[Step]:
    alone = Rules(
        None, None, None, shared=rules.shared and kind == NEAR_DUPLICATE, numbers=rules.numbers, cut=rules.cut
    )
    of_kind = find_edges(material, _with(alone, kind, thresholds[-1]), progress).edges
    others = find_edges(material, _with(rules, kind, None), progress).edges
    steps = []
    for threshold in thresholds:
        edges = [*others, *(edge for edge in of_kind if edge.kind != kind or edge.similarity >= threshold)]
        groups = leakage_groups(material.queries, edges)
        sizes = np.unique(list(groups.values()), return_counts=True)[1]
        largest = int(sizes.max())
        single = int((sizes == 1).sum())
        steps.append(Step(kind, threshold, len(sizes), largest, largest / len(groups), single))
    return steps


def _with(rules: Rules, kind: str, threshold: float | None) -> Rules:
    """The rules with another threshold of a kind."""
    if kind == QUERY_TEXT:
        return replace(rules, query=threshold)
    if kind == PARAPHRASE:
        return replace(rules, paraphrase=threshold)
    return replace(rules, document=threshold)
