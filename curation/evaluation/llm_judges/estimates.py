"""Estimates of measures on all queries from a judge's grades, corrected by people's grades.

The unit is the query. A measure such as nDCG combines all of a query's grades, so neither the measure nor the
judge's error in it is a mean over pairs; and the sample drew queries, not pairs. Each query has a value under
the judge's grades. A query that people graded (`evaluation.llm_judges.human_grades`) also has a value under
people's grades, and the differences correct the mean over all queries
(`core.statistics.difference_estimator`).

The judge must have graded the whole pool of every query, in the version of the release's corpus. If the
judge's grades were missing more often where people graded nothing, the differences would not represent all
queries. The judge's grades of documents outside the pool are not used, for the same reason. Sealed parts have
no estimates, because with a specially made judge the interval could reveal the value of a single query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.similarity.identical_texts import IdenticalTexts
from curation.core.statistics import difference_estimator
from curation.core.statistics.arrays import Floats
from curation.core.statistics.difference_estimator import DifferenceEstimate, MeanInterval
from curation.core.text import pluralize
from curation.evaluation.llm_judges.human_sample import HumanSample, find_human_sample
from curation.evaluation.llm_judges.judge_judgments import read_judge_judgments, require_judge
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.evidence import Pair, PairGrades
from curation.evaluation.scoring.measure_names import Measure, choose_measures
from curation.evaluation.scoring.qrels import Qrels, make_qrels
from curation.evaluation.scoring.release import EvaluatedRelease, read_release
from curation.evaluation.scoring.run_scores import score_rows
from curation.evaluation.scoring.system_files import SystemFile
from curation.evaluation.scoring.system_runs import ReadingOptions, read_run
from curation.ingest.importers.known_queries import KnownQueries
from curation.releases.frozen_release import FrozenRelease, load_release
from curation.store import Cursor, Store


@dataclass(frozen=True)
class JudgedSystem:
    """Estimates for one system, by measure; a measure without any value from people's grades is left out.

    Attributes
    ----------
    overall: the estimates with equal weight of all queries.
    traffic: the estimates for all searches; empty where no query was drawn.
    too_few: measure of answers → number of people's queries, where that number is too low for an estimate.
    """

    name: str
    overall: Mapping[str, DifferenceEstimate]
    traffic: Mapping[str, DifferenceEstimate]
    too_few: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class JudgedEvaluation:
    """Systems' results on all queries that a judge graded, corrected by people's grades.

    Attributes
    ----------
    everything: the number of queries that the judge graded.
    people: the number of evaluated queries among these, which people graded.
    strata: stratum → (people, everything).
    chosen_by: the steps that chose people's queries: 'draw', 'split', 'top-up', or two of these.
    grades: the number of pairs that the judge graded.
    cannot_tell: the number of pairs that the judge could not grade.
    left_out: reason → number of evaluated queries.
    not_drawn: the number of pooled pairs of the evaluated queries that a sample of the pool left out; they
        count as not relevant under the judge's and under people's grades.
    """

    judge: str
    everything: int
    people: int
    strata: Mapping[str, tuple[int, int]]
    chosen_by: tuple[str, ...]
    grades: int
    cannot_tell: int
    left_out: Mapping[str, int]
    runs: tuple[JudgedSystem, ...]
    not_drawn: int = 0


def estimate_with_judge(
    store: Store,
    release_name: str | FrozenRelease,
    runs: Sequence[SystemFile],
    request: EvaluateRequest,
    reading: ReadingOptions = ReadingOptions(),
    progress: Progress = silent,
) -> JudgedEvaluation:
    """Estimate measures on all queries that the request's judge graded.

    Raises
    ------
    InputError: the options do not fit together, or a run file cannot be read.
    NotFoundError: no release or judge has this name.
    RefusedError: a part is sealed; people's queries are not a probability sample; the judge did not grade all
        pools.
    """
    frozen = load_release(store, release_name)
    judge = request.judge or ""
    release = read_release(store, frozen, request.part, request.relevant, request.synthetic)
    refuse_sealed(release)
    with store.reading() as cursor:
        query_ids, identical = release.qrels.query_ids, IdenticalTexts(())
        sample, judged = read_judged_sample(cursor, frozen, judge, query_ids, identical)
        known = KnownQueries.read(cursor)
    rows = [(*pair, grade) for pair, grade in judged.items() if grade is not None]
    qrels = make_qrels(rows, sample.query_ids, release.qrels.scale, release.qrels.relevant)
    chosen = choose_measures(release.qrels.scale, request.measures)
    measures = [measure for measure in chosen if measure.compares and not measure.of_chunks]
    by_judge = _score_runs(runs, replace(release, qrels=qrels, known=known), measures, reading, progress)
    by_people = _score_runs(runs, release, measures, reading, progress)
    systems = []
    for name, values in by_judge.items():
        systems.append(_estimate_system(name, values, by_people[name], measures, sample, release.qrels))
    return make_judged_evaluation(judge, sample, judged, systems, len(release.pooled.left_out))


def make_judged_evaluation(
    judge: str, sample: HumanSample, judged: PairGrades, systems: Iterable[JudgedSystem], not_drawn: int = 0
) -> JudgedEvaluation:
    """Combine the systems' estimates with the numbers of grades from the judge and from people."""
    totals = Counter(sample.strata)
    graded = Counter(compress(sample.strata, sample.is_graded.tolist()))
    return JudgedEvaluation(
        judge=judge,
        everything=len(sample.query_ids),
        people=int(sample.is_graded.sum()),
        strata={name: (graded[name], totals[name]) for name in sorted(totals)},
        chosen_by=sample.chosen_by,
        grades=sum(grade is not None for grade in judged.values()),
        cannot_tell=sum(grade is None for grade in judged.values()),
        left_out=sample.left_out,
        runs=tuple(systems),
        not_drawn=not_drawn,
    )


def refuse_sealed(release: EvaluatedRelease) -> None:
    """Reject an estimate with a judge's grades on a sealed part."""
    if release.sealed:
        raise RefusedError(
            f"{', '.join(release.sealed)} of the release {release.name!r} is sealed, and a specially "
            "made judge could reveal the value of a single query. Name a part that is not sealed with "
            "--part: the estimate still uses the judge's grades of all queries."
        )


def read_judged_sample(
    cursor: Cursor, frozen: FrozenRelease, judge: str, evaluated: Collection[str], identical: IdenticalTexts
) -> tuple[HumanSample, dict[Pair, int | None]]:
    """Read the sample of queries that people graded, and the judge's grades of all pairs in the queries'
    pools.

    Parameters
    ----------
    identical: documents with the same text. The judge may have graded a copy of a document that the pool does
    not have.

    Raises
    ------
    NotFoundError: no judge has this name.
    RefusedError: people's queries are not a probability sample; the judge lacks some pairs.
    """
    require_judge(cursor, judge)
    versions = {row["document_id"]: row["content_hash"] for row in frozen.rows("documents")}
    sample = find_human_sample(cursor, frozen, evaluated)
    return sample, _read_judge_grades(cursor, judge, sample.query_ids, versions, identical)


def _read_judge_grades(
    cursor: Cursor, judge: str, query_ids: Sequence[str], versions: dict[str, str], identical: IdenticalTexts
) -> dict[Pair, int | None]:
    """Read the judge's grade of every pair in the queries' pools; None for cannot-tell.

    Raises
    ------
    RefusedError: the judge lacks some pairs, or a query has no pool.
    """
    sql = """SELECT query_id, document_id FROM candidates WHERE query_id IN (SELECT unnest(?::TEXT[]))
        ORDER BY query_id, document_id"""
    rows = cursor.execute(sql, [list(query_ids)]).fetchall()
    pool = [(query_id, document_id) for query_id, document_id in rows if document_id in versions]
    judgments = read_judge_judgments(cursor, judge)
    current = (row for row in judgments if versions.get(row.document_id) == row.content_hash)
    judged = identical.shared({(row.query_id, row.document_id): row.grade for row in current})
    _refuse_ungraded(judge, query_ids, pool, judged)
    return {pair: judged[pair] for pair in pool}


def _refuse_ungraded(judge: str, query_ids: Sequence[str], pool: Sequence[Pair], judged: PairGrades) -> None:
    empty = sorted(set(query_ids).difference(query for query, _ in pool))
    if empty:
        raise RefusedError(
            f"{len(empty):,} of the {pluralize(len(query_ids), 'query', 'queries')} have no pool, such as "
            f"{empty[0]!r}, so goldgrade does not know which documents the judge should have graded. First "
            "pool these queries with `goldgrade pool`."
        )
    missing = [pair for pair in pool if pair not in judged]
    if missing:
        queries = len({query for query, _ in missing})
        raise RefusedError(
            f"The judge {judge} did not grade {len(missing):,} of the {pluralize(len(pool), 'pair')} in the "
            f"pools of the {pluralize(len(query_ids), 'query', 'queries')}; these pairs belong to "
            f"{pluralize(queries, 'query', 'queries')}, the first is query {missing[0][0]!r} with document "
            f"{missing[0][1]!r}. Have the judge grade these pairs in the release's version of the "
            "documents, and import the judgments: `goldgrade import judgments FILE --judge NAME`."
        )


def _score_runs(
    runs: Sequence[SystemFile],
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    reading: ReadingOptions,
    progress: Progress,
) -> dict[str, Floats]:
    """Score each system by query and measure, shape (Q, M), averaging each system's runs."""
    values_of: dict[str, list[Floats]] = {}
    for source in runs:
        run = read_run(source, release, reading, progress)
        values_of.setdefault(source.name, []).append(score_rows(run.rows, release.qrels, measures).values)
    return {name: np.mean(values, axis=0) for name, values in values_of.items()}


def _estimate_system(
    name: str, by_judge: Floats, by_people: Floats, measures: list[Measure], sample: HumanSample, qrels: Qrels
) -> JudgedSystem:
    index_of = {query_id: index for index, query_id in enumerate(qrels.query_ids)}
    rows = [index_of[query_id] for query_id in np.asarray(sample.query_ids)[sample.is_graded].tolist()]
    overall, traffic = {}, {}
    for column, measure in enumerate(measures):
        people = np.full(len(sample.query_ids), np.nan)
        people[sample.is_graded] = by_people[rows, column]
        if np.isnan(people).all():
            continue
        units = (by_judge[:, column], people, sample.is_graded, sample.probabilities, sample.strata)
        overall[measure.name] = cut_intervals(difference_estimator.difference_estimate(*units))
        if sample.searches is not None:
            estimate = difference_estimator.difference_estimate(*units, sample.searches)
            traffic[measure.name] = cut_intervals(estimate)
    return JudgedSystem(name, overall, traffic)


def cut_intervals(estimate: DifferenceEstimate) -> DifferenceEstimate:
    """Limit intervals to the range from 0 to 1, which contains every measure."""
    people_alone = _cut_interval(estimate.people_alone)
    return replace(estimate, estimate=_cut_interval(estimate.estimate), people_alone=people_alone)


def _cut_interval(mean_interval: MeanInterval) -> MeanInterval:
    if mean_interval.low is None or mean_interval.high is None:
        return mean_interval
    return mean_interval._replace(low=max(0.0, mean_interval.low), high=min(1.0, mean_interval.high))
