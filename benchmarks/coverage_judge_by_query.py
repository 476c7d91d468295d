"""Does the corrected estimate hold if a judge's error depends on the query? On real grades of people.

Each draw has 500 queries, drawn with replacement from the 135 queries of chorus_icecat with grades of
people from 0 to 3. The truth is the mean over these 135 queries of the nDCG@10 of a fixed order of the
documents. The judge raises a grade by one, with a probability of the query's own: from 0 to 1, and on
average higher for queries with few relevant documents. People grade the queries that `judge plan` draws,
from three strata by the number of relevant documents.

Usage: python -m benchmarks.coverage_judge_by_query [draws, default 500]
Smallest: python -m benchmarks.coverage_judge_by_query 1
Needs: ../shared/data
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from curation.core.digests import sort_by_seed
from curation.core.statistics.arrays import Ints
from curation.core.statistics.difference_estimator import DifferenceEstimate, difference_estimate
from curation.core.statistics.intervals import wilson_interval
from curation.labeling.rounds.query_draw import draw_queries

RATED = Path("../shared/data/chorus_icecat/Broad_Query_Set_rated.csv")
QUERIES, SAMPLED = 500, (30, 100)


def read_grades() -> dict[str, Ints]:
    """Query → grades of its documents, in an order that no grade decides."""
    rows: dict[str, dict[str, int]] = defaultdict(dict)
    with RATED.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows[row["query"]][row["docid"]] = int(float(row["rating"]))
    return {
        query: np.array([grades[name] for name in sort_by_seed(grades, 0, str)])
        for query, grades in sorted(rows.items())
    }


def ndcg(grades: Ints) -> float:
    """NDCG@10 with exponential gain, 0 for a query without a relevant document."""
    gains, discounts = 2.0**grades - 1, 1 / np.log2(np.arange(2, 12))
    best = np.sort(gains)[::-1][:10]
    return float(gains[:10] @ discounts[: len(gains[:10])] / max(1e-9, best @ discounts[: len(best)]))


def judged(grades: Ints, random: np.random.Generator) -> Ints:
    """The judge's grades: too high with a probability of the query's own."""
    often = random.beta(0.2, 0.8 + 4 * float((grades > 1).mean()))
    raised: Ints = np.minimum(3, grades + (random.random(len(grades)) < often))
    return raised


def main(draws: int) -> None:
    grades = list(read_grades().values())
    figures = np.array([ndcg(row) for row in grades])
    relevant = np.array([float((row > 1).mean()) for row in grades])
    strata_of = np.searchsorted(np.quantile(relevant, [1 / 3, 2 / 3]), relevant)
    print("| people's queries | held | 95 % of that | bias | judge alone | width | people alone | saved |")
    print("|---:|---:|---|---:|---:|---:|---:|---:|")
    for sampled in SAMPLED:
        rows = []
        for seed in range(draws):
            random = np.random.default_rng([seed, sampled])
            chosen = random.integers(len(grades), size=QUERIES)
            judge = np.array([ndcg(judged(grades[index], random)) for index in chosen])
            strata = strata_of[chosen].astype(str).tolist()
            draw = draw_queries({f"{number:03}": name for number, name in enumerate(strata)}, sampled, seed)
            asked = np.array([query in draw.drawn for query in draw.strata])
            known = draw.probabilities
            people = np.where(asked, figures[chosen], np.nan)
            chances = np.array([known[query] for query in draw.strata])
            found = difference_estimate(judge, people, asked, chances, strata)
            rows.append(_row(found, float(figures.mean())))
        held, off, judge_off, width, alone, saved = np.mean(rows, axis=0)
        ends = " to ".join(f"{end:.1%}" for end in wilson_interval(round(held * draws), draws))
        row = (f"{sampled}", f"{held:.1%}", ends, f"{off:+.4f}", f"{judge_off:+.3f}", f"{width:.3f}")
        print(f"| {' | '.join(row)} | {alone:.3f} | {saved:+.0f} |", flush=True)


def _row(found: DifferenceEstimate, truth: float) -> list[float]:
    value, low, high = found.estimate
    _, alone_low, alone_high = found.people_alone
    assert low is not None
    assert high is not None
    width, alone = high - low, (alone_high or 0.0) - (alone_low or 0.0)
    off = value - truth, (found.judge_alone or 0.0) - truth
    return [float(low <= truth <= high), *off, width, alone, found.saved or 0.0]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
