"""Evaluation with a judge: what systems reach on all queries, by the judge's grades that people's correct.

The unit is the query. Measures such as nDCG are made of all grades of a query at once, so neither they nor
what the judge gets wrong about them is a mean over pairs; and queries, not pairs, are what was drawn. Each
query has a value under the judge's grades. Those that people graded (`evaluation.llm_judges.human_grades`)
have one under people's grades as well, and the differences correct the mean over all
(`core.statistics.difference_estimator`).

The judge must have graded the whole pool of every query, in the version of the release's corpus. Were its
grades missing more often where people graded nothing, the differences would not stand for all queries. Its
grades of documents outside the pool are not used, for the same reason. Sealed parts have no estimates: with
a judge made for it, the interval would tell the value of a single query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.similarity.identical import Identical
from curation.core.statistics.arrays import Floats
from curation.core.statistics.difference_estimator import (
    DifferenceEstimate,
    MeanInterval,
    difference_estimate,
)
from curation.core.text import pluralize
from curation.evaluation.llm_judges.human_grades import HumanSample, peoples_sample
from curation.evaluation.llm_judges.imported import judgments_of, require_judge
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.measure_names import Measure, measures_for
from curation.evaluation.scoring.qrels import Qrels, qrels_of
from curation.evaluation.scoring.release import EvaluatedRelease, read_release
from curation.evaluation.scoring.run_scores import score_rows
from curation.evaluation.scoring.system_runs import ReadingOptions, RunSource, read_run
from curation.ingest.importers.known_queries import KnownQueries
from curation.releases.verify import FrozenRelease, load_release
from curation.store import Cursor, Store

PairKey = tuple[str, str]


@dataclass(frozen=True)
class JudgedSystem:
    """The estimates of one system, by measure; none of measures that no query has under people's grades.

    Attributes
    ----------
    overall: each query of everything alike. traffic: for all searches; empty where no query was drawn.
    too_few: of answers, measure → people's queries, where these are too few for an estimate.
    """

    name: str
    overall: Mapping[str, DifferenceEstimate]
    traffic: Mapping[str, DifferenceEstimate]
    too_few: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class JudgedEvaluation:
    """What systems reach on everything that a judge graded, corrected by people's grades.

    Attributes
    ----------
    everything, people: queries that the judge graded, and evaluated ones of these, which people graded.
    strata: stratum → (people, everything).
    chosen_by: what chose people's queries: 'split', 'top-up' or both.
    grades: pairs that the judge graded; cannot_tell: it judged and could not.
    left_out: reason → number of evaluated queries.
    not_drawn: pooled pairs of the evaluated queries that a sample of the pool left out; they count as not
        relevant, by the judge's grades and by people's.
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


def judged_estimates(
    store: Store,
    release_name: str | FrozenRelease,
    runs: Sequence[RunSource],
    request: EvaluateRequest,
    reading: ReadingOptions = ReadingOptions(),
    progress: Progress = silent,
) -> JudgedEvaluation:
    """Estimate measures on all queries that the judge of the request graded.

    Raises
    ------
    InputError: options that mean nothing here, or run files that cannot be taken.
    NotFoundError: there is no such release or judge.
    RefusedError: a part is sealed; people's queries are no probability sample; the judge did not grade all
        pools.
    """
    frozen, judge = load_release(store, release_name), request.judge or ""
    release = read_release(store, frozen, request.part, request.relevant)
    refuse_sealed(release)
    with store.reading() as cursor:
        sample, judged = judged_sample(cursor, frozen, judge, release.qrels.query_ids, Identical(()))
        known = KnownQueries.read(cursor)
    graded = [(*pair, grade) for pair, grade in judged.items() if grade is not None]
    qrels = qrels_of(graded, sample.query_ids, release.qrels.scale, release.qrels.relevant)
    chosen = [
        measure
        for measure in measures_for(release.qrels.scale, request.measures)
        if measure.compares and not measure.of_chunks
    ]
    by_judge = _values(runs, replace(release, qrels=qrels, known=known), chosen, reading, progress)
    by_people = _values(runs, release, chosen, reading, progress)
    estimates = judged_evaluation(judge, sample, judged)
    return replace(
        estimates,
        runs=tuple(
            _system(name, by_judge[name], by_people[name], chosen, sample, release.qrels) for name in by_judge
        ),
        not_drawn=len(release.pooled.left_out),
    )


def judged_evaluation(
    judge: str, sample: HumanSample, judged: Mapping[PairKey, int | None]
) -> JudgedEvaluation:
    """What the judge and people graded; the estimates of systems are put to it."""
    everything = Counter(sample.strata)
    people = Counter(compress(sample.strata, sample.asked.tolist()))
    return JudgedEvaluation(
        judge=judge,
        everything=len(sample.query_ids),
        people=int(sample.asked.sum()),
        strata={name: (people[name], everything[name]) for name in sorted(everything)},
        chosen_by=sample.chosen_by,
        grades=sum(grade is not None for grade in judged.values()),
        cannot_tell=sum(grade is None for grade in judged.values()),
        left_out=sample.left_out,
        runs=(),
    )


def refuse_sealed(release: EvaluatedRelease) -> None:
    """Stop where a judge would be used on a sealed part."""
    if release.sealed:
        raise RefusedError(
            f"{', '.join(release.sealed)} of the release {release.name!r} is sealed, and a judge made for it "
            "could tell the value of a single query. Name a part that is not sealed with --part: the "
            "judge's grades of all queries are used with it all the same."
        )


def judged_sample(
    cursor: Cursor, frozen: FrozenRelease, judge: str, evaluated: Collection[str], identical: Identical
) -> tuple[HumanSample, dict[PairKey, int | None]]:
    """What people graded of what, and the judge's grade of every pair of its pools.

    Parameters
    ----------
    identical: documents with the same text. The judge may have graded a copy that the pool does not have.

    Raises
    ------
    NotFoundError: there is no such judge.
    RefusedError: people's queries are no probability sample; the judge lacks some pairs.
    """
    require_judge(cursor, judge)
    pins = {row["document_id"]: row["content_hash"] for row in frozen.rows("documents")}
    sample = peoples_sample(cursor, frozen, evaluated)
    return sample, _judge_grades(cursor, judge, sample.query_ids, pins, identical)


def _judge_grades(
    cursor: Cursor, judge: str, query_ids: Sequence[str], pins: Mapping[str, str], identical: Identical
) -> dict[PairKey, int | None]:
    """The judge's grade of every pair of these queries' pools; None if it could not tell.

    Raises
    ------
    RefusedError: it lacks some of them, or a query has no pool.
    """
    rows = cursor.execute(
        """SELECT query_id, document_id FROM candidates WHERE query_id IN (SELECT unnest(?::TEXT[]))
        ORDER BY query_id, document_id""",
        [list(query_ids)],
    ).fetchall()
    pool = [(query_id, document_id) for query_id, document_id in rows if document_id in pins]
    kept = (row for row in judgments_of(cursor, judge) if pins.get(row.document_id) == row.content_hash)
    judged = identical.shared({(row.query_id, row.document_id): row.grade for row in kept})
    _refuse_ungraded(judge, query_ids, pool, judged)
    return {pair: judged[pair] for pair in pool}


def _refuse_ungraded(
    judge: str, query_ids: Sequence[str], pool: Sequence[PairKey], judged: Mapping[PairKey, int | None]
) -> None:
    empty = sorted(set(query_ids).difference(query for query, _ in pool))
    if empty:
        raise RefusedError(
            f"{len(empty):,} of the {pluralize(len(query_ids), 'query', 'queries')} have no pool, such as "
            f"{empty[0]!r}, so "
            "nothing says which documents the judge was to grade. Pool them first: `goldgrade pool`."
        )
    missing = [pair for pair in pool if pair not in judged]
    if missing:
        queries = len({query for query, _ in missing})
        raise RefusedError(
            f"The judge {judge} did not grade {len(missing):,} of the {pluralize(len(pool), 'pair')} in the "
            f"pools of the {pluralize(len(query_ids), 'query', 'queries')}; they are of "
            f"{pluralize(queries, 'query', 'queries')}, the first is query {missing[0][0]!r} with document "
            f"{missing[0][1]!r}. Let it grade them in the release's version of the documents, and import its "
            "judgments: `goldgrade import judgments FILE --judge NAME`."
        )


def _values(
    runs: Sequence[RunSource],
    release: EvaluatedRelease,
    measures: Sequence[Measure],
    reading: ReadingOptions,
    progress: Progress,
) -> dict[str, Floats]:
    """System → value of each query and measure, shape (Q, M); the mean of several runs of one system."""
    scored: dict[str, list[Floats]] = {}
    for source in runs:
        run = read_run(source, release, reading, progress)
        scored.setdefault(source.name, []).append(score_rows(run.rows, release.qrels, measures).values)
    return {name: np.mean(values, axis=0) for name, values in scored.items()}


def _system(
    name: str,
    by_judge: Floats,
    by_people: Floats,
    measures: Sequence[Measure],
    sample: HumanSample,
    qrels: Qrels,
) -> JudgedSystem:
    index_of = {query_id: number for number, query_id in enumerate(qrels.query_ids)}
    rows = [index_of[query_id] for query_id in np.asarray(sample.query_ids)[sample.asked].tolist()]
    overall, traffic = {}, {}
    for column, measure in enumerate(measures):
        people = np.full(len(sample.query_ids), np.nan)
        people[sample.asked] = by_people[rows, column]
        if np.isnan(people).all():
            continue
        units = (by_judge[:, column], people, sample.asked, sample.probabilities, sample.strata)
        overall[measure.name] = bounded(difference_estimate(*units))
        if sample.searches is not None:
            traffic[measure.name] = bounded(difference_estimate(*units, sample.searches))
    return JudgedSystem(name, overall, traffic)


def bounded(estimate: DifferenceEstimate) -> DifferenceEstimate:
    """With intervals cut at 0 and 1: no measure goes beyond."""
    return replace(estimate, estimate=_within(estimate.estimate), people_alone=_within(estimate.people_alone))


def _within(mean_interval: MeanInterval) -> MeanInterval:
    if mean_interval.low is None or mean_interval.high is None:
        return mean_interval
    return mean_interval._replace(low=max(0.0, mean_interval.low), high=min(1.0, mean_interval.high))
