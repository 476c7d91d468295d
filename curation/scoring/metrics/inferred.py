"""Inferred AP and nDCG: what full judgments of a pool would give, from a random sample of it.

A query's pool is divided into strata. Of each stratum s with N_s documents n_s were judged, drawn at random
without replacement. A judged document counts for N_s / n_s of its stratum. With R̂ the number of relevant
documents that this makes,

    infAP = 1/R̂ · Σ over judged relevant documents of N_s / n_s · P̂(rank)
    P̂(k)  = 1/k + 1/k · Σ_s  above_s · (relevant_s + ε) / (judged_s + 2ε)

where above_s, judged_s and relevant_s count the documents of stratum s above rank k (xinfAP: E. Yilmaz,
E. Kanoulas and J. A. Aslam (2008), SIGIR). With one stratum it is trec_eval's infAP (E. Yilmaz and J. A.
Aslam (2006), CIKM). Documents outside the pool are taken as not relevant, as always.

    infnDCG@k = Σ over judged documents up to rank k of N_s / n_s · gain / log2(rank + 1), over the DCG of the
                best order of N_s / n_s documents for each judged one

Both are ratios of estimates. Where a query has few relevant documents in the sample they are biased, mostly
upwards: the mean over many queries does not take that away. A stratum of which nothing was judged says
nothing about itself, so its query has no estimate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import floor, log2
from typing import NamedTuple

SMOOTHING = 1e-5
"""ε, as in trec_eval."""


class SampledStratum(NamedTuple):
    """A part of a query's pool of which some documents were judged, drawn at random.

    Attributes
    ----------
    documents: all of the part.
    grades: of those that were judged.
    """

    documents: frozenset[str]
    grades: Mapping[str, int]

    @property
    def weight(self) -> float:
        """For how many documents of the part a judged one counts."""
        return len(self.documents) / len(self.grades)


class _Above:
    """How many documents of a stratum were met so far in a list."""

    def __init__(self) -> None:
        self.pooled = self.judged = self.relevant = 0

    def expected(self) -> float:
        """How many of them are relevant, going by the judged ones."""
        return self.pooled * (self.relevant + SMOOTHING) / (self.judged + 2 * SMOOTHING)


def inferred_ap(
    ranking: Iterable[str], strata: Sequence[SampledStratum], is_relevant: Callable[[int], bool]
) -> float | None:
    """The estimate of average precision; None where it is undefined: nothing relevant is among the judged
    documents, or a stratum has none."""
    strata = [stratum for stratum in strata if stratum.documents]
    if not all(stratum.grades for stratum in strata):
        return None
    total = sum(stratum.weight * sum(map(is_relevant, stratum.grades.values())) for stratum in strata)
    if not total:
        return None
    stratum_of = {name: place for place, stratum in enumerate(strata) for name in stratum.documents}
    above = [_Above() for _ in strata]
    found = 0.0
    for rank, name in enumerate(ranking, 1):
        place = stratum_of.get(name)
        if place is None:
            continue
        grade = strata[place].grades.get(name)
        relevant = grade is not None and is_relevant(grade)
        if relevant:
            found += strata[place].weight * (1 + sum(one.expected() for one in above if one.pooled)) / rank
        above[place].pooled += 1
        above[place].judged += grade is not None
        above[place].relevant += relevant
    return found / total


def inferred_ndcg(
    ranking: Sequence[str],
    strata: Sequence[SampledStratum],
    depth: int,
    gain: Callable[[int], float] = float,
) -> float | None:
    """The estimate of nDCG@depth; None where it is undefined, as `inferred_ap`.

    Parameters
    ----------
    gain: of a grade; grades below 0 gain nothing.
    """
    strata = [stratum for stratum in strata if stratum.documents]
    if not all(stratum.grades for stratum in strata):
        return None
    weights = {name: (stratum.weight, grade) for stratum in strata for name, grade in stratum.grades.items()}
    numbers: defaultdict[float, float] = defaultdict(float)
    for weight, grade in weights.values():
        numbers[gain(max(grade, 0))] += weight
    best = _best(numbers, depth)
    got = 0.0
    for rank, name in enumerate(ranking[:depth], 1):
        if name in weights:
            weight, grade = weights[name]
            got += weight * gain(max(grade, 0)) / log2(rank + 1)
    return got / best if best else None


def _best(numbers: Mapping[float, float], depth: int) -> float:
    """The DCG of the best order of so many documents of each gain, which need be no whole number."""
    total, filled = 0.0, 0.0
    for gain in sorted(numbers, reverse=True):
        until = min(filled + numbers[gain], float(depth))
        total += gain * (_discounts(until) - _discounts(filled))
        filled = until
    return total


def _discounts(places: float) -> float:
    """The sum of the first discounts; part of a place counts as that part of its discount."""
    whole = floor(places + 1e-9)
    rest = max(0.0, places - whole)
    return sum(1 / log2(rank + 1) for rank in range(1, whole + 1)) + rest / log2(whole + 2)
