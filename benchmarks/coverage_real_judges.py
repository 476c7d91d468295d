"""What judges as real ones are save people, on real labels. The second table of docs/judges.md.

Units are taken with replacement from real ones, people grade a part of them, and the interval is that of
`goldset evaluate --judge`.

- *crowd worker*: 2,275 pairs with gold labels (../shared/data/trec_crowd); the judge's label of a pair is one
  worker's, drawn at random. The unit is the pair, and its figure is its label.
- *rater*: three professional raters of 135 product queries (../shared/data/chorus_icecat). The unit is the
  query, and its figure is nDCG@10 of a list that orders the rated products by the words of the query in their
  names. The judge is the named rater, people are the median of the other two.
- *rater, grades astray*: of that share of its pairs the rater's grade is another pair's, drawn at random.
- *words*: 3 where all words of the query are in name and description, 1 where some are, else 0; against the
  final grade, on a list ordered by the hash of the product.

Usage: python -m benchmarks.coverage_real_judges [runs]
Smallest: python -m benchmarks.coverage_real_judges 2
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from curation.statistics.arrays import Floats
from curation.statistics.intervals import wilson
from curation.statistics.prediction_powered import prediction_powered_mean

DATA = Path(__file__).parents[2] / "shared" / "data"
UNITS, SAMPLED, DEPTH = 1_000, (30, 100, 300), 10
RATERS = ("agent_1_rating", "agent_2_rating", "agent_3_rating")


class RealJudge(NamedTuple):
    """The figure of each unit by people and by a judge, shape (U,)."""

    name: str
    people: Floats
    judge: Floats


def crowd(random: np.random.Generator) -> RealJudge:
    labels = defaultdict(list)
    for line in (DATA / "trec_crowd" / "trec_crowd.txt").read_text().splitlines():
        item, _, label = line.split()
        labels[item].append(float(label) - 1)
    gold = dict(line.split() for line in (DATA / "trec_crowd" / "trec_truth.txt").read_text().splitlines())
    items = sorted(gold.keys() & labels.keys())
    judge = [labels[item][random.integers(len(labels[item]))] for item in items]
    return RealJudge("crowd worker", np.array([float(gold[item]) - 1 for item in items]), np.array(judge))


def rated() -> dict[str, list[Mapping[str, str]]]:
    """Query → its rated products."""
    with (DATA / "chorus_icecat" / "Broad_Query_Set_individual_ratings.csv").open(encoding="utf-8") as file:
        found = defaultdict(list)
        for row in csv.DictReader(file):
            found[row["query"]].append(row)
    return dict(found)


def ndcg(grades: Sequence[float]) -> float:
    """nDCG@10 with the grade as gain of a list with these grades; 0 without a relevant product."""
    discounts = 1 / np.log2(np.arange(2, DEPTH + 2))
    listed, best = (np.array(list(one)[:DEPTH]) for one in (grades, sorted(grades, reverse=True)))
    most = float(best @ discounts[: len(best)])
    return float(listed @ discounts[: len(listed)]) / most if most else 0.0


def _words(text: str) -> set[str]:
    return set(text.lower().replace(",", " ").split())


def _by_name(row: Mapping[str, str]) -> tuple[float, str]:
    return -len(_words(row["query"]) & _words(row["name"])), _by_hash(row)[1]


def _by_hash(row: Mapping[str, str]) -> tuple[float, str]:
    return 0.0, blake2b(f"{row['query']} {row['docid']}".encode()).hexdigest()


def _lexical(row: Mapping[str, str]) -> float:
    asked, text = _words(row["query"]), _words(f"{row['name']} {row['description']}")
    return 3.0 if asked <= text else 1.0 if asked & text else 0.0


def _figures(
    order: Callable[[Mapping[str, str]], tuple[float, str]], grade: Callable[[Mapping[str, str]], float]
) -> Floats:
    return np.array([ndcg([grade(row) for row in sorted(rows, key=order)]) for rows in rated().values()])


def rater(number: int, astray: float, random: np.random.Generator) -> RealJudge:
    rows = [row for found in rated().values() for row in found]
    own = np.array([float(row[RATERS[number]]) for row in rows])
    moved = np.where(random.random(len(own)) < astray, random.permutation(own), own)
    said = {(row["query"], row["docid"]): grade for row, grade in zip(rows, moved.tolist(), strict=True)}
    others = [name for place, name in enumerate(RATERS) if place != number]
    people = _figures(_by_name, lambda row: sum(float(row[name]) for name in others) / 2)
    judge = _figures(_by_name, lambda row: said[row["query"], row["docid"]])
    name = f"rater {number + 1}" + (f", {astray:.0%} of grades astray" if astray else "")
    return RealJudge(name, people, judge)


def judges(random: np.random.Generator) -> Iterator[RealJudge]:
    yield crowd(random)
    words = _figures(_by_hash, _lexical)
    yield RealJudge("words of the query", _figures(_by_hash, lambda row: float(row["final_rating"])), words)
    for number in range(3):
        yield rater(number, 0.0, random)
    for astray in (0.5, 0.7):
        yield rater(0, astray, random)


def measured(one: RealJudge, sampled: int, runs: int, seed: int = 0) -> dict[str, float]:
    """Over all runs: shares that held, mean width, and the spread of what was said to be saved."""
    random = np.random.default_rng(seed)
    truth, rho = float(one.people.mean()), float(np.corrcoef(one.people, one.judge)[0, 1])
    rows = []
    for _ in range(runs):
        units = random.integers(len(one.people), size=UNITS)
        known = np.where(np.arange(UNITS) < sampled, one.people[units], np.nan)
        found = prediction_powered_mean(one.judge[units], known)
        low, high, correlation = found.estimate.low, found.estimate.high, found.correlation
        if low is None or high is None or found.classical.low is None or found.classical.high is None:
            continue
        told = correlation is not None and correlation.low <= rho <= correlation.high
        width, alone = high - low, found.classical.high - found.classical.low
        rows.append((low <= truth <= high, told, width, alone, found.saved or 0.0))
    values = np.array(rows, dtype=float)
    least, most = np.quantile(values[:, 4], [0.1, 0.9])
    names = ("held", "told", "width", "alone", "saved")
    means = dict(zip(names, values.mean(axis=0).tolist(), strict=True))
    return means | {"rho": rho, "least": float(least), "most": float(most), "runs": len(values)}


def main(runs: int = 2_000) -> None:
    if not (DATA / "trec_crowd").is_dir():
        print(f"No data in {DATA.name}: nothing to measure.")
        return
    columns = (
        *("judge", "correlation", "people's", "held", "95 % of that", "width", "people alone", "saved"),
        *("in 80 % of runs", "correlation's interval held"),
    )
    print(f"| {' | '.join(columns)} |")
    print("|---|---:|---:|---:|---|---:|---:|---:|---|---:|")
    for one in judges(np.random.default_rng(0)):
        for sampled in SAMPLED:
            row = measured(one, sampled, runs)
            low, high = wilson(round(row["held"] * row["runs"]), int(row["runs"]))
            held = f"{row['held']:.1%} | {low:.1%} to {high:.1%}"
            widths = f"{row['width']:.3f} | {row['alone']:.3f}"
            saved = f"{row['saved']:+.0f} | {row['least']:+.0f} to {row['most']:+.0f}"
            start = f"{one.name} | {row['rho']:.2f} | {sampled}"
            print(f"| {start} | {held} | {widths} | {saved} | {row['told']:.1%} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
