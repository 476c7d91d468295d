"""Selection of the pairs that people judge again in a re-labeling: the due pairs and a random sample of
others.

The pairs whose document changed come first, then those whose grade the guide words differently, then those
not judged for two years, and at last the other pairs; within each group the longest unjudged pairs come
first. The random part is drawn from all pairs that are not selected so. Both parts together are a stratified
sample of the set: the grades of the due pairs are known once they are judged, and the random part estimates
the other pairs (W. G. Cochran 1977, Sampling Techniques, section 5.5). The random part is a systematic sample
with a random start, from pairs ordered by type, quarter of the last judgment and a seeded number. Each pair
has the same inclusion probability, and the number of pairs of each type and quarter differs from its exact
share by less than one (Särndal, Swensson & Wretman 1992, section 3.4).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from curation.core.digests import digest
from curation.core.statistics.stratified_sampling import draw_proportional
from curation.relabeling.judged_pairs import AGE, DOCUMENT, GONE, GUIDE, JudgedPair
from curation.relabeling.request import RANDOM_SHARE
from curation.relabeling.stored_plans import PlanPair

RANDOM, STALE = "random", "stale"
"""The parts of a plan: pairs that are drawn at random, and pairs that are selected for a reason."""
OLDEST, CHOSEN = "oldest", "chosen"
"""Reasons of planned pairs besides a pair's own reasons: the longest unjudged, and the choice of a lead."""
_RANKS = {DOCUMENT: 0, GUIDE: 1, AGE: 2, "": 3}


def select_pairs(pairs: Sequence[JudgedPair], fraction: float, seed: int) -> list[PlanPair]:
    """Select a fraction of the pairs that can be judged again; `RANDOM_SHARE` of the fraction is random.

    The selected pairs are ordered by query id and document id.
    """
    frame = sorted((pair for pair in pairs if pair.document != GONE), key=lambda pair: pair.pair)
    if not frame:
        return []
    size = min(len(frame), max(1, round(fraction * len(frame))))
    random_size = round(RANDOM_SHARE * size)
    stale_size = size - random_size

    def rank(pair: JudgedPair) -> tuple[int, int, str]:
        return _RANKS[pair.reason], -pair.least_age, digest(seed, "relabel", *pair.pair)

    ranked = sorted(frame, key=rank)
    others = ranked[stale_size:]
    probability = random_size / max(1, len(others))
    selected = [make_plan_pair(pair, pair.reason or OLDEST) for pair in ranked[:stale_size]]
    selected += [make_plan_pair(pair, RANDOM, probability) for pair in _draw_pairs(others, random_size, seed)]
    return sorted(selected, key=lambda pair: (pair.query_id, pair.document_id))


def _draw_pairs(pairs: Sequence[JudgedPair], size: int, seed: int) -> list[JudgedPair]:
    """Draw pairs with equal probabilities, spread over query types, quarters and queries."""
    if not size:
        return []
    ordered = sorted(pairs, key=lambda pair: (pair.stratum, digest(seed, "axis", *pair.pair)))
    start = int(digest("relabel", seed, len(ordered)), 16)
    indexes, _ = draw_proportional(np.ones(len(ordered), np.int64), size, start)
    return [ordered[index] for index in indexes.tolist()]


def make_plan_pair(pair: JudgedPair, reason: str, probability: float = 1.0) -> PlanPair:
    """Make a plan's row for a judged pair, with the reason why the plan contains the pair."""
    return PlanPair(
        query_id=pair.query_id,
        document_id=pair.document_id,
        part=RANDOM if reason == RANDOM else STALE,
        stratum=pair.stratum,
        inclusion_probability=probability,
        grade=pair.grade,
        how=pair.how,
        content_hash=pair.read_hash,
        guide_hash=pair.guide_hash,
        annotators=pair.annotators,
        judged=pair.judged,
        decisions=pair.decisions,
        reason=reason,
    )
