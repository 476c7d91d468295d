"""Which pairs a plan judges again: the stalest, and a random part of all others, by a seed.

The random part is drawn last, from all that the scores leave, so that together they are a stratified sample
of the set: what is chosen is known once it is judged, and the random part says what is true of the rest (W.
G. Cochran 1977, Sampling Techniques, section 5.5). It is systematic sampling with a random start along type,
quarter of the last judgment and a seeded order. Each pair of the rest has the same inclusion probability, and
each type and quarter gets within one of its share (Särndal, Swensson & Wretman 1992, section 3.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from curation.core.statistics.weights import draw_proportional
from curation.core.text import digest
from curation.relabeling.request import RANDOM_SHARE
from curation.relabeling.staleness.judged_pairs import GONE, JudgedPair

RANDOM, STALE = "random", "stale"
ALL_GONE = "the document is not in the corpus any more: it cannot be judged again"


class PlanPair(NamedTuple):
    """A pair of a plan, with all that was true of it before.

    Attributes
    ----------
    stratum: see `JudgedPair.stratum`.
    inclusion_probability: 1 outside of the random part; None in plans of earlier versions.
    judged: name of the quarter it was judged in.
    """

    query_id: str
    document_id: str
    part: str
    stratum: str
    inclusion_probability: float | None
    grade: int | None
    how: str
    content_hash: str | None
    guide_hash: str | None
    annotators: tuple[str, ...]
    judged: str | None
    decisions: int


def choose_pairs(pairs: Sequence[JudgedPair], fraction: float, seed: int, random: int = 0) -> list[PlanPair]:
    """Choose a fraction of the pairs that can be judged, at least `random` of them at random, by ids."""
    frame = sorted((pair for pair in pairs if pair.document != GONE), key=lambda pair: pair.pair)
    number = min(len(frame), max(1, round(fraction * len(frame)))) if frame else 0
    drawn = min(number, max(random, round(RANDOM_SHARE * number)))
    ranked = sorted(frame, key=lambda pair: (-pair.score, digest(seed, "relabel", *pair.pair)))
    stale, rest = ranked[: number - drawn], ranked[number - drawn :]
    chosen = dict.fromkeys((pair.pair for pair in stale), (STALE, 1.0))
    chosen |= dict.fromkeys(
        (pair.pair for pair in _random_part(rest, drawn, seed)), (RANDOM, drawn / max(1, len(rest)))
    )
    return [_planned(pair, *chosen[pair.pair]) for pair in frame if pair.pair in chosen]


def _planned(pair: JudgedPair, part: str, probability: float) -> PlanPair:
    return PlanPair(
        *(*pair.pair, part, pair.stratum, probability, pair.consensus.grade, pair.consensus.how),
        *(pair.read_hash, pair.guide_hash, pair.annotators),
        *(pair.judged.name if pair.judged else None, pair.decisions),
    )


def _random_part(rest: Sequence[JudgedPair], number: int, seed: int) -> list[JudgedPair]:
    """Every pair with the same probability, spread over types, quarters and queries."""
    if not number:
        return []
    ordered = sorted(rest, key=lambda pair: (pair.stratum, digest(seed, "axis", *pair.pair)))
    start = int(digest("relabel", seed, len(ordered)), 16)
    drawn = draw_proportional(np.ones(len(ordered), np.int64), number, start)
    return [ordered[index] for index in drawn.rows.tolist()]
