"""The threshold sweep: how groups grow as a threshold falls, and where they explode.

Components explode at a threshold: of 3,000 templated queries the largest group is 297 at 0.65 and 2,369 at
0.60. Each step is a search of its own, because a tie may rest on something else than the similarity that is
swept: a reworded query, a document within another. The other kinds stay as the rules have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from curation.errors import InputError
from curation.progress import Progress, silent
from curation.splits.groups.groups import leakage_groups
from curation.splits.inputs import SplitInputs
from curation.splits.rules import Rules
from curation.splits.ties.kind import TieKind
from curation.splits.ties.kinds import KINDS, problems
from curation.splits.ties.search import find_edges

SWEPT = {label: kind for label, kind in KINDS.items() if kind.is_threshold}
"""Label → kind, of the kinds that have a threshold."""
THRESHOLDS = (0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5)


class SweepStep(NamedTuple):
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
    inputs: SplitInputs,
    rules: Rules,
    thresholds: Sequence[float] = THRESHOLDS,
    kinds: Iterable[str] = tuple(SWEPT),
    progress: Progress = silent,
) -> tuple[SweepStep, ...]:
    """The groups at each threshold of each kind, from the highest threshold down.

    A kind that cannot be searched (paraphrases without embeddings) is left out together with others.

    Parameters
    ----------
    kinds: labels of the kinds of tie.

    Raises
    ------
    InputError: a threshold or kind that is none, or only kinds that cannot be searched.
    """
    ordered = sorted({round(threshold, 6) for threshold in thresholds}, reverse=True)
    labels = list(dict.fromkeys(kinds))
    wrong = [
        f"the kind {label!r}: expected one of {', '.join(SWEPT)}" for label in labels if label not in SWEPT
    ]
    chosen = _searchable([SWEPT[label] for label in labels if label in SWEPT], inputs)
    for kind in chosen:
        wrong += [text for threshold in ordered for text in problems(kind.with_value(rules, threshold))]
    if wrong or not ordered:
        raise InputError(list(dict.fromkeys(wrong)) or "no threshold was given; expected at least one")
    return tuple(step for kind in chosen for step in _steps(inputs, rules, kind, ordered, progress))


def _searchable(kinds: Sequence[TieKind], inputs: SplitInputs) -> list[TieKind]:
    """The kinds that can be searched in these inputs; refused where none of them can."""
    found = [kind for kind in kinds if kind.unsearchable(inputs) is None]
    if kinds and not found:
        reasons = [
            f"--kind {kind.label}: {kind.unsearchable(inputs)}; leave --no-{kind.setting} out"
            for kind in kinds
        ]
        raise InputError(reasons)
    return found


def _steps(
    inputs: SplitInputs, rules: Rules, kind: TieKind, thresholds: Sequence[float], progress: Progress
) -> list[SweepStep]:
    others = find_edges(inputs, kind.with_value(rules, kind.off), progress).edges
    steps = []
    for threshold in thresholds:
        own = find_edges(inputs, kind.with_value(_alone(rules, kind), threshold), progress).edges
        groups = leakage_groups(inputs.queries, [*others, *own])
        sizes = np.unique(list(groups.values()), return_counts=True)[1]
        largest = int(sizes.max())
        single = int((sizes == 1).sum())
        steps.append(SweepStep(kind.label, threshold, len(sizes), largest, largest / len(groups), single))
    return steps


def _alone(rules: Rules, kind: TieKind) -> Rules:
    """The rules with all other kinds switched off but those whose ties its search leaves out."""
    off = {other.setting: other.off for other in KINDS.values() if other.setting not in kind.counts_on}
    return replace(rules, **off)
