"""Which detector finds a change in somebody's repeats, at equal false alarms? docs/agreement-method.md.

Every detector gets the limit that at most 5 % of random orders of the same repeats cross anywhere, so all
have the same rate of false alarms and can be compared:

    p-chart        the lowest share of ten repeats, against all (D. C. Montgomery, section 7.2)
    CUSUM          Bernoulli CUSUM for twice the odds (Reynolds and Stoumbos 1999)
    change point   largest likelihood ratio of one change (Scott and Knott 1974)
    falls          the same, of falls only
    stretch        the same as change point, of a worse stretch that ended, too (Levin and Kline 1985)

Three sources of repeats:

    made       the share graded alike is planted at each repeat
    product    the product lays out an annotator's round; who answers is right with a share that changes with
               the position, so a pair's first and second showing may be on different sides of a change
    real       the same rounds, answered as a good worker of the TREC crowd set answered, and where it is
               worse as a bad one: labels are drawn from those that they gave where gold or a majority of
               others says the same; also right or wrong of all workers in their own order

Usage: python -m benchmarks.bench_charts [--runs 2000] [--repeats 60,120] [--real ../shared/data]
Smallest: python -m benchmarks.bench_charts --runs 1 --repeats 20
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np

from curation.agreement.annotators.intra_annotator import LEVEL, SHORTEST, likelihood_ratios
from curation.labeling.rounds.assignment import Candidate, order
from curation.statistics.p_values import PERMUTATIONS

GROUP = 10
Detector = Callable[[np.ndarray], np.ndarray]
Course = Callable[[np.ndarray], np.ndarray]


def p_chart(rows: np.ndarray) -> np.ndarray:
    """How far the lowest ten are below the rest."""
    tens = rows[:, : rows.shape[1] // GROUP * GROUP].reshape(len(rows), -1, GROUP)
    return rows.mean(axis=1) - tens.mean(axis=2).min(axis=1)


def cusum(rows: np.ndarray) -> np.ndarray:
    """The highest point of a CUSUM for odds of a miss twice as high."""
    share = float(rows[0].mean())  # all rows are orders of the same repeats
    worse = 1 / (1 + (1 - share) / share * 2)
    steps = np.where(rows == 1, np.log(worse / share), np.log((1 - worse) / (1 - share)))
    plain = np.cumsum(steps, axis=1)
    return (plain - np.minimum(np.minimum.accumulate(plain, axis=1), 0)).max(axis=1)


def stretch(rows: np.ndarray) -> np.ndarray:
    """The largest likelihood ratio of a change, or of a stretch that ended and was worse than the rest."""
    length = rows.shape[1]
    begins, ends = np.triu_indices(length + 1, SHORTEST)
    kept = (begins >= 1) & (length - (ends - begins) >= SHORTEST)
    begins, ends = begins[kept], ends[kept]
    sums = np.concatenate([np.zeros((len(rows), 1), int), np.cumsum(rows, axis=1)], axis=1)
    inside, n = sums[:, ends] - sums[:, begins], ends - begins
    outside = sums[:, -1:] - inside
    counts = np.arange(length + 1.0)
    terms = counts * np.log(np.maximum(counts, 1))
    ratios = terms[inside] + terms[n - inside] - terms[n]
    ratios += terms[outside] + terms[length - n - outside] - terms[length - n]
    lower = inside * (length - n) < outside * n
    best = np.where(lower | (ends == length), ratios, -np.inf).max(axis=1)
    whole = terms[sums[:, -1]] + terms[length - sums[:, -1]] - terms[length]
    found: np.ndarray = np.maximum(best - whole, 0.0)
    return found


def change(falls_only: bool, rows: np.ndarray) -> np.ndarray:
    return likelihood_ratios(rows, falls_only).max(axis=1)


DETECTORS: dict[str, Detector] = {
    "p-chart": p_chart,
    "CUSUM": cusum,
    "change point": partial(change, False),
    "falls": partial(change, True),
    "stretch": stretch,
}


@cache
def limits(repeats: int, alike: int) -> dict[str, float]:
    """What random orders cross in at most 5 % of cases."""
    rows = np.zeros((PERMUTATIONS, repeats), dtype=np.int8)
    rows[:, :alike] = 1
    orders = np.random.default_rng(alike).permuted(rows, axis=1)
    place = int(np.ceil((1 - LEVEL) * (1 + PERMUTATIONS))) - 1
    return {name: float(np.sort(found(orders))[place]) for name, found in DETECTORS.items()}


def rates(rows: np.ndarray) -> dict[str, float]:
    """Detector → of how many rows it goes beyond its limit."""
    counts = dict.fromkeys(DETECTORS, 0)
    for alike in np.unique(rows.sum(axis=1)).tolist():
        if 0 < alike < rows.shape[1]:
            same, ends = rows[rows.sum(axis=1) == alike], limits(rows.shape[1], alike)
            for name, found in DETECTORS.items():
                counts[name] += int((found(same) > ends[name] + 1e-9).sum())
    return {name: count / len(rows) for name, count in counts.items()}


def courses(usual: float, worse: float) -> Iterator[tuple[str, Course]]:
    """What happens → a share at each time, 0 to 1."""
    yield f"nothing: {usual:.0%}", lambda t: np.full(len(t), usual)
    yield f"{usual:.0%}, from the middle on {worse:.0%}", lambda t: np.where(t < 0.5, usual, worse)
    yield f"falls evenly from {usual:.0%} to {worse:.0%}", lambda t: usual - (usual - worse) * t
    yield (
        f"{usual:.0%}, a sixth in the middle {worse:.0%}",
        lambda t: np.where((t >= 5 / 12) & (t < 7 / 12), worse, usual),
    )
    yield (
        f"{usual:.0%}, a quarter before the end {worse:.0%}",
        lambda t: np.where((t >= 0.55) & (t < 0.8), worse, usual),
    )
    yield f"{usual:.0%}, the last fifth {worse:.0%}", lambda t: np.where(t < 0.8, usual, worse)
    yield f"{worse:.0%}, after a quarter {usual:.0%}", lambda t: np.where(t < 0.25, worse, usual)


def made(course: Course, repeats: int, runs: int) -> np.ndarray:
    share = course(np.arange(repeats) / repeats)
    return (np.random.default_rng(1).random((runs, repeats)) < share).astype(np.int8)


@cache
def laid_out(seed: int, repeats: int) -> tuple[np.ndarray, np.ndarray]:
    """The positions of both showings of each blind duplicate in a round of ten times as many, as shares."""
    work = {f"q{q}": [Candidate(f"q{q}", f"d{q}-{d}", "") for d in range(10)] for q in range(repeats)}
    steps = order(work, 0.1, f"{seed}:ada", None)
    first = {step.candidate: place for place, step in enumerate(steps) if not step.again}
    again = [(place, first[step.candidate]) for place, step in enumerate(steps) if step.again]
    places = np.asarray(again)[:repeats] / len(steps)
    return places[:, 1], places[:, 0]


def product(course: Course, repeats: int, runs: int) -> np.ndarray:
    """Repeats of rounds that the product lays out; a wrong answer is off by one, four grades."""
    random = np.random.default_rng(2)

    def answer(true: np.ndarray, when: np.ndarray) -> np.ndarray:
        wrong = random.random(len(true)) >= course(when)
        return np.clip(true + wrong * random.choice([-1, 1], len(true)), 0, 3)

    rows = []
    for run in range(runs):
        true = random.choice(4, repeats, p=[0.4, 0.3, 0.2, 0.1])
        first, again = laid_out(run % 50, repeats)
        rows.append(answer(true, first) == answer(true, again))
    return np.stack(rows).astype(np.int8)


class Worker:
    """What somebody answered, by the true label, and whether each answer was right, in their order."""

    def __init__(self) -> None:
        self.given: dict[int, list[int]] = defaultdict(list)
        self.right: list[bool] = []

    def add(self, true: int, label: int) -> None:
        self.given[true].append(label)
        self.right.append(true == label)


def workers(folder: Path) -> list[Worker]:
    """Everybody with 60 labels or more that gold, or a strict majority of two or more others, can judge."""
    labels = np.loadtxt(folder / "trec_crowd" / "trec_crowd.txt", dtype=np.int64).tolist()
    gold = dict(np.loadtxt(folder / "trec_crowd" / "trec_truth.txt", dtype=np.int64).tolist())
    votes: dict[int, Counter[int]] = defaultdict(Counter)
    for item, _, label in labels:
        votes[item][label] += 1
    found: dict[int, Worker] = defaultdict(Worker)
    for item, worker, label in labels:
        others = votes[item] - Counter([label])
        (most, times), number = (others.most_common(1) or [(0, 0)])[0], others.total()
        if item in gold or (number >= 2 and 2 * times > number):
            found[worker].add(gold.get(item, most), label)
    return [one for one in found.values() if len(one.right) >= 60]


def real(worse: Course, everybody: list[Worker], repeats: int, runs: int) -> np.ndarray:
    """Rounds of a good worker; where the course is high, a bad one answers."""
    able = [one for one in everybody if min(map(len, one.given.values())) >= 5 and len(one.given) >= 2]
    good = [one for one in able if np.mean(one.right) >= 0.8]
    bad = [one for one in able if np.mean(one.right) <= 0.5]
    random, rows = np.random.default_rng(3), []
    for run in range(runs):
        own, other = (group[random.integers(len(group))] for group in (good, bad))
        scale = sorted(own.given.keys() & other.given.keys())
        true, given = random.choice(scale, repeats), []
        for when in laid_out(run % 50, repeats):
            hard = random.random(repeats) < worse(when)
            given.append(
                [random.choice((other if b else own).given[t]) for t, b in zip(true, hard, strict=True)]
            )
        rows.append(np.asarray(given[0]) == np.asarray(given[1]))
    return np.stack(rows).astype(np.int8)


def own_order(everybody: list[Worker], repeats: int) -> np.ndarray:
    """Right or wrong, the first of every worker as they came: what is found is theirs."""
    return np.asarray([one.right[:repeats] for one in everybody if len(one.right) >= repeats], dtype=np.int8)


def line(source: str, repeats: int, name: str, rows: np.ndarray) -> None:
    cells = " | ".join(f"{rate:.1%}" for rate in rates(rows).values())
    print(f"| {source} | {repeats} | {name} | {cells} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--repeats", default="60,120")
    parser.add_argument("--real", type=Path)
    asked = parser.parse_args()
    print("| source | repeats | what changes | " + " | ".join(DETECTORS) + " |")
    print("|---|---:|---|" + "---:|" * len(DETECTORS))
    everybody = workers(asked.real) if asked.real else []
    for repeats in map(int, asked.repeats.split(",")):
        for name, course in courses(0.88, 0.5):
            line("made", repeats, name, made(course, repeats, asked.runs))
        for name, course in courses(0.93, 0.55):
            line("product", repeats, name, product(course, repeats, asked.runs))
        for name, course in courses(0.0, 1.0) if everybody else ():
            title = name.replace("100%", "worse worker").replace("0%", "good worker")
            line("real", repeats, title, real(course, everybody, repeats, asked.runs))
        if everybody:
            line("real", repeats, "everybody's own order", own_order(everybody, repeats))


if __name__ == "__main__":
    main()
