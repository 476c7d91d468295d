"""Which of good and bad annotators are named in feedback, and are left out of the others?

Projects are simulated: 13 annotators, 130 queries of 8 documents, three annotators a query, and about 240
grades each. True grades have the shares .4, .3, .2, .1. A good annotator is right on 80 to 95 % of the
pairs, else off by one, and takes some seconds. Bad ones are at random, always at grade 1, upside down, hasty
(half of the answers in under a second, at random), or a grade too high. Of three bad ones each is of another
kind. Also who is named in real data. The same seeds give the same table; docs/agreement-method.md has it.

Usage: python -m benchmarks.bench_raters [--runs 60] [--bad 0,1,3] [--real ../shared/data]
Smallest: python -m benchmarks.bench_raters --runs 1 --bad 1
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from curation.agreement.agreement_with_others import compute_agreement_with_others
from curation.agreement.annotator_metrics import AnnotatorMetrics, Finding, compute_metrics
from curation.agreement.fast_answers import AnswerTimes
from curation.agreement.feedback import find_feedback
from curation.agreement.grades import Grades, make_grades
from curation.agreement.outliers import find_outliers
from curation.agreement.signals import AGREEMENT
from curation.core.statistics.intervals import wilson_interval
from curation.core.statistics.multiple_tests import find_fdr_threshold

PEOPLE = [f"person {number:02}" for number in range(13)]
QUERIES, EACH, OVERLAP = 130, 8, 3
SHARES = (0.4, 0.3, 0.2, 0.1)
SCALE = (0, 1, 2, 3)
KINDS = ("random", "always 1", "upside down", "hasty", "a grade too high")
START = np.datetime64("2026-03-02", "us")
Random = np.random.Generator


def answers(random: Random, kind: str, accuracy: float, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Grades, and seconds on screen."""
    right = random.random(len(true)) < accuracy
    good = np.clip(true + ~right * random.choice([-1, 1], len(true)), 0, 3)
    seconds = random.lognormal(1.8, 0.5, len(true))
    by_chance = random.integers(0, 4, len(true))
    if kind == "hasty":
        hurried = random.random(len(true)) < 0.5
        return np.where(hurried, by_chance, good), np.where(
            hurried, 0.3 + 0.6 * random.random(len(true)), seconds
        )
    grades = {
        "random": by_chance,
        "always 1": np.ones_like(good),
        "upside down": 3 - good,
        "a grade too high": np.minimum(good + 1, 3),
    }
    return grades.get(kind, good), seconds


def project(seed: int, bad: tuple[str, ...]) -> tuple[Grades, AnswerTimes]:
    """A simulated project, whose first annotators are of the bad kinds; each has an order of their own."""
    random = np.random.default_rng(seed)
    kinds = [*bad, *[""] * (len(PEOPLE) - len(bad))]
    accuracy = random.uniform(0.8, 0.95, len(PEOPLE))
    true = random.choice(4, (QUERIES, EACH), p=SHARES)
    judges = np.stack([random.permutation(len(PEOPLE))[:OVERLAP] for _ in range(QUERIES)])
    judgments: list[tuple[str, str, str, int]] = []
    minutes: dict[tuple[str, str, str], int] = {}
    names, times = [], []
    for person, name in enumerate(PEOPLE):
        mine = random.permutation(np.flatnonzero((judges == person).any(axis=1)))
        grades, seconds = answers(random, kinds[person], accuracy[person], true[mine].ravel())
        pairs = [(f"q{query:03}", f"d{document}") for query in mine for document in range(EACH)]
        judgments += [(*pair, name, int(grade)) for pair, grade in zip(pairs, grades, strict=True)]
        minutes |= {(*pair, name): minute for minute, pair in enumerate(pairs)}
        names += [name] * len(pairs)
        times += seconds.tolist()
    at = START + np.asarray([minutes[row[:3]] * 60_000_000 for row in sorted(judgments)]).astype(
        "timedelta64[us]"
    )
    return make_grades(judgments)._replace(at=at), AnswerTimes(names, times, [300] * len(names))


def choose_bad(count: int, run: int) -> tuple[str, ...]:
    return tuple(KINDS[(run + index) % len(KINDS)] for index in range(count))


def count_named(annotators: Iterable[AnnotatorMetrics], bad: tuple[str, ...]) -> Counter[str]:
    """Kind ('good' or a bad one) → how many, and how many of them get any feedback."""
    counts: Counter[str] = Counter()
    for index, metrics in enumerate(annotators):
        kind = bad[index] if index < len(bad) else "good"
        counts[kind] += 1
        findings = find_feedback(metrics)
        counts[f"{kind}: named"] += bool(findings)
        counts.update(f"{kind}: {finding.about}" for finding in findings)
        counts[f"{kind}: left out"] += metrics.left_out is not None
    return counts


def share(counts: Counter[str], kind: str, outcome: str) -> str:
    count, n = counts[f"{kind}: {outcome}"], counts[kind]
    low, high = wilson_interval(count, n)
    return f"{count / n:.1%} ({low:.1%}–{high:.1%}) of {n:,}"


def simulate(bad: int, runs: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for run in range(runs):
        kinds = choose_bad(bad, run)
        counts += count_named(compute_metrics(PEOPLE, *project(run, kinds), {}, run), kinds)
    return counts


def trec_crowd(folder: Path) -> None:
    """Workers of a crowd, beside what gold labels say about them."""
    rows = np.loadtxt(folder / "trec_crowd" / "trec_crowd.txt", dtype=np.int64)
    gold = dict(np.loadtxt(folder / "trec_crowd" / "trec_truth.txt", dtype=np.int64).tolist())
    said = {(item, worker): label for item, worker, label in rows.tolist()}
    right = Counter(worker for (item, worker), label in said.items() if gold.get(item) == label)
    known = Counter(worker for item, worker in said if item in gold)
    names, left_out = report_real(
        "TREC crowd (items as queries)", [(f"{i:05}", "d", f"{w:04}", v) for (i, w), v in said.items()]
    )
    groups = {"named": names}
    for name, why in left_out.items():
        groups.setdefault(f"left out of the others for {why}", set()).add(name)
    groups["nothing of it"] = {f"{worker:04}" for worker in known} - names - left_out.keys()
    for label, people in groups.items():
        workers = [int(name) for name in people if known[int(name)]]
        of, n = sum(right[worker] for worker in workers), sum(known[worker] for worker in workers)
        print(f"  right on gold, {label}: {of:,} of {n:,} labels ({of / n:.1%}), {len(workers)} workers")


def icecat(folder: Path) -> None:
    """The three professional raters, and beside them one at random, one at 1 throughout, one upside down."""
    with (folder / "chorus_icecat" / "Broad_Query_Set_individual_ratings.csv").open(encoding="utf-8") as file:
        results = list(csv.DictReader(file))
    judgments = {
        (row["query"], row["docid"], f"agent {n}"): int(row[f"agent_{n}_rating"])
        for row in results
        for n in (1, 2, 3)
        if row[f"agent_{n}_rating"].isdigit()
    }
    report_real("Icecat", [(*key, grade) for key, grade in judgments.items()])
    random = np.random.default_rng(0)
    for kind in ("random", "always 1", "upside down"):
        third = {key: grade for key, grade in judgments.items() if key[2] == "agent 1"}
        grades, _ = answers(random, kind, 1.0, np.asarray(list(third.values())))
        planted = [(q, d, kind, grade) for (q, d, _), grade in zip(third, grades.tolist(), strict=True)]
        report_real(
            f"Icecat and one {kind}", [*[(*key, grade) for key, grade in judgments.items()], *planted]
        )


def report_real(title: str, rows: list[tuple[str, str, str, int]]) -> tuple[set[str], Mapping[str, str]]:
    """Who is named for agreement in one data set (5 % false), and who is left out of the others."""
    grades = make_grades(rows)
    left_out = find_outliers(grades)
    found = compute_agreement_with_others(grades, left_out)
    tests = {name: AGREEMENT.test(AnnotatorMetrics(name, agreement=one)) for name, one in found.items()}
    ps = {name: one.evidence["p"] for name, one in tests.items() if isinstance(one, Finding)}
    line = find_fdr_threshold(list(ps.values()), 0.05)
    names = {name for name, p in ps.items() if p <= line}
    print(f"{title}: {len(found):,} annotators, {len(ps):,} with enough pairs, named {len(names):,}")
    print(f"  left out of the others: {dict(Counter(left_out.values()))}")
    for name in sorted(names, key=lambda name: found[name].kappa or 0.0)[:5]:
        one = found[name]
        print(f"  {name}: kappa {one.kappa:.2f} on {one.pairs:,} pairs, the others' {one.others:.2f}")
    return names, left_out


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--bad", default="0,1,3")
    parser.add_argument("--real", type=Path)
    arguments = parser.parse_args()
    print("| bad of 13 | annotators | named | left out of the others | raised most |\n|---:|---|---|---|---|")
    for bad in map(int, arguments.bad.split(",")):
        counts = simulate(bad, arguments.runs)
        for kind in ("good", *KINDS):
            if counts[kind]:
                reasons = Counter(
                    {key.partition(": ")[2]: n for key, n in counts.items() if key.startswith(f"{kind}: ")}
                )
                del reasons["named"], reasons["left out"]
                common = ", ".join(f"{name} {n / counts[kind]:.0%}" for name, n in reasons.most_common(3))
                cells = (share(counts, kind, "named"), share(counts, kind, "left out"), common)
                print(f"| {bad} | {kind} | " + " | ".join(cells) + " |", flush=True)
    if arguments.real:
        icecat(arguments.real)
        trec_crowd(arguments.real)


if __name__ == "__main__":
    main()
