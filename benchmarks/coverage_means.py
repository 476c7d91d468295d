"""Which interval of a mean over queries holds the truth on real topics? For docs/evaluation-method.md.

Each system on each of five collections is a population: sets of 10, 25 and 50 topics are drawn from its
topics with replacement, and the truth is the mean over all of them. `score` is what goldgrade shows.
`bootstrap` is what it showed before: expanded percentiles of the bootstrap, and Gaffke's bound where fewer
than eight topics differ from the most common value. The other three are Student's t on the logit, the
studentised bootstrap and Willink's t corrected for skewness, with Gaffke's bound for the same sets. Values of
0 and 1 alone have Wilson's interval in all of them. `wider` is the width over that of `bootstrap`.

For all searches, a log of 5,000 queries in three strata with heavy-tailed traffic has the values of topics.

Usage: python -m benchmarks.coverage_means [sets] [systems of the first collection alone]
Smallest: python -m benchmarks.coverage_means 2 1
Needs: ../shared/data
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, stdtrit

from benchmarks.coverage_evaluation import drawn_estimates
from curation.core.statistics.arrays import Floats
from curation.core.statistics.bootstrap import percentile_interval, resample_sums
from curation.core.statistics.intervals import find_most_common, wilson_interval
from curation.core.statistics.paired_intervals import MIN_DIFFERING
from curation.evaluation.figures.means import estimate_means
from curation.evaluation.scoring.measure_names import choose_measures
from curation.evaluation.scoring.qrels import qrels_from
from curation.evaluation.scoring.run_scores import RunScores, score_run
from curation.retrieval import Bm25
from curation.retrieval.terms import Analyzer
from curation.store.row_types import Document, Query
from tests.support.smart import qrels, records

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
MEASURES = (
    "map",
    "ndcg@10",
    "ndcg_exp@10",
    "mrr@10",
    "precision@10",
    "recall@10",
    "recall@100",
    "success@10",
)
DEPTH = 100
ESCI_GRADES = {"100.000": 3, "10.000": 2, "1.000": 1, "0.000": 0}

Grades = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]
Rule = Callable[[Floats, Floats], Floats]
SIZES = (10, 25, 50)
WEIGHINGS = 1000
HEAD = "held, lowest | mean | highest | truth below | above | mean width | wider | most"


class Topics(NamedTuple):
    """What one system reaches on a collection's topics."""

    collection: str
    system: str
    scores: RunScores


class Series(NamedTuple):
    """What a system reaches on a collection's topics by one measure, and at most could: shape (T,) each."""

    collection: str
    system: str
    measure: str
    values: Floats
    highest: Floats


class RuleScore(NamedTuple):
    """How the intervals of one series did: shares of sets, and the mean width."""

    held: float
    below: float
    above: float
    width: float


def score(values: Floats, highest: Floats) -> Floats:
    """What goldgrade shows."""
    return np.array([found[1:3] for found in estimate_means(values, highest)], float).T


def bootstrap(values: Floats, highest: Floats) -> Floats:
    """Expanded percentiles of resampled means (Hesterberg 2015)."""
    means = np.concatenate(list(resample_sums(values, 1))) / len(values)
    return np.array([percentile_interval(column, len(values)) for column in means.T], np.float64).T


def logit_t(values: Floats, highest: Floats) -> Floats:
    """Student's t on the logit of the mean."""
    mean, error, t = _moments(values)
    with np.errstate(all="ignore"):
        reach = t * error / (mean * (1 - mean))
        return np.array(expit([logit(mean) - reach, logit(mean) + reach]))


def studentised(values: Floats, highest: Floats) -> Floats:
    """The studentised bootstrap (Efron and Tibshirani 1993, section 12.5)."""
    mean, error, _ = _moments(values)
    sums = np.concatenate(list(resample_sums(np.hstack([values, values**2]), 1))) / len(values)
    means, squares = np.hsplit(sums, 2)
    with np.errstate(all="ignore"):
        errors = np.sqrt(np.maximum(squares - means**2, 0) / (len(values) - 1))
        off = np.where(errors > 1e-12, (means - mean) / errors, np.nan)
        high, low = np.nanquantile(np.where(np.isfinite(off).any(axis=0), off, 0.0), [0.025, 0.975], axis=0)
    return np.array(np.clip([mean - low * error, mean - high * error], 0, 1))


def willink(values: Floats, highest: Floats) -> Floats:
    """The t corrected for skewness (R. Willink (2005), Communications in Statistics 34)."""
    (mean, error, t), n = _moments(values), len(values)
    with np.errstate(all="ignore"):
        third = ((values - mean) ** 3).sum(axis=0) * n / ((n - 1) * (n - 2))
        skew = third / (6 * np.sqrt(n) * values.var(axis=0, ddof=1) ** 1.5)
        ends = [(np.cbrt(1 + 6 * skew * (end - skew)) - 1) / (2 * skew) for end in (t, -t)]
        ends = [np.where(np.abs(skew) < 1e-9, end, found) for end, found in zip((t, -t), ends, strict=True)]
    return np.array(np.clip([mean - ends[0] * error, mean - ends[1] * error], 0, 1))


def _moments(values: Floats) -> tuple[Floats, Floats, float]:
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return values.mean(axis=0), error, float(stdtrit(len(values) - 1, 0.975))


def guarded(rule: Rule) -> Rule:
    """With Gaffke's bound where few topics carry the mean, and Wilson's interval of a share."""

    def ends_of(values: Floats, highest: Floats) -> Floats:
        ends = rule(values, highest)
        weights = np.random.default_rng(1).standard_exponential((WEIGHINGS, len(values) + 1))
        weights /= weights.sum(axis=1, keepdims=True)
        for place in np.flatnonzero(find_most_common(values)[1] < MIN_DIFFERING):
            seen = weights[:, :-1] @ values[:, place]
            ends[:, place] = np.quantile(seen, 0.025), np.quantile(seen + weights[:, -1], 0.975)
        for place in np.flatnonzero(np.isin(values, (0.0, 1.0)).all(axis=0)):
            ends[:, place] = wilson_interval(int(values[:, place].sum()), len(values))
        return ends

    return ends_of


RULES: dict[str, Rule] = {
    "bootstrap": guarded(bootstrap),
    "logit t": guarded(logit_t),
    "studentised": guarded(studentised),
    "Willink": guarded(willink),
    "score": score,
}


def series(systems: int | None) -> Iterator[Series]:
    """Of so many systems of the first collection, else of all; without series that have one value alone."""
    taken: Counter[str] = Counter()
    for one in read_real_topics():
        taken[one.collection] += 1
        if systems is not None and taken.total() > systems:
            return
        for place, measure in enumerate(one.scores.measures):
            values, highest = one.scores.values[:, place], one.scores.highest[:, place]
            known = ~np.isnan(values)
            if np.ptp(values[known]) > 0:
                yield Series(one.collection, one.system, measure.name, values[known], highest[known])


def try_rules(series: Series, n: int, sets: int) -> dict[str, RuleScore]:
    """The rules on the same sets of n topics."""
    random = np.random.default_rng([n, *f"{series.collection} {series.system} {series.measure}".encode()])
    indexes = random.integers(len(series.values), size=(n, sets))
    truth = float(series.values.mean())
    return {
        name: _score_rule(rule(series.values[indexes], series.highest[indexes]), truth)
        for name, rule in RULES.items()
    }


def _score_rule(ends: Floats, truth: float) -> RuleScore:
    low, high = ends[0] - 1e-12, ends[1] + 1e-12
    below, above = float((truth < low).mean()), float((truth > high).mean())
    return RuleScore(1 - below - above, below, above, float((high - low).mean()))


def format_row(
    name: str, n: int, rule: str, scores: Sequence[RuleScore], baseline: Sequence[RuleScore]
) -> str:
    """Over series: the lowest, the mean and the highest share, where the truth is else, and the width."""
    held_shares = [score.held for score in scores]
    wider = [score.width / base.width for score, base in zip(scores, baseline, strict=True)]
    cells = [
        name,
        str(n),
        rule,
        f"{min(held_shares):.1%}",
        f"{np.mean(held_shares):.1%}",
        f"{max(held_shares):.1%}",
    ]
    cells += [
        f"{np.mean([score.below for score in scores]):.1%}",
        f"{np.mean([score.above for score in scores]):.1%}",
    ]
    cells += [
        f"{np.mean([score.width for score in scores]):.3f}",
        f"{np.mean(wider):.2f}",
        f"{max(wider):.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def score_traffic(series_list: Sequence[Series], sets: int) -> dict[int, list[RuleScore]]:
    """Size → how estimates for all searches did, for each series."""
    scores = defaultdict(list)
    for series in series_list:
        for n in (9, *SIZES[1:], 100):
            ends, truth = drawn_estimates(partial(_topics_again, series.values), n, sets)
            scores[n].append(_score_rule(ends, truth))
    return scores


def _topics_again(values: Floats, random: np.random.Generator, size: int) -> Floats:
    return random.choice(values, size)


def read_real_topics() -> Iterator[Topics]:
    """Every system on every collection."""
    yield from _scored("Touché 2020", _touche_runs(), _touche_grades())
    for name in ("med", "cisi"):
        stem = SHARED / "smart" / name / name.upper()
        texts = records(stem.with_suffix(".ALL"))
        documents = [Document(one, one, *text.partition("\n")[::2]) for one, text in texts.items()]
        asked, grades = records(stem.with_suffix(".QRY")), qrels(stem.with_suffix(".REL"))
        yield from _scored(name.upper(), _bm25_runs(documents, asked, grades), grades)
    rated = _icecat_grades()
    asked = {query: query for query in rated}
    yield from _scored("Icecat", _campaign_runs() | _bm25_runs(_icecat_products(), asked, rated), rated)
    rated = _esci_grades()
    yield from _scored("ESCI", _bm25_runs(_esci_products(), {query: query for query in rated}, rated), rated)


def _scored(collection: str, runs: Mapping[str, Run], grades: Grades) -> Iterator[Topics]:
    judged = qrels_from(grades)
    for system, run in runs.items():
        yield Topics(collection, system, score_run(run, judged, choose_measures(judged.scale, MEASURES)))


def _bm25_runs(documents: list[Document], texts: Mapping[str, str], grades: Grades) -> dict[str, Run]:
    asked = [Query(one, texts[one], texts[one], "imported") for one in sorted(grades) if one in texts]
    titles = [document._replace(body="") for document in documents]
    found = {}
    for fields, of in (("titles", titles), ("texts", documents)):
        for stemmer in (None, "english"):
            hits = Bm25(of, Analyzer(stemmer)).search(asked, DEPTH)
            found[f"BM25 {fields}{', stem_word' if stemmer else ''}"] = {
                query.query_id: {hit.document_id: float(hit.score or 0) for hit in own}
                for query, own in zip(asked, hits, strict=True)
            }
    return found


def _touche_grades() -> Grades:
    grades: dict[str, dict[str, int]] = {}
    text = (SHARED / "touche2020" / "qrels.beir-v1.0.0-webis-touche2020.test.txt").read_text()
    for query, _, name, grade in map(str.split, text.splitlines()):
        grades.setdefault(query, {})[name] = max(int(grade), 0)
    return grades


def _touche_runs() -> dict[str, Run]:
    found: dict[str, Run] = {}
    for path in sorted((SHARED / "touche2020" / "runs").glob("*/*.gz")):
        run: dict[str, dict[str, float]] = {}
        with gzip.open(path, "rt") as lines:
            for query, _, name, _, score, _ in map(str.split, lines):
                run.setdefault(query, {})[name] = float(score)
        found[f"{path.name.split('.')[0].removeprefix('run-')}, {path.parent.name[-2:]}"] = run
    return found


def _icecat_grades() -> Grades:
    grades: dict[str, dict[str, int]] = {}
    with (SHARED / "chorus_icecat" / "Broad_Query_Set_rated.csv").open(encoding="utf-8", newline="") as file:
        for format_row in csv.DictReader(file):
            grades.setdefault(format_row["query"], {})[format_row["docid"]] = int(float(format_row["rating"]))
    return grades


def _campaign_runs() -> dict[str, Run]:
    found: dict[str, Run] = {}
    for path in sorted((SHARED / "chorus_icecat" / "campaign_2").glob("run_*.tsv")):
        run: dict[str, dict[str, float]] = {}
        with path.open(encoding="utf-8", newline="") as file:
            for format_row in csv.DictReader(file, delimiter="\t"):
                run.setdefault(format_row["query"], {})[format_row["doc_id"]] = -float(format_row["rank"])
        found[path.stem.removeprefix("run_")] = run
    return found


def _icecat_products() -> list[Document]:
    with gzip.open(SHARED / "chorus_icecat" / "products.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Document(
            format_row["id"], format_row["id"], format_row["title"], format_row.get("short_description") or ""
        )
        for format_row in rows
    ]


def _esci_grades() -> Grades:
    rated = json.loads((SHARED / "esci_us" / "esci_us_judgments.json").read_text(encoding="utf-8"))
    return {
        one["query"]: {
            format_row["docId"]: ESCI_GRADES[format_row["rating"]] for format_row in one["ratings"]
        }
        for one in rated["judgmentRatings"]
    }


def _esci_products() -> list[Document]:
    with gzip.open(SHARED / "esci_us" / "products.json.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Document(
            format_row["asin"],
            format_row["asin"],
            format_row["title"],
            f"{format_row['description']}\n{format_row['bullet_points']}",
        )
        for format_row in rows
    ]


def main() -> None:
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    systems = int(sys.argv[2]) if len(sys.argv) > 2 else None
    if not SHARED.is_dir():
        sys.exit(f"the shared data is not at {SHARED}")
    found: dict[tuple[str, int, str], list[RuleScore]] = defaultdict(list)
    all_series = sorted(series(systems), key=lambda one: one.measure)
    print(f"| measure | topics | rule | {HEAD} |\n|---|---:|---|{'---:|' * 8}")
    for measure, own in groupby(all_series, key=lambda one: one.measure):
        for n, one in ((n, one) for one in own for n in SIZES):
            for rule, result in try_rules(one, n, sets).items():
                found[measure, n, rule].append(result)
                found["all", n, rule].append(result)
        for n in SIZES:
            for rule in RULES:
                before = found[measure, n, "bootstrap"]
                print(format_row(measure, n, rule, found[measure, n, rule], before), flush=True)
    for n in SIZES:
        for rule in RULES:
            print(format_row("all", n, rule, found["all", n, rule], found["all", n, "bootstrap"]), flush=True)
    chosen_series = [one for one in all_series if one.measure in ("map", "ndcg@10", "mrr@10", "success@10")]
    for n, results in score_traffic(chosen_series[::4], max(sets // 5, 1)).items():
        print(format_row("for all searches", n, "score", results, results), flush=True)


if __name__ == "__main__":
    main()
